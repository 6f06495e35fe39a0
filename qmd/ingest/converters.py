"""Commands of the user that convert files to Markdown, as index.yml names them."""

from __future__ import annotations

from collections.abc import Sequence

from qmd.ingest.readers.tasks import Task
from qmd.settings import trust
from qmd.settings.environment import Place
from qmd.settings.schema import Settings
from qmd.text import kinds
from qmd.text.globs import Matches, matcher
from qmd.text.hashes import content_hash
from qmd.text.kinds import Kind
from qmd.types import Collection
from qmd.visible import shown

OCR = "ocr"
"""In the tag of a reader that has read pictures, before their languages."""

NOT_APPROVED = "its converter is not approved: look at it with 'qmd trust'"


class Converters:
    """Commands for the files of one collection.

    Args:
        found: for files that a glob takes, what reads them, or why nothing does; the first counts.

    Attributes:
        tags: under which the index notes what they have read.
        ocr: languages of pages that are pictures; '': their text is not read.
    """

    def __init__(
        self, found: Sequence[tuple[Matches, Task | str]], tags: Sequence[str], ocr: str = ""
    ) -> None:
        self._found = found
        self.tags = frozenset(tags)
        self.ocr = ocr

    def of(self, path: str) -> Task | str | None:
        """Find the command for a file, or the reason why it does not run; None without one."""
        name = path.rpartition("/")[2]
        for matches, task in self._found:
            if matches(path) or matches(name):
                return task
        return None


def task_of(kind: Kind, converters: Converters | None) -> Task:
    """Return what reads files of a kind."""
    if kind.scans and converters is not None and converters.ocr:
        return Task(f"{kind.tag} {OCR} {converters.ocr}", kind.reader, ocr=converters.ocr)
    return Task(kind.tag, kind.reader)


def current_tags(converters: Converters | None) -> list[str]:
    """Return the readers of a collection with their versions, as the index notes them."""
    found = kinds.current()
    if converters is None:
        return found
    if converters.ocr:
        scanning = [kind for kind in kinds.KINDS if kind.scans]
        found = [tag for tag in found if all(tag != kind.tag for kind in scanning)]
        found += [task_of(kind, converters).tag for kind in scanning]
    return [*found, *converters.tags]


def converters(place: Place, settings: Settings, collection: Collection) -> Converters | None:
    """Collect the commands for a collection, its own before those for all."""
    commands = dict(settings.readers.get(collection.name, {}))
    for glob, command in settings.readers.get("", {}).items():
        commands.setdefault(glob, command)
    if not commands and not settings.ocr:
        return None
    is_trusted = trust.is_trusted(place, settings)
    ocr = settings.ocr if is_trusted and kinds.has_tesseract() else ""
    found: list[tuple[Matches, Task | str]] = []
    tags = []
    for glob, command in commands.items():
        tag = f"{kinds.CONVERTED} {content_hash(command)[:12]}"
        tags.append(tag)
        task = Task(tag, command, collection.root)
        found.append((matcher([glob]), task if is_trusted else shown(NOT_APPROVED)))
    return Converters(found, tags, ocr)
