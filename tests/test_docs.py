"""Pages that are written by tools are up to date."""

from __future__ import annotations

import re

from tools import commands


def words(page: str) -> list[str]:
    """The words of a page, without the frames that the library draws around them."""
    return re.sub(r"[│─╭╮╰╯]", " ", page).split()


def test_the_page_of_commands_says_what_they_say():
    page = commands.PAGE.read_text(encoding="utf-8")
    assert words(page) == words(commands.page()), "Run: python -m tools.commands"
