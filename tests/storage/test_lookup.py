"""Documents by what people call them, and what is said of a name that none has."""

from __future__ import annotations

import pytest

from qmd.errors import Ambiguous, DocumentNotFound
from qmd.errors.usage import MOST_CANDIDATES
from qmd.operations.documents import SUGGESTED, get, multi_get
from qmd.storage import document_lookup
from qmd.storage.cursor import Cursor


def similar(library, name):
    with pytest.raises(DocumentNotFound) as raised:
        get(library.engine, name)
    return raised.value.similar


def test_names_are_compared_by_their_ends_however_long_they_are(library):
    folders = [f"{letter * 90}/{letter * 90}/{'same/' * 60}" for letter in "xy"]
    library.write(f"{folders[0]}tea.md", "# Tea")
    library.update()
    for count in (1, 40):
        name = folders[1] * count + "zzz.txt"
        assert similar(library, name) == (f"notes/{folders[0]}tea.md",)


def test_a_name_is_like_another_by_its_last_part_or_as_a_whole(library):
    for path in ("tea.md", "work/plan.md", "work/list.md"):
        library.write(path, "# Text")
    library.update()
    assert similar(library, "elsewhere/far/away/tee.md") == ("notes/tea.md",)
    assert similar(library, "notes/wrk/lst.txt") == ("notes/work/list.md",)
    assert similar(library, "nothing/like/it.txt") == ()


@pytest.fixture
def statements(monkeypatch):
    """The names of all statements that are run."""
    names = []
    run = Cursor.run

    def noted(cursor, name, /, **parameters):
        names.append(name)
        return run(cursor, name, **parameters)

    monkeypatch.setattr(Cursor, "run", noted)
    return names


def test_names_like_a_glob_are_not_looked_for(library, statements):
    for path in ("tea.md", "odd[1].md"):
        library.write(path, "# Tea\n\nA cup.")
    library.update()
    given = multi_get(library.engine, "t*.md, none*.md, odd[1].md:3, {tee,coffee}.md:1")
    assert [each.reason or each.file for each in given] == [
        "No documents match: none*.md",
        "No documents match: {tee,coffee}.md:1",
        "notes/tea.md",
        "notes/odd[1].md",
    ]
    assert "documents/similar" not in statements
    multi_get(library.engine, "tee.md:2")
    assert statements.count("documents/similar") == 1


@pytest.mark.parametrize("name", ["/\0/*", "./\0{a,b}.md", "\0*", "a\0", "qmd://notes/%00*"])
def test_a_name_that_no_path_can_have_names_nothing(library, name):
    [missing] = multi_get(library.engine, name, folder=library.root)
    assert missing.reason
    with pytest.raises(DocumentNotFound):
        get(library.engine, name, folder=library.root)


def test_of_many_names_that_are_missing_only_the_first_are_compared(library, statements):
    library.write("tea.md", "# Tea")
    library.update()
    given = multi_get(library.engine, ",".join([*(f"te{n}.md" for n in range(9)), "tea.md"]))
    hinted = [each.reason for each in given if "Did you mean" in (each.reason or "")]
    assert hinted == [
        f"Document not found: te{n}.md\n\nDid you mean one of these?\n  - notes/tea.md"
        for n in range(SUGGESTED)
    ]
    assert [each.reason or each.file for each in given[SUGGESTED:]] == [
        *(f"Document not found: te{n}.md" for n in range(SUGGESTED, 9)),
        "notes/tea.md",
    ]
    assert statements.count("documents/similar") == SUGGESTED


def test_a_name_that_very_many_have_is_told_with_the_first_of_them(library):
    paths = [f"{n:02}/index.md" for n in range(MOST_CANDIDATES + 10)]
    for path in paths:
        library.write(path, f"# {path}")
    library.update()
    with pytest.raises(Ambiguous) as raised:
        get(library.engine, "index.md")
    head, *listed, blank, last = str(raised.value).split("\n")
    assert head == f"index.md names {len(paths)} documents:"
    assert listed == [*(f"  - notes/{path}" for path in paths[:MOST_CANDIDATES]), "  - 10 more"]
    assert (blank, last) == ("", "Use one of these names.")
    assert raised.value.candidates == tuple(f"notes/{path}" for path in paths)


ODD_PATHS = (
    "tea.md",
    "a/tea.md",
    "a/b/tea.MD",
    "A/b/tea.md",
    "notes/a/tea.md",
    "a.b/c/tea.md",
    "a/[b]/tea.md",
    "\u212a/b/tea.md",  # KELVIN SIGN, which composes to K
    "cafe\u0301/tea.md",
    "caf\u00e9s/tea.md",
    "a/%41/tea.md",
)

GLOBS = (
    *("*.md", "a/*.md", "a/b/*.md", "notes/a/*.md", "notes/notes/a/*", "not*/a/b/*", "K/b/*.md"),
    *("caf\u00e9/*.md", "cafe/*", "a/[[]b]/*.md", "a/\\[b]/*", "a/{b,x}/*.md", "a//b/*.md"),
    *("./a/*.md", "a/./b/*", "a/../a/*", "a/%41/*", "a/**/tea.md", "qmd://notes/a/*.md", "/a/*"),
    *("a.b/c/*.md", "a/b/te?.md:1", "a.b/*/tea.md", "A/b/*", "notes/*/b/*.md", "a/b/*.MD"),
)


@pytest.mark.parametrize("glob", GLOBS)
def test_a_glob_finds_in_its_folder_what_it_finds_among_all_documents(library, monkeypatch, glob):
    for number, path in enumerate(ODD_PATHS):
        library.write(path, f"# Tea {number}")
    library.update()

    def files():
        found = multi_get(library.engine, glob, folder=library.root)
        return [(each.file, each.reason) for each in found]

    in_folder = files()
    monkeypatch.setattr("qmd.text.globs.literal_folder", lambda _: "")
    assert in_folder == files()


def test_a_glob_reads_the_documents_of_its_folder_alone(library, monkeypatch):
    for path in ("a/tea.md", "b/tea.md"):
        library.write(path, "# Tea")
    library.update()
    listed = []
    read = document_lookup.documents_below

    def noted(*args, **options):
        listed.append([each.path for each in read(*args, **options)])
        return read(*args, **options)

    monkeypatch.setattr(document_lookup, "documents_below", noted)
    for glob in ("a/*.md", "notes/a/*.md"):
        assert [each.file for each in multi_get(library.engine, glob)] == ["notes/a/tea.md"]
    assert listed == [["a/tea.md"]] * 2
