"""Terms of new words, from the word list of the index, else from the stemmer."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial

from qmd.ingest import commit
from qmd.ingest.vocabulary import Term, Vocabulary
from qmd.storage.database import Database
from qmd.storage.file_lock import dictionary
from qmd.text.stems import terms


def indexed_vocabulary(database: Database, held: ExitStack) -> Vocabulary:
    """Make a vocabulary that knows the words of an index.

    While it is in use, no process removes words from the index. Nothing refers back to it, so that
    its memory is free as soon as it is not used any more.

    Args:
        held: resources that the creator releases at the end.
    """
    indexed = _IndexedTerms(database, held)
    return Vocabulary(indexed.resolve, indexed.asked)


class _IndexedTerms:
    """Terms of words, from the index where it has them.

    Attributes:
        asked: words of the index that were asked for.
    """

    def __init__(self, database: Database, held: ExitStack) -> None:
        self._database = database
        self._held = held
        self._met: int | None = None  # words in the index when this began
        self.asked: set[str] = set()

    def resolve(self, words: list[str]) -> list[Term]:
        """Resolve folded words to terms; the text of a term that the index has is left empty."""
        if not words:
            return []
        if self._met is None:
            self._held.enter_context(dictionary(self._database.path, shared=True))
            self._met = self._database.read(commit.word_count)
        if not self._met:
            return terms(words)
        known = self._database.read(partial(commit.known_words, words=words))
        self.asked.update(known)
        unknown = [word for word in words if word not in known]
        new = dict(zip(unknown, terms(unknown), strict=True))
        return [new[word] if word in new else (known[word], "") for word in words]
