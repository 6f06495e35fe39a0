"""Named tuples of qmd are those of `typing`."""

from __future__ import annotations

import copy
import inspect
import pickle
import typing
from typing import Generic, TypeVar, get_type_hints

import pytest

from qmd.named_tuple import NamedTuple

Kind = TypeVar("Kind")


class Usual(typing.NamedTuple):
    """A row."""

    name: str
    others: list[Usual] = []  # noqa: RUF012  # as Python has it
    size: int | None = None

    @property
    def is_large(self) -> bool:
        return bool(self.size)


class Quick(NamedTuple):
    """A row."""

    name: str
    others: list[Usual] = []  # noqa: RUF012
    size: int | None = None

    @property
    def is_large(self) -> bool:
        return bool(self.size)


class Held(NamedTuple, Generic[Kind]):
    one: Kind


class Derived(Quick):
    extent = 3

    def __new__(cls, name: str) -> Derived:
        return super().__new__(cls, name, [], 4)


class Empty(NamedTuple):
    """No fields."""


def test_a_class_has_what_that_of_typing_has():
    assert get_type_hints(Quick) == get_type_hints(Usual)
    for name in ("_fields", "_field_defaults", "__doc__", "__module__", "__match_args__"):
        assert getattr(Quick, name) == getattr(Usual, name)
    assert Quick.name.__doc__ == Usual.name.__doc__
    assert inspect.signature(Quick).parameters.keys() == inspect.signature(Usual).parameters.keys()
    assert set(map(type, Quick.__annotations__.values())) == {str}
    assert not hasattr(Quick("tea"), "__dict__")


def test_values_are_those_of_typing():
    made = Quick("tea", size=1)
    assert made == Usual("tea", size=1) == ("tea", [], 1)
    assert hash(Quick("tea", ())) == hash(("tea", (), None))
    assert repr(made) == repr(Usual("tea", size=1)).replace("Usual", "Quick")
    assert made.is_large
    assert not Quick("tea").is_large
    assert made._replace(size=2)._asdict() == {"name": "tea", "others": [], "size": 2}
    assert Quick._make(iter(("tea", [], 1))) == made
    for copied in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert copied == made
        assert type(copied) is Quick
    match made:
        case Quick(name, size=size):
            assert (name, size) == ("tea", 1)


def test_classes_are_derived_with_and_without_fields():
    assert Held[int](1) == Held(one=1) == (1,)
    derived = Derived("tea")
    assert (derived.size, derived.extent, Derived._fields) == (4, 3, Quick._fields)
    assert Empty() == ()
    assert Empty._fields == ()


@pytest.mark.parametrize(
    "wrong",
    [
        Quick,
        lambda: Quick("tea", [], 1, 2),
        lambda: Quick("tea", colour=1),
        lambda: Quick._make(["tea"]),
    ],
)
def test_wrong_fields_raise_type_errors(wrong):
    with pytest.raises(TypeError):
        wrong()


def test_unknown_fields_cannot_be_replaced():
    with pytest.raises((TypeError, ValueError), match="unexpected field names"):
        Quick("tea")._replace(colour=1)
    with pytest.raises(AttributeError):
        Quick("tea").name = "coffee"


def test_wrong_classes_cannot_be_defined():
    with pytest.raises(TypeError, match="default"):

        class Unordered(NamedTuple):
            name: str = ""
            size: int

    with pytest.raises(ValueError, match="underscore"):

        class Hidden(NamedTuple):
            _name: str

    with pytest.raises(AttributeError, match="make themselves"):

        class Made(NamedTuple):
            name: str

            def __new__(cls, name: str) -> Made:
                return super().__new__(cls, name)
