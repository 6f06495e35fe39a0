"""Types shared by several rooms: collection, document, filter, result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from qmd.named_tuple import NamedTuple

EXPERIENCES = "experiences"
"""The collection of the records that agents submit: without a folder, and not in index.yml."""

SIMILAR = 0.3
"""Score below which passages have little to do with the question. Source: tobi/qmd (MIT)."""


class Collection(NamedTuple):
    """A folder whose files are indexed, or (without a root) documents of the index alone.

    Attributes:
        converted: globs of files for which index.yml has a command that converts them.
        writable: `put` may write files into the folder; known from index.yml alone.
    """

    name: str
    root: str
    mask: str = "**/*.md"
    ignored: tuple[str, ...] = ()
    update_command: str | None = None
    included: bool = True
    follow_symlinks: bool = False
    respect_gitignore: bool = False
    converted: tuple[str, ...] = ()
    writable: bool = False


class FileStamp(NamedTuple):
    """Name of a file, and its size and time at the last update.

    Attributes:
        size: bytes.
        mtime_ns: nanoseconds since 1970; -1: too fresh to be trusted.
    """

    collection: str
    path: str
    size: int
    mtime_ns: int


FromFile = Callable[[int, tuple[str, str], str], str | None]
"""Reads the text of a document, by number, from its file, by collection and path; None if that has
another SHA-256, or is not to be read."""


class Context(NamedTuple):
    """Description of a folder, shown with results.

    Attributes:
        collection: None applies everywhere.
        prefix: folder inside the collection, '' for all of it.
    """

    collection: str | None
    prefix: str
    body: str


class DocumentRow(NamedTuple):
    """A document of the index, without its text.

    Attributes:
        document_id: changes whenever the document does.
        path: below the collection's root, with `/`.
        hash: SHA-256 of the content; its first six digits are the docid.
        dated: UTC; from frontmatter, else the file name, else `modified`.
        size: bytes of the file.
    """

    document_id: int
    collection: str
    path: str
    title: str
    hash: str
    dated: datetime
    modified: datetime
    size: int

    @property
    def name(self) -> str:
        """`collection/path`, as shown to users."""
        return f"{self.collection}/{self.path}"

    @property
    def docid(self) -> str:
        """`#` and six hex digits."""
        return f"#{self.hash[:6]}"


class Text(NamedTuple):
    """A document with its text.

    Attributes:
        matter: characters of its front matter, which no hit points into.
    """

    document_id: int
    collection: str
    path: str
    title: str
    hash: str
    body: str
    matter: int = 0

    @property
    def name(self) -> str:
        """`collection/path`, as shown to users."""
        return f"{self.collection}/{self.path}"

    @property
    def docid(self) -> str:
        """`#` and six hex digits."""
        return f"#{self.hash[:6]}"


class Nearest(NamedTuple):
    """A passage close to the query by vector similarity.

    Attributes:
        score: cosine, -1 to 1, higher is better.
        position: of the passage: characters before it.
        length: characters.
        line: its first, from 1.
    """

    document_id: int
    score: float
    position: int
    length: int
    line: int


class Condition(NamedTuple):
    """One comparison with the frontmatter: `status = "open"`.

    Attributes:
        path: as DuckDB's JSON functions take it, `$."status"`.
        operator: `=`, `==` (in any case), `!=`, `~` (contains), `<`, `<=`, `>`, `>=`.
        quoted: the value is text, even if it looks like a number.
    """

    path: str
    operator: str
    value: str
    quoted: bool = False


class Overlap(NamedTuple):
    """Two collections of which one has files of the other.

    Attributes:
        outer: name of the collection with the folder further up.
        inner: name of the other; of the same folder, the first by name.
        prefix: of paths of the outer one that are inside of the inner one; '' for the same folder.
    """

    outer: str
    inner: str
    prefix: str


class Clause(NamedTuple):
    """Tests of documents that a query joins: filters, and what its words and phrases are.

    Attributes:
        operator: `and`, `or`; `not`, of one part.
        parts: clauses, filters and others.
    """

    operator: str
    parts: tuple[Any, ...]


class Filter(NamedTuple):
    """Restrictions on the documents of a search. None means no restriction.

    Attributes:
        path: regular expression for `collection/path`; see `globs.under_folder`.
        overlaps: of the collections that are searched; of a file that two have, the document of
            the inner one is the result.
        title: regular expression for a part of the title in lower case, without accents.
        tag: regular expression for a tag in lower case.
        clauses: of filters, all of which have to hold besides.
    """

    collections: tuple[str, ...] | None = None
    since: datetime | None = None
    before: datetime | None = None
    conditions: tuple[Condition, ...] = ()
    path: str | None = None
    overlaps: tuple[Overlap, ...] = ()
    title: str | None = None
    tag: str | None = None
    clauses: tuple[Any, ...] = ()


ALL = Filter()
"""No filter. Only collections that are excluded by default are left out."""


class LeftOut(NamedTuple):
    """Files of a folder that are not indexed.

    Attributes:
        suffix: in lower case, '' for none; None: they are of any.
    """

    suffix: str | None
    files: int
    why: str


class Kept(NamedTuple):
    """A folder that has lost its files all at once, and whose documents are kept.

    Attributes:
        folder: of a collection, or inside of one.
        documents: that are kept until `update` is told to remove them.
        files: of the collection that are left.
    """

    folder: str
    documents: int
    files: int


class Result(NamedTuple):
    """A search result.

    Attributes:
        score: 0 to 1, higher is better; of a vector search a cosine, -1 to 1.
        file: `collection/path`.
        line: the first that matches, from 1.
        snippet: lines around the match, each with its number.
        body: the whole text, if it was asked for.
        explain: how the score came about, if it was asked for.
        place: page, slide or moment that the line is in, as people write it; None: there is none.
        also_in: `collection/path` of the same file in other collections that were searched.
        stale: the file has changed or gone since the last update.
        similar: files of near-duplicates that the search found too, and that this stands for.
        size: bytes of the text of the document, in UTF-8.
    """

    docid: str
    score: float
    file: str
    line: int
    title: str
    context: str | None
    snippet: str
    uri: str
    body: str | None = None
    explain: Mapping[str, object] | None = None
    place: str | None = None
    also_in: tuple[str, ...] = ()
    stale: bool = False
    similar: tuple[str, ...] = ()
    size: int = 0


class Passage(NamedTuple):
    """A document, a range of its lines, or the reason for its absence.

    Attributes:
        first: line with which `body` begins, from 1.
        total: lines of the document.
        reason: why it was skipped, or None.
        size: bytes of the file.
    """

    docid: str
    file: str
    title: str
    context: str | None
    uri: str
    first: int
    total: int
    body: str
    reason: str | None = None
    size: int = 0

    @classmethod
    def missing(cls, name: str, reason: str) -> Passage:
        """Return the passage of a document that was not found."""
        return cls("", name, "", None, "", 1, 0, "", reason)
