"""Names of months in other languages than English, as dates have them."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_NAMES = """
januar februar marz april mai juni juli august september oktober november dezember
janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro
januari februari maart april mei juni juli augustus september oktober november december
januari februari mars april maj juni juli augusti september oktober november december
januar februar mars april mai juni juli august september oktober november desember
styczen luty marzec kwiecien maj czerwiec lipiec sierpien wrzesien pazdziernik listopad grudzien
stycznia lutego marca kwietnia maja czerwca lipca sierpnia wrzesnia pazdziernika listopada grudnia
leden unor brezen duben kveten cerven cervenec srpen zari rijen listopad prosinec
ledna unora brezna dubna kvetna cervna cervence srpna zari rijna listopadu prosince
январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь
января февраля марта апреля мая июня июля августа сентября октября ноября декабря
ocak subat mart nisan mayıs haziran temmuz agustos eylul ekim kasım aralık
"""
"""Months of German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Norwegian and Danish,
Polish, Czech, Russian and Turkish, without accents, also as they stand behind a day."""

_FURTHER = {"janner": 1, "jenner": 1, "feber": 2}
_ENGLISH = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_SHORTEST = 3
"""Letters of the shortest abbreviation."""

_WORD = re.compile(r"[^\W\d_]+\.?")
_SMALL = frozenset("a as de del den do el kl las le of ore the uhr um г".split())
"""Words between the parts of a date."""

_SIGNS = re.compile(r"[.,]")
_FIRST = re.compile(r"(?<=\d)(?:er|[°ºª])(?=\s)")


def in_english(text: str) -> str | None:
    """Replace the month of a date by its English name; None if it has none that is known.

    A day of the week before it, and words such as `de`, are left out.

    Args:
        text: in lower case.
    """
    known, months = _known(), list[int]()

    def replaced(found: re.Match[str]) -> str:
        word = _bare(found[0].rstrip("."))
        if word in _SMALL:
            return ""
        if word not in known:
            return found[0]
        months.append(known[word])
        return _ENGLISH[known[word] - 1]

    words = _SIGNS.sub(" ", _WORD.sub(replaced, _FIRST.sub("", text))).split()
    # `mar 5 marzo`: the first one is a Tuesday.
    if len(months) == 2 and words[0] in _ENGLISH:
        return " ".join(words[1:])
    if len(months) != 1:
        return None
    is_weekday = len(words) > 1 and words[1].isdecimal() and words[0] not in _ENGLISH
    return " ".join(words[1:] if is_weekday and not words[0][0].isdecimal() else words)


@lru_cache(1)
def _known() -> dict[str, int]:
    """Map names of months, and abbreviations that stand for one month alone, to their numbers."""
    names = dict(_FURTHER)
    for line in _NAMES.strip().split("\n"):
        names |= {name: month for month, name in enumerate(line.split(), 1)}
    short: dict[str, set[int]] = {}
    for name, month in names.items():
        for length in range(_SHORTEST, len(name)):
            short.setdefault(name[:length], set()).add(month)
    return {name: min(found) for name, found in short.items() if len(found) == 1} | names


def _bare(word: str) -> str:
    """Strip the accents of a word, except for that of the Cyrillic й."""
    if word.isascii() or "й" in word:
        return word
    return "".join(
        letter for letter in unicodedata.normalize("NFD", word) if not unicodedata.combining(letter)
    )
