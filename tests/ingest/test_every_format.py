"""A folder with a file of each format: what is found, by which title, date and place."""

from __future__ import annotations

import json
from email.message import EmailMessage

import pytest

from qmd.operations.documents import below, get
from qmd.operations.search import search
from qmd.operations.sql import sql
from qmd.text.markdown import parsed_date
from qmd.text.places import LETTERS, Places
from tests.ingest.readers.packages import HIDDEN
from tests.ingest.readers.samples import SAMPLES, Sample
from tests.ingest.test_readings import configure
from tests.library import Library


def with_report() -> bytes:
    """A mail to which the PDF is attached."""
    message = EmailMessage()
    message["Subject"] = "The report"
    message["From"] = "ada@example.org"
    message.set_content("Here is the kettle report, whose leaves wait.")
    pdf = SAMPLES["pdf"].data
    message.add_attachment(pdf, maintype="application", subtype="pdf", filename="report.pdf")
    return message.as_bytes()


PHRASE = "the kettle sings at four"

PLAIN = {
    "attached": ("mail.eml", with_report()),
    "md": ("tea.md", b"# Tea handbook\n\nThe kettle sings at four & the leaves wait.\n"),
    "capital": ("TEA.MD", b"# Tea handbook\n\nThe kettle sings at four & the leaves wait.\n"),
    "txt": ("tea.txt", "The kettle sings at four & the leaves wait in a café.".encode("cp1252")),
    "pdf named txt": ("report.txt", SAMPLES["pdf"].data),
}


def path_of(name: str, file: str) -> str:
    """Where a sample lies in the folder: each in one of its own."""
    return "maildir/cur/1715931060.M1P2.host:2,S" if name == "maildir" else f"{name}/{file}"


ENCODINGS = ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32")
"""Of the samples that are text, besides UTF-8."""

IN_BYTES = ("pdf", "rtf", "maildir", "html in UTF-16")
"""Samples whose encoding is a part of their format."""


def encoded() -> dict[str, Sample]:
    """The samples that are text, in each encoding."""
    found = {}
    for name, sample in SAMPLES.items():
        if sample.data.startswith(b"PK") or name in IN_BYTES:
            continue
        text = sample.data.decode()
        for encoding in ENCODINGS:
            found[f"{name}, {encoding}"] = sample._replace(data=text.encode(encoding))
    return found


FILES = SAMPLES | encoded()


def test_there_are_80_files_of_25_formats_and_more():
    assert len(FILES) >= 80
    assert len({sample.name.rpartition(".")[2] for sample in FILES.values()}) >= 25


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    library = Library(tmp_path_factory.mktemp("formats"))
    configure(library, mask="all")
    files = {name: (sample.name, sample.data) for name, sample in FILES.items()} | PLAIN
    for name, (file, data) in files.items():
        path = library.root / path_of(name, file)
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
    report = library.update()
    yield library, report
    library.engine.close()


@pytest.fixture(scope="module")
def results(folder):
    library, _ = folder
    found = search(library.engine, f'"{PHRASE}" OR "kettle report"', limit=500, all_copies=True)
    return {each.file.removeprefix("notes/"): each for each in found}


def test_every_file_is_read(folder):
    _, report = folder
    mails = ["eml", *(f"eml, {encoding}" for encoding in ENCODINGS)]
    told = [(f"{name}/a.eml/_Rechnung.pdf", "not a PDF, in spite of its name") for name in mails]
    assert sorted(report.skipped) == sorted(told)
    assert report.left_out == []
    assert report.new == len(FILES) + len(PLAIN)
    assert sum(report.kinds.values()) == report.new
    assert len(report.kinds) >= 20
    notes = dict(report.notes)
    assert notes["pdf named txt/report.txt"] == "read as PDF, which it is"
    assert notes["txt/tea.txt"] == "read as Windows-1252"


@pytest.mark.parametrize(("name", "sample"), FILES.items(), ids=FILES)
def test_each_format_is_found_by_what_it_says(folder, results, name, sample: Sample):
    library, _ = folder
    path = path_of(name, sample.name)
    result = results[path]
    assert "kettle" in result.snippet
    assert HIDDEN not in result.snippet
    if sample.title is not None:
        assert result.title == sample.title
    [document] = below(library.engine, "notes", path)[:1]
    if sample.date is not None:
        assert document.dated == parsed_date(sample.date)
    [said] = sql(
        library.engine, "select metadata from documents where file = $1", [f"notes/{path}"]
    )
    metadata = json.loads(said["metadata"] or "{}")
    assert (metadata.get("author"), metadata.get("language")) == (sample.author, sample.language)
    if sample.place is not None:
        kind, label = sample.place
        assert result.place == Places(LETTERS[kind], (label,), (1,)).at(1)
        for asked in (result.place, label if ":" in label else f"{kind} {label}"):
            passage = get(library.engine, f"notes/{path}:{asked}")
            assert "kettle" in passage.body
            assert passage.first <= result.line
    if sample.link is not None:
        links = sql(library.engine, "select target from links where file = $1", [f"notes/{path}"])
        assert sample.link in [row["target"] for row in links]


@pytest.mark.parametrize(("name", "file"), [(name, file) for name, (file, _) in PLAIN.items()])
def test_text_is_found_beside_them(results, name, file):
    assert "kettle" in results[f"{name}/{file}"].snippet


def test_a_second_update_reads_nothing(folder):
    library, report = folder
    again = library.update()
    assert (again.new, again.updated, again.unchanged) == (0, 0, report.new)
    assert library.problems() == []


def test_what_is_attached_is_a_document_of_its_own(folder, results):
    library, _ = folder
    inside = "attached/mail.eml/report.pdf"
    assert results[inside].place == "p. 2"
    assert "kettle" in get(library.engine, f"notes/{inside}:p2").body
    [document] = below(library.engine, "notes", inside)
    assert document.title == SAMPLES["pdf"].title
