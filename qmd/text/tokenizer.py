"""Tokenizer: text to words, words to folded tokens for the index.

Documents and queries share these rules. `ingest/compiled/words.pyx` implements them for a whole
batch; a property test holds the two equal.

    text ──split──▸ raw words ──pieces──▸ folded words, each at a position ──stem──▸ terms

- A word is a run of letters, digits, marks and `_`; a soft hyphen in it does not count.
- A run in a script written without spaces (Han, kana, Hangul, Thai, Lao, Khmer,
  Burmese) is cut into overlapping pairs; each pair stands for its first character
  and for itself, so that a query finds its parts and longer matches rank higher.
- A character of Thai is a letter with its marks, and a long word comes before its first pair.
- `snake_case` and `camelCase` stand for the whole and for their parts, the parts
  at consecutive positions.
- A word with marks that make another word of it (`C++`, `.NET`, `@user`, `$HOME`, `--flag`) stands
  for itself with them and without; `C++` and `C#`, of one letter, only with them.
- Two words joined by a hyphen are also one form without it: `e-mail` is one of `email`.
- A word with accents, or letters that are folded to others, stands for itself and for the word
  without them, at the same position.
- A symbol outside of ASCII, such as an emoji, an arrow or `€`, is a word that takes no position.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import groupby

from qmd.patterns import pattern

LONGEST = 64
"""UTF-8 bytes of a word that count; the rest is cut off (base64, long hashes)."""

LONGEST_PAIR = 20
"""UTF-8 bytes of two words joined by a hyphen that are also one form without it."""

_NGRAM_RANGES = (
    "\u0e00-\u0eff"  # Thai, whose rules are in `thai.py`, and Lao
    "\u1000-\u109f"  # Myanmar
    "\u1100-\u11ff"  # Hangul jamo
    "\u1780-\u17ff"  # Khmer
    "\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"  # iteration mark, kana, jamo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\uff66-\uff9f"  # half-width katakana
    "\U00020000-\U0003ffff"  # Han, supplementary planes
)
_THAI = pattern("[\u0e00-\u0e7f]")
_PART = pattern(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")
_FOREIGN_RUN = pattern(r"[^\x00-\x7f]+")
_DIACRITIC = pattern(
    "[\u0300-\u036f"
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew points and accents
    "\u0640\u064b-\u0655\u0670]+"  # Arabic vowels, hamza, and what only stretches a word
)
"""Diacritics that folding removes. Source, of Arabic: Lucene, ArabicNormalizer."""

_LETTERS = str.maketrans(
    {
        **dict(zip("đøłıħŧƀɓɖɗɨȷƚɵʉŋɛɔ", "dolihtbbddijlouneo", strict=True)),
        **{"æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ĳ": "ij", "ſ": "s", "ĸ": "k"},
        # Arabic: alef maksura, teh marbuta; and the letters of Persian and Urdu
        **dict(zip("ىةیےۓٱکڪګہھۀۂەۃ", "يهيييا" + "ككك" + "هههههه", strict=True)),
    }
)
"""Letters that Unicode does not decompose, and what they are folded to.

