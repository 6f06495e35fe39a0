"""Packages that only some installations have."""

from __future__ import annotations

import sys

import pytest

from qmd.errors import UsageError, extras


def without(monkeypatch, *names):
    """Let some packages seem not to be installed."""
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name in names else object())


def test_an_extra_is_added_by_pip_or_where_there_is_none_by_uv(monkeypatch):
    without(monkeypatch)
    assert extras.command("plots") == "pip install 'qmd[plots]'"
    without(monkeypatch, "pip")
    assert extras.command("plots") == f"uv pip install --python '{sys.executable}' 'qmd[plots]'"


def test_what_is_missing_is_told_with_what_it_is_for_and_how_to_add_it(monkeypatch):
    without(monkeypatch, "ir_measures")
    extras.check("matplotlib", "matplotlib", "draws the chart", extra="bench")
    with pytest.raises(UsageError) as raised:
        extras.check("ir-measures", "ir_measures", "computes the figures", extra="bench")
    assert str(raised.value) == (
        "ir-measures is not installed, which computes the figures.\n\n"
        "Install it with: pip install 'qmd[bench]'"
    )
