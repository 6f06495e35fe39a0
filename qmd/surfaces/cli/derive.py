"""Commands derived from operations.

A command takes the parameters that its operation declares, and options of its own that say how
the result is written. It opens the index, runs the operation and hands the result to the function
that it decorates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from qmd.declaration import operation as declaration
from qmd.declaration.operation import Declared, Operation, Parameter
from qmd.errors import InvalidArgument, UsageError
from qmd.named_tuple import NamedTuple
from qmd.surfaces import console
from qmd.surfaces.cli.common import PARTLY, Ended, State, notice, state
from qmd.wording import bounds

if TYPE_CHECKING:
    import typer

    from qmd.operations.index import Index

NO_GPU = Declared(
    "no_gpu",
    "flag",
    False,
    False,
    (),
    False,
    Parameter(help="Run models on the CPU.", flags=("--no-gpu",)),
)
"""Option of commands that ask models."""


class Call(NamedTuple):
    """One call of a command.

    Attributes:
        here: the environment, and the index that is meant.
        engine: the open index.
        operation: that is called.
        given: arguments as the user gave them.
        arguments: that the operation gets.
        options: of the command itself; an instance of the class that it was declared with.
    """

    here: State
    engine: Index
    operation: Operation
    given: Mapping[str, Any]
    arguments: dict[str, Any]
    options: Any


Show = Callable[[Call, Any], None]


def command(
    function: Callable[..., Any],
    *,
    options: type[Any] | None = None,
    adjust: Callable[[Call], None] | None = None,
    progress: Callable[[Call], AbstractContextManager[Any]] | None = None,
    progress_as: str = "progress",
    new: bool = False,
    warm: bool = False,
) -> Callable[[Show], Callable[..., None]]:
    """Make a command of an operation and of a function that writes its result.

    Args:
        function: the operation.
        options: a named tuple whose annotated fields are options of the command itself.
        adjust: may change the arguments before the operation runs.
        progress_as: parameter of the operation that takes the callback.
        progress: shows how far the operation is; it gives the callback, or None.
        new: the command makes the index, if there is none.
        warm: the function reads the index, too.
    """
    operation = declaration.of(function)

    def decorate(show: Show) -> Callable[..., None]:
        def run(context: typer.Context | State, **values: Any) -> None:
            own = options(**{name: values.pop(name) for name in options._fields}) if options else ()
            gpu = not values.pop("no_gpu", False)
            here = state(context)
            given = read(operation, values)
            warn(operation, given)
            is_warm = warm or operation.is_async
            with (
                here.engine(warm=is_warm, gpu=gpu, new=new) as engine,
                engine.during(operation),
            ):
                call = Call(here, engine, operation, given, dict(given), own)
                if adjust is not None:
                    adjust(call)
                with progress(call) if progress else nullcontext() as told:
                    if told is not None:
                        call.arguments[progress_as] = told
                    result = carried_out(operation, call)
                show(call, result)
                if getattr(result, "missing_shards", ()):
                    raise Ended(PARTLY)

        return _declare(run, operation, options)

    return decorate


def interactive(
    function: Callable[..., Any], *, options: type[Any] | None = None
) -> Callable[[Callable[[State, dict[str, Any], Any], None]], Callable[..., None]]:
    """Make a command that carries its operation out in a way of its own.

    The decorated function is given the environment, the arguments of the operation and the
    options of the command; it opens the index itself.
    """
    operation = declaration.of(function)

    def decorate(body: Callable[[State, dict[str, Any], Any], None]) -> Callable[..., None]:
        def run(context: typer.Context | State, **values: Any) -> None:
            own = options(**{name: values.pop(name) for name in options._fields}) if options else ()
            here = state(context)
            here.check_operation(operation)
            given = read(operation, values)
            warn(operation, given)
            body(here, given, own)

        return _declare(run, operation, options)

    return decorate


def _declare(
    run: Callable[..., None], operation: Operation, options: type[Any] | None
) -> Callable[..., None]:
    """Store on a command what `framework.declared` builds its signature from."""
    run.__name__ = operation.command.split()[-1]
    vars(run).update(operation=operation, options=options, examples=operation.examples)
    return run


def warn(operation: Operation, given: Mapping[str, Any]) -> None:
    """Write a line to stderr for each deprecated thing that a command line uses."""
    for name, advice in operation.deprecations(given).items():
        declared = operation.parameters.get(name)
        if declared is None:
            notice(f"qmd {operation.command} is deprecated: {advice}")
        elif given[name] != declared.default_on("command"):
            notice(f"{_label(declared)} is deprecated: {advice}")


def carried_out(operation: Operation, call: Call) -> Any:
    """Run an operation.

    Raises:
        InvalidArgument: with the name that the parameter has on the command line.
    """
    work = partial(operation.function, call.engine, **call.arguments)
    try:
        if not operation.is_async:
            return call.engine.ended(work())
        import anyio

        return call.engine.ended(anyio.run(work))
    except InvalidArgument as error:
        declared = operation.parameters.get(error.parameter)
        raise error.named(_label(declared) if declared else error.parameter) from error


def long_option(declared: Declared) -> str:
    """Return the long option of a parameter that declares none."""
    return "--" + declared.name.replace("_", "-")


def _label(declared: Declared) -> str:
    """Return the name of a parameter in a message: its long option, or its own name."""
    if declared.positional and not declared.about.flags:
        return declared.name.upper()
    return declared.about.flags[-1] if declared.about.flags else long_option(declared)


# -- what the user gave ----------------------------------------------------------------------


def read(operation: Operation, values: Mapping[str, Any]) -> dict[str, Any]:
    """Make the arguments of an operation of the values that typer has read.

    What was not given is left out: the operation has the default.

    Raises:
        UsageError: a value is out of bounds, or stdin is not text.
    """
    arguments: dict[str, Any] = {}
    for name, declared in operation.parameters_on("command").items():
        value = values[name]
        if declared.about.words:
            value = words(value) if value is not None else None
        elif declared.kind == "flag" and (declared.optional or declared.default is True):
            value = False if value else None  # a flag such as --no-rerank
        elif declared.about.commas and value is not None:
            value = _listed(declared, value)
        elif declared.kind == "choice" and value is not None:
            value = getattr(value, "value", value)  # typer makes an enumeration of them
        if value is None or (declared.kind == "names" and not value):
            continue
        _check(declared, value)
        arguments[name] = tuple(value) if isinstance(value, list) else value
    return arguments


def _listed(declared: Declared, values: list[str]) -> list[str]:
    """Split names at commas.

    Raises:
        InvalidArgument: there are none.
    """
    names = [name.strip() for value in values for name in value.split(",") if name.strip()]
    if values and not names:
        raise InvalidArgument(_label(declared), "takes names with commas between.")
    return names


def words(given: list[str]) -> str:
    """Join the words of a query; `-` alone stands for stdin.

    Raises:
        UsageError: stdin is not UTF-8 text.
    """
    if given != ["-"]:
        return " ".join(given)
    try:
        text = console.current().stdin.read().rstrip("\n")
        text.encode()  # where bytes that are no UTF-8 are kept as halves of characters
        return text
    except UnicodeError as error:
        raise UsageError("What came on stdin is not valid UTF-8 text.") from error


def _check(declared: Declared, value: Any) -> None:
    """Refuse a number that is out of bounds.

    Raises:
        InvalidArgument: the number is out of bounds.
    """
    about, label = declared.about, _label(declared)
    if about.problem and (problem := about.problem(value)):
        raise InvalidArgument(label, problem)
    if declared.kind not in ("integer", "number"):
        return
    least, most = (None, None) if "command" in about.unbounded else (about.least, about.most)
    too_small = least is not None and not value >= least
    if value != value or too_small or (most is not None and not value <= most):
        raise InvalidArgument(label, f"takes {bounds(least, most)}, not {value:g}.")
