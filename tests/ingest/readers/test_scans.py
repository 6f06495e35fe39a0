"""Pages that are pictures: told, and read by Tesseract where the user wants that."""

from __future__ import annotations

import json
import shutil
import sys

import pytest

from qmd.ingest.readers import ocr, pdf
from qmd.ingest.readers.ocr import Tesseract
from qmd.ingest.readers.reading import Unreadable
from qmd.settings import trust
from qmd.text import kinds
from tests.ingest.readers.pdfs import pdf as pdf_of
from tests.ingest.readers.scans import scan
from tests.ingest.test_readings import configure

LINES = ["The kettle sings at four", "and the leaves wait."]

FAKE = """#!{python}
import sys
picture = sys.stdin.buffer.read()
kind, wide, high, most = picture.split(maxsplit=4)[:4]
assert kind == b"P5" and len(picture) > int(wide) * int(high), picture[:40]
{act}
"""

SAYS = 'print("the ket-\\ntle of", " ".join(sys.argv[1:]))'


@pytest.fixture
def tesseract(tmp_path, monkeypatch):
    """Install a program of that name, which does what is told."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def install(act: str = SAYS) -> None:
        file = folder / "tesseract"
        file.write_text(FAKE.format(python=sys.executable, act=act))
        file.chmod(0o755)

    monkeypatch.setenv("PATH", str(folder))
    return install


def test_pages_that_are_pictures_are_read(tesseract):
    tesseract()
    found = pdf.read(scan(LINES, LINES), "a.pdf", ocr=Tesseract("deu+eng"))
    assert found.text == "\n\n".join(["the kettle of stdin stdout -l deu+eng"] * 2) + "\n"
    assert [(place.label, place.line) for place in found.places] == [("1", 1), ("2", 3)]
    assert (found.metadata["ocr"], found.remark) == ("pages 1-2", None)


def test_pages_with_text_are_no_pictures(tesseract):
    tesseract()
    found = pdf.read(pdf_of(LINES, [], LINES), "a.pdf", ocr=Tesseract("eng"))
    assert found.text.count("sings") == 2
    assert found.metadata["ocr"] == "page 2"


def test_a_page_without_anything_is_told(tesseract):
    tesseract("pass")
    with pytest.raises(Unreadable, match="no text on pages 1-2"):
        pdf.read(scan([], []), "a.pdf", ocr=Tesseract("eng"))


def test_what_tesseract_says_is_the_reason(tesseract):
    tesseract('sys.exit("Error\\nFailed loading language xyz")')
    with pytest.raises(Unreadable, match="tesseract failed: Failed loading language xyz"):
        pdf.read(scan(LINES), "a.pdf", ocr=Tesseract("xyz"))


def test_a_page_on_which_tesseract_hangs_is_left_out(tesseract, monkeypatch):
    monkeypatch.setattr(ocr, "PAGE_SECONDS", 0.0)
    tesseract("import time; time.sleep(60)")
    found = pdf.read(pdf_of(LINES, []), "a.pdf", ocr=Tesseract("eng"))
    assert found.remark == "no text on page 2"


def test_no_page_is_read_after_the_time_of_the_file(tesseract, monkeypatch):
    monkeypatch.setattr(ocr, "MOST_SECONDS", 0.0)
    tesseract()
    found = pdf.read(pdf_of(LINES, []), "a.pdf", ocr=Tesseract("eng"))
    assert found.remark == "no text on page 2"


def test_a_page_of_miles_is_rendered_small(tesseract):
    tesseract("print(int(wide) * int(high) <= 25_100_000)")
    huge = pdf_of([]).replace(b"[0 0 600 800]", b"[0 0 9e6 80]")
    assert pdf.read(huge, "a.pdf", ocr=Tesseract("eng")).text == "True\n"


def test_scans_are_read_once_the_settings_say_so(library, tesseract):
    configure(library)
    (library.root / "scan.pdf").write_bytes(scan(LINES))
    (library.root / "half.pdf").write_bytes(pdf_of(LINES, []))
    tesseract()
    report = library.update()
    assert report.skipped == [("scan.pdf", "no text on page 1")]
    assert report.notes == [("half.pdf", "no text on page 2")]
    configure(library, top="ocr: true")
    report = library.update()
    assert (report.new, report.updated, report.skipped, report.notes) == (1, 1, [], [])
    assert sorted(library.found('"kettle of stdin"')) == ["half.pdf", "scan.pdf"]
    assert library.update().unchanged == 2
    configure(library)
    assert library.update().skipped == [("scan.pdf", "no text on page 1")]
    assert library.found("stdin") == []


def test_scans_are_read_once_tesseract_is_installed(qmd, tmp_path, tesseract):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "scan.pdf").write_bytes(scan(LINES))
    qmd("collection", "add", folder)
    assert "write 'ocr: true' into index.yml" in qmd("doctor")[1].replace("\n", " ")
    [config] = tmp_path.rglob("index.yml")
    config.write_text("ocr: eng\n" + config.read_text())
    assert "no text on page 1" in qmd("update")[1]
    qmd("update")
    assert "Install Tesseract" in qmd("doctor")[1]
    tesseract()
    assert "1 new" in qmd("update")[1]
    [hit] = json.loads(qmd("search", "kettle", "--json")[1])
    assert (hit["file"], hit["place"]) == ("notes/scan.pdf", "p. 1")
    assert qmd("get", "notes/scan.pdf:p1")[1].startswith("the kettle of stdin stdout -l eng")


@pytest.mark.skipif(not kinds.has_tesseract(), reason="Tesseract is not installed")
def test_tesseract_itself_reads_a_page():
    assert shutil.which("tesseract")
    found = pdf.read(scan(LINES), "a.pdf", ocr=Tesseract("eng"))
    assert "kettle sings at four" in found.text


def test_a_project_has_no_pictures_read_before_that_is_approved(library, tesseract):
    tesseract()
    configure(library, top="ocr: true")
    (library.root / "scan.pdf").write_bytes(scan(LINES))
    library.engine.place = library.engine.place._replace(project=library.folder)
    assert library.update().skipped == [("scan.pdf", "no text on page 1")]
    trust.approve(library.engine.place, library.engine.settings())
    assert library.update().new == 1
