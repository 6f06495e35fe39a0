"""Readers of files that are no text, loaded when the first file needs one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from qmd.named_tuple import NamedTuple

if TYPE_CHECKING:
    from qmd.ingest.converters import Converters
    from qmd.ingest.extraction import Extraction
    from qmd.ingest.readers.reading import Reading, Unreadable
    from qmd.ingest.readers.tasks import Job


class Extractor:
    """Reads files in other processes, which are started when the first file needs one.

    Args:
        index: beside which files may lie for a moment.
    """

    def __init__(self, index: Path) -> None:
        self._index = index
        self._extraction: Extraction | None = None

    def read(self, jobs: Sequence[Job]) -> list[Reading | Unreadable]:
        """Read files, in their order. See `Extraction.read`."""
        if self._extraction is None:
            from qmd.ingest.extraction import Extraction

            self._extraction = Extraction(self._index)
        return self._extraction.read(jobs)

    def interrupt(self) -> None:
        """End all processes at once, from any thread."""
        if self._extraction is not None:
            self._extraction.interrupt()

    def close(self) -> None:
        """End the processes. Others are started when they are needed."""
        if self._extraction is not None:
            self._extraction.close()


class Readers(NamedTuple):
    """Readers for the files of one collection.

    Attributes:
        converters: commands of the user; None: there are none.
    """

    extractor: Extractor
    converters: Converters | None = None
