"""Terms of words: stems by PyStemmer, numbers by MD5."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from qmd.text.hashes import accented_id, joined_id, term_id
from qmd.text.languages import STEMMED
from qmd.text.tokenizer import fold, is_folded, is_joined

if TYPE_CHECKING:
    import Stemmer

_own = threading.local()
"""Stemmers of each thread: one must not be used by two at once."""

_ARTICLE = "\u0627\u0644"
"""Article of Arabic at the beginning of a word, which Snowball leaves in short ones. It goes if two
letters are left. Source: Lucene, ArabicStemmer."""

_has_stem = re.compile("[a-z]+").fullmatch

Term = tuple[int, str]
"""term_id and term."""


def terms(words: Sequence[str]) -> list[Term]:
    """Return (term_id, term) of each folded word, in order, with English stems.

    A word that has more than a to z, such as a number, is its own term. The term of two words
    joined by a hyphen is numbered after the word that they make, and that of a word with accents
    after the word without them.
    """
    stem_of = _stemmer("english").stemWord

    def stemmed(word: str) -> str:
        return stem_of(word) if _has_stem(word) else word

    def numbered(word: str) -> Term:
        if _has_stem(word):
            term = stem_of(word)
            return term_id(term), term
        if "-" in word and is_joined(word):
            return joined_id(term_id(stemmed(word.replace("-", "")))), word
        if not is_folded(word):
            return accented_id(term_id(stemmed(fold(word)))), word
        return term_id(word), word

    return [numbered(word) for word in words]


def stem(spelt: str, code: str) -> str | None:
    """Return the folded stem of a word; None: the language has no stemmer.

    Args:
        spelt: in small letters, with its accents.
        code: of the language.
    """
    name = STEMMED.get(code)
    return None if name is None else _folded(_stemmer(name).stemWord(spelt), code)


def stems_of_all(words: list[str], code: str) -> list[str]:
    """Return the folded stems of words in small letters.

    Args:
        code: of a language with a stemmer.
    """
    return [_folded(each, code) for each in _stemmer(STEMMED[code]).stemWords(words)]


def _folded(stemmed: str, code: str) -> str:
    folded = fold(stemmed)
    if code == "ar" and folded.startswith(_ARTICLE) and len(folded) > len(_ARTICLE) + 1:
        return folded[len(_ARTICLE) :]
    return folded


def _stemmer(name: str) -> Stemmer.Stemmer:
    known: dict[str, Stemmer.Stemmer] = _own.__dict__.setdefault("stemmers", {})
    if name not in known:
        import Stemmer

        known[name] = Stemmer.Stemmer(name, 0)  # without a cache: few words are asked for twice
    return known[name]
