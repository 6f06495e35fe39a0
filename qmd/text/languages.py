"""Language of a text: from its metadata, its script, or its most frequent words.

Words that are in nearly every sentence of a language tell it in a few lines, in microseconds and
without a model. Known detectors are larger by orders of magnitude: py3langid has 4.6 MB and needs
numpy, lingua has 96 MB.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache

from qmd.patterns import pattern

STEMMED = {
    **{"ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german"},
    **{"el": "greek", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian"},
    **{"fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian"},
    **{"hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "ne": "nepali"},
    **{"nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian"},
    **{"ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish"},
}
"""ISO 639-1 codes of languages with a Snowball stemmer, besides English, and its name."""

_NAMES = {name: code for code, name in STEMMED.items()} | {
    **{"english": "en", "deutsch": "de", "français": "fr", "francais": "fr", "español": "es"},
    **{"italiano": "it", "português": "pt", "nederlands": "nl", "svenska": "sv", "dansk": "da"},
    **{"norsk": "no", "nb": "no", "nn": "no", "polski": "pl", "русский": "ru", "suomi": "fi"},
    **{"eng": "en", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr", "spa": "es", "ita": "it"},
    **{"por": "pt", "nld": "nl", "dut": "nl", "swe": "sv", "rus": "ru", "jpn": "ja", "zho": "zh"},
    **{"japanese": "ja", "chinese": "zh", "korean": "ko"},
}
_FREQUENT = {
    "en": "the of and to that is for with was are this be it from not have you",
    "de": "der die und das ist nicht ein eine mit den von auf für sich dem des auch wird im zu",
    "fr": "le la les et des est une dans que pour qui pas sur au du avec sont ce par plus",
    "es": "el la los de que y en las una por con para es se del como más lo su pero",
    "it": "il di che la è per un una non del con sono gli della si nel le da anche come",
    "pt": "o os de que e do da em um para não uma com se dos no na por mais as",
    "nl": "de het een van en is dat niet op zijn met voor te ook er aan maar bij worden naar",
    "sv": "och att det som en är på för med av den till inte har ett om jag var från kan",
    "da": "og at det er en til på som af den ikke der med for jeg har et vi også blev",
    "no": "og det er en til på som av å ikke med for jeg har et vi også ble ikkje frå",
    "fi": "ja on ei se että oli ovat mutta joka kun hän niin myös tai kuin ole voi sen",
    "pl": "i w nie na się z do jest to że o jak ale po co przez dla od są był",
    "cs": "a v se na je že s z do to o jako ale pro za by jsou jeho byl nebo",
    "hu": "a az és hogy nem is egy ez volt de meg csak mint van azt ha már el kell",
    "ro": "și de în la a nu cu pe o că mai este din care pentru sunt un să au fost",
    "tr": "bir ve bu için ile da de çok olarak daha gibi kadar olan ama ne var en sonra değil",
    "ca": "el la els de que i en les una per amb és no del com més ho va seva però",
    "id": "yang dan di dengan untuk dari ini itu tidak pada adalah dalam akan ke juga oleh",
}
_SCRIPTS = (
    ("ja", "\u3040-\u30ff"),
    ("ko", "\uac00-\ud7a3"),
    ("zh", "\u4e00-\u9fff"),
    ("th", "\u0e00-\u0e7f"),
    ("el", "\u0370-\u03ff"),
    ("he", "\u0590-\u05ff"),
    ("hi", "\u0900-\u097f"),
    ("ta", "\u0b80-\u0bff"),
    ("hy", "\u0530-\u058f"),
    ("fa", "پچژگ"),
    ("ar", "\u0600-\u06ff"),
    ("uk", "іїєґ"),
    ("ru", "\u0400-\u04ff"),
)
"""Languages told by their script, and the letters: the first of which a text has enough."""

ENGLISH = frozenset("the of and to that is for with was are this from you by".split())
AT_SIGHT, AT_LEAST, SAMPLE = 400, 3, 1500
"""Characters in which so many words tell English at sight, and of the sample for all others."""

ACCENTED = frozenset(("ca", "cs", "fi", "hu", "pl", "ro", "tr"))
"""Languages of which no sample is without accents."""

FEWEST, SHARE, AHEAD = 4, 0.08, 1.25
"""Frequent words that a sample has at least, as a number and as a share of its words, and how many
times as many as those of any other language."""

LETTERS = 0.2
"""Share of a script among the letters from which on it tells the language."""

_WORD = pattern(r"[^\W\d_]+")
_ASCII_LETTERS = bytes(
    ord(chr(code).lower()) if code < 128 and chr(code).isalpha() else ord(" ")
    for code in range(256)
)
"""Table of bytes: small letters for those of ASCII, blanks for the rest. It takes a tenth of the
time that the pattern does."""


def language(text: str, metadata: str | None = None, *, start: int = 0) -> str | None:
    """Return the language of a document as an ISO 639-1 code, or None if nothing tells it.

    Args:
        metadata: JSON; `lang` or `language` of it says more than the text.
        start: characters before the text: its front matter.
    """
    if metadata and '"lang' in metadata.lower():
        said = _said(json.loads(metadata))
        if said is not None:
            return said
    sample = text[start : start + AT_SIGHT]
    if len(ENGLISH.intersection(sample.split())) >= AT_LEAST:
        return "en"
    return detected(text[start : start + SAMPLE])


def stemmed_in(code: str | None) -> str:
    """Return the language whose stems a document has, besides English ones; empty: of none."""
    return code if code in STEMMED else ""


def _said(metadata: object) -> str | None:
    values = metadata.items() if isinstance(metadata, dict) else ()
    for key, value in values:
        if str(key).lower() in ("lang", "language") and isinstance(value, str):
            return language_code(value)
    return None


def language_code(name: str) -> str | None:
    """Return the code of a language: `de` of `de-AT`, `ger` or `German`; None for other words."""
    name = name.strip().lower().replace("_", "-").partition("-")[0]
    if name in _NAMES:
        return _NAMES[name]
    return name if re.fullmatch("[a-z]{2,3}", name) else None


def detected(sample: str) -> str | None:
    """Tell the language of a sample by its script, else by its most frequent words."""
    if sample.isascii():
        lowered = sample.encode().translate(_ASCII_LETTERS).decode()
        words = lowered.split()
    else:
        lowered = sample.lower()
        words = _WORD.findall(lowered)
    if not words:
        return None
    if not lowered.isascii() and _any_script().search(lowered):
        letters = sum(map(len, words))
        for code, pattern in _scripts():
            needed = LETTERS * letters if code not in ("fa", "uk", "ja") else 0.02 * letters
            if len(pattern.findall(lowered)) > needed:
                return code
    counts: dict[str, int] = {}
    distinct: dict[str, int] = {}
    table = _frequent()
    for word, times in Counter(filter(table.__contains__, words)).items():
        for code in table[word]:
            counts[code] = counts.get(code, 0) + times
            distinct[code] = distinct.get(code, 0) + 1
    best, second = (*sorted(counts, key=lambda code: -counts[code]), None, None)[:2]
    if best is None or (best in ACCENTED and sample.isascii()):
        return None
    is_enough = counts[best] >= SHARE * len(words) and distinct[best] >= FEWEST
    is_ahead = second is None or counts[best] >= AHEAD * counts[second]
    return best if is_enough and is_ahead else None


@cache
def _scripts() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((code, re.compile(f"[{letters}]")) for code, letters in _SCRIPTS)


@cache
def _any_script() -> re.Pattern[str]:
    return re.compile(f"[{''.join(letters for _, letters in _SCRIPTS)}]")


@cache
def _frequent() -> dict[str, tuple[str, ...]]:
    """Return the languages of each frequent word."""
    found: dict[str, tuple[str, ...]] = {}
    for code, listed in _FREQUENT.items():
        for word in listed.split():
            found[word] = (*found.get(word, ()), code)
    return found
