"""Generator of the parts of docs/sql.md that come from headers in sql/views and sql/examples.

python -m tools.docs
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from qmd.analytics.views import ViewColumn, examples, views

PAGE = Path(__file__).parents[1] / "docs" / "sql.md"


def page(text: str) -> str:
    """Return the page with its generated parts."""
    text = replaced(text, "views", "\n".join(_views()))
    return replaced(text, "examples", "\n".join(_examples()))


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
    rows = [f"| {first} | type | |", "|---|---|---|"]
    rows += [f"| {each.name} | {each.kind} | {_escaped(each.meaning)}" for each in columns]
    return "".join(f"{row.rstrip(' |')} |\n" for row in rows)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def _examples() -> Iterator[str]:
    for number, each in enumerate(examples(), 1):
        yield f"**{number}. {each.question}**\n\n```sql\n{each.query}```\n"


def main() -> None:
    """Write the page, if it changes."""
    before = PAGE.read_text(encoding="utf-8")
    after = page(before)
    if after != before:
        PAGE.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main()
