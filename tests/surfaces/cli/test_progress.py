"""Progress: bars on terminals, lines in pipes, and calls for programs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading

import pytest

from qmd.surfaces.cli import progress
from tests.surfaces.screens.seeing import seen


@pytest.mark.parametrize("seen", [False, True])
def test_a_report_goes_where_stdout_leads_while_a_bar_is_shown(qmd, tmp_path, seen):
    """`seen`: whether stdout is the terminal as well."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "tea.md").write_text("# Tea\n")
    assert qmd("collection", "add", notes)[0] == 0
    (notes / "pot.md").write_text("# Pot\n" + "tea and cups\n" * 200_000)  # a bar is for much
    terminal, inside = os.openpty()
    shown = []

    def look() -> None:
        try:
            while piece := os.read(terminal, 4096):
                shown.append(piece)
        except OSError:  # the other end is closed
            pass

    looking = threading.Thread(target=look)
    looking.start()
    done = subprocess.run(
        [sys.executable, "-m", "qmd", "update"],
        env=os.environ | {"TERM": "xterm"},
        stdin=subprocess.DEVNULL,
        stdout=inside if seen else subprocess.PIPE,
        stderr=inside,
        check=True,
        timeout=60,
    )
    os.close(inside)
    looking.join(60)
    os.close(terminal)
    report = b"".join(shown) if seen else done.stdout
    lines = [line.strip() for line in report.decode().splitlines()]
    assert any("notes (documents)" in line for line in lines)
    assert any("Indexed: 1 new, 0 updated, 1 unchanged" in line for line in lines)
    if not seen:
        assert b"\033" not in report
        assert b"notes" in b"".join(shown)  # the bar


@pytest.fixture
def told(monkeypatch, capsys):
    """Lines of a task that has run for 5 s when it is told of first, and then each 4 s."""
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])

    def lines(counting, *amounts):
        tell = progress.ProgressLines("Reading", counting)
        clock[0] += 1
        for amount in amounts:
            clock[0] += 4
            tell(*amount)
        return capsys.readouterr().err.splitlines()

    return lines


def test_a_pipe_has_a_line_each_ten_seconds(told):
    done = [(number, 100) for number in range(10, 100, 10)]
    assert told("things", *done) == [
        "Reading: 30 of 100, 2.3/s, 30.3 s left",
        "Reading: 60 of 100, 2.4/s, 16.7 s left",
        "Reading: 90 of 100, 2.4/s, 4.1 s left",
    ]


def test_a_line_tells_bytes_and_what_is_in_hand_with_its_controls_visible(told):
    [line] = told("bytes", (0, None), (0, None), (2_000_000, 6_000_000, "notes/\x1b[31mtea.md"))
    assert line.startswith("Reading: 2.0 MB of 6.0 MB, ")
    assert line.endswith(" left; notes/\\x1b[31mtea.md")


def test_a_line_without_an_end_has_no_time_left(told):
    assert told("shares", (1, None), (1, None), (1, 4))[0].startswith("Reading: 25 %")
    assert told("things", (1, None), (1, None), (1, None)) == ["Reading: 1, 0.1/s"]


def test_embedding_shows_the_documents_and_the_file_in_hand(qmd, tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(40):
        (notes / f"\x1b]0;{number}.md").write_text(f"# Tea {number}\n\n" + f"word{number} " * 100)
    assert qmd("collection", "add", notes)[0] == 0
    shown = seen("embed", columns=180)
    assert shown.code == 0
    drawn = re.sub(r"\s+", " ", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.raw))
    assert re.search(r"of 40 documents, [0-9,]+ of about [0-9,]+ passages, notes/", drawn)
    assert "\x1b]0;" not in shown.raw
