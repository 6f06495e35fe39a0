"""Collections with the same files: nested folders, or two collections over one folder."""

from __future__ import annotations

from collections.abc import Collection as Container
from collections.abc import Iterable, Iterator, Sequence

from qmd.storage.cursor import Cursor, as_json
from qmd.types import Collection, Overlap


def overlaps(collections: Iterable[Collection]) -> tuple[Overlap, ...]:
    """Find the pairs of collections of which one has files of the other.

    Folders are compared by their names: a search looks at no disk.
    """
    known = sorted((each.root.rstrip("/") + "/", each.name) for each in collections if each.root)
    found = []
    for place, (root, name) in enumerate(known):
        for below, other in known[place + 1 :]:
            if not below.startswith(root):
                break  # those that begin alike are adjacent
            if below == root:
                found.append(Overlap(other, name, ""))
            else:
                found.append(Overlap(name, other, below[len(root) :]))
    return tuple(found)


def among(found: Iterable[Overlap], names: Container[str] | None) -> tuple[Overlap, ...]:
    """Select the overlaps between some collections; None: all."""
    return tuple(
        each for each in found if names is None or (each.outer in names and each.inner in names)
    )


def copies(cursor: Cursor, ids: Sequence[int], found: Sequence[Overlap]) -> set[int]:
    """Return those of some documents whose file is another of them, in an inner collection."""
    rows = cursor.run("search/copies", ids=as_json(list(ids)), overlaps=_as_json(found))
    return {document_id for (document_id,) in rows}


def elsewhere(
    cursor: Cursor, names: Sequence[str], found: Sequence[Overlap]
) -> dict[str, tuple[str, ...]]:
    """Find the other documents of files, by `collection/path`; none without any."""
    asked = {name: list(dict.fromkeys(_other_names(name, found))) for name in names}
    wanted = sorted({other for others in asked.values() for other in others})
    if not wanted:
        return {}
    there = {name for (name,) in cursor.run("search/there", names=as_json(wanted))}
    kept = {name: [each for each in others if each in there] for name, others in asked.items()}
    return {name: tuple(sorted(others)) for name, others in kept.items() if others}


def _other_names(name: str, found: Sequence[Overlap]) -> Iterator[str]:
    """Yield `collection/path` of a file as other collections have it."""
    collection, _, path = name.partition("/")
    for each in found:
        if each.inner == collection:
            yield f"{each.outer}/{each.prefix}{path}"
        elif each.outer == collection and path.startswith(each.prefix):
            yield f"{each.inner}/{path[len(each.prefix) :]}"


def _as_json(found: Sequence[Overlap]) -> str:
    return as_json([each._asdict() for each in found])
