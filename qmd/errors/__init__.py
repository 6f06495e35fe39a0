"""Exceptions with messages a user can act on, and their exit codes.

    QmdError                      exit code 1
    ├── UsageError                invalid value, or values that exclude each other
    │   ├── InvalidArgument       value outside of the domain of a parameter
    │   ├── WriteConflict         document changed since it was read
    │   ├── QueryError            query that cannot be parsed
    │   ├── SqlError              SQL that is not permitted or fails
    │   │   ├── SqlTimeout        time limit exceeded
    │   │   └── SqlOutOfMemory    limit of memory or disk exceeded
    │   ├── ConfigError           mistake in index.yml, with its line
    │   │   └── ConfigEmptied     index.yml has become empty
    │   └── CommandRefused        update command with invisible characters
    ├── NotFound
    │   ├── CommandNotFound       exit code 2: qmd has no such command
    │   ├── DocumentNotFound
    │   ├── CollectionNotFound
    │   ├── ContextNotFound
    │   └── IndexNotFound
    ├── Ambiguous                 several documents match the name
    ├── AlreadyExists
    ├── CannotUpdate              exit code 2: one collection, not the others
    │   ├── RootMissing
    │   ├── RootUnreadable
    │   ├── HookFailed
    │   └── NotApproved
    ├── ModelError
    │   ├── UnknownModel          no model has this name
    │   ├── ModelMissing          model file not on this machine
    │   ├── ModelUnusable         model file damaged or of another kind
    │   ├── RuntimeMissing        library for local models not installed
    │   ├── HubFailure            download failed
    │   ├── ModelFailure          call to a model failed
    │   └── TextTooLong           text above the model's token limit
    ├── NotEmbedded               no vectors of the model in use
    ├── VectorsRemoved            vectors removed while others were added
    ├── PortTaken                 another program listens on the address
    ├── AlreadyServed             background server already runs for this index
    ├── ServerFailure             background server did not start or does not stop
    ├── ExchangeError             failed export or import
    │   ├── FolderTaken           target folder contains something else
    │   ├── ExportFailed          files could not be written
    │   ├── NotAnExport           folder without a valid manifest
    │   ├── ExportUnreadable      file that the system cannot read
    │   ├── ExportDamaged         file missing or changed
    │   ├── ExportIncomplete      tables missing for an index
    │   ├── ExportTooNew          written by a later qmd
    │   └── IndexTaken            index has documents already
    ├── MigrationEdited           released migration was changed
    └── IndexFailure               exit code 3
        ├── ClusterFailure        shards of an index that cannot be used
        │   ├── BuildRunning      another build writes to the destination
        │   ├── BuildTakenOver    another build has begun meanwhile
        │   ├── ShardsReadOnly    writing to an index of shards
        │   ├── NotOverShards     operation that needs all tables in one file
        │   ├── ShardsDisagree    shards of several builds
        │   ├── ShardFailed       shard on another machine that cannot be read
        │   ├── ShardsMissing     shards that did not answer in time
        │   ├── NotAManifest      no manifest that can be read
        │   └── ShardDamaged      file of a shard missing or changed
        ├── IndexBusy             another process holds the file
        │   └── FileBusy          index.yml, or the list of approvals
        ├── JobRunning            another process runs the same job
        ├── OfAnotherProcess      index opened before this process was forked
        ├── LockUnusable          a lock of the index is no file
        ├── IndexOutOfReach       no permission to see or read it
        ├── IndexUnreadable       truncated, foreign or not a database
        ├── IndexNotWritable      read-only media, permissions, a full disk
        ├── NotEnoughMemory       exit code 1: the system gives no more memory or threads
        ├── ExtensionUnusable     extension of DuckDB that cannot be loaded
        ├── TooFewDescriptors     limit of open files too low to write
        └── IndexTooNew           written by a later qmd

The message says what happened, then a blank line, then what to do. The command
line and the servers show it unchanged; attributes have the values for programs.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from qmd.errors.base import QmdError
    from qmd.errors.cluster import (
        BuildRunning,
        BuildTakenOver,
        ClusterFailure,
        NotAManifest,
        NotOverShards,
        ShardDamaged,
        ShardFailed,
        ShardsDisagree,
        ShardsMissing,
        ShardsReadOnly,
    )
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
        ExtensionUnusable,
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
        NotEnoughMemory,
        OfAnotherProcess,
        RootMissing,
        RootUnreadable,
        TooFewDescriptors,
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
        WriteConflict,
    )

__all__ = [
    "NOT_REBUILT",
    "AlreadyExists",
    "AlreadyServed",
    "Ambiguous",
    "BuildRunning",
    "BuildTakenOver",
    "CannotUpdate",
    "ClusterFailure",
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
    "ExtensionUnusable",
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
    "NotAManifest",
    "NotAnExport",
    "NotApproved",
    "NotEmbedded",
    "NotEnoughMemory",
    "NotFound",
    "NotOverShards",
    "OfAnotherProcess",
    "PortTaken",
    "QmdError",
    "QueryError",
    "RootMissing",
    "RootUnreadable",
    "RuntimeMissing",
    "ServerFailure",
    "ShardDamaged",
    "ShardFailed",
    "ShardsDisagree",
    "ShardsMissing",
    "ShardsReadOnly",
    "SqlError",
    "SqlOutOfMemory",
    "SqlTimeout",
    "TextTooLong",
    "TooFewDescriptors",
    "UnknownModel",
    "UsageError",
    "VectorsRemoved",
    "WriteConflict",
]

_HOMES = ("base", "usage", "index", "models", "exchange", "serving", "cluster")
"""Modules of the exceptions, those first that most commands have loaded."""


def __getattr__(name: str) -> object:
    """Import an exception from its module on first use: few are needed, and each takes time."""
    if name in __all__:
        from importlib import import_module

        for home in _HOMES:
            module = import_module(f"{__name__}.{home}")
            if name in vars(module):
                globals()[name] = found = vars(module)[name]
                if isinstance(found, type):
                    found.__module__ = __name__  # a traceback names the public module
                return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
