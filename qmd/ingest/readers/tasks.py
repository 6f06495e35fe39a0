"""Files that are to be read by another process, and what that may take."""

from __future__ import annotations

from qmd.named_tuple import NamedTuple
from qmd.text import kinds


class ReadingLimits(NamedTuple):
    """The limits of reading one file.

    Attributes:
        memory: bytes.
        output: bytes of its text and its attachments together.
    """

    seconds: float = 60.0
    memory: int = 1 << 30
    output: int = 64 << 20


class Task(NamedTuple):
    """The reader of a file, as a message to a worker.

    Attributes:
        tag: reader and version, as the index notes them.
        reader: as in `Kind`; of a converter the command, with `{path}` for the file.
        folder: that a converter runs in; None: the reader is no converter.
        ocr: languages of pages that are pictures; '': their text is not read.
    """

    tag: str
    reader: str
    folder: str | None = None
    ocr: str = ""

    @property
    def says_itself(self) -> bool:
        """True if the text declares its own metadata, as a Markdown file does."""
        return self.folder is not None or self.reader == kinds.TEXT.reader


def says_itself(tag: str) -> bool:
    """Tell whether the text of a reader, by its tag, declares its own metadata."""
    return tag == kinds.TEXT.tag or tag.startswith(kinds.CONVERTED)


class Job(NamedTuple):
    """A file to be read.

    Attributes:
        name: without its folder.
    """

    task: Task
    data: bytes
    name: str
