"""Passages for a question, within a budget of tokens."""

from __future__ import annotations

import json

import anyio
import pytest
from hypothesis import given, strategies

from qmd.operations.packing import RESERVED
from qmd.operations.passages import passages
from qmd.text.headings import SectionHeading, path_at, stored_headings
from qmd.text.tokens import cut_to_tokens, estimated_tokens
from tests.surfaces.tools.calling import call, text
from tests.surfaces.tools.conftest import toolbox  # noqa: F401

STEEPING = "Steep the green leaves for two minutes. The water has eighty degrees, and never boils."

TEA = f"""\
# Tea

A drink.

## Brewing

{STEEPING}

### Pots

Warm the pot before the leaves go in.

## Storing

Keep it dark. Air and light are no good for it.
"""


@pytest.fixture
def notes(library):
    library.write("tea.md", TEA)
    library.write("pool.md", "# Pool\n\nThe water of the pool has twenty degrees.\n")
    library.update()
    return library


def ask(library, question, **options):
    async def work():
        return await passages(library.engine, question, mode="fast", **options)

    return anyio.run(work)


def test_a_passage_is_a_section_with_its_place_and_the_headings_above(notes):
    best = ask(notes, "steep green leaves", path="notes/tea.md")[0]
    assert (best.place, best.headings) == ("notes/tea.md:5-7", ("Tea",))
    assert best.body == f"## Brewing\n\n{STEEPING}"
    below = ask(notes, "warm the pot")[0]
    assert (below.place, below.headings) == ("notes/tea.md:9-11", ("Tea", "Brewing"))


def test_passages_that_touch_are_one(notes):
    found = ask(notes, "warm pot, steep leaves two minutes")
    assert found[0].place == "notes/tea.md:5-11"
    assert found[0].body.count("Steep") == 1


def test_the_opening_of_a_document_takes_short_sections_that_follow(library):
    remarks = "It saves time. " * 30
    library.write(
        "seal.md", f"# Seal\n\nMarks a file.\n\n## Syntax\n\n`seal`\n\n## Remarks\n\n{remarks}\n"
    )
    library.update()
    [opening] = ask(library, "marks a file")
    assert opening.place == "notes/seal.md:1-7"
    assert opening.body.endswith("## Syntax\n\n`seal`")


def test_words_that_stand_together_as_in_the_question_choose_among_passages(library):
    apart = (
        "The file has a header. This line is read more than once, and only the header is a file."
    )
    together = "The header file is read only once. A line is this more than the file has, and."
    library.write(
        "c.md", f"# Reading\n\n{'Other text. ' * 80}\n\n## A\n\n{apart}\n\n## B\n\n{together}\n"
    )
    library.update()
    [found] = ask(library, "What has a header file that is read only once?", max_tokens=60)
    assert found.body.startswith("## B\n\nThe header file")


def test_the_text_has_a_number_and_a_place_for_each_passage(notes):
    found = ask(notes, "degrees of water")
    assert [each.file for each in found] == ["notes/pool.md", "notes/tea.md"]
    assert found.text.startswith("[1] notes/pool.md:1-3 Pool\n# Pool\n")
    assert "\n[2] notes/tea.md:5-7 Tea\n## Brewing\n" in found.text


def test_what_finds_no_room_is_named_with_what_gets_it(library):
    for number in range(9):
        words = " ".join(f"word{number}x{each}" for each in range(60))
        library.write(f"n{number}.md", f"# Note {number}\n\nThe kettle. {words}\n")
    library.update()
    found = ask(library, "kettle", max_tokens=400)
    assert estimated_tokens(found.text) <= 400
    assert len(found) + len(found.left_out) == 9
    named = found.left_out[0]
    assert f"[Left out: {named.file}:{named.line}, " in found.text
    assert found.text.endswith("more; raise maxTokens, or get one of them]")
    assert len(ask(library, "kettle", max_tokens=5_000)) == 9


def test_a_passage_that_is_too_long_is_cut_and_says_so(library):
    library.write("long.md", "# Long\n\n" + "kettle steam pot " * 400 + "\n")
    library.update()
    found = ask(library, "kettle steam", max_tokens=200)
    assert found[0].body.endswith("[… cut]")
    assert 200 - RESERVED - 20 <= estimated_tokens(found.text) <= 200


def test_what_two_documents_say_alike_is_told_once(library):
    said = "The heron stands in the reeds of the northern bank from March on, and waits for frogs."
    library.write("birds.md", f"# Birds\n\n{said}\n")
    other = " ".join(f"Line {n} about barges, locks and their keepers." for n in range(60))
    library.write("river.md", f"# River\n\n{other}\n\n## Banks\n\n{said}\n")
    library.update()
    found = ask(library, "heron in the reeds")
    assert sum(said in each.body for each in found) == 1
    assert "(also notes/" in found.text


def test_passages_are_chosen_as_documents_of_searches_are(notes):
    assert [each.file for each in ask(notes, "degrees", path="notes/pool*")] == ["notes/pool.md"]
    found = ask(notes, "zebra", exact=True)
    assert (list(found), found.text) == ([], 'No results found for "zebra"')


def test_the_words_of_headings_choose_among_the_passages_of_a_document(library):
    steps = f"Run the setup{', and wait' * 9}.\n\n" + "Other text. " * 100
    parts = [f"## On {name}\n\n{steps}\n" for name in ("mac", "linux", "bsd")]
    library.write("setup.md", "# Manual\n\n" + "\n".join(parts))
    library.update()
    [found] = ask(library, "run the setup on linux", max_tokens=110)
    assert found.headings == ("Manual",)
    assert found.body.startswith("## On linux")


def test_the_tool_says_all_in_its_text(toolbox):  # noqa: F811
    reply = call(toolbox, "context", query="boil", maxTokens=100, mode="fast")
    assert text(reply) == (
        "[1] notes/tea.md:1-4 Green tea\n# Green tea\n\nBrew it at 80 degrees.\nNever boil it.\n"
    )
    [record] = reply.structured["passages"]
    assert record["place"] == "notes/tea.md:1-4"


def test_the_command_writes_passages_or_json(qmd, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "tea.md").write_text(TEA)
    qmd("collection", "add", folder)
    code, out, _ = qmd("passages", "warm", "the", "pot", "--mode", "fast")
    assert (code, out.splitlines()[0]) == (0, "[1] notes/tea.md:9-11 Tea > Brewing")
    code, out, _ = qmd("passages", "warm the pot", "--mode", "fast", "--json")
    assert [each["line"] for each in json.loads(out)] == [9]
    assert qmd("passages", "zebra", "--exact", "--mode", "fast")[1] == "No results found.\n"


def test_a_budget_out_of_bounds_is_refused(qmd):
    code, _, err = qmd("passages", "tea", "--max-tokens", "3")
    assert code == 1
    assert "--max-tokens takes" in err


@given(strategies.text(max_size=200), strategies.integers(-3, 60))
def test_a_cut_text_has_no_more_tokens_than_asked_for(whole, most):
    cut = cut_to_tokens(whole, most)
    assert estimated_tokens(cut) <= max(0, most)
    assert whole.encode(errors="replace").decode().startswith(cut)


def test_the_way_to_a_line_are_the_headings_above_it():
    headings = stored_headings("1t232", "1 2 4 6 9", "Tea\x1egreen\x1eA\x1eB\x1eC")
    assert headings[1] == SectionHeading(4, 2, "A")
    assert path_at(headings, 8) == ("Tea", "A", "B")
    assert path_at(headings, 9) == ("Tea",)
    assert path_at(headings, 1) == ()
