"""The command line loads libraries without what it never needs."""

from __future__ import annotations

import subprocess
import sys
import typing
from typing import NamedTuple, get_type_hints

import pytest

from qmd import startup

LOADED = """
import sys
from qmd import startup
sys.meta_path.insert(0, startup._Spared)
from qmd.models.llama_bindings import library
assert library().llama_max_devices() > 0
assert "llama_cpp.llama" in sys.modules and "jinja2" not in sys.modules
print("spared")
"""


def test_the_bindings_are_loaded_alone():
    pytest.importorskip("llama_cpp")
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    )
    assert done.stdout == "spared\n"


class Usual(NamedTuple):
    """A named tuple as Python makes it."""

    name: str
    others: list[Usual] = []  # noqa: RUF012  # as Python has it
    size: int | None = None


def test_named_tuples_whose_annotations_stay_text_are_as_usual(monkeypatch):
    monkeypatch.setattr(typing, "_make_nmtuple", typing._make_nmtuple)
    startup._leave_annotations()

    class Spared(NamedTuple):
        """A named tuple as Python makes it."""

        name: str
        others: list[Usual] = []  # noqa: RUF012
        size: int | None = None

    assert get_type_hints(Spared) == get_type_hints(Usual)
    for name in ("_fields", "_field_defaults", "__doc__", "__module__", "__match_args__"):
        assert getattr(Spared, name) == getattr(Usual, name)
    assert Spared("tea", size=1) == Usual("tea", size=1) == ("tea", [], 1)
    assert Spared("tea")._replace(size=2)._asdict() == {"name": "tea", "others": [], "size": 2}
    with pytest.raises(TypeError):
        Spared()
    if sys.version_info < (3, 14):
        assert set(map(type, Spared.__annotations__.values())) == {str}
        assert typing._make_nmtuple.__module__ == "qmd.startup"


def test_a_python_that_makes_named_tuples_in_another_way_is_left_as_it_is(monkeypatch):
    def other(name, fields, annotate, module, defaults=()):
        raise AssertionError

    monkeypatch.setattr(typing, "_make_nmtuple", other)
    startup._leave_annotations()
    assert typing._make_nmtuple is other
    monkeypatch.delattr(typing, "_make_nmtuple")
    startup._leave_annotations()