Source: Lucene, ASCIIFoldingFilter, ArabicNormalizer and PersianNormalizer.
"""

_LETTER = pattern(f"[{''.join(map(chr, _LETTERS))}]")

_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})
_LATIN = pattern("[ao]e|(?<![aeiouqy])ue|aa")
"""Two letters for one of German or Scandinavian. Source: Lucene, GermanNormalizer, for `ue`."""

SOFT_HYPHEN = "\u00ad"
"""Mark of a possible line break inside a word, which folding removes."""

_DIGIT = pattern(r"[^\D0-9]")
"""Decimal digit of another script."""

_EMOJI_MARK = pattern("[\ufe00-\ufe0f\u20e3\U000e0100-\U000e01ef]")
"""Marks of the form of the character before them: variation selectors, the keycap."""


_DIGITS = frozenset("0123456789")
_RUN = pattern(r"[^\x00-/:-@\[-^`{-\x7f]+")
"""Word in text that `spaced` returned: all but other ASCII characters, which compiles faster."""

_OPENS = frozenset("\"'`([{/*|,=<>")
_BEFORE, _AFTER = frozenset(".@$#-"), frozenset("+#*-")
"""Marks around a word that can make another one of it."""

_LINES_AND_BLOCKS = range(0x2500, 0x25A0)
"""Box drawing and blocks, of which tables and trees are made: no symbols to search for."""


def _is_word_character(code: int) -> bool:
    character = chr(code)
    if character.isalnum() or character == "_":
        return True
    return unicodedata.category(character)[0] == "M" and not _EMOJI_MARK.match(character)


def _is_symbol(code: int) -> bool:
    """Return whether a character outside of ASCII that is in no word is a word by itself."""
    if code < 128 or code in _LINES_AND_BLOCKS:
        return False
    return unicodedata.category(chr(code))[0] == "S" or code in (0xA7, 0xB6)  # § and ¶


@cache
def _ngram_run() -> re.Pattern[str]:
    """Compile the pattern of scripts without spaces on first use; most texts have none."""
    return re.compile(f"[{_NGRAM_RANGES}]+")


class _Blanker(dict[int, str]):
    """Cached table that maps characters outside of words to blanks, and parts symbols by them."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if not _is_word_character(code):
            character = f" {character} " if _is_symbol(code) else " "
        self[code] = character
        return character


_BLANKER = _Blanker()


def spaced(text: str, *, segmented: bool = True) -> str:
    """Replace separators outside of ASCII by blanks, and cut n-gram runs into pairs.

    Args:
        segmented: with the long words of Thai.
    """
    if text.isascii():
        return text
    return _FOREIGN_RUN.sub(lambda run: _spaced(run[0], segmented), text)


@lru_cache(maxsize=4096)
def _spaced(run: str, segmented: bool) -> str:
    whole = run.replace(SOFT_HYPHEN, "")
    kept = unicodedata.normalize("NFC", whole).translate(_BLANKER)
    return _ngram_run().sub(lambda match: " ".join(["", *_parts(match[0], segmented), ""]), kept)


def _parts(run: str, segmented: bool) -> list[str]:
    """Cut a run of a script without spaces into overlapping pairs, and long words of Thai."""
    if _THAI.search(run):
        from qmd.text import thai  # of no use in any other language

        return thai.parts(run, with_words=segmented)
    return [run[at : at + 2] for at in range(len(run))]


def split(text: str, *, segmented: bool = True) -> list[str]:
    """Split `text` into raw words, in order, cut to `LONGEST` bytes.

    A word with its marks, two words joined by a hyphen, and a long word of Thai come before the
    word that they start with; see `is_marked`, `is_joined` and `is_segment`.

    Args:
        segmented: with the long words of Thai, which take most of the time; their pairs tell where
            they are.
    """
    blanked = spaced(text, segmented=segmented)
    words: list[str] = []
    for run in _RUN.finditer(blanked):
        start, end = run.span()
        word = run[0] if (end - start) * 4 <= LONGEST else _cut(run[0])
        if blanked[end : end + 1] in _AFTER or (start and blanked[start - 1] in _BEFORE):
            marked = _marked(blanked, start, end)
            forms = filter(None, (marked, _joined(blanked, start, end)))
            words += [form for form in forms if len(form.encode()) <= LONGEST]
            if marked and _stands_alone(marked):
                continue
        words.append(word)
    return words


def _marked(text: str, start: int, end: int) -> str | None:
    """Return a word with the marks after it or before it that make another word of it.

    `C++`, `A+`, `C#`, `A*`; `.NET`, `@user`, `$HOME`, `#tag`, `--flag`. A mark that Markdown or a
    program would have there for another reason does not count.
    """
    after = text[end : end + 2]
    if after == "++":
        return text[start : end + 2]
    if after[:1] in ("+", "#", "*") and not _RUN.match(after, 1):
        is_emphasis = after[0] == "*" and (after == "**" or text[start - 1 : start] == "*")
        if not is_emphasis:
            return text[start : end + 1]
    mark = text[start - 1] if start else ""
    if mark in ("@", "$"):
        earlier = text[start - 2 : start - 1] if start > 1 else ""
        is_first = earlier != mark and not _RUN.match(earlier)
    elif mark == "#":  # of a tag; in an address it has no blank before it
        is_first = start < 2 or text[start - 2] <= " "
    elif mark == "." and text[start] not in _DIGITS:
        is_first = _opens(text, start - 2)
    else:
        is_first = mark == "-" and start > 1 and text[start - 2] == "-" and _opens(text, start - 3)
        start -= is_first
    return text[start - 1 : end] if is_first else None


