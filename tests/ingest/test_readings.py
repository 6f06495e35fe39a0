"""Documents of files that readers read: their places, what is inside of them, and what is kept."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys

import pytest

from qmd.errors import ConfigError, UsageError
from qmd.ingest import extraction
from qmd.ingest.extraction import Extraction
from qmd.ingest.readers.tasks import ReadingLimits
from qmd.operations.doctor import doctor
from qmd.operations.documents import below, get, multi_get
from qmd.operations.search import search
from qmd.operations.sql import sql
from qmd.settings import trust
from qmd.text import kinds
from qmd.types import LeftOut
from tests.ingest import reading


@pytest.fixture
def files(library, tmp_path, monkeypatch):
    """A library whose collection takes all documents, with odd readers."""
    reading.install(tmp_path, monkeypatch)
    configure(library)
    yield library
    kinds.by_suffix.cache_clear()


def configure(library, *more: str, mask: str = "documents", top: str = "") -> None:
    lines = [top, "collections:", "  notes:", f"    path: {library.root}", f"    pattern: {mask}"]
    text = "\n".join([*lines, *more]) + "\n"
    (library.folder / "index.yml").write_text(text, encoding="utf-8")


@pytest.fixture
def asked(monkeypatch):
    """The names of the files that readers were asked to read."""
    names = []
    real = Extraction.read

    def read(self, jobs):
        names.extend(job.name for job in jobs)
        return real(self, jobs)

    monkeypatch.setattr(Extraction, "read", read)
    return names


def paths_of(library) -> list[str]:
    return [document.path for document in below(library.engine, "notes")]


def test_a_file_has_the_title_the_date_and_the_properties_that_its_reader_tells(files):
    files.write("a.pages", "sencha\fgyokuro")
    files.write("b.echo", "matcha")
    report = files.update()
    assert (report.new, report.skipped, report.kinds) == (2, [], {"pages": 1, "echo": 1})
    rows = list(sql(files.engine, "select path, title, date, metadata from documents"))
    assert [(row["path"], row["title"], str(row["date"])[:10]) for row in rows[:1]] == [
        ("a.pages", "Pages", "2020-05-04")
    ]
    assert rows[0]["metadata"] == '{"status": "open"}'
    assert rows[1]["metadata"] == '{"author": "Ann"}'
    links = list(sql(files.engine, "select file, target from links"))
    assert links == [{"file": "notes/a.pages", "target": "other.md"}]
    assert files.found("matcha") == ["b.echo"]


def test_a_hit_names_its_place_and_the_place_gives_that_part(files):
    files.write("a.pages", "one\fgyokuro on a page\nwith two lines\fthree")
    files.write("b.md", "gyokuro in a note")
    files.update()
    places = {each.file: each.place for each in search(files.engine, "gyokuro")}
    assert places == {"notes/a.pages": "p. 2", "notes/b.md": None}
    for name in ("p2", "p. 2", "P2", "page 2", "page=2"):
        passage = get(files.engine, f"notes/a.pages:{name}")
        assert (passage.first, passage.body) == (2, "gyokuro on a page\nwith two lines")
    assert get(files.engine, "a.pages:2:1").body == "gyokuro on a page"
    assert get(files.engine, "a.pages:p3").body == "three"
    with pytest.raises(UsageError, match=r"no place 'p4'.*\n\nIt has p. 1 to p. 3"):
        get(files.engine, "a.pages:p4")
    [one, two] = multi_get(files.engine, "a.pages:p1, a.pages:p3")
    assert (one.body, two.body) == ("one", "three")


def test_what_is_inside_of_a_file_comes_and_goes_with_it(files):
    files.write("mail.box", "x")
    files.write("tea.md", "# Tea")
    report = files.update()
    inside = ["mail.box/a-2.md", "mail.box/a.md", "mail.box/b.md", "mail.box/c.pages"]
    assert paths_of(files) == ["mail.box", *inside, "tea.md"]
    assert report.new == 2
    assert [path for path, _ in report.skipped] == ["mail.box/f.hang"]
    assert files.update().unchanged == 2
    assert get(files.engine, "notes/mail.box/a.md").body == "within a box"
    files.write("mail.box", "another")
    assert files.update().updated == 1
    assert paths_of(files) == ["mail.box", *inside, "tea.md"]
    assert files.problems() == []
    os.remove(files.root / "mail.box")  # noqa: PTH107
    assert files.update().removed == 1
    assert paths_of(files) == ["tea.md"]
    assert files.problems() == []


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(extraction, "LIMITS", ReadingLimits(2.0, 200 << 20, 1 << 20))


def test_what_was_read_once_is_not_read_again(files, asked):
    files.write("a.pages", "sencha\fgyokuro")
    files.write("b.fail", "x")
    report = files.update()
    assert report.skipped == [("b.fail", "damaged: LookupError: no such")]
    assert sorted(asked) == ["a.pages", "b.fail"]
    (files.root / "a.pages").rename(files.root / "moved.pages")
    files.write("copy.pages", "sencha\fgyokuro")
    os.utime(files.root / "b.fail", (1, 1))
    report = files.update()
    assert (report.new, report.renamed) == (1, 1)
    assert report.skipped == [("b.fail", "damaged: LookupError: no such")]
    assert len(asked) == 2
    assert paths_of(files) == ["copy.pages", "moved.pages"]
    found = {each.file: (each.title, each.place) for each in search(files.engine, "gyokuro")}
    assert set(found.values()) == {("Pages", "p. 2")}


def test_another_version_of_a_reader_reads_its_own_files_again(files, tmp_path, monkeypatch, asked):
    files.write("a.pages", "sencha")
    files.write("tea.md", "# Tea")
    files.write("mail.box", "x")
    configure(files, mask="documents,**/*.csv")
    files.write("t.csv", "a,b\n1,2\n")
    files.update()
    asked.clear()
    reading.install(tmp_path, monkeypatch, version="2.0")
    report = files.update()
    assert (report.updated, report.unchanged) == (2, 2)
    assert sorted(set(asked)) == ["a.pages", "c.pages", "f.hang", "mail.box"]
    assert files.ask("select distinct reader from documents order by all") == [
        ("csv_rows 2",),
        ("oddreaders/box 2.0",),
        ("oddreaders/pages 2.0",),
        (None,),
    ]
    assert files.update().unchanged == 4


def test_files_of_a_reader_that_has_changed_are_told_until_they_are_read_again(
    files, tmp_path, monkeypatch
):
    def told():
        found = [each for each in doctor(files.engine) if each.check == "readers"]
        return [(each.status, each.detail.partition(" by ")[0], each.mend) for each in found]

    files.write("a.pages", "sencha")
    files.write("tea.md", "# Tea")
    files.update()
    assert told() == []
    reading.install(tmp_path, monkeypatch, version="2.0")
    told_once = ("warning", "1 file of collection 'notes' read", "Run 'qmd update -c notes'.")
    assert told() == [told_once]
    files.update()
    assert told() == []
    shutil.rmtree(tmp_path / "site-packages")
    kinds.by_suffix.cache_clear()
    assert told() == [told_once]
    files.update()
    assert told() == []


def test_text_in_other_encodings_is_read_and_told(files):
    texts = {
        "cp1252.txt": ("Ein Café für Rüdiger, Müller und Jörg", "cp1252", "Windows-1252"),
        "utf16.md": ("# Grüner Tee", "utf-16", "UTF-16"),
        "cp1251.txt": (
            "Зелёный чай выращивают в горах, где утренний туман укрывает склоны от солнца. " * 3,
            "cp1251",
            "Windows-1251",
        ),
        "sjis.txt": (
            "緑茶は日本で最も多く飲まれているお茶です。蒸して作ります。" * 3,
            "shift_jis",
            None,
        ),
    }
    for name, (text, encoding, _) in texts.items():
        (files.root / name).write_bytes(text.encode(encoding))
    report = files.update()
    assert report.skipped == []
    notes = dict(report.notes)
    for name, (text, _, told) in texts.items():
        assert get(files.engine, f"notes/{name}").body == text
        assert notes[name].startswith("read as ")
        if told:
            assert notes[name] == f"read as {told}"
    assert below(files.engine, "notes")[-1].title == "Grüner Tee"


def test_a_few_wrong_bytes_are_replaced_in_utf8(files):
    (files.root / "a.md").write_bytes("Grüße, Café, Tüte, Öl: ".encode() + b"\xff")
    assert files.update().notes == [("a.md", "invalid UTF-8 was replaced")]


def test_tables_and_json_are_read_as_text_with_their_keys(files):
    configure(files, mask="data")
    rows = "\n".join(f"person {number};city {number}" for number in range(1, 101))
    files.write("people.csv", f"name;home\n{rows}\n")
    files.write("a.json", '{"k\\u00fche": {"menge": [1, 2]}}')
    files.write("b.jsonl", '{"k\\u00fche": 1}\n\n{"b": 2}\n')
    files.write("c.json", '{"bad": "\\u00fc"')
    report = files.update()
    assert report.notes[0][0] == "c.json"
    assert '"kühe": {' in get(files.engine, "a.json").body
    assert get(files.engine, "b.jsonl").body == '{"kühe": 1}\n{"b": 2}\n'
    [found] = search(files.engine, '"city 77"')
    assert found.place == "row 41"
    block = get(files.engine, "people.csv:r77").body.split("\n")
    assert block[0] == "| name | home |"
    assert "| person 77 | city 77 |" in block
    assert sorted(files.found("kühe")) == ["a.json", "b.jsonl"]


def test_a_converter_of_the_settings_reads_files(files):
    command = "tr a-z A-Z < {path}"
    configure(files, top=f"readers:\n  '*.foo': {command}\n")
    files.write("a/b.foo", "---\ntitle: x\n---\n# tea\n")
    files.write("c.foo", "# a table of tea\n")
    report = files.update()
    assert report.new == 2
    titles = {each.path: each.title for each in below(files.engine, "notes")}
    assert titles["c.foo"] == "A TABLE OF TEA"
    configure(files, top=f"readers:\n  '*.foo': {command} | rev\n")
    assert files.update().updated == 2
    configure(files)
    assert files.update().removed == 2


def test_a_converter_of_a_project_waits_for_approval(files):
    files.engine.place = files.engine.place._replace(project=files.folder)
    configure(files, "    readers:", "      '*.foo': cat {path}")
    files.write("a.foo", "# tea\n")
    report = files.update()
    assert report.skipped == [
        ("a.foo", "its converter is not approved: look at it with 'qmd trust'")
    ]
    assert trust.needs_approval(files.engine.place, files.engine.settings()) == [
        "run for files *.foo of 'notes': cat {path}"
    ]
    trust.approve(files.engine.place, files.engine.settings())
    assert files.update().new == 1


@pytest.mark.parametrize("command", ["foo2md", "[1]", '"cat \\u202e {path}"'])
def test_a_command_without_the_file_or_with_hidden_characters_is_refused(files, command):
    configure(files, top=f"readers:\n  '*.foo': {command}\n")
    with pytest.raises(ConfigError):
        files.engine.settings()


def test_what_is_left_out_is_counted_with_the_reason(files):
    configure(files, "    ignore: ['*.bak']")
    for name in ("a.md", "a.png", "b.PNG", "c.py", "d.csv", "README", ".hidden", "old.bak"):
        files.write(name, "text")
    files.write("node_modules/x.js", "text")
    left_out = [
        LeftOut(".png", 2, "no reader"),
        LeftOut("", 1, "no reader"),
        LeftOut(".csv", 1, "data"),
        LeftOut(".py", 1, "code"),
    ]
    assert files.update().left_out == left_out
    assert files.ask("select suffix, files, why from left_out order by files desc, suffix") == [
        tuple(each) for each in left_out
    ]
    os.remove(files.root / "a.png")  # noqa: PTH107
    report = files.update()
    assert report.left_out[0] == LeftOut("", 1, "no reader")
    assert files.ask("select files from left_out where suffix = '.png'") == [(1,)]


def test_an_index_of_before_reads_files_again_that_it_took_for_text(files):
    configure(files, mask="'**/*'")
    files.write("t.csv", "a;b\n1;2\n")
    files.write("tea.md", "# Tea")
    files.update()

    def as_before(cursor):
        for statement in (
            "delete from schema_migrations where version = 7",
            "drop table places",
            "drop table readings",
            "drop table left_out",
            "alter table documents drop column reader",
            "alter table documents drop column container",
            "alter table documents drop column places",
            "alter table collections drop column converted",
            "update documents set hash = 'raw' where path = 't.csv'",
            "insert into content (hash, body) values ('raw', 'a;b')",
        ):
            cursor.connection.execute(statement)

    files.engine.database.write(as_before)
    files.engine.close()
    report = files.update()
    assert (report.updated, report.unchanged) == (1, 1)
    assert get(files.engine, "t.csv").body.startswith("| a | b |")
    assert files.update().unchanged == 2


KILLED = """
import sys
sys.path[:] = {path!r}
from pathlib import Path
import anyio
from qmd.operations.index import Index
from qmd.settings.environment import Machine, Place
folder = Path({folder!r})
place = Place("index", folder / "index.yml", folder / "index.duckdb", None, folder / "trusted.json")
from qmd.operations.update import run_update
anyio.run(run_update, Index(place, Machine(hub=folder / "hub")))
"""


def test_an_update_that_is_killed_in_the_middle_goes_on_the_next_time(files):
    for number in range(3):
        files.write(f"{number}.pages", f"text {number}")
    files.write("9.killer", "x")
    files.engine.close()
    code = KILLED.format(path=sys.path, folder=str(files.folder))
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -signal.SIGKILL
    os.remove(files.root / "9.killer")  # noqa: PTH107
    report = files.update()
    assert report.new + report.unchanged == 3
    assert files.problems() == []
    assert paths_of(files) == ["0.pages", "1.pages", "2.pages"]
