"""Packages that only some installations have."""

from __future__ import annotations

import importlib.metadata
import json
import shlex
import sys

import pytest

from qmd.errors import UsageError, extras


class Installed:
    """An installation that notes where it came from."""

    def __init__(self, origin):
        self.origin = origin

    def read_text(self, name):
        assert name == "direct_url.json"
        return self.origin


@pytest.fixture(autouse=True)
def from_the_index(monkeypatch):
    came_from(monkeypatch, None)


def came_from(monkeypatch, origin):
    text = json.dumps(origin) if origin else None
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: Installed(text))


def without(monkeypatch, *names):
    """Let some packages seem not to be installed."""
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name in names else object())


def test_an_extra_is_added_by_pip_or_where_there_is_none_by_uv(monkeypatch):
    without(monkeypatch)
    assert extras.command("plots") == "pip install 'qmd-duckdb[plots]'"
    assert extras.command(None) == "pip install qmd-duckdb"
    again = extras.command(None, again=True)
    assert again == "pip install --force-reinstall qmd-duckdb"
    without(monkeypatch, "pip")
    python = shlex.quote(sys.executable)
    assert extras.command("plots") == f"uv pip install --python {python} 'qmd-duckdb[plots]'"


@pytest.mark.parametrize(
    ("origin", "wanted"),
    [
        ({"url": "file:///src/qmd", "dir_info": {"editable": True}}, "-e '/src/qmd[plots]'"),
        ({"url": "file:///my%20src/qmd", "dir_info": {}}, "'/my src/qmd[plots]'"),
        ({"url": "file:///d/q.whl", "archive_info": {}}, "'/d/q.whl[plots]'"),
        (
            {
                "url": "https://forge.example/q.git",
                "vcs_info": {"vcs": "git", "requested_revision": "v1", "commit_id": "abc"},
            },
            "'qmd-duckdb[plots] @ git+https://forge.example/q.git@v1'",
        ),
        (
            {"url": "https://example.org/q.whl", "archive_info": {}},
            "'qmd-duckdb[plots] @ https://example.org/q.whl'",
        ),
    ],
)
def test_an_extra_comes_from_where_the_installation_came_from(monkeypatch, origin, wanted):
    without(monkeypatch)
    came_from(monkeypatch, origin)
    assert extras.command("plots") == f"pip install {wanted}"


def test_an_installation_without_notes_is_that_of_the_package_index(monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    without(monkeypatch)
    monkeypatch.setattr(importlib.metadata, "distribution", missing)
    assert extras.command("plots") == "pip install 'qmd-duckdb[plots]'"


def test_what_is_missing_is_told_with_what_it_is_for_and_how_to_add_it(monkeypatch):
    without(monkeypatch, "ir_measures")
    extras.require_extra("matplotlib", "matplotlib", "draws the chart", extra="bench")
    with pytest.raises(UsageError) as raised:
        extras.require_extra("ir-measures", "ir_measures", "computes the figures", extra="bench")
    assert str(raised.value) == (
        "ir-measures is not installed, which computes the figures.\n\n"
        "Install it with: pip install 'qmd-duckdb[bench]'"
    )
