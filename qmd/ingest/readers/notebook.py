"""Reader of Jupyter notebooks (IPYNB)."""

from __future__ import annotations

import json
import re
from typing import Any

from qmd.ingest.readers import trees
from qmd.ingest.readers.building import Builder
from qmd.ingest.readers.dates import iso
from qmd.ingest.readers.reading import Reading, Unreadable

LONGEST_OUTPUT = 20_000
"""Characters of one output: a loop may print without end."""

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_EMBEDDED = re.compile(
    r"!\[([^\]\n]{0,1000})\]\((?:data|attachment):[^)\s]*[^)\n]{0,200}\)"
    r"|<img\b[^<>]{0,1000}?src\s*=\s*[\"']?data:[^>]*>"
)


def read(data: bytes, name: str) -> Reading:
    """Read a notebook cell by cell, with the text of outputs and without their pictures."""
    out = Builder("notebook")
    about: dict[str, Any] = {}
    if not data.strip():
        raise Unreadable("empty file")
    with out.filling():
        notebook = json.loads(trees.text_of(data))
        if not isinstance(notebook, dict) or not _cells(notebook):
            is_notebook = isinstance(notebook, dict) and "nbformat" in notebook
            raise Unreadable("no text" if is_notebook else "no notebook")
        about = _dict(notebook.get("metadata"))
        language = _dict(about.get("language_info")).get("name")
        kernel = _dict(about.get("kernelspec"))
        language = language or kernel.get("language") or "python"
        for number, cell in enumerate(_cells(notebook), 1):
            out.place("cell", str(number))
            _cell(out, _dict(cell), str(language))
    authors = about.get("authors")
    names = [_dict(each).get("name") for each in authors] if isinstance(authors, list) else []
    title, date = about.get("title"), about.get("date")
    return out.reading(
        title=title if isinstance(title, str) else None,
        date=iso(date) if isinstance(date, str) else None,
        author=", ".join(each for each in names if isinstance(each, str)),
        metadata={"kernel": _dict(about.get("kernelspec")).get("display_name")},
    )


def _cells(notebook: dict[str, Any]) -> list[Any]:
    """Give the cells; those of format 3 lie in worksheets."""
    cells = notebook.get("cells")
    if isinstance(cells, list):
        return cells
    sheets = notebook.get("worksheets")
    found: list[Any] = []
    for sheet in sheets if isinstance(sheets, list) else []:
        inner = _dict(sheet).get("cells")
        found += inner if isinstance(inner, list) else []
    return found


def _cell(out: Builder, cell: dict[str, Any], language: str) -> None:
    kind = cell.get("cell_type")
    source = _text(cell.get("source", cell.get("input")))
    if kind == "heading":
        level = cell.get("level")
        out.heading(level if isinstance(level, int) else 1, source)
    elif kind == "markdown":
        out.markdown(_EMBEDDED.sub(r"\1", source))
    elif kind == "code":
        out.code(source, language if language.isalnum() else "")
        outputs = cell.get("outputs")
        for each in outputs if isinstance(outputs, list) else []:
            _output(out, _dict(each))
    else:
        out.block(source)


def _output(out: Builder, output: dict[str, Any]) -> None:
    kind = output.get("output_type")
    if kind == "stream":
        text = _text(output.get("text"))
    elif kind in ("error", "pyerr"):
        text = f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}"
    else:
        data = _dict(output.get("data")) or output
        if markdown := _text(data.get("text/markdown")):
            out.markdown(_EMBEDDED.sub(r"\1", markdown[:LONGEST_OUTPUT]))
            return
        text = _text(data.get("text/plain", data.get("text")))
    text = _ESCAPES.sub("", text[:LONGEST_OUTPUT])
    lines = (line.rpartition("\r")[2] for line in text.replace("\r\n", "\n").split("\n"))
    out.code("\n".join(lines), "text")  # a carriage return writes over the line


def _text(value: object) -> str:
    if isinstance(value, list):
        return "".join(each for each in value if isinstance(each, str))
    return value if isinstance(value, str) else ""


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
