"""Bars are for terminals, and answers for whoever asked for them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest


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
