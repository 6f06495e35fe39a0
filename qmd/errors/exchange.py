"""Exceptions for export and import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from qmd.errors.base import QmdError
from qmd.errors.index import newer
from qmd.visible import shown


class ExchangeError(QmdError):
    """An export or import that failed."""


class FolderTaken(ExchangeError):
    """The target folder of an export contains something else."""

    def __init__(self, folder: Path, problem: str, *, mend: str | Mapping[str, str]) -> None:
        super().__init__(
            f"{shown(folder)} cannot be replaced: {shown(problem)}", advice=_on_each(mend)
        )
        self.folder = folder


class ExportFailed(ExchangeError):
    """The files of an export could not be written."""

    def __init__(self, folder: Path, problem: str) -> None:
        super().__init__(
            f"The index could not be exported to {shown(folder)}: {shown(problem)}\n\n"
            "What was there before is as it was. Check the permissions and the free space, or "
            "choose another folder."
        )
        self.folder = folder


class NotAnExport(ExchangeError):
    """The folder has no valid manifest of an export."""

    def __init__(self, folder: Path) -> None:
        problem = "it has no manifest.json of one"
        if not folder.is_dir():
            problem = "it is a file" if folder.exists() else "there is no such folder"
        super().__init__(
            f"{shown(folder)} is no export of qmd: {problem}.\n\n"
            "Name the folder that 'qmd export' has made."
        )
        self.folder = folder


class ExportUnreadable(ExchangeError):
    """A file of an export cannot be read; it may be intact."""

    def __init__(self, folder: Path, file: str, problem: str) -> None:
        super().__init__(
            f"The export {shown(folder)} cannot be read. {shown(file)}: {shown(problem)}\n\n"
            "Nothing was imported. Check the permissions and the disk that it is on, and try again."
        )
        self.folder = folder
        self.file = file


class ExportDamaged(ExchangeError):
    """A file of an export is missing or differs from its manifest."""

    def __init__(self, folder: Path, file: str, problem: str) -> None:
        super().__init__(
            f"The export {shown(folder)} is damaged. {shown(file)}: {shown(problem)}\n\n"
            "Nothing was imported. Export again, or bring back a copy of the folder."
        )
        self.folder = folder
        self.file = file


class ExportIncomplete(ExchangeError):
    """The export lacks tables that an index needs."""

    def __init__(self, folder: Path, missing: Sequence[str]) -> None:
        super().__init__(
            f"No index can be made of {shown(folder)}: it is without {', '.join(missing)}.\n\n"
            "Export all tables again."
        )
        self.folder = folder
        self.missing = tuple(missing)


class ExportTooNew(ExchangeError):
    """The export was written by a later version of qmd.

    Args:
        what: `schema` or `format`.
        found: its version in the export.
        known: the last one that this qmd knows.
        written_by, this: versions of qmd, which may be the same.
    """

    def __init__(
        self, folder: Path, what: str, found: int, *, known: int, written_by: str, this: str
    ) -> None:
        super().__init__(
            f"The export {shown(folder)} has {what} {found}; this qmd {this} knows {what}s up to "
            f"{known}.\n\nNothing was imported. {newer(written_by, this)}."
        )
        self.folder = folder
        self.written_by = written_by


class IndexTaken(ExchangeError):
    """An import would replace an index that has documents."""

    def __init__(self, path: Path, problem: str, *, mend: str | Mapping[str, str]) -> None:
        advice = _on_each(mend)
        super().__init__(
            f"The index {shown(path)} {problem}",
            advice={name: f"Nothing was imported. {text}" for name, text in advice.items()},
        )
        self.path = path


def _on_each(mend: str | Mapping[str, str]) -> Mapping[str, str]:
    """Return advice by surface; a text is for all of them."""
    return dict.fromkeys(("command", "tool", "python"), mend) if isinstance(mend, str) else mend
