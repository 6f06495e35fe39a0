"""Generator of qmd/surfaces/cli/command_table.py from the commands as typer knows them.

python -m tools.docs writes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from pprint import pformat
from typing import Any

import typer

from qmd.surfaces.cli import COMMANDS, function_of
from qmd.surfaces.cli.framework import Command, declared

TABLE = Path(__file__).parents[1] / "qmd" / "surfaces" / "cli" / "command_table.py"

HEAD = '''\
"""Options of the commands that `direct` reads; `python -m tools.docs` writes this module.

Of each command: its arguments as (parameter, kind, several, required), its options as (parameter,
kind, several), and the value of each parameter that is not given. The kind is "text", "integer",
"number", the choices, or the value that a flag gives.
"""

# fmt: off

from typing import Any

COMMANDS: dict[str, tuple[tuple[Any, ...], dict[str, Any], dict[str, Any]]] = \\
'''

_KINDS = {"StringParamType": "text", "IntParamType": "integer", "FloatParamType": "number"}


def derived() -> Iterator[str]:
    """Yield the names of the commands that are derived from operations."""
    for name in COMMANDS:
        if hasattr(function_of(name), "operation"):
            yield name


def read_by_typer(name: str, arguments: Sequence[str]) -> dict[str, Any]:
    """Return the parameters of a command as typer reads them; choices as text.

    Raises:
        typer._click.exceptions.ClickException: they are refused.
    """
    seen: dict[str, Any] = {}
    _spied(name, seen)(["it", *arguments], standalone_mode=False)
    return {key: value.value if isinstance(value, Enum) else value for key, value in seen.items()}


def _spied(name: str, seen: dict[str, Any]) -> typer.Typer:
    """Make an application of one command that only records its parameters."""

    def spy(context: typer.Context, **values: Any) -> None:
        seen.update(values)

    function = declared(function_of(name))
    vars(spy)["__signature__"] = vars(function)["__signature__"]
    spy.__annotations__ = function.__annotations__
    app = typer.Typer()
    app.callback()(lambda: None)
    app.command("it", cls=Command)(spy)
    return app


def table() -> str:
    """Return the module as it should be."""
    found = {name: entry for name in derived() if (entry := _entry(name)) is not None}
    return HEAD + pformat(found, width=96, sort_dicts=False) + "\n"


def _entry(name: str) -> tuple[tuple[Any, ...], dict[str, Any], dict[str, Any]] | None:
    """Describe a command; None if it takes an argument that typer has to read."""
    root: Any = typer.main.get_command(_spied(name, {}))
    positionals: list[tuple[Any, ...]] = []
    options: dict[str, Any] = {}
    for each in root.commands["it"].params:
        several = each.nargs < 0 or getattr(each, "multiple", False)
        kind = _kind(each)
        if each.param_type_name == "argument":
            positionals.append((each.name, kind, several, each.required))
        elif kind is not None:
            options |= dict.fromkeys(each.opts, (each.name, kind, several))
    if any(kind is None for _, kind, *_ in positionals):
        return None
    least = [f"{number}" for number, each in enumerate(positionals) if each[3]]
    taken = {each[0] for each in positionals if each[3]}
    values = read_by_typer(name, least)
    return (
        tuple(positionals),
        options,
        {key: value for key, value in values.items() if key not in taken},
    )


def _kind(parameter: Any) -> Any:
    """Return the kind of a parameter; None if typer has to read it."""
    if getattr(parameter, "is_flag", False):
        return None if parameter.secondary_opts else True
    choices = getattr(parameter.type, "choices", None)
    if choices:
        return tuple(str(getattr(each, "value", each)) for each in choices)
    return _KINDS.get(type(parameter.type).__name__)


def main() -> None:
    """Write the module."""
    TABLE.write_text(table(), encoding="utf-8")


if __name__ == "__main__":
    main()
