"""A long text is stored in pieces, and answers as one in one piece does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.errors import UsageError
from qmd.ingest import backfill, retokenizer, stale_chunks
from qmd.ingest.verify import FACTS, prove
from qmd.operations.browse import newest
from qmd.operations.cleanup import cleanup
from qmd.operations.documents import get, multi_get
from qmd.operations.exchange import run_export, run_import
from qmd.operations.facets import facets
from qmd.operations.grep import grep
from qmd.operations.links import links
from qmd.operations.reading import open_document
from qmd.operations.search import search
from qmd.operations.sql import sql
from qmd.storage import long_texts
from tests.library import staying_attached

LINES = "".join(
    f"Line {number} with a [[pot]] and #tag{number % 3}, é 茶 🍵.\n" for number in range(30)
)
TEXTS = {
    "long.md": "---\ntitle: Long\ntags: [leaf]\n---\n# Tea\n\n"
    f"{LINES}## Kettle\n\nA rare kettle.\n",
    "open.md": f"# Open\n\n{LINES}The last line is not ended: a rare kettle",
    "crlf.md": f"# Crlf\n\n{LINES}".replace("\n", "\r\n"),
    "wide.md": "wide " + "word 茶 " * 200 + "a -> b " + "word é " * 100 + "\nand a kettle\n",
    "pot.md": "# Pot\n\nA pot for a kettle. See [long](long.md#kettle).\n",
    "copy.md": "# Pot\n\nA pot for a kettle. See [long](long.md#kettle).\n",
    "short.md": "# Short\n\nA -> b.\n",
}
QUERIES = ("kettle", '"rare kettle"', "tag1 -wide", "line 29", "茶", "->", "tag:leaf kettle", "é")
VIEWS = ("documents", "broken_links", "postings")


@pytest.fixture
def small(monkeypatch):
    """Limits that short texts exceed."""
    monkeypatch.setattr(long_texts, "LIMIT", 300)
    monkeypatch.setattr(long_texts, "PIECE", 70)
    monkeypatch.setattr(long_texts, "TOGETHER", 3)
    monkeypatch.setattr(long_texts, "WRITTEN", 4)
    monkeypatch.setattr("qmd.operations.grep.LINES_AHEAD", 2)


@pytest.fixture
def whole(new_library):
    """An index whose texts are in one piece."""
    made = filled(new_library())
    yield made
    made.engine.close()


@pytest.fixture
def cut(whole, library, small):
    """An index of the same texts, of which some are in pieces."""
    return filled(library)


def filled(library):
    for path, text in TEXTS.items():
        (library.root / path).write_bytes(text.encode())
    library.update()
    return library


def in_pieces(library):
    return {
        path
        for (path,) in library.ask(
            "select path from documents semi join text_pieces using (hash) order by path"
        )
    }


def part(engine, name, first, count):
    try:
        return get(engine, name, first=first, count=count)
    except UsageError as error:
        return str(error)


def rows(library, query):
    return list(sql(library.engine, query))


def answers(library):
    """All that an index says of its texts."""
    with staying_attached(library.engine.database):
        return _answers(library.engine)


def _answers(engine):
    said = {
        f"search {query} {full}": list(search(engine, query, limit=9, full=full))
        for query in QUERIES
        for full in (False, True)
    }
    for path in TEXTS:
        for first in (None, 1, 2, 7, 31, 32, 33, 34, 35, 36, 38, 40):
            for count in (None, 1, 3, 40):
                said[f"get {path} {first} {count}"] = part(engine, path, first, count)
        said[f"open {path}"] = open_document(engine, f"notes/{path}").body
    said["section"] = get(engine, "notes/long.md#Kettle")
    said["several"] = list(multi_get(engine, "*.md", largest=10_000))
    said["lines of several"] = list(multi_get(engine, "*.md:30:9", largest=10_000))
    for pattern in ("kettle", "Line 1. .*é", "^$", r"a -> b word é.*\z", "^Line 2.*9"):
        said[f"grep {pattern}"] = list(grep(engine, pattern, before=1, after=1))
        said[f"few of {pattern}"] = list(grep(engine, pattern, before=9, max_count=1, limit=3))
        said[f"not {pattern}"] = list(grep(engine, pattern, invert=True))
    said["facets"] = facets(engine)
    said["links"] = links(engine, "notes/long.md")
    said["openings"] = sorted((each.file, each.opening) for each in newest(engine, limit=20))
    return said


def answers_in_sql(library):
    """Ask each view in SQL, and return the rows."""
    said = {}
    for view in VIEWS:
        columns = "* exclude (document_id, modified, date)" if view == "documents" else "*"
        columns = columns if view == "documents" else "* exclude (document_id)"
        said[f"sql {view}"] = rows(library, f"select {columns} from {view} order by all")
    said["matching"] = rows(library, "select file from documents where body like '%-> b%'")
    return said


def test_it_answers_as_one_in_one_piece_does(whole, cut):
    assert in_pieces(whole) == set()
    assert in_pieces(cut) == {"long.md", "open.md", "crlf.md", "wide.md"}
    said, expected = answers(cut), answers(whole)
    assert said.keys() == expected.keys()
    for key, value in expected.items():
        assert said[key] == value, key
    assert answers_in_sql(cut) == answers_in_sql(whole)
    assert cut.problems() == []
    assert prove(cut.engine.database) == dict.fromkeys(FACTS, 0)


LONG = {"long.md", "open.md", "crlf.md", "wide.md"}


def test_it_leaves_and_comes_back_in_pieces(whole, cut, new_library, tmp_path):
    exported = []
    for name, library in (("whole", whole), ("cut", cut)):
        run_export(library.engine, tmp_path / name)
        files = str(tmp_path / name / "documents" / "**" / "*.parquet")
        columns = "path, title, hash, metadata, tags, links, body"
        exported.append(library.ask(f"select {columns} from read_parquet('{files}') order by path"))
    assert exported[0] == exported[1]
    assert {path for path, *_ in exported[0]} == TEXTS.keys()
    other = new_library()
    run_import(other.engine, tmp_path / "whole")
    assert in_pieces(other) == LONG
    assert other.problems() == []
    assert prove(other.engine.database) == dict.fromkeys(FACTS, 0)
    assert get(other.engine, "notes/open.md", first=31) == get(whole.engine, "open.md", first=31)
    other.engine.close()


def test_a_text_in_one_piece_is_cut_by_the_next_cleanup(whole, small):
    before = answers(whole)
    assert in_pieces(whole) == set()
    cleanup(whole.engine)
    assert in_pieces(whole) == LONG
    assert answers(whole) == before
    assert whole.problems() == []


def test_pieces_go_with_their_text(cut):
    [(there,)] = cut.ask("select count(distinct hash) from text_pieces")
    cut.write("long.md", "# Long\n\nIt is short now.\n")
    cut.write("open.md", TEXTS["open.md"] + " and more")
    (cut.root / "crlf.md").unlink()
    cut.update()
    assert in_pieces(cut) == {"open.md", "wide.md"}
    assert cut.found("ended") == ["open.md"]
    assert cut.ask("select count(distinct hash) from text_pieces") == [(there + 1,)]
    removed = cleanup(cut.engine, dry_run=True).waste
    gone = ("long.md", "open.md", "crlf.md")
    assert (removed.texts, removed.bytes) == (3, sum(len(TEXTS[name].encode()) for name in gone))
    cleanup(cut.engine)
    assert cut.ask("select count(distinct hash) from text_pieces") == [(2,)]
    assert cut.problems() == []


def test_a_text_that_comes_back_has_its_pieces_still(cut):
    file = cut.root / "long.md"
    text = file.read_bytes()
    pieces = cut.ask("select count(*) from text_pieces")
    file.unlink()
    cut.update()
    file.write_bytes(text)
    cut.update()
    assert cut.ask("select count(*) from text_pieces") == pieces
    assert cut.problems() == []


def harmed(library, *statements):
    for statement in statements:
        library.engine.database.write(lambda cursor, s=statement: cursor.connection.execute(s))


def test_what_earlier_versions_made_of_it_is_made_anew(whole, cut):
    for library in (whole, cut):
        expected = library.ask("select hash, outline from content order by hash")
        harmed(
            library,
            "update content set outline = null",
            "update counters set value = 1000 where name = 'stale_postings'",
        )
        assert backfill.fill(library.engine.database) == len(expected)
        assert library.ask("select hash, outline from content order by hash") == expected
        assert retokenizer.retokenize(library.engine.database) == len(TEXTS)
        assert prove(library.engine.database) == dict.fromkeys(FACTS, 0)
    assert rows(cut, "select * exclude (document_id) from postings order by all") == rows(
        whole, "select * exclude (document_id) from postings order by all"
    )


def test_few_long_texts_are_read_at_once(cut, monkeypatch):
    harmed(cut, "update counters set value = 1000 where name = 'stale_postings'")
    monkeypatch.setattr(retokenizer, "BYTES", 300)
    read = []
    real = retokenizer._stale
    monkeypatch.setattr(retokenizer, "_stale", lambda cursor: read.append(real(cursor)) or read[-1])
    assert retokenizer.retokenize(cut.engine.database) == len(TEXTS)
    assert all(
        len(some) == 1 for some in read if any(len(each.body.encode()) > 300 for each in some)
    )


@pytest.mark.parametrize(
    ("harm", "fact"),
    [
        ("delete from text_pieces", "every text has a body or pieces, and not both"),
        ("update content set body = 'x'", "every text has a body or pieces, and not both"),
        ("update text_pieces set hash = 'x'", "every piece has its text"),
        ("delete from text_pieces where number = 1", "the pieces of a text are numbered from 0 on"),
        ("update text_pieces set number = 0", "the pieces of a text are numbered from 0 on"),
    ],
)
def test_pieces_that_do_not_fit_are_a_problem(cut, harm, fact):
    harmed(cut, harm)
    assert fact in cut.problems()


def test_a_changed_piece_is_found(cut):
    harmed(cut, "update text_pieces set text = upper(text)")
    assert prove(cut.engine.database)["a text has the hash that it is kept under"] == len(LONG)


def test_the_vectors_are_those_of_the_whole_text(faked, fake, small, monkeypatch):
    filled(faked).embed()
    pieces = faked.ask("select hash, seq, position, length, line from chunks order by all")
    made = sorted(fake.made)
    fake.made.clear()
    monkeypatch.setattr(long_texts, "LIMIT", 10_000)
    harmed(
        faked,
        "delete from embeddings",
        "delete from chunks",
        "update content set body = coalesce((select string_agg(text, '' order by number) "
        "from text_pieces where text_pieces.hash = content.hash), body)",
        "delete from text_pieces",
    )
    faked.embed()
    assert sorted(fake.made) == made
    assert faked.ask("select hash, seq, position, length, line from chunks order by all") == pieces
    assert stale_chunks.drop_stale(faked.engine.database) == 0


@given(
    text=st.text(st.sampled_from("ab\n\r é茶🍵"), max_size=80),
    piece=st.integers(4, 20),
    first=st.integers(1, 30),
    count=st.integers(1, 30),
)
def test_pieces_are_the_text_and_those_of_lines_have_them(text, piece, first, count):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_texts, "PIECE", piece)
        pieces = [each.decode() for each in long_texts.cut_in_pieces(text.encode())]
    assert "".join(pieces) == text
    assert all(0 < len(each.encode()) <= piece for each in pieces)
    if not text:
        return
    sizes = [
        long_texts.PieceSize(number, each.count("\n"), len(each), len(each.encode()))
        for number, each in enumerate(pieces)
    ]
    found = long_texts.LongText(Pieces(pieces), "hash", sizes)
    lines = text.split("\n")
    assert found.whole() == text
    assert found.total == len(lines) - (lines[-1] == "")
    if first <= found.total:
        last = min(first + count - 1, found.total)
        before, some = found.of_lines(first, last)
        assert some.split("\n")[first - 1 - before : last - before] == lines[first - 1 : last]


class Pieces:
    """A cursor on the pieces of one text."""

    def __init__(self, pieces):
        self._pieces = pieces

    def run(self, name, *, hash, first, last):
        assert (name, hash) == ("documents/pieces", "hash")
        return list(enumerate(self._pieces))[first : last + 1]
