"""Parts of pages that follow from declarations.

python -m tools.docs

In docs/sql.md: the views and examples, from the headers in sql/views and sql/examples. In
docs/python.md: the operations with their names on each surface. In the skill: the options that all
searches share. It also writes the table and the summaries of the command line; see
`tools/command_table.py` and `tools/summaries.py`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from qmd import operations
from qmd.analytics.views import ViewColumn, examples, views
from qmd.declaration.operation import OPERATIONS
from tools import command_table, summaries

ROOT = Path(__file__).parents[1]


def pages() -> dict[Path, dict[str, Callable[[], Iterable[str]]]]:
    """Return what writes each generated part of each page."""
    return {
        ROOT / "docs" / "sql.md": {"views": _views, "examples": _examples},
        ROOT / "docs" / "python.md": {"operations": _operations},
        ROOT / "qmd" / "surfaces" / "skill" / "SKILL.md": {"options": _options},
    }


def page(path: Path) -> str:
    """Return a page with its generated parts as they should be."""
    text = path.read_text(encoding="utf-8")
    for name, lines in pages()[path].items():
        text = replaced(text, name, "\n".join(lines()))
    return text


def replaced(text: str, name: str, part: str) -> str:
    """Replace the part of a page between `<!-- name -->` and `<!-- end of name -->`."""
    before, begin, rest = text.partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition(f"<!-- end of {name} -->\n")
    assert begin, f"the page has no place for {name}"
    assert end, f"the place for {name} has no end"
    return f"{before}{begin}\n{part}\n{end}{after}"


def _views() -> Iterator[str]:
    for view in sorted(views(), key=lambda view: (not view.is_macro, view.name)):
        yield f"### `{view.call}`\n\n{view.about}\n"
        if view.parameters:
            yield _table("parameter", view.parameters)
        yield _table("column", view.columns)


def _table(first: str, columns: tuple[ViewColumn, ...]) -> str:
    head = f"| {first} | type | |\n|---|---|---|\n"
    rows = (f"| {each.name} | {each.kind} | {_escaped(each.meaning)} |" for each in columns)
    return head + "".join(f"{row}\n".replace("|  |", "| |") for row in rows)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def _examples() -> Iterator[str]:
    for number, each in enumerate(examples(), 1):
        yield f"**{number}. {each.question}**\n\n```sql\n{each.query}```\n"


def _operations() -> Iterator[str]:
    for module in pkgutil.iter_modules(operations.__path__):
        importlib.import_module(f"qmd.operations.{module.name}")
    yield "| | Python | command | MCP tool |"
    yield "|---|---|---|---|"
    for each in sorted(OPERATIONS.values(), key=lambda each: (each.writes, each.python)):
        command = "" if "command" in each.absent else f"`qmd {each.command}`"
        tool = "" if "tool" in each.absent else f"`{each.name}`"
        method = "" if "python" in each.absent else f"`{each.python}`"
        yield f"| {_escaped(each.title)} | {method} | {command} | {tool} |"
    yield ""


def _options() -> Iterator[str]:
    for each in OPERATIONS["search"].parameters_on("command").values():
        if each.positional:
            continue
        flags = ", ".join(each.about.flags) or "--" + each.name.replace("_", "-")
        value = each.about.metavar or {"integer": "N", "number": "NUMBER"}.get(each.kind, "")
        yield f"- `{f'{flags} {value}'.strip()}` {each.about.help}"


def main() -> None:
    """Write the pages that change."""
    for path in pages():
        after = page(path)
        if after != path.read_text(encoding="utf-8"):
            path.write_text(after, encoding="utf-8")
    command_table.main()
    summaries.main()


if __name__ == "__main__":
    main()
