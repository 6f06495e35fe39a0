"""Tables of the index to Parquet files and back.

The statement of a table, `sql/export/<table>.sql`, selects and describes the exported rows and
columns. Other statements include it as text, to write the rows to a file or to compute digests of
them. Tables without a statement are exported unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import _duckdb

from qmd.named_tuple import NamedTuple
from qmd.storage.arrow import fetched
from qmd.storage.cursor import Cursor, as_json
from qmd.storage.statements import data_folder, given, statement, without_header

if TYPE_CHECKING:
    import pyarrow as pa

MAX_NUMBERS = 1 << 32
"""Numbers that rows can have."""

VECTORS_PER_READ = 4096
"""Vectors that are read from a file at once."""


Misfit = (_duckdb.DataError, _duckdb.IntegrityError, _duckdb.ProgrammingError)
"""Errors of rows that do not fit a table, or of a malformed file."""

Unread = _duckdb.IOException
"""Error of a file that the system cannot read or write."""


class ExportTable(NamedTuple):
    """A table that can be exported.

    Attributes:
        key: column that numbers its rows, by which they are parted among files.
        width: numbers that stay together.
        rows: in a file, about.
        private: it contains data of all documents, so it is left out of a partial export.
        needed: without it no index can be made.
        chosen: only the rows of the chosen documents are exported.
        hashed: column for which the column `hash` stands: what differs in one does in the other.
    """

    name: str
    key: str | None = None
    width: int = MAX_NUMBERS
    rows: int = MAX_NUMBERS
    private: bool = False
    needed: bool = False
    chosen: bool = False
    hashed: str | None = None


TABLES = (
    ExportTable("documents", "document_id", width=256, rows=1024, needed=True, hashed="body"),
    ExportTable("content", needed=True, hashed="body"),
    ExportTable("places"),
    ExportTable("chunks", "chunk_id", width=1024, rows=32_768),
    ExportTable("embeddings", "chunk_id", width=1024, rows=8192),
    ExportTable("embedding_models"),
    ExportTable("postings", "document_id", width=256, rows=262_144, needed=True),
    ExportTable("words", needed=True),
    ExportTable("collections", needed=True),
    ExportTable("contexts"),
    ExportTable("counters", needed=True),
    ExportTable("experiences", "document_id", width=256, rows=4096),
    ExportTable("experience_counts"),
    ExportTable("cache", private=True),
)
"""Tables with an export statement."""

VECTORS = "embeddings"
PARTED = "documents"
"""Table that can be partitioned by collection."""

STAYING = frozenset(
    {
        *("schema_migrations", "settings", "tombstones", "readings"),
        *("left_out", "lost_folders", "unread_files", "text_pieces"),
    }
)
"""Tables that stay with their index: an import creates its own."""


class FileColumn(NamedTuple):
    """A column of a file.

    Attributes:
        type: as DuckDB writes it.
        meaning: for people.
    """

    name: str
    type: str
    meaning: str


class RowRange(NamedTuple):
    """A range of rows with adjacent numbers.

    Attributes:
        cell: number of the first row by the width of a group.
        mixed, added: change when a row does.
    """

    collection: str | None
    cell: int
    rows: int
    mixed: int
    added: int


class NextIds(NamedTuple):
    """The numbers of the next document and the next chunk."""

    document_id: int
    chunk_id: int


def tables(cursor: Cursor) -> list[ExportTable]:
    """List the tables that can be exported: first those with a statement, then others."""
    there = {name for (name,) in cursor.run("store/tables")}
    known = [table for table in TABLES if table.name in there]
    others = sorted(there - {table.name for table in TABLES} - STAYING)
    return known + [_other(cursor, name) for name in others]


def _other(cursor: Cursor, name: str) -> ExportTable:
    if any(column.name == "document_id" for column in columns(cursor, ExportTable(name))):
        return ExportTable(name, "document_id", width=256, rows=65_536)
    return ExportTable(name, private=True)


def second_connection(cursor: Cursor) -> Cursor:
    """Open a second connection to the same index."""
    connection = cursor.connection.cursor()
    connection.execute(statement("store/use"))
    return Cursor(connection)


def choose(cursor: Cursor, documents: str | None) -> int:
    """Choose what to export, for all connections of this engine.

    Args:
        documents: JSON array of document_id; None: everything.

    Returns:
        Number of the documents that have no text, and are missing.
    """
    cursor.run("export/choose", documents=documents)
    if documents is not None:
        cursor.run("export/choose_terms")
    return int(cursor.one("export/lost", documents=documents))


def rows_of(table: ExportTable) -> str:
    """Return the statement that selects the exported rows of a table."""
    if table.name not in {own.name for own in TABLES}:
        return _around(
            "export/other_of_documents" if table.key else "export/other", table=table.name
        )
    text, _ = given(f"export/{table.name}", {"chosen": table.chosen or None})
    return text.replace("$chosen", "true")


def meaning(name: str) -> str:
    """Return the description of a table, in a sentence."""
    text = _header(name)
    return text.splitlines()[0].removeprefix("-- ") if text else ""


def columns(cursor: Cursor, table: ExportTable) -> list[FileColumn]:
    """List the columns of a table."""
    meanings = dict(re.findall(r"^-- out  (\w+) +\S+ *(.*)$", _header(table.name), re.M))
    found = cursor.connection.execute(_around("export/columns", rows=rows_of(table))).fetchall()
    return [FileColumn(name, kind, meanings.get(name, "")) for name, kind, *_ in found]


def digests(cursor: Cursor, table: ExportTable, *, parted: bool) -> list[RowRange]:
    """Compute the digests of groups of rows, each of `table.width` numbers.

    Args:
        parted: by collection as well.
    """
    rows = rows_of(table)
    if table.hashed is not None:  # most of the bytes of an index need not be read for this
        rows = _around("export/without", column=table.hashed, rows=rows)
    text = _around(
        "export/digests",
        key=table.key or "0",
        collection="collection" if parted else "null",
        rows=rows,
    )
    found = cursor.connection.execute(text, {"width": table.width}).fetchall()
    return [RowRange(*row) for row in found]


def write_table(
    cursor: Cursor, table: ExportTable, path: Path, *, first: int, last: int, collection: str | None
) -> None:
    """Write rows to a Parquet file.

    Args:
        first: number of the first row.
        last: of the last.
        collection: only of this one; the column is left out.
    """
    given: dict[str, object] = {"first": first, "last": last, "path": str(path)}
    name = "export/copy"
    if collection is not None:
        name = "export/copy_of_collection"
        given["collection"] = collection
    text = _around(name, key=table.key or "0", rows=rows_of(table))
    cursor.connection.execute(text, given).fetchall()


def copying(*, parted: bool) -> str:
    """Return the COPY statement; its text is a part of each file's digest."""
    return without_header("export/copy_of_collection" if parted else "export/copy")


