"""Everything that can go wrong, in words a user can act on.

    QmdError                      exit code 1
    ├── UsageError                a value or a combination that makes no sense
    │   ├── QueryError            a query that cannot be read
    │   ├── SqlError              SQL that is no query, or cannot be answered
    │   │   └── SqlTimeout        in time
    │   └── ConfigError           index.yml, with the line
    ├── NotFound
    │   ├── DocumentNotFound
    │   ├── CollectionNotFound
    │   └── ContextNotFound
    ├── Ambiguous                 several documents answer to one name
    ├── AlreadyExists
    ├── CannotUpdate              exit code 2: one collection, not the others
    │   ├── RootMissing
    │   ├── HookFailed
    │   └── NotApproved
    ├── ModelError
    │   ├── UnknownModel          no model has this name
    │   ├── ModelMissing          its file is not here
    │   ├── ModelUnusable         its file cannot be used
    │   ├── RuntimeMissing        the library that runs models is not installed
    │   ├── HubFailure            a file could not be fetched
    │   ├── ModelFailure          it runs, but did not answer
    │   └── TextTooLong           more tokens than it takes
    ├── NotEmbedded               no vectors to search in
    ├── VectorsRemoved            while more of them were being made
    ├── PortTaken                 somebody else listens there
    ├── AlreadyServed             a server in the background runs for this index
    ├── ServerFailure             it did not start, or does not stop
    ├── ExchangeError             an index cannot leave for a folder, or come from one
    │   ├── FolderTaken           it has something else in it
    │   ├── ExportFailed          the files could not be written
    │   ├── NotAnExport           it has no manifest
    │   ├── ExportUnreadable      the system does not read a file of it
    │   ├── ExportDamaged         a file is missing, or not what was written
    │   ├── ExportIncomplete      no index can be made of what was exported
    │   ├── ExportTooNew          a later qmd has written it
    │   └── IndexTaken            there is something in the index already
    ├── MigrationEdited
    └── IndexFailure               exit code 3
        ├── IndexBusy             another process holds the file
        ├── JobRunning            another process is doing the same job
        ├── IndexUnreadable       truncated, foreign or not a database
        ├── IndexNotWritable      read-only media, permissions, a full disk
        └── IndexTooNew           written by a later qmd

The message says what happened, then a blank line, then what to do. The command
line and the servers show it as it is; attributes keep the facts for programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

NOT_REBUILT = "Experience records and kept answers of models are in this file alone."
"""What to know before an index is built anew."""


class QmdError(Exception):
    """Base of all errors that qmd raises on purpose."""

    exit_code = 1


class UsageError(QmdError):
    """A value, or a combination of values, that makes no sense."""


class QueryError(UsageError):
    """A query that cannot be read."""


class SqlError(UsageError):
    """SQL that is no query, or that cannot be answered."""


class SqlTimeout(SqlError):
    """A query that was stopped since it took too long."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"The query was stopped after {seconds:g} seconds.\n\n"
            "Ask for less, or give it more time with --timeout SECONDS."
        )
        self.seconds = seconds


class ConfigError(UsageError):
    """A configuration file that cannot be used."""

    def __init__(self, path: Path, problem: str, *, line: int | None = None) -> None:
        where = f"{path}:{line}" if line is not None else str(path)
        super().__init__(f"{where}: {problem}")
        self.path = path
        self.line = line


class NotFound(QmdError):
    """Nothing has this name."""


class DocumentNotFound(NotFound):
    """No document has this path or docid."""

    def __init__(self, name: str, *, similar: Sequence[str] = ()) -> None:
        message = f"Document not found: {name}"
        if similar:
            message += "\n\nDid you mean one of these?\n" + "\n".join(f"  - {s}" for s in similar)
        super().__init__(message)
        self.name = name
        self.similar = tuple(similar)


class CollectionNotFound(NotFound):
    """No collection has this name."""

    def __init__(self, name: str, *, known: Sequence[str] = ()) -> None:
        hint = (
            f"Known: {', '.join(known)}."
            if known
            else "There are none yet. Add one with 'qmd collection add PATH'."
        )
        super().__init__(f"Collection not found: {name}. {hint}")
        self.name = name
        self.known = tuple(known)


