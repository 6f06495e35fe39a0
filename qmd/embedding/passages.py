"""Chunks of a text and their prompts: its words, without front matter and data."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from qmd.embedding import chunker
from qmd.embedding.vectors import Chunk, TextToChunk
from qmd.named_tuple import NamedTuple
from qmd.text import machine_data

if TYPE_CHECKING:
    from qmd.models.selection import Space

TITLE_SHARE = 1 / 8
"""Characters of a title in the prompt, for each token of a chunk: the rest is the passage's,
whatever the title is."""

SHOWN = 200
"""Characters of a text without a word that its only chunk has, which stands for its title."""

Counted = Callable[[list[str]], list[int]]
"""Function that counts the tokens of prompts."""


class Wordy(NamedTuple):
    """A text behind its front matter without its data, each part of which is one blank.

    Attributes:
        text: as it is stored.
        words: the text without its data.
        begins: places in `words` behind each blank that stands for data.
        ends: characters of the stored text before each of these places.
    """

    text: TextToChunk
    words: str
    begins: Sequence[int] = ()
    ends: Sequence[int] = ()

    @property
    def hash(self) -> str:
        """Hash of the whole text."""
        return self.text.hash

    @property
    def name(self) -> str:
        """Collection and path of one of its documents."""
        return self.text.name

    @property
    def data_bytes(self) -> int:
        """Bytes of data."""
        if not self.begins:
            return 0
        whole = len(self.text.body[self.text.matter :].encode())
        return whole - len(self.words.encode()) + len(self.begins)

    def place(self, at: int) -> int:
        """Return where a character of `words` stands in the text; a blank, where data starts."""
        after = bisect_right(self.begins, at) - 1
        return at + (self.ends[after] - self.begins[after] if after >= 0 else self.text.matter)

    def at(self, place: int) -> int:
        """Return where a place of the text is in `words`; inside of data, where its blank is."""
        after = bisect_right(self.ends, place)
        shift = self.ends[after - 1] - self.begins[after - 1] if after else self.text.matter
        most = self.begins[after] - 1 if after < len(self.begins) else len(self.words)
        return min(place - shift, most)

    def trimmed(self, start: int, end: int) -> tuple[int, int]:
        """Leave out blanks that stand for data at both ends of a part of `words`."""
        begins = frozenset(self.begins)
        while start < end and start + 1 in begins:
            start += 1
        while start < end and end in begins:
            end -= 1
        return start, end


def wordy(text: TextToChunk) -> Wordy:
    """Take front matter and data out of a text."""
    body = text.body[text.matter :] if text.matter else text.body
    found = machine_data.spans(body)
    if not found:
        return Wordy(text, body)
    parts, begins, ends = list[str](), list[int](), list[int]()
    at = size = 0
    for start, end in found:
        parts += [body[at:start], "\n" if "\n" in body[start:end] else " "]
        size += start - at + 1
        begins.append(size)
        ends.append(end + text.matter)
        at = end
    return Wordy(text, "".join([*parts, body[at:]]), begins, ends)


class Passages:
    """Chunks and prompts for one model.

    Args:
        limit: tokens that the model takes at most.
    """

    def __init__(self, space: Space, limit: int) -> None:
        self._space = space
        self._tokens = min(space.tokens, limit)

    def pieces(self, text: Wordy, count: Counted) -> list[chunker.TokenPiece]:
        """Split one text into chunks within the model's token limit."""
        own = text.text
        extra: Sequence[chunker.Break] = ()
        if self._space.strategy == "auto":
            from qmd.embedding.code_chunker import syntax_breaks

            extra = syntax_breaks(own.body, own.name)
        lead = self._lead(text)
        found = chunker.token_chunks(
            lead + text.words,
            lambda pieces: count([self._prompt(own, piece) for piece in pieces]),
            tokens=self._tokens,
            overlap=self._space.overlap,
            extra=[each._replace(position=text.at(each.position) + len(lead)) for each in extra],
        )
        pieces = list(_in_text(text, found, len(lead)))
        if not pieces and text.begins:
            length = min(SHOWN, len(own.body) - own.matter)
            line = 1 + own.body.count("\n", 0, own.matter)
            [tokens] = count([self._prompt(own, own.title)])
            pieces = [chunker.TokenPiece(own.matter, length, line, tokens)]
        return pieces

    def prompt_of(self, text: Wordy, chunk: Chunk) -> tuple[str, str]:
        """Return the words of a chunk, and what the model gets."""
        own = text.text
        start = max(chunk.position, own.matter)
        words = text.words[text.at(start) : text.at(chunk.position + chunk.length)]
        lead = self._lead(text) if start == own.matter else ""
        said = lead + words
        if text.begins and not said.strip():
            said = own.title
        return words, self._prompt(own, said)

    def _lead(self, text: Wordy) -> str:
        """Return what the model reads before the first passage of a text with front matter.

        Without it the tags and other names of a document would say nothing to the model.
        """
        own, most = text.text, self._space.tokens
        if own.matter <= most:
            return own.body[: own.matter]
        return f"{own.title}\n{own.labels}"[:most] + "\n"

    def _prompt(self, text: TextToChunk, passage: str) -> str:
        title = text.title[: int(self._space.tokens * TITLE_SHARE)]
        return self._space.model.as_document(passage, title)


def _in_text(
    text: Wordy, pieces: list[chunker.TokenPiece], lead: int
) -> Iterator[chunker.TokenPiece]:
    """Yield the pieces as parts of the stored text, behind its front matter.

    Args:
        pieces: of the words, with another beginning in place of the front matter.
        lead: characters of that beginning.
    """
    line, at = 1, 0
    body = text.text.body
    for piece in pieces:
        first, end = max(piece.position, lead) - lead, piece.position + piece.length - lead
        if text.begins:
            first, end = text.trimmed(first, end)
        if end > first and not text.words[first:end].isspace():
            start = text.place(first)
            line += body.count("\n", at, start)
            at = start
            length = text.place(end - 1) + 1 - start
            yield piece._replace(position=start, length=length, line=line)
