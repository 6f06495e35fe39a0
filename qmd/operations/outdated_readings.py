"""Files that were read by another version of their reader than there is now."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from qmd.errors import QmdError
from qmd.quoting import command
from qmd.wording import amount

if TYPE_CHECKING:
    from qmd.operations.index import Index


def outdated_readings(index: Index) -> Iterator[tuple[str, str]]:
    """Count the files of each collection that the next update reads again; no file is opened.

    Yields:
        Finding, and the command that mends it.
    """
    from qmd.ingest import commit
    from qmd.ingest.converters import converters, current_tags

    try:
        settings, known = index.settings(), index.collections()
        for collection in known:
            own = converters(index.place, settings, collection) if collection.root else None
            current = partial(current_tags, own)
            find = partial(commit.outdated, collection=collection.name, current=current)
            if found := index.read(find):
                them = amount(len(found), "file")
                told = f"{them} of collection '{collection.name}' read by a reader that has changed"
                update = command("qmd", "update", "-c", collection.name)
                yield f"{told} or is not installed any more", f"Run {update}."
    except QmdError:
        return  # told of as a problem of the settings or of the index
