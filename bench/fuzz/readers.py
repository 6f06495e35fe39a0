"""Readers of files: one target for each kind."""

from __future__ import annotations

import importlib
import io
import json
import re
import sys
import traceback
import zipfile
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from bench.fuzz.reader_kinds import KINDS, Kind
from bench.fuzz.sources import Bytes, Input, Target

_OURS = re.compile(r"qmd/ingest/readers/\w+\.py$")
_MISTAKES = (
    AttributeError,
    TypeError,
    LookupError,
    AssertionError,
    NameError,
    ArithmeticError,
)


def target(name: str) -> Callable[[], Iterator[Target]]:
    """Make the target of a kind."""
    kind = KINDS[name]

    def opened() -> Iterator[Target]:
        from qmd.ingest.readers.building import Builder

        module = importlib.import_module(f"qmd.ingest.readers.{kind.module}")

        def made(source: Bytes) -> Input:
            return (source.rest(),)

        def check(data: bytes) -> None:
            checked(module.read, packed(kind, data), kind.name)

        before = Builder.damaged

        def damaged(self: Builder) -> None:
            blamed(sys.exc_info()[1])
            before(self)

        Builder.damaged = damaged  # type: ignore[method-assign]
        try:
            words = kind.words.split("¦")
            yield Target(made, check, words, kind.examples, linear=kind.linear)
        finally:
            Builder.damaged = before  # type: ignore[method-assign]

    opened.__name__ = f"read_{name}"
    return opened


def packed(kind: Kind, data: bytes) -> bytes:
    """Make a file of a kind: the given bytes, or a package with them as a part."""
    if not kind.part:
        return data
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for path, text in kind.others.items():
            archive.writestr(path, text)
        archive.writestr(kind.part, data)
    return made.getvalue()


def checked(read: Callable[[bytes, str], Any], data: bytes, name: str) -> None:
    """Read a file: there is a sound reading, or a reason of one line."""
    from qmd.ingest.readers.reading import Unreadable

    try:
        found = read(data, name)
    except Unreadable as error:
        told = str(error)
        assert told
        assert told.isprintable()
        blamed(error.__cause__)
        return
    found.text.encode()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\ufeff]", found.text)
    assert found.text.strip() or found.title or found.attachments
    lines = found.text.count("\n") + 1
    at = [place.line for place in found.places]
    assert at == sorted(at)
    assert all(1 <= line <= lines for line in at)
    assert all(place.label.isprintable() for place in found.places)
    for told in (found.title, found.author, found.language, found.remark):
        assert told is None or (told.strip() == told and told and "\n" not in told)
    if found.date is not None:
        whole = found.date + "-01-01"[len(found.date) - 4 :] if len(found.date) < 10 else found.date
        datetime.fromisoformat(whole)
    json.dumps(dict(found.metadata), ensure_ascii=False).encode()
    assert all(link.strip() for link in found.links)
    for attachment in found.attachments:
        assert not attachment.name.startswith(("/", "."))
        assert ".." not in attachment.name.split("/")
        assert attachment.name.encode()


def blamed(error: BaseException | None) -> None:
    """Let an error through that is a mistake of a reader, and not of the library below it."""
    if not isinstance(error, _MISTAKES) or isinstance(error, UnicodeError):
        return
    *_, place = traceback.extract_tb(error.__traceback__)
    if _OURS.search(place.filename):
        raise error


READERS = tuple(map(target, KINDS))
