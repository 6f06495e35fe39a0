"""Commands of the user that convert files to Markdown, as index.yml names them."""

from __future__ import annotations

from collections.abc import Sequence

from qmd.ingest.readers.tasks import Task
from qmd.settings import trust
from qmd.settings.config import Settings
from qmd.settings.environment import Place
from qmd.text import kinds
from qmd.text.globs import Matches, matcher
from qmd.text.hashes import content_hash
from qmd.types import Collection
from qmd.visible import shown

NOT_APPROVED = "its converter is not approved: look at it with 'qmd trust'"


class Converters:
    """Commands for the files of one collection.

    Args:
        found: for files that a glob takes, what reads them, or why nothing does; the first counts.

    Attributes:
        tags: under which the index notes what they have read.
    """

    def __init__(self, found: Sequence[tuple[Matches, Task | str]], tags: Sequence[str]) -> None:
        self._found = found
        self.tags = frozenset(tags)

    def of(self, path: str) -> Task | str | None:
        """Find the command for a file, or the reason why it does not run; None without one."""
        name = path.rpartition("/")[2]
        for matches, task in self._found:
            if matches(path) or matches(name):
                return task
        return None


def converters(place: Place, settings: Settings, collection: Collection) -> Converters | None:
    """Collect the commands for a collection, its own before those for all."""
    commands = dict(settings.readers.get(collection.name, {}))
    for glob, command in settings.readers.get("", {}).items():
        commands.setdefault(glob, command)
    if not commands:
        return None
    is_trusted = trust.is_trusted(place, settings)
    found: list[tuple[Matches, Task | str]] = []
    tags = []
    for glob, command in commands.items():
        tag = f"{kinds.CONVERTED} {content_hash(command)[:12]}"
        tags.append(tag)
        task = Task(tag, command, collection.root)
        found.append((matcher([glob]), task if is_trusted else shown(NOT_APPROVED)))
    return Converters(found, tags)
