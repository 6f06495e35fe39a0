"""Reference of the Python package, made of signatures and docstrings.

Methods of the clients are derived from operations when the package is imported, which tools that
only read the source do not see. So the page is made of the objects themselves.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any, get_type_hints

import qmd
from qmd.declaration.operation import OPERATIONS, REQUIRED
from tools.site.tools_page import plain

HEAD = """\
# Python API

All that `import qmd` names. [qmd from Python](python.md) introduces it with examples that run.
Each method of `KnowledgeBase` is there in `AsyncKnowledgeBase` as well, where it is awaited.
"""

_SECTION = re.compile(r"^(Args|Returns|Raises|Attributes|Yields|Example):\s*$", re.M)
_ENTRY = re.compile(r"^(?P<names>[\w*][\w*, .]*): (?P<text>.*)$", re.S)


def page() -> str:
    """Return the whole page."""
    public = {name: getattr(qmd, name) for name in qmd.__all__ if not name.startswith("_")}
    errors = [name for name, each in public.items() if _is_error(each)]
    clients = ["KnowledgeBase", "AsyncKnowledgeBase"]
    functions = [name for name, each in public.items() if inspect.isfunction(each)]
    values = [name for name in public if name not in {*errors, *clients, *functions}]
    lines = [HEAD, "## Opening an index\n"]
    for name in sorted(functions, reverse=True):
        lines += _function(f"qmd.{name}", public[name], depth=3)
    lines += ["## Operations\n", _about(public["KnowledgeBase"])]
    for name, method in _methods(public["KnowledgeBase"]):
        lines += _function(f"kb.{name}", method, depth=3)
    lines += ["## Results\n"]
    for name in sorted(values):
        lines += _class(name, public[name])
    lines += ["## Errors\n", *_errors({name: public[name] for name in errors})]
    return "\n".join(lines)


def _is_error(thing: Any) -> bool:
    return isinstance(thing, type) and issubclass(thing, BaseException)


def _methods(client: type) -> Iterator[tuple[str, Any]]:
    """Yield the methods of a client that have a name of their own, without second names."""
    seen = set()
    for name, method in vars(client).items():
        if name.startswith("_") or not callable(method) or method in seen:
            continue
        seen.add(method)
        yield name, method


def _function(title: str, function: Any, *, depth: int) -> Iterator[str]:
    """Yield the lines about a function or a method."""
    yield f"{'#' * depth} {title}\n"
    yield f"```python\n{title}{_signature(function)}\n```\n"
    yield from _sections(inspect.getdoc(function) or "", _helps(function))


def _helps(function: Any) -> dict[str, str]:
    """Return what the declaration of an operation says about its parameters."""
    operation = OPERATIONS.get(function.__name__)
    if operation is None:
        return {}
    return {
        name: each.about.help_on("python")
        for name, each in operation.parameters_on("python").items()
    }


def _signature(function: Any) -> str:
    """Return the parameters of a function, one a line if they are many."""
    parameters = list(inspect.signature(function).parameters.values())
    told: list[str] = []
    keyword = False
    for each in parameters:
        if each.name in ("self", "kb"):
            continue
        if each.kind is each.KEYWORD_ONLY and not keyword:
            keyword = True
            told.append("*")
        told.append(_parameter(each))
    whole = f"({', '.join(told)})"
    return whole if len(whole) <= 70 else "(\n" + "".join(f"    {each},\n" for each in told) + ")"


def _parameter(parameter: inspect.Parameter) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    default = parameter.default
    if default is parameter.empty or default is REQUIRED:
        return f"{stars}{parameter.name}"
    return f"{stars}{parameter.name}={default!r}"


def _class(name: str, thing: Any) -> Iterator[str]:
    """Yield the lines about a type of results."""
    yield f"### {name}\n"
    if not isinstance(thing, type):
        yield f"{plain(inspect.getdoc(thing) or '')}\n"
        return
    yield from _sections(inspect.getdoc(thing) or "", {}, _fields(thing))
    for key, method in vars(thing).items():
        if key.startswith("_") or not inspect.isfunction(method):
            continue
        yield from _function(f"{name}.{key}", method, depth=4)


def _fields(thing: type) -> dict[str, str]:
    """Return the attributes of a type with what their annotations say."""
    names = getattr(thing, "_fields", None) or getattr(thing, "__dataclass_fields__", ())
    try:
        hints = get_type_hints(thing)
    except NameError:  # an import for type checkers alone
        hints = dict(getattr(thing, "__annotations__", {}))
    return {name: _type(hints.get(name)) for name in names if not name.startswith("_")}


def _type(hint: Any) -> str:
    if hint is None:
        return ""
    told = hint if isinstance(hint, str) else inspect.formatannotation(hint)
    return re.sub(r"\b(?:[a-z_]+\.)+", "", told)


def _errors(errors: dict[str, type]) -> Iterator[str]:
    yield "All are a `QmdError`, whose text says what is wrong and what to do.\n"
    yield "| error | is a | raised when |"
    yield "|---|---|---|"
    for name, error in sorted(errors.items()):
        bases = ", ".join(f"`{base.__name__}`" for base in error.__bases__)
        yield f"| `{name}` | {bases} | {_about(error).strip()} |"
    yield ""


def _about(thing: Any) -> str:
    """Return the first paragraph of a docstring."""
    return plain((inspect.getdoc(thing) or "").partition("\n\n")[0]) + "\n"


def _sections(
    text: str, helps: dict[str, str], fields: dict[str, str] | None = None
) -> Iterator[str]:
    """Yield a docstring of Google's form as Markdown.

    Args:
        helps: what the declaration says about parameters, for those that the docstring leaves out.
        fields: types of attributes.
    """
    first, *rest = _SECTION.split(text)
    yield f"{first.strip()}\n"
    parts = dict(zip(rest[::2], rest[1::2], strict=True))
    arguments = dict(entries(parts.pop("Args", "")))
    for name, told in helps.items():
        arguments.setdefault(name, told)
    if helps:  # a group of parameters, such as `among`, is told by its members
        arguments = {name: told for name, told in arguments.items() if name in helps}
    if arguments:
        yield from _listed("parameter", arguments)
    attributes = dict(entries(parts.pop("Attributes", "")))
    if fields or attributes:
        yield from _attributes(attributes, fields or {})
    for name, body in parts.items():
        found = dict(entries(body)) if name == "Raises" else {}
        if found:
            yield from _listed("raises", found)
        else:
            yield f"**{name}:** {plain(inspect.cleandoc(body))}\n"


def _attributes(told: dict[str, str], fields: dict[str, str]) -> Iterator[str]:
    yield "| attribute | type | |"
    yield "|---|---|---|"
    for name in dict.fromkeys([*fields, *told]):
        kind = f"`{fields[name]}`".replace("|", "\\|") if fields.get(name) else ""
        yield f"| `{name}` | {kind} | {plain(told.get(name, ''))} |"
    yield ""


def _listed(first: str, told: dict[str, str]) -> Iterator[str]:
    yield f"| {first} | |"
    yield "|---|---|"
    for name, text in told.items():
        yield f"| `{name}` | {plain(text)} |"
    yield ""


def entries(body: str) -> Iterator[tuple[str, str]]:
    """Yield each name of a section with its text; `a, b: text` are two."""
    for entry in re.split(r"\n(?=\S)", inspect.cleandoc(body)):
        found = _ENTRY.match(entry)
        if found:
            for name in found["names"].split(","):
                yield name.strip(), found["text"]
