"""The tools that give documents."""

from __future__ import annotations

from functools import partial

import anyio
import pytest

from qmd.surfaces.tools import reply_text
from qmd.surfaces.tools.reply import Code, Reply, Resource
from tests.surfaces.tools.calling import call, text


def test_a_document_comes_with_its_names(toolbox):
    [found] = call(toolbox, "get", file="deep/ünï code.md").content
    assert found == Resource(
        "qmd://notes/deep/%C3%BCn%C3%AF%20code.md",
        "notes/deep/ünï code.md",
        "Umlauts",
        "# Umlauts\n\nÜber den Tee.\n",
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"file": "tea.md:3"}, "Brew it at 80 degrees.\nNever boil it."),
        ({"file": "tea.md:3:1"}, "Brew it at 80 degrees."),
        ({"file": "tea.md:3:1", "fromLine": 1, "maxLines": 9}, "Brew it at 80 degrees."),
        ({"file": "tea.md", "fromLine": -2, "maxLines": 1}, "# Green tea"),
        ({"file": "tea.md", "fromLine": 0, "maxLines": 1}, "# Green tea"),
        ({"file": "tea.md:0:1"}, "# Green tea"),
        ({"file": "tea.md:0", "fromLine": 4, "maxLines": 1}, "# Green tea"),
        ({"file": "tea.md", "from_line": 4, "lineNumbers": "true"}, "4: Never boil it."),
    ],
)
def test_some_lines_of_a_document(toolbox, arguments, expected):
    [found] = call(toolbox, "get", **arguments).content
    assert found.text == expected


def test_a_context_stands_above_the_document(faked, toolbox):
    faked.configure(more="global_context: All about tea.")
    [found] = call(toolbox, "get", file="tea.md:3:1").content
    assert found.text == "<!-- Context: All about tea. -->\n\nBrew it at 80 degrees."


def test_a_missing_document_comes_with_those_like_it(toolbox):
    reply = call(toolbox, "get", file="notes/tee.md")
    assert reply.error is Code.NOT_FOUND
    assert text(reply).startswith(
        "Document not found: notes/tee.md\n\nDid you mean one of these?\n  - notes/tea.md"
    )


def test_an_ambiguous_name_is_told_with_all_that_have_it(faked, toolbox):
    faked.write("a/same.md", "# One\n\nFirst.")
    faked.write("b/same.md", "# Two\n\nSecond.")
    faked.update()
    reply = call(toolbox, "get", file="same.md")
    assert reply.error is Code.AMBIGUOUS_PATH
    assert "notes/a/same.md" in text(reply)
    assert "notes/b/same.md" in text(reply)


@pytest.mark.parametrize("name", ["/a\0b", "~/\0", "notes/\0", "a/" * 1_000_000, "x" * 1_000_000])
def test_a_name_that_no_file_can_have_is_not_found(toolbox, name):
    for reply in (call(toolbox, "get", file=name), call(toolbox, "multi_get", pattern=name)):
        assert reply.error is Code.NOT_FOUND


def test_nothing_outside_the_index_is_read(faked, toolbox):
    outside = faked.folder / "secret.md"
    outside.write_text("secret")
    for name in (str(outside), "../secret.md", "notes/../../secret.md", f"file://{outside}"):
        assert call(toolbox, "get", file=name).error is Code.NOT_FOUND


def test_several_documents_come_after_what_is_missing_and_what_is_too_large(faked, toolbox):
    faked.write("big.md", "# Big\n\n" + "x" * 15_000)
    faked.update()
    reply = call(toolbox, "multi_get", pattern="tea.md, nothing.md, big.md, notes/pool.md")
    missing, skipped, *found = reply.content
    assert missing.startswith("Document not found: nothing.md")
    assert skipped == (
        "[SKIPPED: notes/big.md - File too large (15KB). "
        "Use 'qmd get' with file=\"notes/big.md\" to retrieve.]"
    )
    assert [each.name for each in found] == ["notes/tea.md", "notes/pool.md"]


def test_several_documents_are_cut_with_what_is_left(toolbox):
    reply = call(toolbox, "multi_get", pattern="{tea,pool}.md", maxLines=3, lineNumbers=True)
    texts_found = {each.name: each.text for each in reply.content}
    assert texts_found["notes/tea.md"] == (
        "1: # Green tea\n2: \n3: Brew it at 80 degrees.\n\n[... truncated 1 more lines]"
    )
    assert "truncated" not in texts_found["notes/pool.md"]


def test_a_pattern_without_a_match_is_an_error(toolbox):
    reply = call(toolbox, "multi_get", pattern="journals/*.md")
    assert reply == Reply(("No files matched pattern: journals/*.md",), None, Code.NOT_FOUND)


def test_an_answer_that_is_full_says_how_to_go_on(faked, toolbox):
    line = "word " * 20
    faked.write("huge.md", "\n".join(f"{n} {line}" for n in range(1, 5001)) + "\n")
    faked.update()
    lines: list[str] = []
    while len(lines) < 5000:
        [found] = call(toolbox, "get", file="huge.md", fromLine=len(lines) + 1).content
        assert len(found.text.encode()) <= reply_text.MOST_BYTES
        body, _, note = found.text.partition("\n\n[... ")
        lines += body.rstrip("\n").split("\n")
        if note:
            assert note == f"the answer is full; go on with fromLine={len(lines) + 1}]"
    assert [each.split()[0] for each in lines] == [str(n) for n in range(1, 5001)]


def test_where_an_answer_goes_on_does_not_depend_on_its_context(faked, toolbox):
    faked.configure(more="global_context: |\n  All\n  about --> tea.")
    faked.write("huge.md", "\n".join(f"{n} " + "word " * 20 for n in range(1, 5001)))
    faked.update()
    [found] = call(toolbox, "get", file="huge.md", full=True).content
    body, _, note = found.text.rpartition("\n\n[... ")
    assert (
        note
        == f"the answer is full; go on with fromLine={int(body.split(chr(10))[-1].split()[0]) + 1}]"
    )


def test_a_line_that_is_too_long_is_cut(faked, toolbox):
    long = "é" * 200_000
    faked.write("line.md", f"{long}\n{long}\n")
    faked.update()
    for line, note in ((1, "go on with fromLine=2]"), (2, "it is the last]")):
        [found] = call(toolbox, "get", file="line.md", fromLine=line).content
        assert len(found.text.encode()) <= reply_text.MOST_BYTES
        assert found.text.endswith(f"[... line {line} is too long for an answer; {note}")


def test_many_documents_that_do_not_fit_are_named(faked, toolbox):
    for n in range(40):
        faked.write(f"many/{n}.md", f"# {n}\n\n" + "word " * 1900)
    faked.update()
    reply = call(toolbox, "multi_get", pattern="many/*.md")
    found = [each for each in reply.content if isinstance(each, Resource)]
    left_out = [each for each in reply.content if isinstance(each, str)]
    assert len(found) + len(left_out) == 40
    assert sum(len(each.text.encode()) for each in found) <= reply_text.MOST_BYTES
    assert all("The answer is full" in each for each in left_out)
    assert left_out


def test_a_resource_has_its_lines_numbered(toolbox):
    found = anyio.run(partial(toolbox.resource, "notes/deep/%C3%BCn%C3%AF%20code.md"))
    assert found.text == "1: # Umlauts\n2: \n3: Über den Tee."