class ContextNotFound(NotFound):
    """No context is set for this path."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"No context is set for {path}.\n\nSee what is set with 'qmd context list'."
        )
        self.path = path


class Ambiguous(QmdError):
    """Several documents answer to one name."""

    def __init__(self, name: str, candidates: Sequence[str]) -> None:
        listed = "\n".join(f"  - {c}" for c in candidates)
        super().__init__(
            f"{name} names {len(candidates)} documents:\n{listed}\n\nUse one of these names."
        )
        self.name = name
        self.candidates = tuple(candidates)


class AlreadyExists(QmdError):
    """The name is taken."""


class IndexFailure(QmdError):
    """The index file cannot be used now."""

    exit_code = 3


class IndexBusy(IndexFailure):
    """Another process holds the index and has not let go in time."""

    def __init__(self, path: Path, *, holder: str | None, waited: float) -> None:
        by = f" by {holder}" if holder else ""
        super().__init__(
            f"The index {path} has been held{by} for {waited:.0f} seconds.\n\n"
            "Wait for it to finish, or stop it, and try again."
        )
        self.path = path
        self.holder = holder


class JobRunning(IndexFailure):
    """Another process is at a job that only one should do."""

    def __init__(self, path: Path, *, job: str, holder: str | None) -> None:
        super().__init__(
            f"Another 'qmd {job}' is at work on {path}{f' ({holder})' if holder else ''}.\n\n"
            "Wait for it, or stop it and try again."
        )
        self.path = path
        self.holder = holder


class IndexUnreadable(IndexFailure):
    """The file is truncated, damaged, or not a qmd index."""

    def __init__(self, path: Path, problem: str, *, mend: str | None = None) -> None:
        mend = mend or (
            "Your files are safe: the index is made from them. Move this file away and run "
            f"'qmd update' to build it again. {NOT_REBUILT}"
        )
        super().__init__(f"The index {path} cannot be read: {problem}\n\n{mend}")
        self.path = path


class IndexNotWritable(IndexFailure):
    """The index can be read but not changed."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(
            f"The index {path} cannot be written: {problem}\n\nNothing was changed. "
            "Check the permissions and the free space, or choose another place with INDEX_PATH."
        )
        self.path = path


class IndexTooNew(IndexFailure):
    """A later qmd has written this index."""

    def __init__(self, path: Path, *, written_by: str, this: str) -> None:
        super().__init__(
            f"The index {path} was written by qmd {written_by}; this is qmd {this}.\n\n"
            f"Upgrade qmd to {written_by} or later, or choose another index with --index NAME."
        )
        self.path = path
        self.written_by = written_by


class ModelError(QmdError):
    """A model cannot be used."""


class UnknownModel(ModelError):
    """No model has this name, or it does something else."""

    def __init__(
        self, name: str, role: str, *, known: Sequence[str], does: str | None = None
    ) -> None:
        problem = (
            f"{name} is a model to {does}, not to {role}." if does else f"Unknown model: {name}."
        )
        super().__init__(
            f"{problem} Known: {', '.join(known)}.\n\n"
            "A model is one of these names, hf:org/repo/file.gguf, the path of a GGUF file, or "
            "openai:NAME for an endpoint."
        )
        self.name = name
        self.known = tuple(known)


class ModelMissing(ModelError):
    """The file of a model is not on this machine."""

    def __init__(self, name: str, problem: str, *, pull: bool = True) -> None:
        mend = "Fetch it with 'qmd models pull'" if pull else "Check the path"
        super().__init__(
            f"The model {name} is not here: {problem}\n\n{mend}, or choose another under "
            "'models' in index.yml ('qmd models list' shows them)."
        )
        self.name = name


class ModelUnusable(ModelError):
    """The file of a model is damaged, or holds something else."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(
            f"The model {name} cannot be used: {problem}\n\n"
            "Fetch it again with 'qmd models pull', or choose another ('qmd models list')."
        )
        self.name = name


class RuntimeMissing(ModelError):
    """The library that runs models on this machine is not installed."""

    def __init__(self, name: str, problem: str = "is not installed") -> None:
        super().__init__(
            f"The model {name} needs llama-cpp-python, which {problem}.\n\n"
            "Install it with: pip install 'qmd[llama]'. Keyword search works without it."
        )
        self.name = name


class HubFailure(ModelError):
    """A model's file could not be fetched."""

    def __init__(self, name: str, problem: str, mend: str) -> None:
        super().__init__(f"The model {name} could not be fetched: {problem}\n\n{mend}")
        self.name = name


class ModelFailure(ModelError):
    """A model did not answer."""


class TextTooLong(ModelError):
    """A text has more tokens than the model takes."""

    def __init__(self, tokens: int, limit: int) -> None:
        super().__init__(
            f"A text of {tokens} tokens is too long for the model, which takes {limit}."
        )
        self.tokens = tokens
        self.limit = limit


class NotEmbedded(QmdError):
    """The index has no vectors of the model in use."""

    def __init__(self, hint: str = "") -> None:
        super().__init__(
            "Vector index not found. Run 'qmd embed' first to create embeddings."
            + (f"\n\n{hint}" if hint else "")
        )


class VectorsRemoved(QmdError):
    """Another process has removed the vectors that this one is adding to."""

    def __init__(self, model: str) -> None:
        super().__init__(
            f"The vectors of {model} were removed while more of them were being made.\n\n"
            "Another process did that, with 'qmd cleanup' or another model. Run 'qmd embed' again."
        )
        self.model = model


class PortTaken(QmdError):
    """Somebody else listens where a server should."""

    def __init__(self, url: str, *, by_qmd: bool) -> None:
        super().__init__(
            f"qmd answers at {url} already.\n\n"
            "Use that one, stop it ('qmd mcp stop' if it runs in the background), or choose "
            "another port with --port."
            if by_qmd
            else f"Another program listens at {url}.\n\nChoose another port with --port."
        )
        self.url = url
        self.by_qmd = by_qmd


