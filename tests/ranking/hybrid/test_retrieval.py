"""What a question finds: what may answer, and as much of it as is asked for."""

from __future__ import annotations

import threading
from unittest.mock import Mock

import anyio
import pytest
from anyio import from_thread

from qmd.analytics.rows import Results
from qmd.errors import CollectionNotFound
from qmd.models.registry import ENDPOINT
from qmd.operations.search import NONE_INCLUDED
from qmd.operations.semantic_search import vector_search
from qmd.ranking import hybrid_lists, vector_blocks
from qmd.ranking.hnsw import Shortcut
from qmd.storage import extensions
from tests.library import FakeEmbedder
from tests.ranking.hybrid.asking import RRF, ask, files, found, ranks
from tests.ranking.hybrid.fakes import LONG


@pytest.mark.parametrize("kind", ["vec", "lex"])
def test_fewer_results_are_the_first_of_more(faked, kind):
    for name in "zyxwvu":
        faked.write(f"{name}.md", "the same")
        faked.update()
    faked.embed()
    all_files = found(faked, f"{kind}: same", limit=6)
    assert len(all_files) == 6
    for limit in range(1, 6):
        assert found(faked, f"{kind}: same", limit=limit) == all_files[:limit]


@pytest.mark.parametrize("options", [{}, RRF], ids=["scores", "rrf"])
@pytest.mark.parametrize("document", ["red car", "vec: vehicle\nlex: car\nlex: red"])
@pytest.mark.parametrize(
    ("among", "expected"),
    [
        ({"collection": "work"}, {f"work/{n}.md" for n in range(4)}),
        ({"collection": "hidden"}, {f"hidden/{n}.md" for n in range(4)}),
        ({"since": "2032"}, {"work/2.md", "work/3.md"}),
        (
            {"filter": "status = open"},
            {"notes/vehicle.md", *(f"work/{n}.md" for n in range(4))},
        ),
    ],
    ids=["collection", "excluded collection by name", "since", "filter"],
)
def test_a_filter_holds_for_both_kinds_of_lists_and_starves_none(
    town, options, document, among, expected
):
    answer = ask(town, document, limit=len(expected), **among, **options)
    assert {result.file for result in answer} == expected
    for kind in ("lex", "vec"):
        listed = [rank for result in answer for rank in ranks(result, kind) if rank]
        assert min(listed) == 1
        assert max(listed) <= len(expected)


def test_an_excluded_collection_answers_only_if_it_is_named(town):
    everything = found(town, "red car", limit=100)
    assert len(everything) == 20
    assert not any(file.startswith("hidden/") for file in everything)
    with pytest.raises(CollectionNotFound):
        ask(town, "tea", collection="absent")


def test_nothing_is_searched_where_all_collections_are_excluded(helped):
    helped.write("tea.md", "# Tea")
    helped.update()
    text = (helped.folder / "index.yml").read_text()
    (helped.folder / "index.yml").write_text(text + "    includeByDefault: false\n")
    assert ask(helped, "tea") == Results([], NONE_INCLUDED)


def test_as_many_come_back_as_are_asked_for_if_there_are_so_many(helped):
    for number in range(60):
        helped.write(f"{number}.md", f"# Car {number}\n\nA car of the year {1900 + number}.")
    helped.update()
    helped.embed()
    for options in ({}, RRF):
        for rerank in (False, True):
            answer = ask(helped, "car", limit=50, rerank=rerank, **options)
            assert len(set(files(answer))) == 50
        assert len(found(helped, "car", limit=1000, **options)) == 60


def test_what_a_question_excludes_never_comes_back_nor_takes_the_place_of_others(
    helped, fake, monkeypatch
):
    """No document has the word automobile; those that are excluded are nearer in meaning.

    What is excluded is known only after the question has its vector.
    """
    embedded = threading.Event()
    scored = hybrid_lists.bm25.scored

    def late(*arguments, **options):
        assert embedded.wait(LONG)
        from_thread.run(anyio.wait_all_tasks_blocked)
        return scored(*arguments, **options)

    for number in range(25):
        helped.write(f"red{number}.md", f"Car: vehicle, red door {number}")
    for number in range(3):
        helped.write(f"blue{number}.md", f"A car, blue all over, and much else besides {number}")
    helped.update()
    helped.embed()
    monkeypatch.setattr(hybrid_lists.bm25, "scored", late)
    fake.before = lambda batch, between: embedded.set()
    for question in ("automobile -red", 'automobile -"red door"', "car -red"):
        for options in ({}, RRF):
            embedded.clear()
            forget_questions(helped)
            answer = ask(helped, question, limit=4, **options)
            assert sorted(files(answer)) == ["blue0.md", "blue1.md", "blue2.md"]
            assert all(ranks(result, "vec") != [None] for result in answer)


