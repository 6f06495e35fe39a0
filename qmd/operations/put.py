"""Operations on documents without files of their own: put, remove."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

from qmd.declaration.operation import Parameter, operation
from qmd.declaration.parameters import Names, named
from qmd.errors import UsageError
from qmd.named_tuple import NamedTuple
from qmd.operations.writable import DocumentPlace, dated, place_of
from qmd.operations.writing import settled, written

if TYPE_CHECKING:
    from qmd.operations.index import Index

LONGEST_TEXT = 16_000_000
"""Characters of a text over MCP and REST."""


class Put(NamedTuple):
    """A document that was put.

    Attributes:
        file: `collection/path`.
        replaced: it took the place of another.
    """

    file: str
    docid: str
    title: str
    replaced: bool


DocumentName = Annotated[
    str,
    Parameter(
        help="Its path in the collection, such as ideas/tea; .md is added.",
        metavar="NAME",
        longest=1000,
        aliases=("file", "path", "document", "filename"),
    ),
]

DocumentText = Annotated[
    str,
    Parameter(
        help="The text: Markdown, front matter included.",
        longest=LONGEST_TEXT,
        absent={"command": "It comes on stdin, or from --file."},
    ),
]

ItsCollection = Annotated[
    str | None,
    Parameter(
        help="Its collection (inbox); a new one is stored in the index.",
        flags=("-c", "--collection"),
        metavar="NAME",
        complete="collections",
        longest=255,
    ),
]

Title = Annotated[str | None, Parameter(help="Its title.", longest=1000)]

Expected = Annotated[
    str | None,
    Parameter(
        help="Docid of the version that was read; new: there must be none.",
        helps={"tool": "Docid that you read, or 'new'; refused if it is another by now."},
        metavar="DOCID",
        longest=70,
        aliases=("expectedDocid", "docid", "ifMatch", "version", "etag"),
    ),
]

Tags = Annotated[
    Names,
    Parameter(help="Its tags, with commas between.", kind="names", commas=True, items=100),
]


@operation(
    title="Put a document",
    description="Store a text as a document, without a file: it is found by searches at once. A "
    "document of the same name is replaced. Title and tags go into its front matter.",
    writes=True,
    guarded=True,
    destructive=True,
    examples=(
        ("Store a thought", "echo 'Water for green tea has 80 °C' | qmd put ideas/tea"),
        (
            "With a title and tags",
            "echo '80 °C' | qmd put tea --title 'Green tea' --tags drink,hot",
        ),
        ("A copy of a file, in another collection", "qmd put tea -c cellar --file notes/tea.md"),
    ),
)
async def put(
    index: Index,
    name: DocumentName,
    text: DocumentText,
    *,
    collection: ItsCollection = None,
    title: Title = None,
    tags: Tags = None,
    expected: Expected = None,
) -> Put:
    """Store a text as a document, without a file of your own.

    It goes into a collection that is stored in the index, or, if `writable: true` says so in
    index.yml, as a file into the folder of one.

    Args:
        name: its path in the collection, such as `ideas/tea`; without a suffix of a text, `.md` is
            added. `collection/path` names a collection that is there, too.
        text: Markdown, with front matter if it has some.
        collection: its name; None: `inbox`. One that is not there yet is made.
        title: over that of the text.
        tags: over those of the text.
        expected: docid of the version that is replaced; `new`: there must be none; None: any.

    Returns:
        Its name, and whether it took the place of another.

    Raises:
        WriteConflict: the document is not what `expected` says.
        UsageError: the name is none, the text is empty or too large, or the folder of the
            collection is not writable.
        IndexFailure: the index is busy or cannot be written.
    """
    from anyio import to_thread

    from qmd.text.composing import with_metadata

    whole = with_metadata(text, title=title, tags=named(tags))

    def work(place: DocumentPlace) -> bool:
        entry = written(index, "put", place, lambda _: whole, expected=expected)
        return entry.edits[0].before is not None

    place, replaced = await settled(index, lambda: place_of(index, dated(name), collection), work)
    return await to_thread.run_sync(_told, index, place, replaced)


@operation(
    title="Remove a document",
    description="Remove a document that was stored with `put`.",
    writes=True,
    guarded=True,
    destructive=True,
    examples=(
        ("Remove a document", "qmd remove ideas/tea"),
        ("From another collection than inbox", "qmd remove tea -c cellar"),
    ),
)
def remove(
    index: Index,
    name: DocumentName,
    *,
    collection: ItsCollection = None,
    expected: Expected = None,
) -> str:
    """Remove a document that was stored with `put`.

    Args:
        name: its path in the collection, or `collection/path`.
        collection: its name; None: `inbox`.
        expected: docid of the version that was read; None: any.

    Returns:
        `collection/path` of what is gone.

    Raises:
        WriteConflict: the document is not what `expected` says.
        DocumentNotFound: no document has this name.
        UsageError: the folder of the collection is not writable.
        IndexFailure: the index is busy or cannot be written.
    """
    from qmd.ingest import stored
    from qmd.operations.writing import written
    from qmd.storage import document_lookup

    place = place_of(index, name, collection)
    find = partial(stored.find, collection=place.collection.name, path=place.path)
    document = index.read(find)
    entry = written(index, "remove", place, lambda _: None, expected=expected)
    if place.collection.root and document is not None:
        stored.remove(index.database, document)
    if document is None and entry.edits[0].before is None:
        raise index.read(partial(document_lookup.missing, name=place.file))
    return place.file


def storable_text(data: bytes) -> tuple[str, str | None]:
    """Decode a text of any encoding, as that of a file in a folder.

    Returns:
        The text, and what is odd about it, such as another encoding than UTF-8.

    Raises:
        UsageError: it is no text.
    """
    from qmd.ingest.readers.charsets import is_mostly_utf8
    from qmd.ingest.readers.reading import Unreadable
    from qmd.ingest.readers.text import decoded_text
    from qmd.ingest.readers.wide import ESCAPES

    text = data.decode("utf-8-sig", "replace")
    if "\0" not in text and ESCAPES not in data:
        if "\ufffd" not in text or not data.strip():
            return text, None
        if is_mostly_utf8(data, text):
            return text, "read with U+FFFD for invalid UTF-8"
    try:
        return decoded_text(data)
    except Unreadable as error:
        raise UsageError(f"The text cannot be stored: {error}.") from error


def _told(index: Index, place: DocumentPlace, replaced: bool) -> Put:
    from qmd.ingest.stored import find
    from qmd.storage.document_lookup import missing

    document = index.read(partial(find, collection=place.collection.name, path=place.path))
    if document is None:  # another process has removed it
        raise index.read(partial(missing, name=place.file))
    return Put(document.name, document.docid, document.title, replaced)
