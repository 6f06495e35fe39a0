"""Documents with data: their words are searched and embedded, and nothing of the data."""

from __future__ import annotations

import base64
import json
import random

import pytest

from qmd.ingest import stale_chunks, verify
from qmd.ingest.retokenizer import needs_new_postings
from qmd.operations.documents import get
from qmd.text import machine_data
from tests.library import Library

RANDOM = random.Random(3)
BASE64 = base64.b64encode(RANDOM.randbytes(60_000)).decode()
NOTE = (
    "---\ntags: [tea]\n---\n# Kettle\n\nBoil water in Zürich.\n\n"
    f"![chart](data:image/png;base64,{BASE64})\n\nPour it over sencha.\n"
)


@pytest.fixture
def shelf(library):
    """A note with a picture in it, and one without."""
    library.write("picture.md", NOTE)
    library.write("plain.md", "# Plain\n\nWords on water.\n")
    library.report = library.update()
    return library


def chunks(library):
    """Chunks of the note with the picture."""
    return library.ask(
        "select seq, line, position, length from chunks join documents using (hash) "
        "where path = 'picture.md' order by seq"
    )


def test_words_are_found_and_data_is_not(shelf):
    for word in ("kettle", "zurich", "sencha", "tea"):
        assert shelf.found(word) == ["picture.md"]
    words = {word for (word,) in shelf.ask("select word from words")}
    assert words < set("kettle boil water in zurich zürich pour it over sencha".split()) | set(
        "tea chart picture md plain words on picture.md plain.md".split()
    )
    assert shelf.report.data_documents == 1
    assert len(BASE64) < shelf.report.data_bytes < len(BASE64) + 40
    assert not any(verify.prove(shelf.engine.database).values())


@pytest.mark.parametrize(
    "data",
    [
        f"![](data:image/png;base64,{BASE64[:400]})",
        f"{BASE64[:76]}\n{BASE64[76:152]}\n{BASE64[152:228]}",
        "begin 644 a.bin\n" + "M" + "9F]O" * 15 + "\nend",
        "日" + BASE64[:200] + "本",
    ],
    ids=["data URI", "lines", "uuencoded", "between characters"],
)
def test_no_phrase_reaches_across_data(library, data):
    library.write("a.md", f"Boil water\n{data}\nfor sencha.\n")
    library.write("b.md", "Boil water for sencha.\n")
    library.update()
    assert library.found('"water for"') == ["b.md"]
    assert sorted(library.found('"boil water"')) == ["a.md", "b.md"]
    assert not any(verify.prove(library.engine.database).values())


def test_the_whole_text_is_shown(shelf):
    assert f"base64,{BASE64})" in get(shelf.engine, "notes/picture.md").body


def test_a_note_with_a_picture_is_one_passage_with_its_words(shelf):
    report = shelf.embed()
    start = NOTE.index("# Kettle")
    assert chunks(shelf) == [(0, 4, start, len(NOTE) - start)]
    assert report.chunks == 2
    assert report.lacking == 0
    assert report.data_documents == 1
    assert len(BASE64) < report.data_bytes < len(BASE64) + 40
    assert shelf.embed().chunks == 0
    [found] = [each for each in shelf.nearest("water for tea") if "picture" in each.file]
    assert BASE64[:30] not in found.snippet
    assert "Kettle" in found.snippet


def test_hits_behind_data_have_their_line(shelf):
    [found] = results(shelf, "sencha")
    assert (found.line, found.snippet) == (10, "10: Pour it over sencha.")


def test_an_ellipsis_stands_for_data_in_a_snippet(library):
    library.write("a.md", f"![chart](data:image/png;base64,{BASE64[:150]})\nPour it over sencha.\n")
    library.update()
    assert results(library, "sencha")[0].snippet == "1: ![chart](…)\n2: Pour it over sencha."


def results(library, query):
    from qmd.operations.search import search

    return list(search(library.engine, query))


def test_passages_before_and_behind_data_have_their_lines(library):
    library.configure(more="chunk: {tokens: 40, overlap: 0}")
    before, behind = "\n\n".join(["Before it."] * 20), "\n\n".join(["Behind it."] * 20)
    data = "\n".join(BASE64[at : at + 76] for at in range(0, 7600, 76))
    text = f"{before}\n\n{data}\n\n{behind}\n"
    library.write("picture.md", text)
    library.update()
    library.embed()
    rows = chunks(library)
    assert len(rows) >= 4
    for _, line, position, length in rows:
        assert line == 1 + text.count("\n", 0, position)
        assert text[position : position + length].strip()
    mixed = [row for row in rows if BASE64[:60] in text[row[2] : row[2] + row[3]]]
    assert len(mixed) <= 1
    assert rows[-1][2] + rows[-1][3] == len(text)


def test_a_document_of_data_alone_has_one_passage_for_its_title(library):
    library.write("points.md", "\n".join(BASE64[at : at + 76] for at in range(0, 7600, 76)))
    library.update()
    report = library.embed()
    assert (report.chunks, report.lacking) == (1, 0)
    assert [each.file for each in library.nearest("points")] == ["notes/points.md"]
    assert library.found("points") == ["points.md"]


