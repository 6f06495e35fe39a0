"""Reading documents, and what the index holds."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from qmd.errors import Ambiguous, DocumentNotFound, UsageError
from qmd.operations.base import Base
from qmd.quoting import line
from qmd.storage import catalog, document_lookup
from qmd.storage.cursor import Cursor
from qmd.text import globs, paths
from qmd.types import Document, Passage
from qmd.wording import on_one_line

if TYPE_CHECKING:
    from qmd.storage import maintenance
    from qmd.storage.catalog import Overview

LARGEST_OF_SEVERAL = 10_240
"""Bytes from which on a document is left out of several. Source: tobi/qmd (MIT), multi-get."""

MOST_COLONS = 3
"""Colons before and in a place: `talk.vtt:00:12:31`."""

SUGGESTED = 5
"""Missing documents of several for which names that are like theirs are looked for."""


class Reading(Base):
    """Gives documents."""

    def get(
        self,
        name: str,
        *,
        first: int | None = None,
        count: int | None = None,
        folder: Path | None = None,
    ) -> Passage:
        """A document, or some of its lines; `name:first:count` says it as well, and wins.

        Args:
            first: line to begin with, from 1.
            count: lines at most.
            folder: where paths such as `./tea.md` begin; see `document_lookup.found`.

        Raises:
            DocumentNotFound, Ambiguous: the name names none, or several.
            UsageError: the range lies outside the document, or it is of another index.
        """
        name = self._of_this(name)
        return self.read(partial(self._get, name, first=first, count=count, folder=folder))

    def _get(
        self,
        name: str,
        cursor: Cursor,
        *,
        first: int | None,
        count: int | None,
        folder: Path | None,
    ) -> Passage:
        document, asked = _resolved(cursor, paths.Range(name, first, count), folder)
        body = document_lookup.bodies(cursor, [document.hash])[document.hash]
        context = self._context(cursor, document)
        return _passage(document, body, context, asked.first, asked.lines)

    def multi_get(
        self,
        pattern: str,
        *,
        count: int | None = None,
        largest: int = LARGEST_OF_SEVERAL,
        folder: Path | None = None,
    ) -> list[Passage]:
        """Documents by glob, brace set, or comma list of paths and docids, with `:first:count`.

        The path of one document is no list, though it has a comma in it. A document that is not
        found, or is larger than `largest` bytes, as far as it is asked for, is told with the
        reason.

        Args:
            folder: where paths such as `./tea.md` and `./*.md` begin; see `document_lookup.found`.
        """
        return self.read(
            partial(self._multi_get, pattern, count=count, largest=largest, folder=folder)
        )

    def _multi_get(
        self, pattern: str, cursor: Cursor, *, count: int | None, largest: int, folder: Path | None
    ) -> list[Passage]:
        parts = [self._of_this(part) for part in globs.split_mask(pattern)]
        if not parts:
            raise UsageError("Name documents by a glob such as 'notes/2025-*.md' or by a list.")
        is_odd = "," in pattern or pattern != pattern.strip()
        if is_odd and self._is_one(cursor, pattern, folder):
            parts = [pattern]
        chosen: dict[tuple[object, ...], tuple[Document, paths.Range]] = {}
        missing: list[Passage] = []
        everything: list[Document] | None = None
        for part in parts:
            whole = paths.Range(part, None, count)
            is_glob = any(mark in part for mark in "*?[{")
            resolved = partial(_resolved, similar=len(missing) < SUGGESTED)
            try:
                one = (_found if is_glob else resolved)(cursor, whole, folder)
            except (DocumentNotFound, Ambiguous) as error:
                if not is_glob:
                    missing.append(Passage.missing(part, str(error)))
                    continue
                one = None
            found = [one] if one else []
            if not found:
                if everything is None:
                    everything = document_lookup.below(cursor, None)
                found = _globbed(cursor, whole, folder, everything)
                if not found:
                    missing.append(Passage.missing(part, f"No documents match: {part}"))
            for document, asked in found:
                chosen[document.document_id, asked.first, asked.lines] = document, asked
        wanted = [d.hash for d, asked in chosen.values() if asked.first or d.size <= largest]
        bodies = document_lookup.bodies(cursor, wanted)
        passages = list(missing)
        for document, asked in chosen.values():
            context = self._context(cursor, document)
            if asked.first is None and document.size > largest:
                passages.append(_left_out(document, context, document.size, largest))
                continue
            body = bodies[document.hash]
            try:
                passage = _passage(document, body, context, asked.first, asked.lines)
            except UsageError as error:
                passages.append(Passage.missing(asked.name, str(error)))
                continue
            size = len(passage.body.encode()) if asked.first else document.size
            if size > largest:
                passage = _left_out(document, context, size, largest, asked.first)
            passages.append(passage)
        return passages

    def _of_this(self, name: str) -> str:
        """A name without the index that it says it is of: `qmd://notes/tea.md?index=work`.

        Raises:
            UsageError: that is another one.
        """
        bare, index = paths.of_index(name)
        if index not in (None, self.place.name):
            raise UsageError(
                f"{on_one_line(name)} is of the index '{index}', and this is "
                f"'{self.place.name}'.\n\nAsk that one: qmd --index {shlex.quote(index)}"
            )
        return bare

    @staticmethod
    def _is_one(cursor: Cursor, name: str, folder: Path | None) -> bool:
        """Whether it is what one document is called, or several."""
        try:
            return document_lookup.found(cursor, name, folder) is not None
        except Ambiguous:
            return True

    def folder(self, name: str) -> tuple[str, str]:
        """The collection, and the folder in it, that `qmd://collection/folder` means.

        A percent-encoded name is undone where nothing is called as it is written.
        """
        name = paths.normalise(self._of_this(name)).removeprefix(paths.SCHEME)
        collection, _, prefix = name.strip("/").partition("/")
        known = [each.name for each in self.read(catalog.collections)]
        if collection not in known and paths.decoded(collection) in known:
            collection = paths.decoded(collection)
        if "%" in prefix and collection in known and not self.documents(collection, prefix):
            prefix = paths.decoded(prefix)
        return collection, prefix

    def documents(self, collection: str | None, prefix: str = "") -> list[Document]:
        """Documents of a collection, or below one of its folders."""
        return self.read(partial(document_lookup.below, collection=collection, prefix=prefix))

    def overview(self) -> list[Overview]:
        """Each collection with what is indexed of it."""
        return list(self.read(catalog.overview, key="overview"))

    def totals(self) -> maintenance.Totals:
        """What the index holds."""
        from qmd.storage import maintenance

        return self.read(maintenance.totals, key="totals")


def _resolved(
    cursor: Cursor, asked: paths.Range, folder: Path | None, *, similar: bool = True
) -> tuple[Document, paths.Range]:
    """The document that is asked for, and which lines; those of a suffix win.

    Args:
        similar: look for names that are like one that nothing has.

    Raises:
        DocumentNotFound, Ambiguous: the name names none, or several.
    """
    found = _found(cursor, asked, folder)
    if found is None:
        bare = paths.split_range(asked.name).name
        raise document_lookup.missing(cursor, asked.name, folder, or_else=bare, similar=similar)
    return found


def _found(
    cursor: Cursor, asked: paths.Range, folder: Path | None
) -> tuple[Document, paths.Range] | None:
    """What `_resolved` gives, or None.

    Raises:
        Ambiguous: the name names several.
    """
    document = document_lookup.found(cursor, asked.name, folder)
    if document is not None:
        return document, asked
    name, first, lines = paths.split_range(asked.name)
    document = None if first is None else document_lookup.found(cursor, name, folder)
    if document is None or first is None:
        return _at_place(cursor, asked, folder)
    lines = lines if lines is not None else asked.lines
    return document, asked._replace(first=max(1, first), lines=lines)


def _at_place(
    cursor: Cursor, asked: paths.Range, folder: Path | None
) -> tuple[Document, paths.Range] | None:
    """The document and the lines of a place in it: `report.pdf:p12`, `talk.vtt:00:12:31`.

    Raises:
        UsageError: the document has no such place.
    """
    parts = asked.name.split(":")
    for many in range(1, min(len(parts), MOST_COLONS + 1)):
        name, place = ":".join(parts[:-many]), ":".join(parts[-many:]).strip()
        document = document_lookup.found(cursor, name, folder) if name.strip() and place else None
        if document is None:
            continue
        number = document.document_id
        places = document_lookup.places(cursor, [number]).get(number)
        if places is None:
            return None
        lines = places.lines_of(place)
        if lines is None:
            raise UsageError(
                f"{on_one_line(document.name)} has no place '{on_one_line(place)}'.\n\n"
                f"It has {places.described}."
            )
        first, count = lines
        return document, asked._replace(first=first, lines=count)
    return None


def _globbed(
    cursor: Cursor, asked: paths.Range, folder: Path | None, documents: Sequence[Document]
) -> list[tuple[Document, paths.Range]]:
    """The documents that a glob means, and which lines; those of a suffix, if it is none of names.

    Raises:
        UsageError: the glob stands for too many.
    """
    found = document_lookup.matching(cursor, asked.name, documents, folder)
    name, first, lines = paths.split_range(asked.name)
    if found or first is None:
        return [(document, asked) for document in found]
    suffix = asked.name.removeprefix(name)
    lines = lines if lines is not None else asked.lines
    return [
        (document, paths.Range(document.name + suffix, max(1, first), lines))
        for document in document_lookup.matching(cursor, name, documents, folder)
    ]


def _left_out(
    document: Document, context: str | None, size: int, largest: int, first: int | None = None
) -> Passage:
    """A document that is larger than wanted, or what is asked for of it from a line on."""
    name = on_one_line(document.name) + (f":{first}" if first else "")
    return Passage(
        docid=document.docid,
        file=document.name,
        title=document.title,
        context=context,
        uri=paths.uri(document.collection, document.path),
        first=1,
        total=0,
        body="",
        reason=f"{size} bytes, more than {largest}; use: {line('qmd', 'get', name)}",
        size=document.size,
    )


def _passage(
    document: Document, body: str, context: str | None, first: int | None, count: int | None
) -> Passage:
    lines = body.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    start = 1 if first is None else first
    if start < 1:
        raise UsageError(f"Line {start} does not exist; lines are counted from 1.")
    if count is not None and count < 1:
        raise UsageError(f"{count} lines cannot be shown; ask for at least 1.")
    if first is not None and first > len(lines):
        many = "1 line" if len(lines) == 1 else f"{len(lines)} lines"
        name = on_one_line(document.name)
        raise UsageError(f"{name} has {many}; line {first} is past its end.")
    end = len(lines) if count is None else min(len(lines), start - 1 + count)
    whole = start == 1 and end == len(lines)
    return Passage(
        docid=document.docid,
        file=document.name,
        title=document.title,
        context=context,
        uri=paths.uri(document.collection, document.path),
        first=start,
        total=len(lines),
        body=body if whole else _range(lines, start, end, is_ended=body.endswith("\n")),
    )


def _range(lines: list[str], first: int, last: int, *, is_ended: bool) -> str:
    """Some lines as they stand in the file, without the line ending of the last one.

    Args:
        is_ended: whether the last line of the file has one.
    """
    text = "\n".join(lines[first - 1 : last])
    return text.removesuffix("\r") if last < len(lines) or is_ended else text