class AlreadyServed(QmdError):
    """A server in the background runs for this index."""

    def __init__(self, url: str, process: int) -> None:
        super().__init__(
            f"A server for this index runs already at {url} (process {process}).\n\n"
            "Use that one, or stop it with 'qmd mcp stop'."
        )
        self.url = url
        self.process = process


class ServerFailure(QmdError):
    """A server in the background did not start, or does not stop."""


class ExchangeError(QmdError):
    """An index cannot leave for a folder, or come from one."""


class FolderTaken(ExchangeError):
    """A folder that would be replaced has something in it that is not of an export."""

    def __init__(self, folder: Path, problem: str, *, mend: str) -> None:
        super().__init__(f"{folder} cannot be replaced: {problem}\n\n{mend}")
        self.folder = folder


class ExportFailed(ExchangeError):
    """The files of an export could not be written."""

    def __init__(self, folder: Path, problem: str) -> None:
        super().__init__(
            f"The index could not be exported to {folder}: {problem}\n\n"
            "What was there before is as it was. Check the permissions and the free space, or "
            "choose another folder."
        )
        self.folder = folder


class NotAnExport(ExchangeError):
    """A folder has no manifest of an export, or is none."""

    def __init__(self, folder: Path) -> None:
        problem = "it has no manifest.json of one"
        if not folder.is_dir():
            problem = "it is a file" if folder.exists() else "there is no such folder"
        super().__init__(
            f"{folder} is no export of qmd: {problem}.\n\n"
            "Name the folder that 'qmd export' has made."
        )
        self.folder = folder


class ExportUnreadable(ExchangeError):
    """The system does not read a file of an export, which may be whole."""

    def __init__(self, folder: Path, file: str, problem: str) -> None:
        super().__init__(
            f"The export {folder} cannot be read. {file}: {problem}\n\n"
            "Nothing was imported. Check the permissions and the disk that it is on, and try again."
        )
        self.folder = folder
        self.file = file


class ExportDamaged(ExchangeError):
    """A file of an export is missing, or not what was written."""

    def __init__(self, folder: Path, file: str, problem: str) -> None:
        super().__init__(
            f"The export {folder} is damaged. {file}: {problem}\n\n"
            "Nothing was imported. Export again, or bring back a copy of the folder."
        )
        self.folder = folder
        self.file = file


class ExportIncomplete(ExchangeError):
    """Too little was exported for an index."""

    def __init__(self, folder: Path, missing: Sequence[str]) -> None:
        super().__init__(
            f"No index can be made of {folder}: it is without {', '.join(missing)}.\n\n"
            "Export again without --tables."
        )
        self.folder = folder
        self.missing = tuple(missing)


class ExportTooNew(ExchangeError):
    """A later qmd has written an export."""

    def __init__(self, folder: Path, *, written_by: str, this: str) -> None:
        super().__init__(
            f"The export {folder} was written by qmd {written_by}; this is qmd {this}.\n\n"
            f"Upgrade qmd to {written_by} or later."
        )
        self.folder = folder
        self.written_by = written_by


class IndexTaken(ExchangeError):
    """An import would replace what is in an index."""

    def __init__(self, path: Path, problem: str, *, mend: str) -> None:
        super().__init__(f"The index {path} {problem}\n\nNothing was imported. {mend}")
        self.path = path


class MigrationEdited(QmdError):
    """A released migration no longer says what ran."""

    exit_code = 3

    def __init__(self, path: Path, migration: str, *, written_by: str) -> None:
        super().__init__(
            f"Migration {migration} has changed since it ran on {path}.\n\n"
            f"Install the qmd that wrote this index ({written_by}), or move the index away and "
            f"run 'qmd update' to build it again. {NOT_REBUILT}"
        )
        self.path = path


class CannotUpdate(QmdError):
    """A collection cannot be indexed now; others can."""

    exit_code = 2


class RootMissing(CannotUpdate):
    """A collection's folder is not there."""

    def __init__(self, collection: str, root: str) -> None:
        super().__init__(
            f"The folder of collection '{collection}' is missing: {root}\n\n"
            "Nothing was removed. Bring the folder back, or run "
            f"'qmd collection remove {collection}'."
        )
        self.collection = collection


class HookFailed(CannotUpdate):
    """A command that runs before an update did not succeed."""

    def __init__(self, collection: str, command: str, problem: str) -> None:
        super().__init__(
            f"The update command of '{collection}' failed ({problem}): {command}\n\n"
            "The collection was not indexed. Mend the command with "
            f"'qmd collection update-cmd {collection} CMD'."
        )
        self.collection = collection


class NotApproved(CannotUpdate):
    """A project's collection lies outside of it, and nobody approved that."""

    def __init__(self, collection: str, root: str) -> None:
        super().__init__(
            f"'{collection}' lies outside of this project: {root}\n\n"
            "Look at it with 'qmd trust', and approve it there."
        )
        self.collection = collection
