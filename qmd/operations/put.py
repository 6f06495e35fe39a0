"""Operations on documents without files of their own: put, remove."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, NamedTuple

from qmd.declaration.operation import Parameter, operation
from qmd.declaration.parameters import Names, named
from qmd.errors import UsageError
from qmd.types import Collection

if TYPE_CHECKING:
    from qmd.operations.index import Index

INBOX = "inbox"
"""Collection of documents for which no other is named."""

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


class DocumentPlace(NamedTuple):
    """Place of a document: its collection, which need not be there yet, and its path."""

    collection: Collection
    path: str

    @property
    def file(self) -> str:
        """`collection/path`."""
        return f"{self.collection.name}/{self.path}"


DocumentName = Annotated[
    str,
    Parameter(
        help="Its path in the collection, such as ideas/tea; .md is added.",
        metavar="NAME",
        longest=1000,
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

    Returns:
        Its name, and whether it took the place of another.

    Raises:
        UsageError: the name is none, the text is empty or too large, or the folder of the
            collection is not writable.
        IndexFailure: the index is busy or cannot be written.
    """
    from anyio import to_thread

    from qmd.text.composing import with_metadata

    whole = with_metadata(text, title=title, tags=named(tags))

    def work() -> tuple[DocumentPlace, bool]:
        place = place_of(index, name, collection)
        if place.collection.root:
            from qmd.ingest import folder_files

            return place, folder_files.write(place.collection, place.path, whole.encode())
        from qmd.ingest.stored import store
        from qmd.storage import maintenance

        replaced = store(index.database, place.collection.name, place.path, whole)
        maintenance.merge(index.database)
        return place, replaced

    place, replaced = await to_thread.run_sync(work)
    if place.collection.root:
        from qmd.operations.update import run_update

        await run_update(index, [place.collection.name])
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
def remove(index: Index, name: DocumentName, *, collection: ItsCollection = None) -> str:
    """Remove a document that was stored with `put`.

    Args:
        name: its path in the collection, or `collection/path`.
        collection: its name; None: `inbox`.

    Returns:
        `collection/path` of what is gone.

    Raises:
        DocumentNotFound: there is none of this name.
        UsageError: the folder of the collection is not writable.
        IndexFailure: the index is busy or cannot be written.
    """
    from qmd.ingest import folder_files, stored
    from qmd.storage import document_lookup

    place = place_of(index, name, collection)
    find = partial(stored.find, collection=place.collection.name, path=place.path)
    document = index.read(find)
    was_file = bool(place.collection.root) and folder_files.remove(place.collection, place.path)
    while document is not None and not stored.remove(index.database, document):
        document = index.read(find)  # it has just been replaced
    if document is None and not was_file:
        raise index.read(partial(document_lookup.missing, name=place.file))
    return place.file


def storable_text(data: bytes) -> tuple[str, str | None]:
    """Decode a text of any encoding, as that of a file in a folder.

    Returns:
        The text, and what is odd about it, such as another encoding than UTF-8.

    Raises:
        UsageError: it is no text.
    """
    from qmd.ingest.reader import is_mostly_utf8
    from qmd.ingest.readers.reading import Unreadable
    from qmd.ingest.readers.text import decoded_text

    text = data.decode("utf-8-sig", "replace")
    if "\0" not in text:
        if "\ufffd" not in text or not data.strip():
            return text, None
        if is_mostly_utf8(data, text):
            return text, "read with U+FFFD for invalid UTF-8"
    try:
        return decoded_text(data)
    except Unreadable as error:
        raise UsageError(f"The text cannot be stored: {error}.") from error


def place_of(index: Index, name: str, collection: str | None) -> DocumentPlace:
    """Find the place of a document.

    Raises:
        UsageError: the name is none, or nothing may be put into the collection.
    """
    from qmd.settings.config import check_name
    from qmd.text.composing import document_path
    from qmd.text.paths import SCHEME

    known = {each.name: each for each in index.collections()}
    first, _, rest = name.removeprefix(SCHEME).partition("/")
    is_named = name.startswith(SCHEME) or (collection is None and rest and first in known)
    chosen, path = (first, rest) if is_named else (collection or INBOX, name)
    path = document_path(path)
    check_name(chosen)  # of the records of agents, too
    found = known.get(chosen, Collection(chosen, ""))
    if found.root:
        _check_writable(index, found, path)
    return DocumentPlace(found, path)


def _check_writable(index: Index, collection: Collection, path: str) -> None:
    """Refuse to write into a folder without `writable: true`, or a file that it does not have.

    Raises:
        UsageError: it is not writable, or its mask does not take the file.
    """
    from qmd.operations.update import check_approved
    from qmd.text.globs import taking

    settings = index.settings().collections
    if not any(each.name == collection.name and each.writable for each in settings):
        raise UsageError(
            f"'{collection.name}' is the folder {collection.root}, into which nothing may be put."
            f"\n\nName another collection, or allow it in {index.place.config}: `writable: true`."
        )
    check_approved(index, collection)
    if not taking(collection.mask, collection.ignored, collection.converted)(path):
        raise UsageError(
            f"'{path}' does not belong to '{collection.name}': its mask is {collection.mask}."
        )


def _told(index: Index, place: DocumentPlace, replaced: bool) -> Put:
    from qmd.ingest.stored import find
    from qmd.storage.document_lookup import missing

    document = index.read(partial(find, collection=place.collection.name, path=place.path))
    if document is None:  # another process has removed it
        raise index.read(partial(missing, name=place.file))
    return Put(document.name, document.docid, document.title, replaced)
