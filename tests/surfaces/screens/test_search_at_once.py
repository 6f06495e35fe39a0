"""A search in a folder that no collection covers offers to index it."""

from __future__ import annotations

import pytest

from tests.surfaces.screens.seeing import PLAIN, seen, written


@pytest.fixture
def folder(qmd, tmp_path, monkeypatch):
    """A folder with a note, in which commands are called."""
    made = tmp_path / "fresh"
    written(made / "tea.md", "# Tea\n\ngreen leaves\n")
    monkeypatch.chdir(made)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return made


def test_one_key_indexes_the_folder_and_the_search_answers(folder):
    shown = seen("search", "green", answer="y", asked="[y/n] ", environ=PLAIN)
    assert f"No collection covers {folder}. Index this folder now? [y/n]" in shown.words
    assert "Indexed: 1 new" in shown.text
    assert "fresh/tea.md" in shown.text
    assert shown.code == 0
    again = seen("search", "nowhere", answer="y", asked="[y/n] ", environ=PLAIN)
    assert "Index this folder" not in again.text


@pytest.mark.parametrize("key", ["n", "\r", " ", "\x04"])
def test_any_other_key_leaves_it(folder, qmd, key):
    shown = seen("search", "green", answer=key, asked="[y/n] ", environ=PLAIN)
    assert "Index this folder now?" in shown.text
    assert "No results found." in shown.text
    assert qmd("collection", "list")[1].startswith("No collections yet.")


def test_a_script_is_not_asked_and_says_yes_with_an_option(folder, qmd):
    code, out, err = qmd("search", "green")
    assert (code, out) == (0, "No results found.\n")
    assert err == "Nothing is indexed yet. Add a folder with 'qmd collection add PATH'.\n"
    code, out, err = qmd("search", "green", "--yes", "--files")
    assert code == 0
    assert out.endswith(",fresh/tea.md,\n") or "fresh/tea.md" in out
    assert "Indexed: 1 new" in err
    assert qmd("search", "green", "--yes")[2] == ""


def test_the_name_of_the_folder_is_made_visible(qmd, tmp_path, monkeypatch):
    made = tmp_path / "\x1b[31mred"
    written(made / "tea.md", "# Tea\n")
    monkeypatch.chdir(made)
    shown = seen("search", "tea", answer="n", asked="[y/n] ", environ=PLAIN)
    assert "\\x1b[31mred" in shown.text
    assert shown.foreign == []


@pytest.mark.parametrize("above", ["", ".."])
def test_the_home_folder_is_not_offered(folder, monkeypatch, above):
    monkeypatch.setenv("HOME", str(folder / "me" if above else folder))
    shown = seen("search", "green", answer="y", asked="[y/n] ", environ=PLAIN)
    assert "Index this folder" not in shown.text


def test_who_searches_a_part_is_not_asked(folder):
    shown = seen("search", "green", "--since", "7d", answer="y", asked="[y/n] ", environ=PLAIN)
    assert "Index this folder" not in shown.text
