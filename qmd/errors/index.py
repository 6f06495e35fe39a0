"""Exceptions for an index file or a collection that cannot be used."""

from __future__ import annotations

from pathlib import Path

from qmd.errors.base import QmdError
from qmd.quoting import command as suggested
from qmd.visible import shown
from qmd.wording import amount

NOT_REBUILT = "Experience records and kept answers of models are in this file alone."
"""Content that a rebuild of the index cannot restore."""


def newer(written_by: str, this: str) -> str:
    """Advise to install the version of qmd that wrote the file."""
    if written_by == this:
        return "Install the newer qmd that wrote it"
    return f"Install the qmd that wrote it ({shown(written_by)}) or a later one"


class IndexFailure(QmdError):
    """The index file cannot be used now."""

    exit_code = 3


class IndexBusy(IndexFailure):
    """Another process holds the index, and the timeout is over."""

    def __init__(self, path: Path, *, holder: str | None, waited: float) -> None:
        super().__init__(
            f"The index {shown(path)} has been held for {amount(round(waited), 'second')} "
            f"by {shown(holder or 'another process')}.\n\n"
            "Wait for it to finish, or stop it, and try again."
        )
        self.path = path
        self.holder = holder


class FileBusy(IndexBusy):
    """Another process holds index.yml or the approvals, and the timeout is over."""

    def __init__(self, path: Path, *, holder: str | None, waited: float) -> None:
        QmdError.__init__(
            self,
            f"{path} has been held for {amount(round(waited), 'second')} "
            f"by {holder or 'another process'}.\n\n"
            "Nothing was changed. Wait for it to finish, or stop it, and try again.",
        )
        self.path = path
        self.holder = holder


class JobRunning(IndexFailure):
    """Another process runs an exclusive job on the index."""

    def __init__(self, path: Path, *, job: str, holder: str | None) -> None:
        super().__init__(
            f"Another {job} of {shown(path)} is running: "
            f"{shown(holder or 'in another process')}.\n\n"
            "Wait for it, or stop it and try again."
        )
        self.path = path
        self.holder = holder


class OfAnotherProcess(IndexFailure):
    """The index was opened before this process was forked."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"The index {shown(path)} was opened before this process was forked.\n\n"
            "Open it again here, or start processes by 'spawn', which multiprocessing can."
        )
        self.path = path


class LockUnusable(IndexFailure):
    """The path of a lock file is taken by something else."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{shown(path)} is a lock of the index, and has to be a file: it is a link, a pipe or "
            "a folder.\n\nFind out what made it, remove it, and try again."
        )
        self.path = path


class IndexUnreadable(IndexFailure):
    """The file is truncated, damaged, or not a qmd index."""

    def __init__(self, path: Path, problem: str, *, mend: str | None = None) -> None:
        mend = mend or (
            "Your files are safe: the index is made from them. Move this file away and run "
            f"'qmd update' to build it again. {NOT_REBUILT}"
        )
        super().__init__(f"The index {shown(path)} cannot be read: {shown(problem)}\n\n{mend}")
        self.path = path


class IndexOutOfReach(IndexFailure):
    """The user has no permission to see or read the index."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(
            f"The index {shown(path)} cannot be reached: {shown(problem)}\n\n"
            "Check the permissions, or choose another place with INDEX_PATH."
        )
        self.path = path


class IndexNotWritable(IndexFailure):
    """The index is readable but not writable."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(
            f"The index {shown(path)} cannot be written: {shown(problem)}\n\nNothing is lost. "
            "Check the permissions and the free space, or choose another place with INDEX_PATH."
        )
        self.path = path


class TooFewDescriptors(IndexFailure):
    """The process may open too few files to write to the index."""

    def __init__(self, path: Path, *, permitted: int, needed: int) -> None:
        super().__init__(
            f"The index {shown(path)} cannot be written: this process may open only "
            f"{amount(permitted, 'file')}, and needs {needed}.\n\n"
            f"Nothing was changed. Raise the limit (ulimit -n {needed}) and try again."
        )
        self.path = path


