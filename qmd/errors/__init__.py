"""Everything that can go wrong, in words a user can act on.

    QmdError                      exit code 1
    ├── UsageError                a value or a combination that makes no sense
    │   ├── InvalidArgument       a value that a parameter does not take
    │   ├── QueryError            a query that cannot be read
    │   ├── SqlError              SQL that is no query, or cannot be answered
    │   │   ├── SqlTimeout        in time
    │   │   └── SqlOutOfMemory    with the memory and the disk it may use
    │   ├── ConfigError           index.yml, with the line
    │   │   └── ConfigEmptied     it has lost what it said
    │   └── CommandRefused        an update command with characters that cannot be seen
    ├── NotFound
    │   ├── CommandNotFound       exit code 2: qmd has no such command
    │   ├── DocumentNotFound
    │   ├── CollectionNotFound
    │   ├── ContextNotFound
    │   └── IndexNotFound
    ├── Ambiguous                 several documents answer to one name
    ├── AlreadyExists
    ├── CannotUpdate              exit code 2: one collection, not the others
    │   ├── RootMissing
    │   ├── RootUnreadable
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
        │   └── FileBusy          index.yml, or the list of approvals
        ├── JobRunning            another process is doing the same job
        ├── OfAnotherProcess      this one was forked from it
        ├── LockUnusable          a lock of the index is no file
        ├── IndexOutOfReach       nobody may look, or read it
        ├── IndexUnreadable       truncated, foreign or not a database
        ├── IndexNotWritable      read-only media, permissions, a full disk
        └── IndexTooNew           written by a later qmd

The message says what happened, then a blank line, then what to do. The command
line and the servers show it as it is; attributes keep the facts for programs.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from qmd.errors.base import QmdError
    from qmd.errors.exchange import (
        ExchangeError,
        ExportDamaged,
        ExportFailed,
        ExportIncomplete,
        ExportTooNew,
        ExportUnreadable,
        FolderTaken,
        IndexTaken,
        NotAnExport,
    )
    from qmd.errors.index import (
        NOT_REBUILT,
        CannotUpdate,
        FileBusy,
        HookFailed,
        IndexBusy,
        IndexFailure,
        IndexNotWritable,
        IndexOutOfReach,
        IndexTooNew,
        IndexUnreadable,
        JobRunning,
        LockUnusable,
        MigrationEdited,
        NotApproved,
        OfAnotherProcess,
        RootMissing,
        RootUnreadable,
    )
    from qmd.errors.models import (
        HubFailure,
        ModelError,
        ModelFailure,
        ModelMissing,
        ModelUnusable,
        NotEmbedded,
        RuntimeMissing,
        TextTooLong,
        UnknownModel,
        VectorsRemoved,
    )
    from qmd.errors.serving import AlreadyServed, PortTaken, ServerFailure
    from qmd.errors.usage import (
        AlreadyExists,
        Ambiguous,
        CollectionNotFound,
        CommandNotFound,
        CommandRefused,
        ConfigEmptied,
        ConfigError,
        ContextNotFound,
        DocumentNotFound,
        IndexNotFound,
        InvalidArgument,
        NotFound,
        QueryError,
        SqlError,
        SqlOutOfMemory,
        SqlTimeout,
        UsageError,
    )

__all__ = [
    "NOT_REBUILT",
    "AlreadyExists",
    "AlreadyServed",
    "Ambiguous",
    "CannotUpdate",
    "CollectionNotFound",
    "CommandNotFound",
    "CommandRefused",
    "ConfigEmptied",
    "ConfigError",
    "ContextNotFound",
    "DocumentNotFound",
    "ExchangeError",
    "ExportDamaged",
    "ExportFailed",
    "ExportIncomplete",
    "ExportTooNew",
    "ExportUnreadable",
    "FileBusy",
    "FolderTaken",
    "HookFailed",
    "HubFailure",
    "IndexBusy",
    "IndexFailure",
    "IndexNotFound",
    "IndexNotWritable",
    "IndexOutOfReach",
    "IndexTaken",
    "IndexTooNew",
    "IndexUnreadable",
    "InvalidArgument",
    "JobRunning",
    "LockUnusable",
    "MigrationEdited",
    "ModelError",
    "ModelFailure",
    "ModelMissing",
    "ModelUnusable",
    "NotAnExport",
    "NotApproved",
    "NotEmbedded",
    "NotFound",
    "OfAnotherProcess",
    "PortTaken",
    "QmdError",
    "QueryError",
    "RootMissing",
    "RootUnreadable",
    "RuntimeMissing",
    "ServerFailure",
    "SqlError",
    "SqlOutOfMemory",
    "SqlTimeout",
    "TextTooLong",
    "UnknownModel",
    "UsageError",
    "VectorsRemoved",
]

_HOMES = ("base", "usage", "index", "models", "exchange", "serving")
"""Modules that the names are from: those first that most commands have loaded."""


def __getattr__(name: str) -> object:
    """A name from the module that has it: a class takes time to make, and few errors are needed."""
    if name in __all__:
        from importlib import import_module

        for home in _HOMES:
            module = import_module(f"{__name__}.{home}")
            if name in vars(module):
                globals()[name] = found = vars(module)[name]
                if isinstance(found, type):
                    found.__module__ = __name__  # a traceback tells where programs get it from
                return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
