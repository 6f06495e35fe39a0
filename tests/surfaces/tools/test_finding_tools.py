"""Tools by which agents find their way: folders, sections, ranges of lines."""

from __future__ import annotations

import os
import re

import pytest

from qmd.surfaces.tools.dispatch import Toolbox
from qmd.surfaces.tools.reply import Code
from tests.surfaces.tools.calling import call, text

TEA = "# Tea\n\nA drink.\n\n## Brewing\n\nEighty degrees.\n\n## Storing\n\nKeep it dark.\n"


@pytest.fixture
def toolbox(faked):
    faked.write("tea.md", TEA)
    for day in range(3):
        faked.write(f"journal/2024/0{day}.md", f"# Day {day}\n")
    faked.write("journal/index.md", "# Journal\n")
    faked.update()
    return Toolbox(faked.engine)


def told(reply):
    return text(reply).split("\n")


def test_without_a_path_collections_are_listed(toolbox):
    reply = call(toolbox, "ls")
    assert text(reply) == "notes/ 5 documents"
    assert reply.structured["folders"] == [{"folder": "notes/", "documents": 5}]


@pytest.mark.parametrize("path", ["notes", "notes/", "qmd://notes", "//notes/"])
def test_a_folder_has_folders_with_counts_and_documents(toolbox, path):
    reply = call(toolbox, "ls", path=path)
    folder, document = told(reply)
    assert folder == "notes/journal/ 4 documents"
    assert document.startswith("notes/tea.md 20")
    assert document.endswith(f" {len(TEA)} B Tea")
    assert reply.structured["documents"][0]["file"] == "notes/tea.md"


def test_a_long_listing_says_how_to_go_on(toolbox):
    reply = call(toolbox, "ls", path="notes/journal/2024", limit=2)
    cursor = reply.structured["nextCursor"]
    assert told(reply)[2] == f"[1 more; go on with cursor={cursor}]"
    rest = call(toolbox, "ls", path="notes/journal/2024", limit=2, cursor=cursor)
    assert rest == call(toolbox, "ls", path="notes/journal/2024", limit=2, offset=2)
    [line] = told(rest)
    assert line.startswith("notes/journal/2024/02.md ")
    assert [each["file"] for each in rest.structured["documents"]] == ["notes/journal/2024/02.md"]
    across = call(toolbox, "ls", path="notes", limit=1, offset=1).structured
    assert (across["folders"], len(across["documents"])) == ([], 1)


def test_what_has_changed_comes_newest_first(toolbox, faked):
    for number, name in enumerate(("tea.md", "journal/index.md")):
        os.utime(faked.root / name, (1.9e9 + number, 1.9e9 + number))
        faked.write(name, "# Changed\n")
        os.utime(faked.root / name, (1.9e9 + number, 1.9e9 + number))
    faked.update()
    names = [line.split()[0] for line in told(call(toolbox, "ls", since="2030-01-01"))]
    assert names == ["notes/journal/index.md", "notes/tea.md"]
    assert text(call(toolbox, "ls", path="notes/journal/2024", since="2030")) == "Nothing there."
    assert call(toolbox, "ls", since="soon").error is Code.INVALID_PARAMS


def test_a_folder_that_is_not_there_is_an_error(toolbox):
    assert call(toolbox, "ls", path="nots").error is Code.UNKNOWN_COLLECTION
    assert call(toolbox, "ls", path="notes/jurnal").error is Code.NOT_FOUND


def test_a_folder_that_is_got_is_listed(toolbox):
    assert call(toolbox, "get", file="notes/journal") == call(toolbox, "ls", path="notes/journal")
    assert call(toolbox, "get", file="notes/jurnal").error is Code.NOT_FOUND


@pytest.mark.parametrize("name", ["notes/tea.md#Brewing", "tea.md#brewing", "notes/tea.md:5-8"])
def test_a_section_is_got_by_its_heading_or_its_lines(toolbox, name):
    [found] = call(toolbox, "get", file=name).content
    assert found.text == "## Brewing\n\nEighty degrees.\n"


