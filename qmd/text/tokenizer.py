"""Tokenizer: text to words, words to folded tokens for the index.

Documents and queries share these rules. `ingest/compiled/words.pyx` implements them for a whole
batch; a property test holds the two equal.

    text ──split──▸ raw words ──pieces──▸ folded words, each at a position ──stem──▸ terms

- A word is a run of letters, digits, marks and `_`; a soft hyphen in it does not count.
- A run in a script written without spaces (Han, kana, Hangul, Thai, Lao, Khmer,
  Burmese) is cut into overlapping pairs; each pair stands for its first character
  and for itself, so that a query finds its parts and longer matches rank higher.
- `snake_case` and `camelCase` stand for the whole and for their parts, the parts
  at consecutive positions.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

LONGEST = 64
"""UTF-8 bytes of a word that count; the rest is cut off (base64, long hashes)."""

_NGRAM_RANGES = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Myanmar
    "\u1100-\u11ff"  # Hangul jamo
    "\u1780-\u17ff"  # Khmer
    "\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"  # iteration mark, kana, jamo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\uff66-\uff9f"  # half-width katakana
    "\U00020000-\U0003ffff"  # Han, supplementary planes
)
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")
_FOREIGN_RUN = re.compile(r"[^\x00-\x7f]+")
_DIACRITIC = re.compile(
    "[\u0300-\u036f"
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew points and accents
    "\u0640\u064b-\u0652\u0670]+"  # Arabic vowels, and what only stretches a word
)
"""Diacritics that folding removes. Source, of Arabic: Lucene, ArabicNormalizer."""

_SOFT_HYPHEN = "\u00ad"
"""Mark of a possible line break inside a word, which folding removes."""

_EMOJI_MARK = re.compile("[\ufe00-\ufe0f\u20e3\U000e0100-\U000e01ef]")
"""Marks of the form of the character before them: variation selectors, the keycap."""


def _is_word_character(code: int) -> bool:
    character = chr(code)
    if character.isalnum() or character == "_":
        return True
    return unicodedata.category(character)[0] == "M" and not _EMOJI_MARK.match(character)


@cache
def _ngram_run() -> re.Pattern[str]:
    """Compile the pattern of scripts without spaces on first use; most texts have none."""
    return re.compile(f"[{_NGRAM_RANGES}]+")


class _Blanker(dict[int, int]):
    """Cached table that maps each character outside of words to a blank."""

    def __missing__(self, code: int) -> int:
        kept = code if _is_word_character(code) else 32
        self[code] = kept
        return kept


_BLANKER = _Blanker()


def blanked(text: str) -> str:
    """Replace separators by blanks, and cut n-gram runs into pairs."""
    return spaced(text).translate(_BLANKER)


def spaced(text: str) -> str:
    """Replace separators like `blanked`, but keep ASCII, where a byte tells what separates."""
    return text if text.isascii() else _FOREIGN_RUN.sub(_spaced_run, text)


def _spaced_run(run: re.Match[str]) -> str:
    return _spaced(run[0])


@lru_cache(maxsize=4096)
def _spaced(run: str) -> str:
    whole = run.replace(_SOFT_HYPHEN, "")
    kept = unicodedata.normalize("NFC", whole).translate(_BLANKER)
    return _ngram_run().sub(lambda match: " ".join(["", *_grams(match[0]), ""]), kept)


def _grams(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run))]


def split(text: str) -> list[str]:
    """Split `text` into raw words, in order, cut to `LONGEST` bytes."""
    return [word if len(word) * 4 <= LONGEST else _cut(word) for word in blanked(text).split()]


def _cut(word: str) -> str:
    return word.encode()[:LONGEST].decode(errors="ignore")


def is_gram(word: str) -> bool:
    """Check that a raw word is one or two characters of a script without spaces."""
    return len(word) <= 2 and not word.isascii() and _ngram_run().fullmatch(word) is not None


def fold(word: str) -> str:
    """Fold case, accents, points and width: `Zürich` and `ＺＵＲＩＣＨ` become `zurich`."""
    if word.isascii():
        return word.lower()
    apart = unicodedata.normalize("NFKD", word)
    return unicodedata.normalize("NFC", _DIACRITIC.sub("", apart)).casefold()


def plain(word: str) -> str | None:
    """Return the folded word if that is the only token of a raw word, by a quick check."""
    if not (word.isascii() and word.isalnum()):
        return None
    folded = word.lower()
    return folded if word == folded or word[1:].islower() or word.isupper() else None


def pieces(word: str) -> tuple[int, tuple[tuple[str, int], ...]]:
    """Return the tokens of a raw word with their offsets.

    `parseHTTPRequest_v2` stands for itself and for parse, http, request, v2.

    Returns:
        The number of positions it takes, and (folded word, shift from its first
        position) for each piece.
    """
    alone = plain(word)
    return compound(word) if alone is None else (1, ((alone, 0),))


def compound(word: str) -> tuple[int, tuple[tuple[str, int], ...]]:
    """Return the `pieces` of a word that is not plain."""
    folded = fold(word)
    if word.isascii():
        parts = [part.lower() for part in _PART.findall(word)]
    elif is_gram(word):
        first = fold(word[0])
        return 1, ((first, 0),) if first == folded else ((first, 0), (folded, 0))
    else:
        parts = [part for part in map(fold, word.split("_")) if part]
    if not parts:
        return 1, ()
    if parts == [folded]:
        return 1, ((folded, 0),)
    return len(parts), ((folded, 0), *zip(parts, range(len(parts)), strict=True))