def test_what_is_excluded_is_no_part_of_what_is_meant(town):
    _, fake = town.engine.models._loaded["embed"]
    for question in ('car -"red door" -tea', "car -red -force", "-red car", "car -(red) "):
        fake.made.clear()
        forget_questions(town)
        ask(town, question)
        assert fake.made == ["car"]


def forget_questions(library):
    library.engine.models._asked.clear()


def test_a_question_that_was_asked_before_is_not_embedded_again(helped, fake):
    helped.write("tea.md", "# Tea\n\nA cup of tea.")
    helped.update()
    helped.embed()
    fake.made.clear()
    for limit in (1, 5):
        assert files(ask(helped, "vec: car\nvec: door", limit=limit)) == ["tea.md"]
    ask(helped, "vec: door\nvec: road")
    vector_search(helped.engine, "car")
    assert [text.rpartition(" ")[2] for text in fake.made] == ["car", "door", "road"]


def test_the_vector_of_a_question_is_that_of_the_model_in_use(town, monkeypatch):
    models = town.engine.models
    space = models.space()
    [first] = models.vectors(space, ["car"])
    again = models.vectors(space, ["door", "car", "door"])
    assert (again[1] == first).all()
    assert (again[0] == again[2]).all()
    other = FakeEmbedder(dimensions=8)
    monkeypatch.setattr(models, "embedder", lambda space: other)
    assert models.vectors(space._replace(fingerprint="other"), ["car"]).shape == (1, 8)
    assert (models.vectors(space, ["car"])[0] == first).all()


def test_what_an_endpoint_made_of_a_question_is_not_remembered(town, monkeypatch):
    """It may have put another model in the place of the one that was asked before."""
    models = town.engine.models
    space = models.space()
    remote = space._replace(
        model=space.model._replace(uri=f"{ENDPOINT}other"), fingerprint="remote"
    )
    for turn in (1, 2):
        other = FakeEmbedder(dimensions=8 * turn)
        monkeypatch.setattr(models, "embedder", lambda space, made=other: made)
        assert models.vectors(remote, ["car"]).shape == (1, 8 * turn)


def test_no_more_questions_are_remembered_than_are_asked_again(town, monkeypatch):
    monkeypatch.setattr("qmd.models.loader.QUESTIONS", 3)
    models = town.engine.models
    space = models.space()
    _, fake = models._loaded["embed"]
    fake.made.clear()
    for text in ("a", "b", "a", "c", "d", "a", "b"):
        models.vectors(space, [text])
        assert len(models._asked) <= 3
    assert fake.made == ["a", "b", "c", "d", "b"]


def test_all_vectors_are_held_from_the_second_question_on(helped, monkeypatch):
    for number in range(10):
        helped.write(f"{number}.md", f"# Drink{number}\n\nWhat drink{number} is made of.")
    helped.update()
    helped.embed()
    read = []
    original = vector_blocks._table

    def table(cursor, name, **given):
        read.append(name)
        return original(cursor, name, **given)

    monkeypatch.setattr(vector_blocks, "_table", table)
    assert found(helped, "vec: drink7", limit=1, **RRF) == ["7.md"]
    assert read == []
    assert found(helped, "vec: drink8", limit=1, **RRF) == ["8.md"]
    assert read == ["embeddings/signs", "embeddings/vectors"]
    helped.engine.vector_indexes._matrix.fingerprint = "of another model"
    assert found(helped, "vec: drink9", limit=1, **RRF) == ["9.md"]
    assert len(read) == 2
    assert helped.engine.vector_indexes._matrix.fingerprint != "of another model"
    assert found(helped, "vec: drink6", limit=1, **RRF) == ["6.md"]


@pytest.mark.skipif(extensions.binary("vss") is None, reason="it is not installed")
def test_a_process_that_stays_asks_the_copy_of_very_many_vectors(helped, monkeypatch):
    for number in range(40):
        helped.write(f"{number}.md", f"# Drink{number}\n\nWhat drink{number} is made of.")
    helped.update()
    helped.embed()
    monkeypatch.setattr("qmd.ranking.hnsw.WORTH", 40)
    monkeypatch.setattr("qmd.ranking.vector_matrix.MOST", 0)
    monkeypatch.setattr("qmd.ranking.nearest.DEPTH", 1)
    monkeypatch.setitem(hybrid_lists.DEPTH, "rrf", 1)
    indexes = helped.engine.vector_indexes
    indexes._stays = True
    monkeypatch.setattr(indexes, "_maker", Mock(failed=True))  # no sidecar can be saved
    asked = []
    original = Shortcut.nearest

    def nearest(*given):
        asked.append(original(*given))
        return asked[-1]

    monkeypatch.setattr(Shortcut, "nearest", nearest)
    assert found(helped, "vec: drink7", limit=1, **RRF) == ["7.md"]
    assert asked == []  # it is being made
    helped.engine.vector_indexes._shortcut[1]._builder.join(LONG)
    assert found(helped, "vec: drink8", limit=1, **RRF) == ["8.md"]
    [near] = asked
    assert near is not None
    assert len(near.chunk_ids) < 40
