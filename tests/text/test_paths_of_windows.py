"""Paths of Windows: which stored paths are no names of files there."""

import re
import string
import sys
from pathlib import PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.text import paths

SEGMENT = st.text(
    st.sampled_from(string.ascii_letters + string.digits + ' .-_$:\\<>|?*"é²'), min_size=1
)


@pytest.mark.parametrize(
    "path",
    [
        "con", "CON.md", "notes/nul", "notes/Aux.tar.gz", "com1", "lpt9.txt", "conin$", "com¹.md",
        "con .txt", "a.", "a ", "notes./tea.md", "tea.md:stream", "a\\b.md", "..\\up.md", "a?.md",
        "a*b", 'say "tea".md', "a<b", "a|b", "a\x01b", "C:tea.md",
    ],
)  # fmt: skip
def test_a_path_that_windows_reads_as_something_else_is_no_file_of_a_collection(path):
    assert not paths.is_of_windows(path)


@pytest.mark.parametrize(
    "path",
    [
        "tea.md",
        "notes/tea.md",
        "console.md",
        "com10.md",
        ".hidden/x",
        "ünï/日本.md",
        "a b.md",
        "nu",
    ],
)
def test_other_paths_are(path):
    assert paths.is_of_windows(path)


@given(st.lists(SEGMENT, min_size=1, max_size=4).map("/".join))
def test_a_path_that_is_taken_stays_below_its_folder_with_the_same_segments(path):
    if not (paths.is_below(path) and paths.is_of_windows(path)):
        return
    root = PureWindowsPath("C:/notes")
    whole = root / path
    assert whole.is_relative_to(root)
    assert whole.relative_to(root).as_posix() == path
    assert not any(re.fullmatch(r"(?i)(con|prn|aux|nul)(\..*)?", part) for part in whole.parts)


@given(SEGMENT, st.sampled_from(["con", "nul", "Prn", "aux", "COM1", "lpt3"]))
def test_a_device_is_a_device_with_any_suffix(suffix, device):
    assert not paths.is_of_windows(f"{device}.{suffix}")


def test_on_windows_roots_have_slashes_and_drives(monkeypatch):
    monkeypatch.setattr(paths.sys, "platform", "win32")
    assert paths.slashed("C:\\Users\\me\\notes") == "C:/Users/me/notes"
    assert paths.is_absolute("C:/notes")
    assert not paths.is_absolute("C:notes")
    assert paths.place("C:/notes", "tea/green.md") == "C:/notes/tea/green.md"
    assert paths.place("C:/", "tea.md") == "C:/tea.md"
    assert paths.place("C:/notes", "nul") is None
    assert paths.place("C:/notes", "a\\..\\..\\b") is None


@pytest.mark.skipif(sys.platform == "win32", reason="of other systems")
def test_elsewhere_a_backslash_and_a_colon_are_letters_like_others():
    assert paths.slashed("/notes/a\\b") == "/notes/a\\b"
    assert paths.place("/notes", "con") == "/notes/con"
    assert not paths.is_absolute("C:/notes")
