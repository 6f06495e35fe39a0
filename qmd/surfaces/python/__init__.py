"""qmd from Python: a knowledge base whose verbs are those of the command line.

    async with qmd.open() as kb:                  with qmd.connect() as kb:
        hits = await kb.search("tea")                 hits = kb.search("tea")

`AsyncKnowledgeBase` says what the verbs do; `KnowledgeBase` has the same ones, blocking. Both are
thin: the engine does the work. What reads the index runs in worker threads, a few at once, and is
interrupted when the task that waits for it is cancelled; a write that has begun is finished.
"""

from __future__ import annotations

import os
from pathlib import Path

from qmd.operations.index import Index
from qmd.settings import environment
from qmd.surfaces import opening
from qmd.surfaces.python.arguments import bounded, path_of
from qmd.surfaces.python.clients import AsyncKnowledgeBase, KnowledgeBase

__all__ = ["AsyncKnowledgeBase", "KnowledgeBase", "connect", "open"]


def open(  # qmd.open
    index: str | os.PathLike[str] | None = None,
    *,
    path: str | os.PathLike[str] | None = None,
    gpu: bool = True,
    patience: float = 30.0,
    engine: str | None = None,
    allow_partial: bool = False,
) -> AsyncKnowledgeBase:
    """Open a knowledge base, for `async with`.

    Args:
        index: a name, as for `--index`; a path, as below; None: the one that the command line would
            use here.
        path: of a project with an index of its own, or of an `index.duckdb`. Such a file is made
            when it is first used; its settings are beside it, of `work.duckdb` in `work.yml`,
            unless it is one that the command line uses.
        gpu: whether models may use one.
        patience: seconds to wait for other processes that hold the index.
        engine: `shards:DEST` or `ray:DEST` for an index of shards; None: what index.yml says.
        allow_partial: with `ray`, search without shards that do not answer:
            `Results.missing_shards` names them.

    Raises:
        UsageError: there is no such index.
        TypeError, ValueError: an argument makes no sense; here and in all verbs.
    """
    return AsyncKnowledgeBase(
        _engine(index, path, gpu=gpu, patience=patience, engine=engine, allow_partial=allow_partial)
    )


def connect(
    index: str | os.PathLike[str] | None = None,
    *,
    path: str | os.PathLike[str] | None = None,
    gpu: bool = True,
    patience: float = 30.0,
    engine: str | None = None,
    allow_partial: bool = False,
) -> KnowledgeBase:
    """Open a knowledge base for notebooks and scripts: see `open`."""
    return KnowledgeBase(
        _engine(index, path, gpu=gpu, patience=patience, engine=engine, allow_partial=allow_partial)
    )


def _engine(
    index: str | os.PathLike[str] | None,
    path: str | os.PathLike[str] | None,
    *,
    gpu: bool,
    patience: float,
    engine: str | None,
    allow_partial: bool,
) -> Index:
    if index is not None and path is not None:
        raise TypeError("Give an index or a path, not both.")
    bounded(patience, "patience", least=0)
    if index is not None and not (isinstance(index, str) and _is_name(index)):
        place = environment.at(os.environ, path_of(index, "index"))
    elif path is not None:
        place = environment.at(os.environ, path_of(path, "path"))
    else:
        place = environment.locate(os.environ, Path.cwd(), index=index)
    environment.check_reach(place)
    machine = environment.machine(os.environ, gpu=gpu)
    return opening.opened(
        place,
        machine,
        engine=engine,
        allow_partial=allow_partial,
        warm=True,
        patience=patience,
    )


def _is_name(text: str) -> bool:
    return (
        text != ""
        and "/" not in text
        and not text.startswith((".", "~"))
        and not text.endswith(".duckdb")
    )
