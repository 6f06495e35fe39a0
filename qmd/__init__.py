"""qmd: on-device search for everything you have written down.

From Python: `with qmd.connect() as kb`, `async with qmd.open() as kb`. See docs/python.md.
"""

__version__ = "0.1.0"

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
        SqlTimeout,
        UsageError,
    )
    from qmd.operations.cleanup import Cleaned
    from qmd.operations.doctor import Finding
    from qmd.operations.status import Status
    from qmd.surfaces.python import AsyncKnowledgeBase, Document, KnowledgeBase, connect, open
    from qmd.types import Context, Embedded, Passage, Report, Result

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
    "SqlTimeout",
    "Stats",
    "Status",
    "Table",
    "UsageError",
    "__version__",
    "connect",
    "open",
]

_HOMES = {
    "qmd.surfaces.python": "AsyncKnowledgeBase Document KnowledgeBase connect open",
    "qmd.types": "Context Embedded Passage Report Result",
    "qmd.analytics.rows": "Results Rows Table",
    "qmd.operations.status": "Status",
    "qmd.operations.cleanup": "Cleaned",
    "qmd.operations.doctor": "Finding",
    "qmd.analytics.report": "Stats",
    "qmd.analytics.document_map": "Map",
}
"""Modules that the names are from; those of errors are not in it."""


def __getattr__(name: str) -> object:
    """A name from the module that has it: the command line imports this package, and needs none."""
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
