"""The words met so far and the terms they stand for, each looked up once."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from itertools import islice

from qmd.text import words

Term = tuple[int, str]
"""A term's number in the index and its text."""

Pieces = tuple[int, list[tuple[int, int]]]
"""What a raw word is indexed as: the positions it takes, and term_id and shift of each piece."""


class Vocabulary:
    """The words met so far and the terms they stand for.

    Args:
        resolve: gives the terms of folded words never met before, in order.
        known: of those, the words that are not new: somebody else has met them.

    Attributes:
        numbers: of raw words: of a plain one that of its folded form, which is its place in
            `term_ids`; of any other -1 minus its place in `compounds`.
        compounds: the positions that a word takes, and numbers and shifts of its pieces.
    """

    def __init__(
        self, resolve: Callable[[list[str]], list[Term]], known: Container[str] = frozenset()
    ) -> None:
        self.numbers: dict[str, int] = {}
        self.compounds: list[tuple[int, list[int], list[int]]] = []
        self.term_ids: list[int] = []
        self._resolve = resolve
        self._elsewhere = known
        self._folded: dict[str, int] = {}
        self._new: list[tuple[str, Term]] = []

    def learn(self, raw_words: Iterable[str]) -> None:
        """Meet words, some of them perhaps for the first time. Each stands here once."""
        folded, known = self._folded, self.numbers
        already = len(folded)
        for word in raw_words:
            if word in known:
                continue
            alone = words.plain(word)
            if alone is not None:
                known[word] = folded.setdefault(alone, len(folded))
                continue
            width, parts = words.compound(word)
            numbers = [folded.setdefault(part, len(folded)) for part, _ in parts]
            if width == len(parts) == 1:
                known[word] = numbers[0]
            else:
                known[word] = -1 - len(self.compounds)
                self.compounds.append((width, numbers, [shift for _, shift in parts]))
        fresh = list(islice(folded, already, None))
        terms = self._resolve(fresh)
        self.term_ids += [term_id for term_id, _ in terms]
        pairs = zip(fresh, terms, strict=True)
        self._new += [(word, term) for word, term in pairs if word not in self._elsewhere]

    def pieces(self, raw_word: str) -> Pieces:
        """What a word that was met is indexed as."""
        number = self.numbers[raw_word]
        if number >= 0:
            return 1, [(self.term_ids[number], 0)]
        width, numbers, shifts = self.compounds[-1 - number]
        return width, [
            (self.term_ids[number], shift) for number, shift in zip(numbers, shifts, strict=True)
        ]

    def take_new(self) -> list[tuple[str, Term]]:
        """Folded words learnt since the last call that are new, with their terms."""
        new, self._new = self._new, []
        return new