@pytest.mark.parametrize(
    "name",
    ["qmd:notes/tea.md", "QMD:notes/tea.md:1:1", "qmd://notes%2Ftea.md", "qmd://notes%2ftea.md"],
)
def test_a_uri_is_understood_without_slashes_and_with_encoded_ones(toolbox, name):
    [found] = call(toolbox, "get", file=name).content
    assert found.uri == "qmd://notes/tea.md"


@pytest.mark.parametrize("pattern", ["te[a,b].md", "nothing.md, te[!,b].md"])
def test_a_comma_of_a_character_class_does_not_split(toolbox, pattern):
    assert call(toolbox, "multi_get", pattern=pattern).content[-1].name == "notes/tea.md"


@pytest.mark.parametrize("tool", ["search", "query"])
def test_results_below_the_least_score_are_told_from_none(toolbox, tool):
    [found] = call(toolbox, tool, query="eighty").structured["results"]
    score = found["score"]
    assert score < 1
    none, *notices = call(toolbox, tool, query="eighty", minScore=1).content
    assert none == 'No results found for "eighty"'
    assert f"1 result below minScore 1; the best has {score:.2f}." in notices
    others = call(toolbox, tool, query="zebra", minScore=1).content
    assert not any("below minScore" in each for each in others)


def test_a_section_of_a_docid_is_got_too(toolbox):
    docid = call(toolbox, "search", query="eighty").structured["results"][0]["docid"]
    [found] = call(toolbox, "get", file=f"{docid}#Storing").content
    assert found.text == "## Storing\n\nKeep it dark."


def test_a_heading_that_is_not_there_is_answered_with_those_that_are(toolbox):
    reply = call(toolbox, "get", file="tea.md#Boiling")
    assert reply.error is Code.INVALID_PARAMS
    assert text(reply) == (
        "notes/tea.md has no heading 'Boiling'.\n\nIt has: Tea, Brewing, Storing."
    )


def test_a_document_whose_name_has_the_mark_comes_first(toolbox, faked):
    faked.write("tea.md#Brewing.md", "# Whole\n")
    faked.update()
    [found] = call(toolbox, "get", file="notes/tea.md#Brewing.md").content
    assert found.text == "# Whole\n"


def test_the_command_lists_what_has_changed(qmd, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "tea.md").write_text(TEA)
    qmd("collection", "add", folder)
    assert "notes/tea.md" in qmd("ls", "notes", "--since", "1d")[1]
    assert qmd("ls", "--since", "2099-01-01")[1] == ""
    code, _, err = qmd("ls", "--since", "soon")
    assert (code, "--since takes a date" in err) == (1, True)
    assert qmd("get", "--full", "tea.md")[1] == TEA
    assert qmd("get", "tea.md#Storing")[1] == "## Storing\n\nKeep it dark.\n"


def test_a_long_document_comes_with_its_outline_and_its_first_part(library):
    sections = [f"## Part {number}\n\n{'Words of it. ' * 100}\n" for number in range(40)]
    library.write("long.md", "# Long\n\n" + "\n".join(sections))
    library.update()
    toolbox = Toolbox(library.engine)
    part, outline = call(toolbox, "get", file="notes/long.md").content
    assert len(part.text.encode()) <= 8 * 1024
    following = int(re.search(r"go on with fromLine=(\d+)]$", part.text)[1])
    assert "\n1: Long\n  3: Part 0\n  7: Part 1\n" in outline
    assert "notes/long.md#HEADING" in outline
    [rest] = call(toolbox, "get", file="notes/long.md", fromLine=following).content
    [whole] = call(toolbox, "get", file="notes/long.md", full=True).content
    read = part.text.rpartition("\n\n[...")[0]
    assert whole.text.rstrip("\n") == f"{read}\n{rest.text}".rstrip("\n")
    [section] = call(toolbox, "get", file="notes/long.md#Part 39").content
    assert section.text.startswith("## Part 39\n")
