"""Calls of search functions inside SQL, and their arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from qmd.declaration.operation import members
from qmd.declaration.parameters import Selection
from qmd.errors import SqlError
from qmd.errors.base import advised
from qmd.named_tuple import NamedTuple

SEARCHES = ("bm25", "vsearch", "hybrid")
"""Search functions that a statement can call. See sql/views/."""

CHOOSING = tuple(each.name for each in members(Selection))
"""Parameters that choose documents, the same as in all searches."""

DEFAULT_N = 100
"""Default limit of documents of a search; as in the macros."""

LARGEST_N = 1_000_000

Parameters = Mapping[str, Any] | Sequence[Any]


class SearchCall(NamedTuple):
    """A call of a search function in a statement.

    Attributes:
        search: one of `SEARCHES`.
        n: documents at most.
        among: values of `CHOOSING`, in order; None: not given.
    """

    search: str
    query: str
    n: int
    among: tuple[str | None, ...]

    @property
    def selection(self) -> dict[str, str]:
        """Parameters of a search that choose documents, as far as they are given."""
        return {
            name: value
            for name, value in zip(CHOOSING, self.among, strict=True)
            if value is not None
        }


def bind_call(
    search: str, arguments: Sequence[dict[str, Any]], parameters: Parameters
) -> SearchCall:
    """Bind the arguments of a search call.

    Args:
        arguments: nodes of the tree.

    Raises:
        SqlError: the search does not take them.
    """
    given: dict[str, object] = {}
    names = ("query", "n", *CHOOSING)
    for place, argument in enumerate(arguments):
        name = str(argument.get("alias", "")).lower() or names[min(place, len(names) - 1)]
        if name not in names or place >= len(names):
            raise SqlError(f"{search} takes {_usage(search)}.")
        given[name] = _value(search, name, argument, parameters)
    query, n = given.get("query"), given.get("n", DEFAULT_N)
    if not isinstance(query, str):
        raise SqlError(f"{search} takes {_usage(search)}: what to look for is a text.")
    if not isinstance(n, int) or isinstance(n, bool) or not 1 <= n <= LARGEST_N:
        raise SqlError(f"n of {search} is a number of documents: a whole number, 1 to {LARGEST_N}.")
    among: list[str | None] = []
    for name in CHOOSING:
        value = given.get(name)
        if value is not None and not isinstance(value, str):
            raise SqlError(f"{name} of {search} is a text.")
        among.append(value)
    return SearchCall(search, query, n, tuple(among))


def _usage(search: str) -> str:
    more = ", ".join(f"{name} := '…'" for name in CHOOSING)
    return f"{search}('words', n := {DEFAULT_N}, {more})"


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
            f"There is no value for ${name}.",
            advice=advised(
                "Give one {}.", command=f"with -p {name}=VALUE", python="among the parameters"
            ),
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
