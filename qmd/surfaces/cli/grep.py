"""Output of `qmd grep`, in the form of ripgrep's."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from qmd.errors import UsageError
from qmd.named_tuple import NamedTuple
from qmd.operations import grep as lines
from qmd.operations.grep import Matched
from qmd.surfaces import terminal
from qmd.surfaces.cli.common import Ended, Json, State
from qmd.surfaces.cli.derive import interactive
from qmd.wording import on_one_line

if TYPE_CHECKING:
    import typer

    from qmd.operations.index import Index

NONE = 1
"""Exit code if no line matches. Source: POSIX grep."""


class GrepOutput(NamedTuple):
    """Options of the command that say what is written of each document."""

    around: Annotated[
        int | None,
        typer.Option("-C", "--context", metavar="N", min=0, help="Lines around each match."),
    ] = None
    files: Annotated[bool, typer.Option("-l", "--files-with-matches", help="Only the paths.")] = (
        False
    )
    counted: Annotated[bool, typer.Option("-c", "--count", help="Only the number of lines.")] = (
        False
    )
    numbered: Annotated[
        bool, typer.Option("-n", "--line-number", help="Show line numbers, which is the default.")
    ] = False
    as_json: Json = False


@interactive(lines.grep, options=GrepOutput)
def grep(at: State, arguments: dict[str, Any], options: GrepOutput) -> None:
    """Write lines as they are found; exit with 1 if there are none."""
    if options.files and options.counted:
        raise UsageError("Choose one: -l for paths, or -c for counts.")
    if options.around is not None:
        arguments = {"before": options.around, "after": options.around, **arguments}
    arguments["count_only"] = options.files or options.counted
    with at.engine() as engine:
        writer = _Writer(engine, at, arguments, options)
        lines.grep(engine, each=writer.write, **arguments)
    writer.end()
    if not writer.found:
        raise Ended(NONE)


class _Writer:
    """Writer of documents with their matching lines.

    Attributes:
        found: a line matches.
    """

    def __init__(
        self, engine: Index, at: State, arguments: dict[str, Any], options: GrepOutput
    ) -> None:
        self.found = False
        self._options = options
        self._mark: Callable[[Sequence[str]], list[str]] | None = None
        self._apart = bool(arguments.get("before") or arguments.get("after"))
        self._colour = at.colour and not options.as_json
        if self._colour and not arguments.get("invert"):
            # Words at the edge of a match are not a part of it.
            chosen = {name: arguments.get(name, False) for name in ("ignore_case", "fixed")}
            inner = lines.expression(arguments["pattern"], word=False, **chosen)
            self._mark = lambda texts: self._marked(texts, lines.parts(engine, inner, texts))

    def write(self, matched: Matched) -> None:
        """Write one document."""
        name = on_one_line(matched.file)
        if self._options.as_json:
            self._write_json(matched)
        elif self._options.files:
            terminal.out(terminal.ended(self._paint(name, "35")))
        elif self._options.counted:
            terminal.out(
                terminal.ended(self._joined([self._paint(name, "35"), f":{matched.total}"]))
            )
        else:
            self._write_lines(name, matched)
        self.found = True

    def end(self) -> None:
        """Write what stands behind all documents."""
        if self._options.as_json:
            terminal.out("\n]\n" if self.found else "[]\n")

    def _write_json(self, matched: Matched) -> None:
        records: list[dict[str, object]] = [
            {"file": matched.file, "line": number, "text": text, "match": is_match}
            for number, text, is_match in matched.lines
        ]
        if self._options.files or self._options.counted:
            records = [{"file": matched.file, "count": matched.total}]
        for record in records:
            terminal.out(",\n  " if self.found else "[\n  ")
            terminal.out(json.dumps(record, ensure_ascii=False))
            self.found = True

    def _write_lines(self, name: str, matched: Matched) -> None:
        texts = [text for _, text, _ in matched.lines]
        if self._mark is not None:
            texts = self._mark(texts)
        last, written = None, []
        for (number, _, is_match), text in zip(matched.lines, texts, strict=True):
            if self._apart and (self.found if last is None else number > last + 1):
                written.append("--")
            mark = ":" if is_match else "-"
            if self._colour:
                place = [self._paint(name, "35"), mark, self._paint(str(number), "32"), mark]
                written.append(self._joined([*place, text]))
            else:
                written.append(f"{name}{mark}{number}{mark}{text}")
            last = number
        if written:
            terminal.out(terminal.ended(self._together(written)))

    def _marked(self, texts: Sequence[str], parts: Sequence[Sequence[str]]) -> list[str]:
        """Paint the parts of lines that match."""
        painted: list[str] = []
        for text, found in zip(texts, parts, strict=True):
            pieces, at = [], 0
            for part in filter(None, found):
                begin = text.index(part, at)
                pieces += [text[at:begin], terminal.paint(part, "1;31")]
                at = begin + len(part)
            painted.append(terminal.joined_styled("", [*pieces, text[at:]]))
        return painted

    def _paint(self, text: str, code: str) -> str:
        return terminal.paint(text, code) if self._colour else text

    def _together(self, lines: Sequence[str]) -> str:
        return terminal.joined_styled("\n", lines) if self._colour else "\n".join(lines)

    def _joined(self, parts: Sequence[str]) -> str:
        return terminal.joined_styled("", parts) if self._colour else "".join(parts)
