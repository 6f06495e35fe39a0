"""Near-duplicates in results: one stands for all."""

from __future__ import annotations

import json

import anyio
import pytest

from qmd.operations.search import search
from qmd.operations.semantic_search import query, vector_search
from qmd.operations.similar import similar
from qmd.ranking import hybrid_lists
from qmd.ranking.copies import Member, depth, without_copies
from tests.ranking.texts import EDITED, TEA


@pytest.fixture
def copied(faked):
    faked.write("tea.md", TEA)
    faked.write("old/tea-2019.md", EDITED)
    faked.write("mirror.md", TEA)
    faked.write("coffee.md", "# Coffee\n\nCoffee is no tea, and its beans are not green leaves.")
    faked.update()
    faked.embed()
    return faked


def ways(library, question, **options):
    async def both():
        return await query(library.engine, question, **options)

    return [
        search(library.engine, question, **options),
        vector_search(library.engine, question, min_score=-1.0, **options),
        anyio.run(both),
        anyio.run(lambda: query(library.engine, question, mode="fast", **options)),
    ]


def test_the_best_of_near_duplicates_stands_for_all_in_every_search(copied):
    for found in ways(copied, "green tea"):
        assert len(found) == 2
        [folded_] = [each for each in found if each.similar]
        assert {folded_.file, *folded_.similar} == {
            "notes/tea.md",
            "notes/old/tea-2019.md",
            "notes/mirror.md",
        }


def test_all_copies_are_shown_on_demand(copied):
    for found in ways(copied, "green tea", all_copies=True):
        assert len(found) == 4
        assert not any(each.similar for each in found)


def test_a_limit_counts_what_is_left(copied):
    for found in ways(copied, "green tea", limit=2):
        assert len({each.title for each in found}) == 2


def test_more_copies_than_are_ranked_at_first_hide_no_other_document(faked):
    for number in range(60):
        faked.write(f"copy{number}.md", TEA + "green tea " * (number % 2))
    faked.write("coffee.md", "# Coffee\n\nCoffee is not tea." + " Beans are roasted." * 60)
    faked.update()
    faked.embed()
    for found in ways(faked, "tea", limit=2):
        assert {each.title for each in found} == {"Tea guide", "Coffee"}
        [folded_] = [each for each in found if each.similar]
        assert len(folded_.similar) == 59


@pytest.fixture
def crowded(faked):
    for number in range(60):
        faked.write(f"copy{number}.md", TEA + "green tea " * (number % 2))
    faked.write("coffee.md", "# Coffee\n\nCoffee is not tea." + " Beans are roasted." * 60)
    faked.write("kettle.md", "# Kettle\n\nTea is made of green leaves and boiled water.")
    faked.update()
    faked.embed()
    return faked


@pytest.mark.parametrize("fusion", ["scores", "rrf"])
def test_more_copies_than_a_list_has_hide_no_other_document(crowded, monkeypatch, fusion):
    monkeypatch.setattr(hybrid_lists, "DEPTH", {"scores": 5, "rrf": 5})
    found = anyio.run(lambda: query(crowded.engine, "green tea", limit=3, fusion=fusion))
    assert {each.title for each in found} == {"Tea guide", "Coffee", "Kettle"}
    [folded_] = [each for each in found if each.similar]
    assert len(folded_.similar) == 59


def test_more_copies_than_are_compared_at_first_hide_no_similar_document(crowded):
    found = similar(crowded.engine, "kettle.md", limit=2)
    assert [each.title for each in found] == ["Tea guide", "Coffee"]
    assert len(found[0].similar) == 59


@pytest.mark.parametrize("name", ["tea-2019.md", "old/tea-2019.md"])
def test_a_file_that_is_named_is_shown_itself(copied, name):
    for found in ways(copied, name):
        assert "notes/old/tea-2019.md" in [each.file for each in found]


COPIES = {1: Member("a", "n/one.md"), 2: Member("a", "n/two.md"), 4: Member("a", "n/x/two.md")}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("tea", [(1, ("n/two.md", "n/x/two.md")), (3, ())]),
        ("two.md", [(2, ("n/one.md",)), (3, ()), (4, ())]),
        ("x/two.md", [(3, ()), (4, ("n/one.md", "n/two.md"))]),
        ("three.md", [(1, ("n/two.md", "n/x/two.md")), (3, ())]),
    ],
)
def test_those_whose_files_are_named_stay(question, expected):
    ranked = [1, 2, 3, 4]
    assert without_copies(ranked, lambda each: each, COPIES, question=question, limit=9) == expected


def test_passages_of_one_document_are_no_near_duplicates():
    assert without_copies([2, 2, 1], lambda each: each, COPIES, question="", limit=9) == [
        (2, ("n/one.md",)),
        (2, ("n/one.md",)),
    ]


def test_without_near_duplicates_no_more_is_ranked():
    assert (depth(5, {}), depth(5, COPIES)) == (5, 30)


def test_results_say_how_many_they_stand_for(qmd, tmp_path):
    for name, text in (("tea", TEA), ("tea2", EDITED)):
        (tmp_path / "notes").mkdir(exist_ok=True)
        (tmp_path / "notes" / f"{name}.md").write_text(text)
    qmd("collection", "add", str(tmp_path / "notes"))
    assert "\nalso: 1 similar\n" in qmd("search", "green tea")[1]
    [found] = json.loads(qmd("search", "green tea", "--json")[1])
    assert found["similar"] == ["notes/tea2.md" if "tea.md" in found["file"] else "notes/tea.md"]
    assert len(json.loads(qmd("search", "green tea", "--json", "--all-copies")[1])) == 2
    rows = qmd("sql", "select file, similarity from near_duplicates order by file", "--csv")[1]
    assert len(rows.splitlines()) == 3
