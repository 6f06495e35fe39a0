"""Declaration of operations: one annotated function, from which each surface is derived.

An operation is a function whose first parameter is the open index. Its name, signature and
docstring are the only place where it is declared: the command, the MCP tool with its JSON Schema,
the REST route, the Python methods and the table in the docs are made of them by an adapter of each
surface. Parameters that several operations share are annotated types in `parameters.py`.

Recording an operation only keeps a reference. The signature is read when a surface is built, so
that a command pays for the parameters of its own operation alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from qmd.named_tuple import NamedTuple

Function = TypeVar("Function", bound=Callable[..., Any])

Surface = Literal["command", "tool", "python", "sql"]
"""A way in: command line; MCP and REST, which share tools; Python; functions in SQL."""

Example = tuple[str, str]
"""What a command is run for, in a few words, and the line that does it."""

Kind = Literal[
    "text",
    "integer",
    "number",
    "flag",
    "choice",
    "names",
    "day",
    "path",
    "place",
    "callback",
    "json",
    "bindings",
]
"""Type of a parameter, as the adapters distinguish them."""


class REQUIRED:
    """Default of a parameter that has none."""


_COROUTINE, _KEYWORDS = 0x80, 0x08
"""Flags of code: a coroutine function; it takes `**keywords`. Source: `inspect` in Python, which
takes longer to import than all of this room."""

_NOTHING: Mapping[Any, Any] = MappingProxyType({})


class Parameter(NamedTuple):
    """Description of a parameter, the same on each surface unless it says otherwise.

    Attributes:
        help: one line, for people and for language models.
        helps: by surface, where another line is needed.
        flags: of the command line, such as `-n`, `--limit`; none: `--` and the name.
        metavar: name of the value in the help of the command line.
        json: name in JSON; none: the name in camel case.
        single: name in JSON of a second property, which takes one value of a list.
        aliases: other names that callers send in JSON.
        least, most: bounds of a number.
        unbounded: surfaces that do not enforce them.
        json_most: upper bound of a number in JSON alone.
        longest: characters of a text at most, in JSON.
        items: values of a list at most, in JSON.
        schema: JSON Schema, where the kind does not tell it.
        kind: where the annotated type does not tell it.
        defaults: by surface, where it differs from the signature.
        absent: surfaces that do not have it, with the reason.
        complete: name of the completion of the command line, such as `collections`.
        words: the command line takes it as several words, or from stdin for `-`.
        commas: names may stand in one value on the command line, with commas between.
        several: surfaces on which any number of values may be given.
        bare: its name and type say it all to a model: lists of tools leave its description out.
        problem: returns what is wrong with a value of the right type, or None.
        deprecated: what to do instead, such as "Use --since."; a call that gives it is told so.
    """

    help: str
    helps: Mapping[Surface, str] = _NOTHING
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    json: str | None = None
    single: str | None = None
    aliases: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    unbounded: frozenset[Surface] = frozenset()
    json_most: int | None = None
    longest: int | None = None
    items: int | None = None
    schema: Mapping[str, Any] | None = None
    kind: Kind | None = None
    defaults: Mapping[Surface, object] = _NOTHING
    absent: Mapping[Surface, str] = _NOTHING
    complete: str | None = None
    words: bool = False
    commas: bool = False
    several: frozenset[Surface] = frozenset()
    bare: bool = False
    problem: Callable[[Any], str | None] | None = None
    deprecated: str | None = None

    def help_on(self, surface: Surface) -> str:
        """Return the line that describes the parameter on a surface."""
        told = self.helps.get(surface, self.help)
        return f"{told} Deprecated: {self.deprecated}" if self.deprecated else told


class Declared(NamedTuple):
    """Parameter of one operation.

    Attributes:
        name: in Python.
        kind: one of `Kind`.
        optional: None stands for "not given".
        default: of the signature, or `REQUIRED`.
        choices: values of the kind `choice`.
        positional: may be given without its name.
        about: the annotation.
        annotation: of a group of parameters, as it is written there.
    """

    name: str
    kind: Kind
    optional: bool
    default: Any
    choices: tuple[str, ...]
    positional: bool
    about: Parameter
    annotation: Any = None

    @property
    def json(self) -> str:
        """Name in JSON."""
        return self.about.json or camel_case(self.name)

    def default_on(self, surface: Surface) -> Any:
        """Return the default on a surface, or `REQUIRED`."""
        return self.about.defaults.get(surface, self.default)


class _Recorded(NamedTuple):
    """Declaration of an operation.

    Attributes:
        function: takes the index, then the parameters; plain, or a coroutine function.
        name: on the command line and as a tool, as in `collection add`; in Python the function has
            its own.
        title: of the tool, for people.
        description: of the tool, for language models; none: the docstring's first paragraph.
        writes: it changes the index.
        idempotent: the same call twice does no more than once.
        guarded: it is a tool only where the user allows writing.
        asks_models: it may take longer than one that reads the index.
        forwardable: a running server may carry the command out: it only reads, and writes no file.
        aliases: other names of the Python method.
        absent: surfaces that do not have it, with the reason.
        examples: two to four of the command, which its help ends with.
        destructive: it may replace or remove what is there for good.
        sharded: it can be done over the shards of an index as well.
        partial: it can be done without some of them, if the user allows it.
        tool_name: as a tool, where the command line has that name for something else.
        unlisted: names in JSON of parameters that the tool takes, and that lists of tools leave
            out to be short.
        deprecated: what to do instead; each call is told so.
    """

    function: Callable[..., Any]
    name: str
    title: str
    description: str | None = None
    writes: bool = False
    idempotent: bool = True
    guarded: bool = False
    asks_models: bool = False
    forwardable: bool = False
    aliases: tuple[str, ...] = ()
    absent: Mapping[Surface, str] = _NOTHING
    examples: tuple[Example, ...] = ()
    destructive: bool = False
    sharded: bool = False
    partial: bool = False
    tool_name: str | None = None
    unlisted: tuple[str, ...] = ()
    deprecated: str | None = None


class Operation(_Recorded):
    """Operation of an index, as it is declared; its parameters are read when they are wanted."""

    @property
    def python(self) -> str:
        """Name of the Python method."""
        return self.function.__name__

    @property
    def command(self) -> str:
        """Words of the command."""
        return self.name.replace("_", "-")

    @property
    def tool(self) -> str:
        """Name of the tool."""
        return self.tool_name or self.name

    @property
    def is_async(self) -> bool:
        """True if the function is a coroutine function."""
        return bool(self.function.__code__.co_flags & _COROUTINE)

    @property
    def summary(self) -> str:
        """First paragraph of the docstring, on one line."""
        text = self.function.__doc__ or ""
        told = " ".join(text.partition("\n\n")[0].split())
        return f"{told} Deprecated: {self.deprecated}" if self.deprecated else told

    @cached_property
    def parameters(self) -> dict[str, Declared]:
        """Parameters by their names in Python, without the index."""
        return {each.name: each for each in _declared(self.function)}

    def parameters_on(self, surface: Surface) -> dict[str, Declared]:
        """Return the parameters that a surface has, by their names in Python."""
        return {
            name: each for name, each in self.parameters.items() if surface not in each.about.absent
        }

    def deprecations(self, given: Iterable[str]) -> dict[str, str]:
        """Return what to do instead of each deprecated thing that a call uses.

        Args:
            given: names in Python of the parameters that the call gives.

        Returns:
            The advice, by parameter; by "" that about the operation itself.
        """
        found = {"": self.deprecated} if self.deprecated else {}
        for name in given:
            advice = self.parameters[name].about.deprecated
            if advice:
                found[name] = advice
        return found


OPERATIONS: dict[str, Operation] = {}
"""Operations by the names of their Python methods, as far as their modules are imported."""


def operation(
    *,
    title: str,
    name: str | None = None,
    description: str | None = None,
    writes: bool = False,
    idempotent: bool = True,
    guarded: bool = False,
    asks_models: bool = False,
    forwardable: bool = False,
    aliases: tuple[str, ...] = (),
    absent: Mapping[Surface, str] = _NOTHING,
    examples: tuple[Example, ...] = (),
    destructive: bool = False,
    sharded: bool = False,
    partial: bool = False,
    tool_name: str | None = None,
    unlisted: tuple[str, ...] = (),
    deprecated: str | None = None,
) -> Callable[[Function], Function]:
    """Record a function as an operation; see `Operation`. The function itself stays as it is."""

    def record(function: Function) -> Function:
        OPERATIONS[function.__name__] = Operation(
            function,
            name or function.__name__,
            title,
            description,
            writes,
            idempotent,
            guarded,
            asks_models,
            forwardable,
            aliases,
            absent,
            examples,
            destructive,
            sharded,
            partial,
            tool_name,
            unlisted,
            deprecated,
        )
        return function

    return record


def of(function: Callable[..., Any]) -> Operation:
    """Return the operation that a function declares.

    Raises:
        KeyError: the function declares none.
    """
    return OPERATIONS[function.__name__]


def camel_case(name: str) -> str:
    """Return `minScore` for `min_score`."""
    head, *rest = name.split("_")
    return head + "".join(part.title() for part in rest)


def _declared(function: Callable[..., Any]) -> Iterator[Declared]:
    """Read the annotated parameters of a function, those of `**kwargs: Unpack[…]` included."""
    code = function.__code__
    among, named = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames
    first = among - len(function.__defaults__ or ())
    defaults = dict(zip(names[first:among], function.__defaults__ or (), strict=True))
    defaults |= function.__kwdefaults__ or {}
    written = {
        name: each
        for name, each in function.__annotations__.items()
        if name not in (names[0], "return")
    }
    hints = _hints(written, function.__module__)
    for at, name in enumerate(names[1:named], 1):
        default = defaults.get(name, REQUIRED)
        yield of_hint(name, hints[name], default, positional=at < among)
    if code.co_flags & _KEYWORDS:
        [group] = get_args(hints[names[named]])  # Unpack[Group]
        yield from members(group)


def members(group: type) -> Iterator[Declared]:
    """Read the parameters of a group, which is a typed dictionary."""
    for name, hint in _hints(group.__annotations__, group.__module__).items():
        written = group.__annotations__[name]
        declared = of_hint(name, hint, None, positional=False)
        yield declared._replace(annotation=written)


def _hints(annotations: Mapping[str, Any], module: str) -> dict[str, Any]:
    """Evaluate annotations, all as one expression: `get_type_hints` compiles each of them."""
    texts = "".join(f"{each}, " for each in annotations.values())
    found = eval(f"({texts})", vars(sys.modules[module]))
    return dict(zip(annotations, found, strict=True))


def of_hint(name: str, hint: Any, default: Any, *, positional: bool) -> Declared:
    """Read the annotation of a parameter.

    Raises:
        TypeError: it has no `Parameter`.
    """
    if get_origin(hint) is not Annotated:
        raise TypeError(f"The parameter {name} is not annotated with a Parameter.")
    kind, *notes = get_args(hint)
    about = next(note for note in notes if isinstance(note, Parameter))
    optional = False
    if get_origin(kind) in (Union, UnionType):
        rest = [part for part in get_args(kind) if part is not NoneType]
        optional = len(rest) < len(get_args(kind))
        kind = rest[0] if len(rest) == 1 else kind
    choices = tuple(map(str, get_args(kind))) if get_origin(kind) is Literal else ()
    plain: dict[Any, Kind] = {str: "text", int: "integer", float: "number", bool: "flag"}
    found = about.kind or ("choice" if choices else plain[kind])
    return Declared(name, found, optional, default, choices, positional, about)
