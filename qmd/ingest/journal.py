"""Journal of writes to documents, beside the index, with which each of them can be undone.

An entry has the texts before and after. It is on disk before a document is changed, as pending;
when all documents are written it becomes settled. A process that is killed in between leaves a
pending entry, which the next one carries to its end, or drops if nothing of it was done.

    index.duckdb.journal/000007.json
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from qmd import edit_lock, files, safe_open
from qmd.errors import IndexFailure
from qmd.named_tuple import NamedTuple

KEPT = 500
"""Entries that are kept; older ones go."""

LARGEST_JOURNAL = 256 * 1024 * 1024
"""Bytes of all entries, above which the oldest go."""

LARGEST_ENTRY = 128 * 1024 * 1024
"""Bytes of a file that is read as an entry."""

_SETTLED, _PENDING = ".json", ".pending"


class DocumentEdit(NamedTuple):
    """Change of one document.

    Attributes:
        before: None: it was not there.
        after: None: it is removed.
    """

    collection: str
    path: str
    before: str | None
    after: str | None

    @property
    def file(self) -> str:
        """`collection/path`."""
        return f"{self.collection}/{self.path}"

    @property
    def reversed(self) -> DocumentEdit:
        """The change that undoes this one."""
        return self._replace(before=self.after, after=self.before)


class JournalEntry(NamedTuple):
    """A write, and what it changed.

    Attributes:
        number: from 1.
        when: UTC.
        action: name of the operation, such as `append`.
        undoes: number of the entry that it undoes; 0: none.
    """

    number: int
    when: datetime
    action: str
    edits: tuple[DocumentEdit, ...]
    undoes: int = 0


class WriteJournal:
    """Journal of one index.

    Args:
        index: the DuckDB file.
    """

    def __init__(self, index: Path) -> None:
        self._folder = index.with_name(f"{index.name}.journal")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Let no other process write to documents meanwhile.

        Raises:
            FileBusy: another one has not finished in time.
            IndexFailure: the journal cannot be written.
        """
        with self._failing():
            self._folder.mkdir(mode=0o700, exist_ok=True)
            if self._folder.is_symlink():
                raise OSError(f"{self._folder.name} is a link")
        with edit_lock.locked(self._folder / "lock"):
            yield

    def entries(self) -> list[JournalEntry]:
        """Return the settled entries, the oldest first; one that cannot be read is left out."""
        found = (self._entry(path) for path in self._files(_SETTLED))
        return [each for each in found if each is not None]

    def pending(self) -> list[JournalEntry]:
        """Return entries of processes that have ended before they were settled."""
        found = (self._entry(path) for path in self._files(_PENDING))
        return [each for each in found if each is not None]

    def carry_out(
        self,
        action: str,
        edits: Sequence[DocumentEdit],
        apply: Callable[[DocumentEdit], object],
        *,
        undoes: int = 0,
    ) -> JournalEntry:
        """Note edits, apply them one after the other, and settle the entry.

        If one fails, those before it are reversed.

        Raises:
            IndexFailure: the journal cannot be written; nothing was changed.
        """
        numbers = [int(path.stem) for path in self._files(_SETTLED) + self._files(_PENDING)]
        number = max(numbers, default=0) + 1
        entry = JournalEntry(number, datetime.now(UTC), action, tuple(edits), undoes)
        with self._failing():
            self._note(entry)
        done: list[DocumentEdit] = []
        try:
            for edit in edits:
                apply(edit)
                done.append(edit)
        except Exception:
            for edit in reversed(done):
                apply(edit.reversed)
            self.drop(entry)
            raise
        self.settle(entry)
        return entry

    def settle(self, entry: JournalEntry) -> None:
        """Mark an entry as carried out, and remove the oldest ones above the limits."""
        with self._failing():
            pending = self._folder / f"{entry.number:06}{_PENDING}"
            pending.replace(pending.with_suffix(_SETTLED))
            sizes = [(path, path.lstat().st_size) for path in self._files(_SETTLED)]
            while len(sizes) > 1 and (
                len(sizes) > KEPT or sum(size for _, size in sizes) > LARGEST_JOURNAL
            ):
                sizes.pop(0)[0].unlink(missing_ok=True)

    def drop(self, entry: JournalEntry) -> None:
        """Remove an entry of which nothing was carried out."""
        with self._failing():
            (self._folder / f"{entry.number:06}{_PENDING}").unlink(missing_ok=True)

    def _note(self, entry: JournalEntry) -> None:
        told = {
            "when": entry.when.isoformat(),
            "action": entry.action,
            "undoes": entry.undoes,
            "edits": [each._asdict() for each in entry.edits],
        }
        draft = self._folder / f"{entry.number:06}.draft"
        draft.unlink(missing_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with os.fdopen(safe_open.opened(draft, flags), "w", encoding="utf-8") as file:
            json.dump(told, file, ensure_ascii=True)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(draft.with_suffix(_PENDING))
        files.fsync_path(self._folder)

    def _files(self, suffix: str) -> list[Path]:
        try:
            names = [each.name for each in self._folder.iterdir()]
        except OSError:
            return []
        stems = (name.removesuffix(suffix) for name in names if name.endswith(suffix))
        numbers = sorted(int(stem) for stem in stems if stem.isdecimal() and len(stem) < 10)
        return [self._folder / f"{number:06}{suffix}" for number in numbers]

    def _entry(self, path: Path) -> JournalEntry | None:
        """Read an entry; None: it is none, such as one that something else has written."""
        try:
            with os.fdopen(safe_open.opened(path, os.O_RDONLY), "rb") as file:
                told = json.loads(file.read(LARGEST_ENTRY))
            edits = tuple(_edit(each) for each in told["edits"])
            when = datetime.fromisoformat(told["when"])
            return JournalEntry(
                int(path.stem), when, str(told["action"]), edits, int(told["undoes"])
            )
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Say in words why the journal cannot be written."""
        try:
            yield
        except OSError as error:
            raise IndexFailure(
                f"The journal {self._folder} cannot be written: {error.strerror or error}.\n\n"
                "Nothing was changed, since it could not be undone."
            ) from error


def active(entries: Sequence[JournalEntry]) -> list[JournalEntry]:
    """Return the entries that nothing has undone, without those that undo others."""
    undone: set[int] = set()
    for each in reversed(entries):
        if each.undoes and each.number not in undone:
            undone.add(each.undoes)
    return [each for each in entries if not each.undoes and each.number not in undone]


def _edit(told: Mapping[str, object]) -> DocumentEdit:
    edit = DocumentEdit(**told)  # type: ignore[arg-type]
    texts = (edit.before, edit.after)
    if not isinstance(edit.collection, str) or not isinstance(edit.path, str):
        raise TypeError
    if any(text is not None and not isinstance(text, str) for text in texts):
        raise TypeError
    return edit