def _opens(text: str, at: int) -> bool:
    """Return whether a word with a mark can begin after a character."""
    return at < 0 or text[at] <= " " or text[at] in _OPENS


def _joined(text: str, start: int, end: int) -> str | None:
    """Return a word with the one that a hyphen joins to it.

    Two numbers are no such pair: dates have too many forms. Nor is what addresses of pages are made
    of: three words or more, unless the first is a letter (`e-mail-address`), and parts of paths.
    """
    other = _RUN.match(text, end + 1) if text[end : end + 1] == "-" else None
    if other is None or (text[end - 1] in _DIGITS and text[end + 1] in _DIGITS):
        return None
    before = text[start - 1] if start else " "
    last = other.end()
    after = text[last : last + 1]
    if (
        before == "/"
        or after == "/"
        or (before == "-" and start > 1 and _RUN.match(text, start - 2))
    ):
        return None
    follows = after in ("-", ".") and _RUN.match(text, last + 1)
    is_pair = not follows or (after == "-" and len(text[start:end].encode()) == 1)
    return text[start:last] if is_pair and len(text[start:last].encode()) <= LONGEST_PAIR else None


def is_marked(word: str) -> bool:
    """Check that a raw word has marks that make another word of it, or is a symbol."""
    return not (word.isalnum() or is_joined(word)) and (
        word[0] in _BEFORE or word[-1] in _AFTER or _is_lone_symbol(word)
    )


def is_joined(word: str) -> bool:
    """Check that a raw word is two words joined by a hyphen."""
    return word.find("-", 1) > 0 and word[0] != "-"


def _is_lone_symbol(word: str) -> bool:
    return len(word) == 1 and _is_symbol(ord(word)) and not _is_word_character(ord(word))


def is_symbol(word: str) -> bool:
    """Check that a raw word is one symbol."""
    return not word.isalnum() and _is_lone_symbol(word)


def comes_before(word: str) -> bool:
    """Check that a raw word is a form of the one that comes after it, or a symbol."""
    return is_segment(word) or (not word.isalnum() and pieces(word)[0] == 0)


def bare(word: str) -> tuple[str, ...]:
    """Return other forms of a folded word of one letter: `c` of `c++`, `c++` and `c#` of `c`."""
    if len(word) == 1 and "a" <= word <= "z":
        return word + "++", word + "#"
    return (word[0],) if _stands_alone(word) else ()


def _stands_alone(marked: str) -> bool:
    """Return whether a word is indexed only with its marks: `C++` and `C#` are not about C."""
    return marked[0].isascii() and marked[0].isalpha() and marked[1:] in ("++", "#")


def _cut(word: str) -> str:
    return word.encode()[:LONGEST].decode(errors="ignore")


def is_gram(word: str) -> bool:
    """Check that a raw word is one or two characters of a script without spaces."""
    if word.isascii() or not _ngram_run().fullmatch(word):
        return False
    return len(word) <= 2 or len(characters(word)) <= 2


def is_pair(word: str) -> bool:
    """Check that a word is two characters of a script without spaces."""
    return is_gram(word) and len(characters(word)) == 2


def is_segment(word: str) -> bool:
    """Check that a raw word is a long word of a script without spaces."""
    if len(word) < 3 or word.isascii() or not _ngram_run().fullmatch(word):
        return False
    return len(characters(word)) > 2


def is_thai(word: str) -> bool:
    """Check that a word has a letter of Thai."""
    return not word.isascii() and _THAI.search(word) is not None


def characters(word: str) -> Sequence[str]:
    """Return the characters of a word, those of Thai with their marks."""
    if not is_thai(word):
        return word
    from qmd.text import thai

    return thai.CHARACTER.findall(word)


