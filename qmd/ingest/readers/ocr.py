"""Text of pictures, by Tesseract.

Tesseract is a program that the user installs; `ocr` in index.yml switches it on. It runs as a child
of the process that reads the file, and ends with it.
"""

from __future__ import annotations

import os
import re
import subprocess
import time

from qmd.ingest.readers.reading import Unreadable

PROGRAM = "tesseract"

MOST_SECONDS = 600.0
"""For the pages of one file. A page of a book takes one to three seconds."""

PAGE_SECONDS = 60.0

_BROKEN_WORD = re.compile(r"(?<=[^\W\d_])[-‐]\n(?=[^\W\d_])")
"""Hyphen at the end of a line between two letters, as print has it."""


class Tesseract:
    """Recognition of printed text in pictures.

    Args:
        languages: as `-l` of Tesseract takes them: `eng`, `deu+eng`.
    """

    def __init__(self, languages: str) -> None:
        self._languages = languages
        self._end = time.monotonic() + MOST_SECONDS

    @property
    def is_spent(self) -> bool:
        """True if the time for the file is over."""
        return time.monotonic() >= self._end

    def text(self, picture: bytes) -> str:
        """Read a picture.

        Args:
            picture: in one of the formats of Netpbm.

        Returns:
            Nothing, if there is no text in it, or Tesseract does not come to an end.

        Raises:
            Unreadable: Tesseract cannot run, or lacks a language.
        """
        left = min(PAGE_SECONDS, self._end - time.monotonic())
        try:
            done = subprocess.run(
                [PROGRAM, "stdin", "stdout", "-l", self._languages],
                input=picture,
                capture_output=True,
                timeout=max(1.0, left),
                check=False,
                # Several files are read at once.
                env={**os.environ, "OMP_THREAD_LIMIT": "1"},
            )
        except subprocess.TimeoutExpired:
            return ""
        except OSError as error:
            raise Unreadable(f"{PROGRAM} cannot run: {error.strerror}") from error
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise Unreadable(f"{PROGRAM} failed: {said[-1] if said else done.returncode}")
        text = done.stdout.decode("utf-8", "replace").replace("\f", "\n")
        return _BROKEN_WORD.sub("", text)