class NotEnoughMemory(IndexFailure):
    """The system gives no more memory, or starts no further thread.

    Args:
        of_threads: it is a thread that could not be started.
    """

    exit_code = 1

    def __init__(self, *, of_threads: bool = False) -> None:
        what, limits = "There is not enough memory.", "of memory (ulimit -v)"
        if of_threads:
            what = "There is not enough memory for a further thread."
            limits = "of memory and of processes (ulimit -v, ulimit -u)"
        super().__init__(
            f"{what}\n\nThe index stays whole. End other programs, or raise the limit {limits}, "
            "and try again."
        )


class ExtensionUnusable(IndexFailure):
    """An extension of DuckDB cannot be loaded."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(
            f"DuckDB cannot load its extension {name}: {shown(problem)}\n\n"
            "Nothing was changed. End other programs or raise the limit of memory (ulimit -v); "
            f"if that does not help, install duckdb-extension-{name} again."
        )
        self.name = name


class IndexTooNew(IndexFailure):
    """The index was written by a later version of qmd.

    Args:
        schema: of the index: the version of a migration that this qmd does not have.
        known: the last schema that this qmd knows.
        written_by, this: versions of qmd, which may be the same.
    """

    def __init__(self, path: Path, *, schema: int, known: int, written_by: str, this: str) -> None:
        super().__init__(
            f"The index {shown(path)} has schema {schema}; this qmd {this} knows schemas up to "
            f"{known}.\n\n{newer(written_by, this)}, or choose another index."
        )
        self.path = path
        self.schema = schema
        self.known = known
        self.written_by = written_by


class MigrationEdited(QmdError):
    """A released migration differs from the one that ran."""

    exit_code = 3

    def __init__(self, path: Path, migration: str, *, written_by: str) -> None:
        super().__init__(
            f"Migration {migration} has changed since it ran on {shown(path)}.\n\n"
            f"Install the qmd that wrote this index ({shown(written_by)}), or move the index away "
            f"and run 'qmd update' to build it again. {NOT_REBUILT}"
        )
        self.path = path


class CannotUpdate(QmdError):
    """One collection cannot be indexed now; others can."""

    exit_code = 2


class RootMissing(CannotUpdate):
    """The folder of a collection does not exist."""

    def __init__(self, collection: str, root: str) -> None:
        super().__init__(
            f"The folder of collection '{shown(collection)}' is missing: {shown(root)}\n\n"
            "Nothing was removed. Bring the folder back, or run "
            f"{suggested('qmd', 'collection', 'remove', collection)}."
        )
        self.collection = collection


class RootUnreadable(CannotUpdate):
    """The folder of a collection cannot be read."""

    def __init__(self, collection: str, root: str, problem: str) -> None:
        super().__init__(
            f"The folder of collection '{shown(collection)}' cannot be read ({problem}): "
            f"{shown(root)}\n\n"
            "Nothing was removed. Mend its permissions, and run 'qmd update' again."
        )
        self.collection = collection


class HookFailed(CannotUpdate):
    """An update command failed.

    Args:
        pulls: the command is git, since the user asked to pull.
    """

    def __init__(self, collection: str, command: str, problem: str, *, pulls: bool = False) -> None:
        what = "The pull from git in" if pulls else "The update command of"
        mend = (
            "See what git says in its folder, or update without pulling"
            if pulls
            else f"Mend it with {suggested('qmd', 'collection', 'update-cmd', collection, 'CMD')}"
        )
        super().__init__(
            f"{what} '{shown(collection)}' failed ({problem}): {shown(command)}\n\n"
            f"The collection was not indexed. {mend}."
        )
        self.collection = collection


class NotApproved(CannotUpdate):
    """A project's collection lies outside of the project and is not approved."""

    def __init__(self, collection: str, root: str) -> None:
        super().__init__(
            f"'{shown(collection)}' lies outside of this project: {shown(root)}\n\n"
            "Look at it with 'qmd trust', and approve it there."
        )
        self.collection = collection
