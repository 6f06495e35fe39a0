"""On-device search over local documents: `open`, `connect` and the public types.

From Python: `with qmd.connect() as kb`, `async with qmd.open() as kb`. See docs/python.md.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from qmd.analytics.document_map import Map
    from qmd.analytics.report import Stats
    from qmd.analytics.rows import Results, Rows, Table
    from qmd.errors import (
        AlreadyExists,
        Ambiguous,
        CollectionNotFound,
        ConfigError,
        ContextNotFound,
        DocumentNotFound,
        ExchangeError,
        IndexBusy,
        IndexFailure,
        IndexNotWritable,
        IndexTooNew,
        IndexUnreadable,
        JobRunning,
        ModelError,
        ModelMissing,
        NotEmbedded,
        NotFound,
        QmdError,
        QueryError,
        RuntimeMissing,
        SqlError,
        SqlOutOfMemory,
        SqlTimeout,
        UsageError,
        WriteConflict,
    )
    from qmd.operations.cleanup import Cleaned
    from qmd.operations.doctor import Finding
    from qmd.operations.listing import Document
    from qmd.operations.status import Status
    from qmd.reports import Embedded, EmbedStep, Report
    from qmd.surfaces.python import AsyncKnowledgeBase, KnowledgeBase, connect, open
    from qmd.types import Context, Passage, Result
    from qmd.version import __version__

__all__ = [
    "AlreadyExists",
    "Ambiguous",
    "AsyncKnowledgeBase",
    "Cleaned",
    "CollectionNotFound",
    "ConfigError",
    "Context",
    "ContextNotFound",
    "Document",
    "DocumentNotFound",
    "EmbedStep",
    "Embedded",
    "ExchangeError",
    "Finding",
    "IndexBusy",
    "IndexFailure",
    "IndexNotWritable",
    "IndexTooNew",
    "IndexUnreadable",
    "JobRunning",
    "KnowledgeBase",
    "Map",
    "ModelError",
    "ModelMissing",
    "NotEmbedded",
    "NotFound",
    "Passage",
    "QmdError",
    "QueryError",
    "Report",
    "Result",
    "Results",
    "Rows",
    "RuntimeMissing",
    "SqlError",
    "SqlOutOfMemory",
    "SqlTimeout",
    "Stats",
    "Status",
    "Table",
    "UsageError",
    "WriteConflict",
    "__version__",
    "connect",
    "open",
]

_HOMES = {
    "qmd.version": "__version__",
    "qmd.types": "Context Passage Result",
    "qmd.reports": "EmbedStep Embedded Report",
    "qmd.analytics.rows": "Results Rows Table",
    "qmd.surfaces.python": "AsyncKnowledgeBase KnowledgeBase connect open",
    "qmd.operations.status": "Status",
    "qmd.operations.cleanup": "Cleaned",
    "qmd.operations.doctor": "Finding",
    "qmd.operations.listing": "Document",
    "qmd.analytics.report": "Stats",
    "qmd.analytics.document_map": "Map",
}
"""Names by their modules; a name that is not here is one of `qmd.errors`."""


def __getattr__(name: str) -> object:
    """Import a public name on first use.

    The command line imports this package too, and needs none of these names.
    """
    if name in __all__:
        from importlib import import_module

        home = next(
            (module for module, names in _HOMES.items() if name in names.split()), "qmd.errors"
        )
        globals()[name] = found = getattr(import_module(home), name)
        return found
    raise AttributeError(f"module 'qmd' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
