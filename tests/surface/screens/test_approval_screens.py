"""A person who is asked to approve a project sees everything that it would do."""

from __future__ import annotations

import pytest

from tests.surface.screens.seeing import PLAIN, seen, written

DOCS = "collections:\n  docs:\n    path: docs\n    update: "
HARMLESS = "run for 'docs': git pull --ff-only"


@pytest.mark.parametrize(
    "hiding",
    [
        r"\e[2K\r",
        r"\e[1A\e[2K",
        r"\r",
        r"\b\b\b\b",
        r"\x9b2K",
        r"\x7f",
        r"\e]0;title\a",
        r"\u202e",
        r"\u2066",
        r"\u200b",
        r"\ufeff",
        r"\U000e0041",
        r"\x85",
        r"\u2028",
    ],
)
def test_a_command_with_characters_that_cannot_be_seen_is_never_asked_about_nor_run(
    project, qmd, hiding
):
    folder = project(f'{DOCS}"touch EVIL #{hiding}{HARMLESS}"\n')
    for arguments in (["trust", "--yes"], ["update"]):
        code, out, err = qmd(*arguments)
        assert code in (1, 2)
        told = out + err
        assert told.isascii() or "\\u" in told
        assert "The update command of 'docs' has characters that cannot be seen" in told
        assert "touch EVIL #" in told
        assert not [mark for mark in told.replace("\n", "") if not mark.isprintable()]
    assert not list(folder.rglob("EVIL"))


def test_the_screen_shows_the_command_that_would_be_hidden(project):
    folder = project(f'{DOCS}"touch EVIL #\\e[2K\\r{HARMLESS}"\n')
    for arguments in (["trust"], ["update"], ["status"], ["doctor"]):
        found = seen(*arguments, answer="y\n", environ=PLAIN)
        assert r"touch EVIL #\x1b[2K\rrun for 'docs': git pull --ff-only" in found.words
        assert (found.foreign, found.title) == ([], "")
        assert "\033" not in found.raw
    assert r"#\x1b[2K\rrun for 'docs': git" in seen("update").words  # with a bar
    assert not list(folder.rglob("EVIL"))


def test_a_command_of_several_lines_is_shown_on_one_with_what_its_escapes_mean(project):
    project(f"{DOCS}\"true\\n  {HARMLESS}\\nprintf 'a\\\\nb'\"\n")
    found = seen("trust", answer="n\n")
    [line] = [line for line in found.text.splitlines() if "run for" in line]
    assert line == rf"  run for 'docs': true\n  {HARMLESS}\nprintf 'a\\nb'"
    assert r"\n is a line break" in found.text
    assert found.foreign == []


def test_a_command_without_such_characters_is_shown_letter_by_letter(project):
    project(f"{DOCS}printf 'a\\nb' | sed 's/\\./x/'\n")
    found = seen("trust", answer="n\n")
    assert "  run for 'docs': printf 'a\\nb' | sed 's/\\./x/'\n" in found.text
    assert "is a line break" not in found.text


def test_no_part_of_a_long_command_passes_for_a_line_of_its_own(project):
    begin = "  run for 'docs': "
    command = "touch EVIL #".ljust(40 - len(begin)) + f"  {HARMLESS}" + " " * 50 + "x" * 300
    project(f'{DOCS}"{command}"\n')
    found = seen("trust", answer="n\n", columns=40)
    lines = found.text.splitlines()
    at = lines.index(f"{begin}touch EVIL #")
    end = lines.index("Approve? [y/N]: Nothing was approved.", at)
    assert all(line.startswith("      │") for line in lines[at + 1 : end] if line)
    assert sum(line.count("x") for line in lines[at:end]) == 300  # none of it is cut


@pytest.mark.parametrize(
    "config",
    [
        "models:\n  embed: \"hf:o/r/f\\e[2K\\ruse for embed: minilm\"\n",
        "editor_uri: \"https://evil.example/{path}\\e[2K\\r  open with a click: vscode://{path}\"\n",
        "collections:\n  docs:\n    path: \"/srv/evil\\e[2K\\r  read for 'docs': /srv/good\"\n",
        "models:\n  embed: \"evil\\n  use for embed: minilm\"\n",
    ],
)  # fmt: skip
def test_folders_models_and_links_are_shown_whole(project, config):
    project(config)
    found = seen("trust", answer="n\n")
    assert "evil" in found.text or "hf:o/r/f" in found.text
    assert r"\x1b[2K" in found.text or r"evil\n" in found.text
    assert (found.code, found.foreign) == (1, [])


def test_a_name_with_control_characters_is_refused_and_shown(project):
    project('collections:\n  "docs\\e[2K":\n    path: /srv/evil\n')
    found = seen("trust", answer="y\n")
    assert r"'docs\x1b[2K' cannot be the name of a collection" in found.text.replace("\n", "")
    assert (found.code, found.foreign) == (1, [])


def test_an_approval_names_the_script_and_is_bound_to_what_it_says(project):
    folder = project(f"{DOCS}sh ../tools/pull.sh\n")
    written(folder / "tools" / "pull.sh", "touch first\n")
    found = seen("trust", answer="y\n")
    assert found.code == 0
    assert "      tools/pull.sh has SHA-256 " in found.text
    assert "This is approved already." in seen("trust").text
    seen("update")
    assert (folder / "docs" / "first").exists()
    written(folder / "tools" / "pull.sh", "touch second\n")
    found = seen("update")
    assert (
        "The update command of 'docs' is not approved and was left out: sh ../tools" in found.words
    )
    assert not (folder / "docs" / "second").exists()
