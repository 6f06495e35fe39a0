"""Kinds of files: by their names, by their bytes, and as groups in masks."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from qmd.embedding.code_chunker import _LANGUAGES
from qmd.ingest.readers.registry import PLAIN, chosen_reader
from qmd.text import kinds
from qmd.text.globs import taking
from tests.ingest import reading

PDF = b"%PDF-1.7\n1 0 obj\n\0"
DOCX = b"PK\x03\x04...\0" + b"word/document.xml"
PNG = b"\x89PNG\r\n\x1a\n\0\0"
ODT = b"PK\x03\x04" + b"\0" * 26 + b"mimetypeapplication/vnd.oasis.opendocument.textPK"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0"


def test_no_suffix_stands_for_two_kinds_and_every_reader_is_there():
    suffixes = [suffix for kind in kinds.KINDS for suffix in kind.suffixes.split()]
    assert len(suffixes) == len(set(suffixes))
    assert all(suffix == suffix.lower() and suffix[0] == "." for suffix in suffixes)
    for kind in (*kinds.KINDS, *kinds.UNNAMED):
        if kind.reader:
            assert callable(import_module(f"qmd.ingest.readers.{kind.reader}").read)
    tags = [(kind.reader, kind.tag) for kind in (*kinds.KINDS, *kinds.UNNAMED) if kind.reader]
    assert len(dict(tags)) == len(set(tags))


def test_whatever_has_a_grammar_is_code():
    assert {kinds.kind_of(f"a{suffix}").group for suffix in _LANGUAGES} == {kinds.CODE}


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("tea.md", b"# Tea", None),
        ("tea.md", PDF, "PDF"),
        ("notes.txt", PDF, "PDF"),
        ("report.pdf", PDF, "PDF"),
        ("report.PDF", b"\n\n" + PDF, "PDF"),
        ("letter.txt", DOCX, "Word"),
        ("letter.docx", ODT, "OpenDocument"),
        ("letter.docx", b"PK\x03\x04 of something else", "Word"),
        ("a.rtf", b"{\\rtf1 text}", "RTF"),
        ("table.csv", b"a,b\n1,2\n", "CSV"),
        ("TABLE.CSV", b"a,b\n1,2\n", "CSV"),
        ("wide.txt", "Tee für zwei".encode("utf-16"), "text"),
        ("wide.txt", "Tee für zwei".encode("utf-16-le"), "text"),
        ("marks.html", b"<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>", "bookmarks"),
        ("page.html", b"<!DOCTYPE html>", "HTML"),
        ("Mail/cur/1716200000.M1P2.host:2,S", b"From: ann", "mail"),
        ("Makefile", b"all:\n", None),
    ],
)
def test_bytes_decide_before_the_suffix_does(name, data, kind):
    choice = chosen_reader(name, data)
    assert choice.problem is None
    assert (choice.kind.name if choice.kind else None) == kind


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("tea.md", PNG, "not a text file but a PNG picture"),
        ("pic", PNG, "not a text file but a PNG picture"),
        ("tea.md", b"\0\1\2\3", "not a text file"),
        ("table.csv", b"a,b\0\1\n", "not a text file"),
        ("a.pdf", b"<html>an error page</html>", "not a PDF, in spite of its name"),
        ("a.docx", b"text", "not a DOCX file, in spite of its name"),
        ("a.xlsx", b"text", "not an XLSX file, in spite of its name"),
        ("a.zip", b"PK\x03\x04 of something else", "not a text file but a zip archive"),
        ("a.docx", OLE, "encrypted, or of an Office from before 2007"),
        ("a.md", b"\x1f\x8b\x08text without a zero", "not a text file but a gzip archive"),
    ],
)
def test_what_is_no_text_is_never_taken_for_some(name, data, problem):
    assert chosen_reader(name, data).problem == problem


def test_an_empty_file_of_any_name_is_empty_and_no_more():
    for name in ("a.pdf", "a.docx", "a.md", "a.csv"):
        assert chosen_reader(name, b"") == PLAIN
        assert chosen_reader(name, b" \n") == PLAIN


def test_groups_stand_for_kinds_in_masks():
    documents, code, everything = map(taking, ("documents", "code", "all"), ((),) * 3)
    assert documents("a/b.PDF")
    assert documents("UPPER.MD")
    assert not documents("a.py")
    assert not documents("a.csv")
    assert not documents(".hidden/a.md")
    assert not documents("a.md/b")
    assert code("a.py")
    assert not code("a.md")
    assert all(map(everything, ("a.md", "a.py", "a.csv")))
    assert not everything("a.png")
    both = taking("documents,**/*.foo", ["drafts/"], ["*.bar"])
    assert both("a/b.foo")
    assert both("a/b.bar")
    assert both("a.md")
    assert not both("drafts/a.md")
    assert not taking("**/*.md", (), ["*.bar"])("a.bar")


@pytest.mark.parametrize(
    ("mask", "path", "is_taken"),
    [
        ("**/*.md", "A/UPPER.MD", True),
        ("**/*.MD", "lower.md", True),
        ("**/*.{md,txt}", "a/B.Txt", True),
        ("docs/*.md", "docs/A.MD", True),
        ("docs/*.md", "DOCS/a.md", False),
        ("**/README.md", "readme.md", False),
        ("**/*.md", "a.mdx", False),
    ],
)
def test_suffixes_match_however_they_are_written(mask, path, is_taken):
    assert taking(mask, ())(path) is is_taken


def test_readers_of_other_packages_are_found_without_loading_them(tmp_path, monkeypatch):
    assert kinds.kind_of("a.echo") is None
    before = kinds.stamp()
    reading.install(tmp_path, monkeypatch)
    kind = kinds.kind_of("a.ECHO")
    assert (kind.reader, kind.tag) == ("oddreaders:echo", "oddreaders/echo 1.0")
    assert taking("documents", ())("a.echo")
    assert chosen_reader("a.echo", PNG).kind == kind
    assert kinds.stamp() != before
    assert "oddreaders" not in sys.modules


def test_a_search_loads_no_reader():
    code = """
import sys
import qmd.operations.index, qmd.ranking.results, qmd.surfaces.cli, qmd.ingest.walk
print([name for name in sys.modules if name.startswith("qmd.ingest.readers")])
print([name for name in sys.modules if name in ("importlib.metadata", "lxml", "pypdfium2")])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n[]\n"


@pytest.fixture(autouse=True)
def _anew():
    yield
    kinds.by_suffix.cache_clear()
