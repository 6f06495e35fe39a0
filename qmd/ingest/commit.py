"""Documents table: changes against a folder, commit of a batch, removal."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from qmd.ingest.file_facts import FileFacts, differing
from qmd.ingest.folder_changes import Change, FolderChanges
from qmd.named_tuple import NamedTuple
from qmd.storage import long_texts
from qmd.storage.arrow import Relation, numbers, texts, values
from qmd.storage.cursor import Cursor, as_json
from qmd.storage.statements import filled
from qmd.types import Kept, LeftOut


class Made(NamedTuple):
    """The result of a reader, to be stored.

    Attributes:
        digest: of the bytes and the suffixes of the file.
        hash: of the content; None: it could not be read.
    """

    digest: str
    reader: str
    hash: str | None
    said: str


class Known(NamedTuple):
    """A stored result of a reader.

    Attributes:
        said: JSON.
        body: None: it could not be read.
    """

    digest: str
    reader: str
    hash: str | None
    said: str
    body: str | None


class Unoutlined(NamedTuple):
    """A text without an outline.

    Attributes:
        links: that only its reader tells.
        path: of a document that has it.
    """

    hash: str
    body: str
    links: list[str]
    path: str


AT_A_GLANCE = 100_000
"""Files that are compared by set operations at once: nearly all are unchanged, and a join takes
three times as long; of a million files, twenty times."""

Learnt = tuple[str, tuple[int, str]]
"""A word with the term_id and the term of its stem."""


class Batch(NamedTuple):
    """A batch of documents, ready for its commit.

    Attributes:
        incoming: one row per document: `number` within the batch, `seen_id`, and the
            columns of `documents`.
        texts: hash, body and outline, no hash twice; the bodies of long texts are empty.
        long: hash and text in UTF-8 of long texts, no hash twice; `put` takes them out.
        postings: `number` and the columns of `postings`, sorted by (term, number).
        learnt: words never met before.
        documents: in all.
        replaces: whether some document takes the place of another.
        places: of documents; None: there are none.
        sketched: signatures of the texts: hash, bins and buckets, no hash twice.
        data: bytes that are not searched, by path, of documents that have such.
    """

    incoming: Relation
    texts: Relation
    postings: Relation
    learnt: list[Learnt]
    documents: int
    replaces: bool
    places: Relation | None = None
    sketched: Relation | None = None
    data: Mapping[str, int] = MappingProxyType({})
    long: list[tuple[str, bytes]] = []  # noqa: RUF012 - not shared: see `batch_tables.batch`


def changes(
    cursor: Cursor,
    *,
    collection: str,
    paths: Sequence[str],
    sizes: Sequence[int],
    mtimes: Sequence[int],
    inodes: Sequence[int],
    ctimes: Sequence[int],
) -> FolderChanges:
    """Find files that differ in size, times or inode, and documents without a file.

    Args:
        paths: in order.
    """
    files = FileFacts(list(paths), sizes, mtimes, inodes, ctimes)
    compared = _FilesCompared(cursor, collection, files)
    for first in range(0, len(paths) or 1, AT_A_GLANCE):
        compared.add(first, min(first + AT_A_GLANCE, len(paths)))
    compared.add_few(len(paths))
    return compared.found


class _FilesCompared:
    """Files of a folder compared with those of the index, from one path to another.

    Attributes:
        found: the changes so far.
    """

    def __init__(self, cursor: Cursor, collection: str, files: FileFacts) -> None:
        self.found = FolderChanges(files.paths)
        self._cursor, self._collection, self._files = cursor, collection, files
        self._begin = 0  # of those that wait for `add_few`
        self._places: list[int] = []
        self._others: list[str] = []

    def add(self, first: int, end: int) -> None:
        """Compare the next files. Of those of which few have changed, the changes wait."""
        places, others = self._differing(first, end)
        if 4 * (len(places) + len(others)) < end - first:
            self._places += places
            self._others += others
            if len(self._places) + len(self._others) > AT_A_GLANCE:
                self.add_few(end)
            return
        self.add_few(first)
        if others:
            self._add_changes(first, end, range(first, end), None)
        else:  # what has changed would be among them: all of these are new
            self.found.add_new(places)
        self._begin = end

    def add_few(self, end: int) -> None:
        """Add the changes that wait, up to a place."""
        if self._others:
            among = {*self._others, *map(self._files.paths.__getitem__, self._places)}
            self._add_changes(self._begin, end, self._places, "\0".join(among))
        else:
            self.found.add_new(self._places)
        self._begin, self._places, self._others = end, [], []

    def _bounds(self, first: int, end: int) -> dict[str, str | None]:
        """Return the parameters of statements for the files from one place to another."""
        paths = self._files.paths
        low, high = paths[first] if first else None, paths[end] if end < len(paths) else None
        return {"collection": self._collection, "low": low, "high": high}

    def _differing(self, first: int, end: int) -> tuple[list[int], list[str]]:
        asked = self._bounds(first, end)
        if len(self._files.paths) > AT_A_GLANCE:
            text = filled("documents/file_columns", **asked)
            return differing(values(self._cursor.connection, text), self._files, first, end)
        known = self._cursor.one("documents/files", **asked)  # loads no library for Arrow
        return differing(known or "", self._files, first, end)

    def _add_changes(self, first: int, end: int, places: Sequence[int], among: str | None) -> None:
        paths = self._files.paths
        rows = self._cursor.run(
            "documents/changes",
            **self._bounds(first, end),
            files="\0".join(map(self._files.line, places)),
            among=among,
        )
        self.found.add(
            Change(bisect_left(paths, path) if here else None, document_id, path, *of_index)
            for here, document_id, path, *of_index in rows
        )


def outdated(
    cursor: Cursor, *, collection: str, current: Callable[[], Sequence[str]]
) -> list[Change]:
    """Files that a reader has read of which there is another version now, or none.

    Args:
        current: gives the readers that there are, with their versions; called if it matters.
    """
    found = {reader for (reader,) in cursor.run("documents/readers", collection=collection)}
    if not found:
        return []
    old = sorted(found.difference(current()))
    if not old:
        return []
    rows = cursor.run("documents/outdated", collection=collection, readers=as_json(old))
    return [Change(None, document_id, path, None, None) for path, document_id in rows]


def readings(cursor: Cursor, asked: Sequence[str]) -> dict[tuple[str, str], Known]:
    """Load the stored results of readers.

    Args:
        asked: digest and reader, with a blank between.
    """
    rows = cursor.rows(Known, "documents/readings", asked=as_json(list(asked)))
    rows = long_texts.with_bodies(cursor, rows)
    return {(each.digest, each.reader): each for each in rows}


def keep_readings(cursor: Cursor, made: Relation) -> None:
    """Keep what readers have made of files."""
    with cursor.staged(made=made):
        cursor.run("documents/add_readings")


def left_out(cursor: Cursor, collection: str) -> list[LeftOut]:
    """Files of a collection that are not indexed, as they were noted."""
    return cursor.rows(LeftOut, "documents/left_out", collection=collection)


def kept(cursor: Cursor, collection: str) -> list[Kept]:
    """Folders of a collection that have lost their files, as they were noted."""
    return cursor.rows(Kept, "documents/lost_folders", collection=collection)


def noted_unread(cursor: Cursor, collection: str) -> list[tuple[str, str]]:
    """Files of a collection that could not be read, as they were noted, with the reasons."""
    return [
        (path, why) for path, why in cursor.run("documents/unread_files", collection=collection)
    ]


def note_left_out(
    cursor: Cursor,
    collection: str,
    found: Sequence[LeftOut],
    lost: Sequence[Kept],
    unread: Sequence[tuple[str, str]],
) -> None:
    """Note what is not indexed of a collection, and its folders that have lost their files."""
    cursor.run("documents/forget_unread_files", collection=collection)
    if unread:
        cursor.run("documents/add_unread_files", collection=collection, files=as_json(list(unread)))
    cursor.run("documents/forget_left_out", collection=collection)
    rows = [[each.suffix, each.files, each.why] for each in found]
    cursor.run("documents/add_left_out", collection=collection, found=as_json(rows))
    cursor.run("documents/forget_lost_folders", collection=collection)
    if lost:
        folders = [each._asdict() for each in lost]
        cursor.run("documents/add_lost_folders", collection=collection, lost=as_json(folders))


def put(cursor: Cursor, batch: Batch) -> set[int]:
    """Commit a batch.

    Returns:
        The numbers of the documents that were accepted. One that another process has
        changed since it was compared is not: its file is to be compared again.
    """
    if batch.learnt:  # in any case: they are not new to the batches that follow
        _learn(cursor, batch.learnt)
    with cursor.staged(incoming=batch.incoming):
        cursor.run("documents/accept")
    accepted = cursor.run("documents/accepted")
    if not accepted:
        return set()
    if batch.replaces:
        cursor.run("documents/bury")
        _note_left(cursor, cursor.run("documents/replace"))
    long_texts.add_wanted(cursor, batch.long)
    with cursor.staged(texts=batch.texts):
        cursor.run("documents/add_content")
    if batch.sketched is not None:
        with cursor.staged(sketched=batch.sketched):
            cursor.run("documents/add_sketches")
    if batch.places is not None:
        with cursor.staged(places_found=batch.places):
            cursor.run("documents/add_places")
    cursor.run("documents/add")
    first, document_id = accepted[0]
    some = len(accepted) < batch.documents or None  # to look for them triples the time of the rest
    with cursor.staged(found=batch.postings):
        cursor.run("documents/add_postings", base=document_id - first, some=some)
    cursor.run("documents/count_up")
    return {number for number, _ in accepted}


def put_again(
    cursor: Cursor, *, again: Relation, postings: Relation, learnt: list[Learnt], first: int
) -> None:
    """Replace the postings of documents, of those that are still there.

    Args:
        again: document_id, lengths and starts.
        postings: the columns of `postings`.
        learnt: words that the index lacks.
        first: the lowest number: only lower ones may have postings by earlier rules.
    """
    if learnt:
        _learn(cursor, learnt)
    with cursor.staged(again=again):
        cursor.run("documents/drop_postings")
    with cursor.staged(again=again):
        cursor.run("documents/put_lengths")
    with cursor.staged(found=postings):
        cursor.run("documents/put_postings")
    cursor.run("documents/note_fresh", stale=first)


def _learn(cursor: Cursor, learnt: Sequence[Learnt]) -> None:
    words = Relation(
        word=texts([word for word, _ in learnt]),
        term=texts([term for _, (_, term) in learnt]),
        term_id=numbers("int64", [term_id for _, (term_id, _) in learnt]),
    )
    for step in ("learn", "note_learnt"):
        with cursor.staged(learnt=words):
            cursor.run(f"words/{step}")


def lack_outlines(cursor: Cursor) -> bool:
    """Check for texts from before there were outlines."""
    return bool(cursor.one("documents/lack_outlines"))


def lack_sketches(cursor: Cursor) -> bool:
    """Check for texts from before there were signatures."""
    since = cursor.one("documents/ungrouped_since") or 0
    return bool(cursor.one("documents/lack_sketches", since=since))


def unoutlined(cursor: Cursor, *, limit: int, size: int) -> list[Unoutlined]:
    """Load some texts without an outline.

    Args:
        limit: texts at most.
        size: bytes of all of them at most; but one text in any case.
    """
    rows = cursor.rows(Unoutlined, "documents/unoutlined", limit=limit, bytes=size)
    return long_texts.with_bodies(cursor, rows)


def add_outlines(cursor: Cursor, *, made: Relation) -> None:
    """Give texts their outlines.

    Args:
        made: hash and outline, no hash twice.
    """
    with cursor.staged(made=made):
        cursor.run("documents/add_outlines")


def touch(cursor: Cursor, touched: Mapping[str, list[Any]]) -> None:
    """Update the times of files with the same content.

    Args:
        touched: columns. See sql/documents/touch.
    """
    cursor.run("documents/touch", touched=as_json(touched))


def remove(cursor: Cursor, document_ids: Sequence[int]) -> set[int]:
    """Remove documents that are still what they were.

    Returns:
        Those that were there to be removed.
    """
    ids = as_json(list(document_ids))
    cursor.run("documents/bury_gone", ids=ids)
    gone = cursor.run("documents/remove", ids=ids)
    _note_left(cursor, [left for _, *left in gone])
    return {document_id for document_id, *_ in gone}


def _note_left(cursor: Cursor, left: Sequence[Sequence[Any]]) -> None:
    """Note texts that documents have left: for `regrouping`, and for `storage/old_texts.py`.

    Args:
        left: hash and bytes of each.
    """
    if left:
        cursor.run("documents/note_left_texts", hashes=as_json([hash_ for hash_, _ in left]))
        cursor.run("documents/count_old_bytes", bytes=sum(taken for _, taken in left))


def word_count(cursor: Cursor) -> int:
    """Count the words of the index."""
    return int(cursor.one("words/count"))


def known_words(cursor: Cursor, words: Sequence[str]) -> dict[str, int]:
    """Return the term ids of the words that are in the index."""
    return dict(cursor.run("words/known", words=as_json(list(words))))
