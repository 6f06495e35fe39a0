"""Named tuples whose classes are quick to define.

`typing.NamedTuple` compiles a function and the annotations of each class, and makes the class
twice. Half of what a command takes before it begins is to define classes, most of them records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import _tuplegetter
    from sys import intern
    from types import FunctionType

    _tuple_new = tuple.__new__

    _constructors = {
        made.__code__.co_argcount - 1: made
        for made in (
            lambda _cls, a: _tuple_new(_cls, (a,)),
            lambda _cls, a, b: _tuple_new(_cls, (a, b)),
            lambda _cls, a, b, c: _tuple_new(_cls, (a, b, c)),
            lambda _cls, a, b, c, d: _tuple_new(_cls, (a, b, c, d)),
            lambda _cls, a, b, c, d, e: _tuple_new(_cls, (a, b, c, d, e)),
            lambda _cls, a, b, c, d, e, f: _tuple_new(_cls, (a, b, c, d, e, f)),
            lambda _cls, a, b, c, d, e, f, g: _tuple_new(_cls, (a, b, c, d, e, f, g)),
            lambda _cls, a, b, c, d, e, f, g, h: _tuple_new(_cls, (a, b, c, d, e, f, g, h)),
            lambda _cls, a, b, c, d, e, f, g, h, i: _tuple_new(_cls, (a, b, c, d, e, f, g, h, i)),
            lambda _cls, a, b, c, d, e, f, g, h, i, j: _tuple_new(
                _cls, (a, b, c, d, e, f, g, h, i, j)
            ),
            lambda _cls, a, b, c, d, e, f, g, h, i, j, k: _tuple_new(
                _cls, (a, b, c, d, e, f, g, h, i, j, k)
            ),
        )
    }
    """Functions that make a tuple of so many fields, by their number. To compile one, as is done
    for more fields, takes as long as to load all of these."""

    def _constructor(
        fields: tuple[str, ...], defaults: tuple[Any, ...], annotations: dict[str, str]
    ) -> FunctionType:
        """Return `__new__` with the fields as parameters."""
        usual = _constructors.get(len(fields))
        if usual is None:
            given = "".join(f"_{place}, " for place in range(len(fields)))
            source = f"lambda _cls, {given}: _tuple_new(_cls, ({given}))"
            usual = _constructors[len(fields)] = eval(source)  # of numbers alone
        code = usual.__code__.replace(
            co_name="__new__", co_qualname="__new__", co_varnames=("_cls", *fields)
        )
        made = FunctionType(code, usual.__globals__, "__new__", defaults)
        made.__annotations__ = annotations
        return made

    _RESERVED = frozenset(
        "__new__ __slots__ __getnewargs__ _fields _field_defaults _make _replace _asdict".split()
    )

    class _Definition(type):
        """Class of named tuples: makes fields of what a class annotates."""

        def __new__(
            cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]
        ) -> _Definition:
            """See `type`; classes derived from a named tuple get no more fields."""
            if bases == (tuple,) or NamedTuple not in bases:
                return super().__new__(cls, name, bases, namespace)
            if any(each.startswith("__annotate") for each in namespace):
                raise TypeError(f"The module of {name} needs annotations that stay text.")
            if not _RESERVED.isdisjoint(namespace):
                raise AttributeError(f"{name} has an attribute that named tuples make themselves.")
            annotations = namespace.setdefault("__annotations__", {})
            fields = tuple(map(intern, annotations))
            defaults = {each: namespace.pop(each) for each in fields if each in namespace}
            if fields[len(fields) - len(defaults) :] != tuple(defaults):
                raise TypeError(f"A field of {name} without a default follows one with a default.")
            for place, field in enumerate(fields):
                if field.startswith("_"):
                    raise ValueError(f"Field names cannot start with an underscore: {field!r}")
                namespace[field] = _tuplegetter(place, f"Alias for field number {place}")
            namespace |= {
                "__slots__": (),
                "__new__": _constructor(fields, tuple(defaults.values()), annotations),
                "__match_args__": fields,
                "_fields": fields,
                "_field_defaults": defaults,
            }
            return super().__new__(cls, name, bases, namespace)

    class NamedTuple(tuple, metaclass=_Definition):
        """Base of named tuples; see `typing.NamedTuple`, which type checkers take it for.

        The annotations of a class stay text, which `typing.get_type_hints` compiles.
        """

        __slots__ = ()

        @classmethod
        def _make(cls, iterable: Any) -> NamedTuple:
            """Make a new tuple of a sequence or an iterable."""
            made = tuple.__new__(cls, iterable)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **values: object) -> NamedTuple:
            """Return a copy with other values of some fields."""
            made = self._make(map(values.pop, self._fields, self))
            if values:
                raise ValueError(f"Got unexpected field names: {list(values)!r}")
            return made

        __replace__ = _replace

        def _asdict(self) -> dict[str, Any]:
            """Return the values by the names of their fields."""
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            """Return the call that makes an equal tuple."""
            values = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({values})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            """Return what `pickle` and `copy` pass on."""
            return tuple(self)