# -- and back ------------------------------------------------------------------


def columns_of_file(cursor: Cursor, path: Path) -> list[tuple[str, str]]:
    """Return the names and types of the columns of a Parquet file.

    Raises:
        DatabaseError: the file is not Parquet.
    """
    return [(name, kind) for name, kind, *_ in cursor.run("import/columns", path=str(path))]


def rows_of_file(cursor: Cursor, path: Path) -> int:
    """Count the rows of a Parquet file."""
    return int(cursor.one("import/count", path=str(path)))


def next_ids(cursor: Cursor) -> NextIds:
    """Read the numbers of the next document and the next chunk."""
    return cursor.rows(NextIds, "import/next_ids")[0]


def load_documents(
    cursor: Cursor, files: Mapping[str | None, Sequence[Path]], *, shift: NextIds
) -> None:
    """Add documents with their texts.

    Args:
        files: by the collection that all of their rows are of; None: a column says it.
        shift: is added to the numbers of documents.
    """
    for collection, some in files.items():
        if collection is None:
            cursor.run("import/documents", files=_paths(some), documents=shift.document_id)
        else:
            cursor.run(
                "import/documents_of_collection",
                files=_paths(some),
                documents=shift.document_id,
                collection=collection,
            )
    cursor.run("import/content", files=_paths([file for some in files.values() for file in some]))


def load_table(cursor: Cursor, name: str, files: Sequence[Path], *, shift: NextIds) -> None:
    """Add what is in files to any other table.

    Args:
        shift: is added to the numbers of documents and chunks.
    """
    own: dict[str, dict[str, int | str]] = {
        "postings": {"documents": shift.document_id, "left_out": ""},
        "words": {},
        "chunks": {"chunks": shift.chunk_id},
        "counters": {"documents": shift.document_id, "chunks": shift.chunk_id},
    }
    if name == VECTORS:
        for file in files:
            load_vectors(cursor, file, shift=shift)
    elif name in own:
        if name == "postings" and not cursor.one("import/has_lengths"):
            own[name]["left_out"] = "length"
        cursor.run(f"import/{name}", files=_paths(files), **own[name])
        if name == "words":
            cursor.run("words/note_digest")
    else:
        columns = [column for column, _ in columns_of_file(cursor, files[0])]
        given: dict[str, object] = {"files": _paths(files)}
        how = "import/other"
        if "document_id" in columns:
            how = "import/other_of_documents"
            given["documents"] = shift.document_id
        cursor.connection.execute(_around(how, table=name), given).fetchall()


def load_vectors(cursor: Cursor, file: Path, *, shift: NextIds) -> None:
    """Add the vectors of a file, with their signs."""
    other = cursor.connection.cursor()
    found = fetched(
        other,
        statement("import/vectors"),
        {"path": str(file), "chunks": shift.chunk_id},
        batch_rows=VECTORS_PER_READ,
    )
    for batch in found:
        with cursor.staged(made=_with_signs(batch)):
            cursor.run("import/embeddings")
    other.close()


def _paths(files: Sequence[Path]) -> str:
    return as_json([str(file) for file in files])


def _with_signs(batch: pa.RecordBatch) -> pa.Table:
    """Add the sign bits to vectors: text of 0 and 1."""
    import numpy as np
    import pyarrow as pa

    vectors = batch["vector"]
    offsets = vectors.offsets.to_numpy()
    numbers = vectors.values.to_numpy(zero_copy_only=False)[offsets[0] : offsets[-1]]
    signs = np.where(numbers > 0, ord("1"), ord("0")).astype(np.uint8)
    text = pa.StringArray.from_buffers(
        len(vectors), pa.py_buffer((offsets - offsets[0]).astype(np.int32)), pa.py_buffer(signs)
    )
    return pa.table({**{n: batch[n] for n in batch.schema.names}, "signs": text})


# -- statements ----------------------------------------------------------------


def _around(name: str, **texts: str) -> str:
    """Substitute other statements and names in a statement."""
    whole = without_header(name)
    for placeholder, text in texts.items():
        whole = whole.replace(f"${placeholder}", text)
    return whole


def _header(name: str) -> str:
    """Return the header of a table's statement; empty if it has none."""
    if not (data_folder("sql") / "export" / f"{name}.sql").exists():
        return ""
    return "".join(
        line for line in statement(f"export/{name}").splitlines(True) if line.startswith("--")
    )