def test_a_snippet_is_not_taken_from_data(library):
    library.write("a.md", f"{BASE64[:200]}/tea/{BASE64[200:400]}\n\n{'Words. ' * 60}\n\nA tea.\n")
    library.update()
    [found] = results(library, "tea")
    assert found.line == 5


def test_a_record_is_verified_with_its_data(library):
    from qmd.ingest.retokenizer import Stale

    stale = Stale(1, "experiences", "1.md", "Title", "hash", f"Boil.\n{BASE64}\n", 0, None)
    (_, _, words), left_out = stale.fields
    assert words.split() == ["Boil.", machine_data.PLACE]
    assert left_out == len(BASE64)


@pytest.fixture
def old(library):
    """An index of a version that indexed and embedded data."""
    library.write("picture.md", NOTE)
    library.write("plain.md", "# Plain\n\nWords on water.\n")
    library.update()
    library.embed()

    def undo(cursor):
        run = cursor.connection.execute
        run("update counters set value = 0 where name = 'stale_postings'")
        run("delete from counters where name = 'stale_chunks'")
        run("delete from schema_migrations where version = 15")
        [number] = run("select value from counters where name = 'next_chunk_id'").fetchone()
        run(
            "insert into chunks select ? + n, model_id, hash, n, 90 + n * 1000, 1000, 8, 400 "
            "from chunks, range(1, 60) as more(n) where length > 1000",
            [number],
        )
        run(
            "insert into embeddings select chunk_id, model_id, vector, signs from chunks join "
            "(select vector, signs from embeddings limit 1) on true where seq > 0"
        )
        run("update counters set value = value + 60 where name = 'next_chunk_id'")

    library.engine.database.write(undo)
    library.engine.close()
    reopened = Library(library.folder)
    yield reopened
    reopened.engine.close()


def test_the_next_embed_drops_the_passages_of_data_and_keeps_the_others(old):
    assert len(chunks(old)) == 60
    kept = old.ask(
        "select chunk_id from chunks join documents using (hash) where path = 'plain.md'"
    )
    assert old.engine.read(needs_new_postings)
    old.update()
    assert not old.engine.read(needs_new_postings)
    assert old.embed().chunks == 1
    assert len(chunks(old)) == 1
    assert kept == old.ask(
        "select chunk_id from chunks join documents using (hash) where path = 'plain.md'"
    )
    assert old.ask("select count(*) from embeddings") == [(2,)]
    assert old.problems() == []
    assert old.embed().chunks == 0


def test_a_run_that_was_cut_off_drops_the_rest(old, monkeypatch):
    monkeypatch.setattr(stale_chunks, "TEXTS", 1)
    write, calls = old.engine.database.write, []

    def failing(work):
        if calls:
            raise OSError("cut off")
        calls.append(work)
        return write(work)

    with monkeypatch.context() as patch:
        patch.setattr(old.engine.database, "write", failing)
        with pytest.raises(OSError, match="cut off"):
            stale_chunks.drop_stale(old.engine.database)
    assert len(chunks(old)) == 0
    old.embed()
    assert len(chunks(old)) == 1
    assert stale_chunks.drop_stale(old.engine.database) == 0


def test_reports_say_how_much_was_left_out(library, capsys):
    from qmd.surfaces.cli.embed import summary as embedded
    from qmd.surfaces.cli.update import summary as updated

    library.write("picture.md", NOTE)
    there = "in 1 document"
    assert (
        f"data not searched, such as base64, minified code or tables of digits: 80.0 KB {there}"
        in (updated(library.update()))
    )
    assert there in embedded(library.embed())
    assert there not in embedded(library.embed())
    assert "data not" not in updated(library.update())


def test_json_keeps_its_words(library):
    (library.folder / "index.yml").write_text(
        (library.folder / "index.yml").read_text() + "    pattern: all\n"
    )
    places = [
        {"name": f"Teahouse{n}", "shape": [[RANDOM.random(), RANDOM.random()] for _ in range(90)]}
        for n in range(30)
    ]
    library.write("places.json", json.dumps(places, separators=(",", ":")))
    library.update()
    assert library.found("teahouse17") == ["places.json"]
    report = library.embed()
    assert report.chunks < 8
    assert report.data_bytes > 90 * 30 * 30


def test_json_of_numbers_alone_is_data(library):
    (library.folder / "index.yml").write_text(
        (library.folder / "index.yml").read_text() + "    pattern: all\n"
    )
    points = [
        {"id": n, "lat": RANDOM.random(), "sum": RANDOM.randbytes(20).hex()} for n in range(900)
    ]
    library.write("points.json", json.dumps(points, separators=(",", ":")))
    library.update()
    assert library.embed().chunks == 1


def test_an_index_from_before_learns_how_much_is_data_by_an_update(shelf):
    def forget(cursor):
        cursor.connection.execute("update documents set data_bytes = null")
        cursor.connection.execute("update counters set value = 1000 where name = 'stale_postings'")

    told = "select path, data_bytes from documents order by path"
    before = shelf.ask(told)
    shelf.engine.database.write(forget)
    assert shelf.ask(told) == [("picture.md", None), ("plain.md", None)]
    shelf.update()
    assert shelf.ask(told) == before
    assert before[0][1] > len(BASE64)
    assert before[1][1] == 0
