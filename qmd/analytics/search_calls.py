"""Calls of search functions inside SQL, and their arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from qmd.errors import SqlError

SEARCHES = ("bm25", "vsearch", "hybrid")
"""Search functions that a statement can call. See sql/views/."""

DEFAULT_N = 100
"""Default limit of documents of a search; as in the macros."""

LARGEST_N = 1_000_000

Parameters = Mapping[str, Any] | Sequence[Any]


class Call(NamedTuple):
    """A call of a search function in a statement.

    Attributes:
        search: one of `SEARCHES`.
        n: documents at most.
        collection: None: those that searches look into by default.
    """

    search: str
    query: str
    n: int
    collection: str | None


def bind_call(search: str, arguments: Sequence[dict[str, Any]], parameters: Parameters) -> Call:
    """Bind the arguments of a search call.

    Args:
        arguments: nodes of the tree.

    Raises:
        SqlError: the search does not take them.
    """
    given: dict[str, object] = {}
    names = ["query", "n", "collection"]
    for place, argument in enumerate(arguments):
        name = str(argument.get("alias", "")).lower() or names[min(place, 2)]
        if name not in names or place > 2:
            raise SqlError(f"{search} takes {_usage(search)}.")
        given[name] = _value(search, name, argument, parameters)
    query, n, collection = given.get("query"), given.get("n", DEFAULT_N), given.get("collection")
    if not isinstance(query, str):
        raise SqlError(f"{search} takes {_usage(search)}: what to look for is a text.")
    if not isinstance(n, int) or isinstance(n, bool) or not 1 <= n <= LARGEST_N:
        raise SqlError(f"n of {search} is a number of documents: a whole number, 1 to {LARGEST_N}.")
    if collection is not None and not isinstance(collection, str):
        raise SqlError(f"collection of {search} is the name of one.")
    return Call(search, query, n, collection)


def _usage(search: str) -> str:
    return f"{search}('words', n := {DEFAULT_N}, collection := 'name')"


def _value(search: str, name: str, argument: dict[str, Any], parameters: Parameters) -> object:
    """Return a constant, or the value of a parameter.

    The tree leaves out the value of a text that is empty, and has a decimal without its point.
    """
    if argument.get("class") == "CONSTANT":
        value = argument["value"]
        if value["is_null"]:
            return None
        kind, told = value["type"]["id"], value.get("value", "")
        return Decimal(told) if kind == "DECIMAL" else told
    if argument.get("class") == "PARAMETER":
        return parameter(argument["identifier"], parameters)
    raise SqlError(
        f"{name} of {search} is not a constant.\n\n"
        "Searches run before the statement does: give a constant, or a parameter such as $words."
    )


def check_parameters(names: Iterable[str], parameters: Parameters) -> None:
    """Refuse values for other parameters than a statement has.

    Args:
        names: of its parameters, in whatever case.

    Raises:
        SqlError: one has no value, or a value has none.
    """
    numbers = [str(number) for number in range(1, len(parameters) + 1)]
    values = parameters if isinstance(parameters, Mapping) else numbers
    taken, given = ({str(name).lower(): name for name in each} for each in (names, values))
    if len(given) < len(values):
        raise SqlError("Two values are for one parameter: their names differ in case alone.")
    if missing := taken.keys() - given.keys():
        name = taken[min(missing)]
        raise SqlError(
            f"There is no value for ${name}.\n\n"
            f"Give one with -p {name}=VALUE. In Python it is one of the parameters."
        )
    if unknown := given.keys() - taken.keys():
        name = given[min(unknown)]
        raise SqlError(
            f"The query has no ${name}.\n\n"
            f"Write ${name} where its value belongs, or leave the value out."
        )


def parameter(identifier: str, parameters: Parameters) -> object:
    """Return the value of a parameter."""
    if isinstance(parameters, Mapping):
        name = identifier.lower()
        return next(value for key, value in parameters.items() if str(key).lower() == name)
    return parameters[int(identifier) - 1]
