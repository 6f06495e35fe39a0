"""Inputs made of bytes, and their targets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Input = tuple[Any, ...]

ODD = (
    "\r\n¦\x00¦\x1b[¦é¦e\u0301¦ß¦İ¦\u0301¦\ufeff¦\u3000¦\u2028¦\u200d¦\ufe0f¦日本¦语¦のカ¦ﾃ¦한¦ภา¦🙂¦"
    "👩\u200d👩\u200d👧¦🇩¦١¦ǅ"
).split("¦")
"""Characters that are more than one, none, or blank; scripts without spaces."""


class Bytes:
    """Values made of bytes: texts are read from the front, numbers from the end.

    ASCII is itself, so that an example can be written down as a text.

    Args:
        words: what else a byte may stand for, besides `ODD`.
    """

    def __init__(self, data: bytes, words: Sequence[str] = ()) -> None:
        self._data = data
        self._at = 0
        self._end = len(data)
        self._words = (*words, *ODD)[:100]

    def number(self, least: int, most: int) -> int:
        """Take a whole number within bounds."""
        value = 0
        for _ in range((most - least).bit_length() + 7 >> 3):
            value = value << 8 | self._last()
        return least + value % (most - least + 1)

    def pick(self, choices: Sequence[Any]) -> Any:
        """One of them."""
        return choices[self.number(0, len(choices) - 1)]

    def text(self, *, surrogates: bool = False) -> str:
        """Characters up to the end of a text or of all.

        Args:
            surrogates: there may be halves of a pair.
        """
        parts: list[str] = []
        while self._at < self._end:
            byte = self._next()
            if byte < 0x80:
                parts.append(chr(byte))
            elif byte < 0xE4:
                parts.append(self._words[(byte - 0x80) % len(self._words)])
            elif byte < 0xF0:
                parts.append(chr(self._next() << 8 | self._next()))
            elif byte < 0xF8:
                parts.append(chr(min(self._next() << 16 | self._next() << 8, 0x10FF00)))
            elif byte < 0xFF:
                parts += parts[-1:] * (self._next() % 50)  # a run
            else:
                break
        text = "".join(parts)
        return text if surrogates else text.encode(errors="ignore").decode()

    def rest(self) -> bytes:
        """All bytes that are left, as they are."""
        self._at, at = self._end, self._at
        return self._data[at : self._end]

    def json(self, names: Sequence[str], depth: int = 0) -> Any:
        """Take a value of JSON.

        Args:
            names: of fields, besides any.
        """
        kind = self.number(0, 5 if depth > 2 else 7)
        if kind < 2:
            return self.text(surrogates=True)
        if kind == 2:
            return self.pick([None, True, False, 0, -1, 1, 2.5, 1e308, 10**30, -(2**63), "5", ""])
        if kind == 3:
            return self.number(-9, 600)
        if kind == 4:
            return self.number(0, 1000) / 500
        if kind == 5:
            return self.pick(list(names))
        length = self.number(0, 3 if depth else 6)
        if kind == 6:
            return [self.json(names, depth + 1) for _ in range(length)]
        return self.fields(names, length, depth)

    def fields(self, names: Sequence[str], length: int, depth: int = 0) -> dict[str, Any]:
        """Take an object of JSON."""
        made = {}
        for _ in range(length):
            name = self.text() if self.number(0, 9) == 0 else self.pick(list(names))
            made[name] = self.json(names, depth + 1)
        return made

    def _next(self) -> int:
        if self._at >= self._end:
            return 0
        self._at += 1
        return self._data[self._at - 1]

    def _last(self) -> int:
        if self._at >= self._end:
            return 0
        self._end -= 1
        return self._data[self._end]


class Target(NamedTuple):
    """A reader under test.

    Attributes:
        made: gives the input that bytes stand for.
        check: is given the parts of an input.
        words: that mean something to it.
        examples: inputs to begin with.
        linear: it has to take time in proportion to the first part of an input.
    """

    made: Callable[[Bytes], Input]
    check: Callable[..., object]
    words: Sequence[str] = ()
    examples: Sequence[bytes] = ()
    linear: bool = True


def only_text(source: Bytes) -> Input:
    """Make an input of a single text."""
    return (source.text(),)