def fold(word: str) -> str:
    """Fold case, accents, points and width: `Zürich` and `ＺＵＲＩＣＨ` become `zurich`."""
    if word.isascii():
        return word.lower()
    apart = _DIACRITIC.sub("", unicodedata.normalize("NFKD", word))
    folded = apart.casefold()
    if len(folded) != len(apart):  # some letters become one with a diacritic
        folded = _DIACRITIC.sub("", folded)
    if _LETTER.search(folded):  # most texts have none, and to translate takes most of the time
        folded = folded.translate(_LETTERS)
    folded = unicodedata.normalize("NFC", folded)
    return folded if folded.isascii() else _DIGIT.sub(_digit, folded)


def _digit(found: re.Match[str]) -> str:
    return str(unicodedata.decimal(found[0]))


def is_alphabetic(word: str) -> bool:
    """Check that a word has letters alone, and the marks of letters, as Hindi and Tamil have."""
    if word.isalpha() or word.isascii():
        return word.isalpha()
    return word[0].isalpha() and all(map(_is_letter_or_mark, word))


def _is_letter_or_mark(character: str) -> bool:
    return character.isalpha() or unicodedata.category(character)[0] == "M"


def is_run(text: str) -> bool:
    """Check that a text has no character at which words are separated."""
    return text.isalnum() or all(_is_word_character(ord(character)) for character in text)


def runs(text: str) -> Iterator[tuple[int, int]]:
    """Yield the bounds of the runs of a text between characters that separate words."""
    if text.isascii():
        yield from (found.span() for found in re.finditer(r"\w+", text))
        return
    at = 0
    for is_word, characters in groupby(text, is_run):
        start, at = at, at + sum(1 for _ in characters)
        if is_word:
            yield start, at


def is_folded(word: str) -> bool:
    """Check that a word is what it is folded to."""
    return word.isascii() or fold(word) == word


def spelt(word: str) -> str:
    """Return a raw word in small letters, with its accents."""
    return unicodedata.normalize("NFKC", word).lower().replace("ς", "σ")


def accented(word: str) -> str | None:
    """Return a word as it is spelt, without case, if that is not how it is folded.

    The й of Cyrillic is a letter and no accent, though it is folded like one.
    """
    if word.isascii():
        return None
    own = spelt(word)
    return own if own.replace("й", "и") != fold(word) else None


def respelt(word: str) -> str | None:
    """Return another spelling of umlauts: `mueller` of `Müller`, `muller` of `mueller`."""
    if word.isascii():
        other = _LATIN.sub(lambda two: two[0][0], word) if len(word) > 3 else word
        return other if other != word else None
    lowered = unicodedata.normalize("NFC", word).lower()
    other = fold(lowered.translate(_UMLAUTS))
    return other if other != fold(word) else None


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
        The number of positions it takes, 0 of a form that comes before its word, and (folded word,
        shift from its first position) for each piece.
    """
    alone = plain(word)
    return compound(word) if alone is None else (1, ((alone, 0),))


def folded_pieces(word: str) -> tuple[int, tuple[tuple[str, int], ...]]:
    """Return the `pieces` of a raw word for a query: none as it is spelt with accents."""
    width, parts = pieces(word)
    if word.isascii():
        return width, parts
    return width, tuple(part for part in parts if is_folded(part[0]) or len(parts) == 1)


def compound(word: str) -> tuple[int, tuple[tuple[str, int], ...]]:
    """Return the `pieces` of a word that is not plain."""
    if is_marked(word) or is_joined(word):
        folded = word if _is_lone_symbol(word) else fold(word)
        return int(_stands_alone(word)), ((folded, 0),)
    folded = fold(word)
    if is_segment(word):
        return 0, ((folded, 0),)
    if word.isascii():
        parts = [part.lower() for part in _PART.findall(word)]
    elif is_gram(word):
        first = fold(characters(word)[0])
        return 1, ((first, 0),) if first == folded else ((first, 0), (folded, 0))
    else:
        parts = [part for part in map(fold, word.split("_")) if part]
    if not parts:
        return 1, ()
    if parts == [folded]:
        own = accented(word)
        return (1, ((folded, 0),)) if own is None else (1, ((folded, 0), (own, 0)))
    return len(parts), ((folded, 0), *zip(parts, range(len(parts)), strict=True))
