"""`--index NAME`, and commands that messages suggest for names of all kinds."""

from __future__ import annotations

import pytest


@pytest.fixture
def named(qmd, notes, tmp_path, monkeypatch):
    """An index of the name `work`, which has the notes."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert qmd("collection", "add", notes, "--index", "work")[0] == 0
    return qmd


@pytest.mark.parametrize(
    "arguments",
    [
        ["search", "tea"],
        ["query", "tea"],
        ["get", "tea.md"],
        ["multi-get", "tea.md"],
        ["ls"],
        ["status"],
        ["sql", "select 1"],
        ["stats"],
        ["doctor"],
        ["export", "out"],
        ["update"],
        ["collection", "list"],
        ["collection", "show", "notes"],
        ["context", "list"],
        ["context", "add", "Text"],
        ["context", "add", ".", "Text"],
        ["context", "add", "qmd://notes/", "Text"],
        ["mcp"],
        ["mcp", "--http", "--port", "0"],
        ["mcp", "--http", "--port", "0", "--daemon"],
        ["server"],
        ["server", "--transport", "http", "--port", "0"],
    ],
)
def test_an_index_that_does_not_exist_is_told_and_not_made(named, tmp_path, arguments):
    before = sorted(tmp_path.rglob("*"))
    code, out, err = named("--index", "wrok", *arguments)
    assert (code, out) == (1, "")
    assert err == (
        "There is no index 'wrok'. Known: work.\n\n"
        "Make one with 'qmd --index wrok collection add PATH'.\n"
    )
    assert sorted(tmp_path.rglob("*")) == before


def test_a_context_of_everything_makes_an_index(named):
    assert named("--index", "new", "context", "add", "/", "Text")[0] == 0
    assert "Text" in named("--index", "new", "context", "list")[1]


def test_an_index_is_there_with_its_settings_or_its_file_alone(named, tmp_path):
    [settings] = (tmp_path / "config").glob("work.yml")
    settings.rename(tmp_path / "config" / "play.yml")
    assert "notes/tea.md" in named("--index", "work", "search", "tea")[1]
    assert named("--index", "play", "ls")[0] == 0
    assert named("ls")[0] == 0


def test_a_suggested_command_can_be_typed_as_it_is(qmd, notes):
    assert qmd("collection", "add", notes, "--name", "my corp")[0] == 0
    assert "\"qmd update 'my corp'\"" in qmd("collection", "add", notes, "--name", "my corp")[2]
    (notes / "new.md").write_text("# New\n")
    assert "Run \"qmd update -c 'my corp'\"," in qmd("get", notes / "new.md")[2]
    assert "-c 'my corp'." in qmd("collection", "exclude", "my corp")[1]
    said = qmd("context", "add", "qmd://my corp/none", "Nothing")[2]
    assert "\"qmd ls 'my corp'\" shows" in said
    notes.rename(notes.with_name("gone"))
    for command in (("doctor",), ("update",)):
        told = "".join(map(str, qmd(*command)[1:]))
        assert "\"qmd collection remove 'my corp'\"" in told
