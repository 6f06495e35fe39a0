"""Pages that are written by tools are up to date."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from tools import commands, manual


def words(page: str) -> list[str]:
    """The words of a page, without the frames that the library draws around them."""
    return re.sub(r"[│─╭╮╰╯]", " ", page).split()


def test_the_page_of_commands_says_what_they_say():
    page = commands.PAGE.read_text(encoding="utf-8")
    assert words(page) == words(commands.page()), "Run: python -m tools.commands"


def test_the_manual_says_what_the_commands_are():
    assert manual.PAGE.read_text(encoding="utf-8") == manual.page(), "Run: python -m tools.manual"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (".TH is no request", r"\&.TH is no request"),
        ("'tea'", r"\&'tea'"),
        (r"a\nb", r"a\enb"),
        ("--json", r"\-\-json"),
        ("two\n.lines", "two .lines"),
    ],
)
def test_text_in_the_manual_is_no_request_of_roff(text, written):
    assert manual.escaped(text) == written


@pytest.mark.skipif(not shutil.which("groff"), reason="there is no groff to read the page with")
def test_the_manual_is_read_without_a_warning():
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-z", manual.PAGE],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
