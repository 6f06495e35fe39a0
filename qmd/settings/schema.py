"""Content of index.yml: its values, their defaults, and their names."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from qmd.named_tuple import NamedTuple
from qmd.types import Collection, Context

DEFAULT_MASK = "**/*.md"
"""Of a collection whose lines in index.yml have no pattern."""

NEW_MASK = "documents"
"""Of a collection that is added: all kinds of documents that have readers."""

CHUNK_STRATEGIES = ("auto", "plain")

ENGINES = ("shards", "ray")
"""Engines that search an index of shards."""


class Engine(NamedTuple):
    """Index of shards that is searched in the place of the index file.

    Attributes:
        name: 'shards' opens them in this process, 'ray' has actors of a cluster hold them.
        source: folder with their manifest.
        address: of the cluster; 'local' starts Ray on this machine. None: RAY_ADDRESS.
        deadline: seconds for the shards to answer.
        allow_partial: searches go on without shards that do not answer until then.
    """

    name: str
    source: str
    address: str | None = None
    deadline: float = 30.0
    allow_partial: bool = False


class Settings(NamedTuple):
    """Content of an index.yml.

    Attributes:
        models: name of a model for a role.
        chunk_tokens: of a chunk at most; the embedding model may want fewer.
        chunk_overlap: share of a chunk that the next one repeats.
        chunk_strategy: 'auto' cuts code where its syntax does, 'plain' nothing but lines.
        query_log: whether searches are noted, in a file beside the index.
        readers: for the name of a collection, or '' for all, the commands that convert files to
            Markdown, by the globs of their names.
        ocr: languages in which Tesseract reads pages without text; '': it does not.
        server: whether a running server carries commands out for other processes.
        engines: indexes of shards, by the name of the engine.
        experiences: whether agents may submit and find experience records.
        keywords: share of keywords in the score of a hybrid search; None: the usual one.
    """

    collections: tuple[Collection, ...] = ()
    contexts: tuple[Context, ...] = ()
    editor_uri: str | None = None
    models: Mapping[str, str] = MappingProxyType({})
    chunk_tokens: int = 900
    chunk_overlap: float = 0.15
    chunk_strategy: str = "auto"
    query_log: bool = True
    readers: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    ocr: str = ""
    server: bool = True
    engines: Mapping[str, Engine] = MappingProxyType({})
    experiences: bool = True
    keywords: float | None = None
