"""What `collection add` takes, and what is told of the rest."""

from __future__ import annotations

import base64
import json

import pytest

from tests.ingest.readers.pdfs import pdf
from tests.ingest.readers.samples import SAMPLES


@pytest.fixture
def folder(tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in ("tea.md", "UPPER.MD", "a.png", "b.PNG", "c.py", "d.csv", "old.md"):
        (notes / name).write_text("# Tea\n", encoding="utf-8")
    (notes / "report.pdf").write_bytes(SAMPLES["pdf"].data)
    return notes


def test_all_documents_are_taken_and_the_rest_is_told(qmd, folder):
    code, out, _ = qmd("collection", "add", folder, "--ignore", "old*")
    assert code == 0
    assert "notes (documents)\nIndexed: 3 new" in out
    assert "\n  read: 2 Markdown, 1 PDF\n" in out
    assert "\n  not indexed: 2 .png, 1 .csv (data), 1 .py (code)\n" in out
    [report] = json.loads(qmd("update", "--json")[1])
    assert report["left_out"][0] == {"suffix": ".png", "files": 2, "why": "no reader"}
    assert "passing" not in report
    [collection] = json.loads(qmd("status", "--json")[1])["collections"]
    assert collection["notIndexed"] == report["left_out"]
    assert "not indexed: 2 .png, 1 .csv (data), 1 .py (code)" in qmd("status")[1]
    assert "3 files; not indexed: 2 .png" in qmd("doctor")[1]


def test_files_that_are_left_out_are_listed(qmd, folder):
    qmd("collection", "add", folder)
    listed = json.loads(qmd("ls", "--left-out", "--json")[1])
    assert listed == [
        {"file": "notes/a.png", "reason": "no reader"},
        {"file": "notes/b.PNG", "reason": "no reader"},
        {"file": "notes/c.py", "reason": "code"},
        {"file": "notes/d.csv", "reason": "data"},
    ]
    assert qmd("ls", "--left-out", "notes")[1].startswith("notes/a.png  no reader\n")


def test_groups_and_globs_add_other_kinds(qmd, folder):
    qmd("collection", "add", folder, "--mask", "code,**/*.csv", "--name", "other")
    assert [each["file"] for each in json.loads(qmd("ls", "other", "--json")[1])] == [
        "other/c.py",
        "other/d.csv",
    ]


def test_files_are_ignored_from_the_next_update_on(qmd, folder):
    qmd("collection", "add", folder)
    assert qmd("collection", "ignore", "notes", "old*", "*.pdf")[0] == 0
    assert "2 removed" in qmd("update")[1]
    assert json.loads(qmd("collection", "show", "notes", "--json")[1])["ignore"] == [
        "old*",
        "*.pdf",
    ]
    qmd("collection", "ignore", "notes", "old*")
    assert len(json.loads(qmd("collection", "show", "notes", "--json")[1])["ignore"]) == 2


@pytest.mark.parametrize("glob", ["/abs/*.md", "../*.md", "", "a[b.md"])
def test_a_glob_that_leaves_nothing_out_is_refused(qmd, folder, glob):
    assert qmd("collection", "add", folder, "--ignore", glob)[0] == 1
    qmd("collection", "add", folder)
    assert qmd("collection", "ignore", "notes", glob)[0] == 1
    assert json.loads(qmd("collection", "show", "notes", "--json")[1])["ignore"] == []


def test_a_hit_names_its_page_and_get_gives_it(qmd, folder):
    qmd("collection", "add", folder)
    [hit] = json.loads(qmd("search", "kettle", "--json")[1])
    assert (hit["file"], hit["place"]) == ("notes/report.pdf", "p. 2")
    assert "notes/report.pdf p. 2 #" in qmd("search", "kettle")[1]
    assert "kettle" in qmd("get", "notes/report.pdf:p2")[1]
    assert "kettle" not in qmd("get", "notes/report.pdf:p1")[1]
    [other] = json.loads(qmd("search", "tea.md", "--json", "-n", "1")[1])
    assert "place" not in other


@pytest.fixture
def damaged(folder):
    """A folder in which some files are named as documents and cannot be read."""
    (folder / "scan.pdf").write_bytes(pdf([], []))
    (folder / "table.xlsx").write_bytes(b"PK\x03\x04 no archive")
    (folder / "blank.md").write_text("\n")
    return folder


SCANNED = "no text on pages 1-2"


def test_files_that_cannot_be_read_are_told_with_the_reason(qmd, damaged):
    qmd("collection", "add", damaged)
    told = {
        each["file"]: each["reason"] for each in json.loads(qmd("ls", "--left-out", "--json")[1])
    }
    assert told["notes/scan.pdf"] == SCANNED
    assert told["notes/table.xlsx"].startswith("damaged XLSX")
    assert told["notes/blank.md"] == "empty"
    assert ", 2 unreadable, 1 empty\n" in qmd("status")[1]
    [collection] = json.loads(qmd("status", "--json")[1])["collections"]
    assert {"suffix": None, "files": 2, "why": "unreadable"} in collection["notIndexed"]
    doctor = qmd("doctor")[1]
    assert f"notes/scan.pdf is not indexed: {SCANNED}" in doctor
    assert "blank.md" not in doctor


@pytest.mark.parametrize("name", ["notes/scan.pdf", "qmd://notes/scan.pdf", "scan.pdf"])
def test_get_says_why_a_file_could_not_be_read(qmd, damaged, name):
    qmd("collection", "add", damaged)
    code, _, err = qmd("get", name)
    assert code == 1
    assert f"It is not indexed: {SCANNED}." in err


def test_a_file_that_can_be_read_at_last_is_told_no_more(qmd, damaged):
    qmd("collection", "add", damaged)
    qmd("update")  # nothing has changed, and nothing is forgotten
    assert ", 2 unreadable, 1 empty\n" in qmd("status")[1]
    (damaged / "scan.pdf").write_bytes(SAMPLES["pdf"].data)
    qmd("update")
    assert ", 1 unreadable, 1 empty\n" in qmd("status")[1]
    (damaged / "table.xlsx").unlink()
    (damaged / "blank.md").unlink()
    qmd("update")
    assert "unreadable" not in qmd("status")[1]
    assert SCANNED not in qmd("doctor")[1]


def test_what_could_not_be_read_is_forgotten_with_its_collection(qmd, damaged):
    qmd("collection", "add", damaged)
    qmd("collection", "remove", "notes")
    assert SCANNED not in qmd("doctor")[1]
    assert SCANNED not in qmd("get", "notes/scan.pdf")[2]


def test_what_could_not_be_read_inside_of_a_file_is_told_until_that_changes(qmd, tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    mail = (
        b"Subject: Tea\nFrom: a@b.c\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nGreen.\n"
        b'--x\nContent-Disposition: attachment; filename="scan.pdf"\n\nnone\n--x--\n'
    )
    (notes / "tea.eml").write_bytes(mail)
    (notes / "other.md").write_text("# Pot\n")
    qmd("collection", "add", notes)
    file = "notes/tea.eml/scan.pdf"
    told = f"{file}  not a PDF, in spite of its name\n"
    assert told in qmd("ls", "--left-out")[1]
    (notes / "other.md").write_text("# Cup\n")
    qmd("update")
    assert told in qmd("ls", "--left-out")[1]
    (notes / "tea.eml").write_bytes(mail.replace(b'scan.pdf"\n\nnone', b'scan.txt"\n\nText'))
    qmd("update")
    assert file not in qmd("ls", "--left-out")[1]
    assert "unreadable" not in qmd("status")[1]


def test_data_in_documents_is_told(qmd, folder):
    picture = base64.b64encode(bytes(range(256)) * 200).decode()
    note = f"# Chart\n\n![leaves](data:image/png;base64,{picture})\n"
    (folder / "chart.md").write_text(note, encoding="utf-8")
    qmd("collection", "add", folder)
    [notes] = json.loads(qmd("status", "--json")[1])["collections"]
    assert notes["dataDocuments"] == 1
    assert len(picture) < notes["dataBytes"] < len(picture) + 40
    told = "data not searched or embedded, such as base64, minified code or tables of digits: "
    told += "68.3 KB in 1 document"
    assert f"\n  notes: {told}\n" in qmd("status")[1]
    assert told in qmd("doctor")[1]
    asked = "select file from documents where data_bytes > 0"
    assert json.loads(qmd("sql", asked, "--json")[1]) == [{"file": "notes/chart.md"}]
    (folder / "chart.md").write_text("# Chart\n", encoding="utf-8")
    qmd("update")
    [notes] = json.loads(qmd("status", "--json")[1])["collections"]
    assert (notes["dataDocuments"], notes["dataBytes"]) == (0, 0)
    assert "data not" not in qmd("status")[1] + qmd("doctor")[1]
