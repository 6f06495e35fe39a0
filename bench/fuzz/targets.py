"""Targets of fuzzing: readers of input from users, files and clients.

Each target makes an input of bytes, and checks one: an error that a user would not be told in
words is raised, and so is an answer that cannot be right. The first part of an input is a text
(or bytes), so that it can be made longer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bench.fuzz import (
    clients,
    exchange,
    files,
    forwarding,
    judged,
    models,
    notes,
    output,
    pages,
    places,
    programs,
    queries,
    retrieval,
    sessions,
    settings,
    shell,
    sidecars,
    texts,
    tool_calls,
)
from bench.fuzz.http import http
from bench.fuzz.readers import READERS
from bench.fuzz.sources import Target

TARGETS: dict[str, Callable[[], Iterator[Target]]] = {
    each.__name__: each
    for each in (
        *(texts.chunks, texts.data, texts.syntax, texts.tokens, texts.outlines, texts.snippet),
        *(texts.frontmatter, texts.sanitation),
        *(notes.metadata, notes.composed, notes.put_names, notes.links, notes.languages),
        *(queries.query, queries.questions, queries.filters, queries.sql),
        *(queries.lexer, queries.dates, queries.half_lives),
        *(retrieval.structured, retrieval.expressions, retrieval.misspelt, retrieval.copies),
        *(places.names, places.masks, places.resolve),
        *(clients.arguments, clients.lines, clients.experience, http),
        tool_calls.calls,
        *(forwarding.requests, forwarding.answers),
        *(sessions.sessions, sessions.guard, shell.completion, shell.hoisted),
        *(settings.settings, settings.edits, settings.approvals, settings.environment),
        *(settings.ignores, exchange.manifest, exchange.imported),
        *(models.hub, models.gguf, models.endpoint),
        *(
            files.locks,
            files.compared,
            files.searched,
            files.pidfile,
            sidecars.sidecar,
            sidecars.vector_sidecar,
        ),
        *(judged.judged, judged.runs),
        *READERS,
        *(pages.rendered, pages.addresses, programs.shards, programs.installed, programs.units),
        *(output.widths, output.terminal, output.formats, output.sql_answers, output.pictures),
    )
}


@contextmanager
def opened(name: str) -> Iterator[Target]:
    """Open a target with its resources."""
    yield from TARGETS[name]()
