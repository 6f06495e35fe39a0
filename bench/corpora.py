"""Folders of Markdown to measure with: generated ones, and queries about any.

    python -m bench.corpora FOLDER DOCUMENTS

Generated words follow Zipf's law. The documents of a small corpus are the first ones of a large
one, so that what is found in both can be compared.
"""

from __future__ import annotations

import argparse
import math
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from bench.alone import alone

WORDS = 1_000_000
"""Words that may occur. One of rank r is as frequent as 1 / (r + OFFSET)."""

OFFSET = 2.7
"""Source: Mandelbrot's form of the law, with his exponent 1 and an offset usual for English."""

LENGTHS = (50, 350)
"""Words of a document: any number from here to there, 200 on average."""

SENTENCE, PARAGRAPH = 12, 5
"""Words of one, and sentences of the other."""

BLOCK = 500
"""Documents of a folder."""

SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]

COMMON = (100, 300)
"""Ranks of words that each 5 to 14 of 100 documents have."""

RARE = (20_000, 40_000)
"""Ranks of words that one document of 1,000 has, or fewer."""


class Question(NamedTuple):
    """Queries for a corpus: two words of some document, and a line of one."""

    words: str
    sentence: str


def word(rank: int) -> str:
    """Return the word of a rank, from 0: the more frequent, the shorter."""
    letters = [SYLLABLES[rank % len(SYLLABLES)]]
    while rank := rank // len(SYLLABLES):
        letters.append(SYLLABLES[rank % len(SYLLABLES)])
    return "".join(letters) + "xnrl"[len(letters) - 1]


def generate(folder: Path, documents: int) -> None:
    """Write documents, those of a block in a folder of its own."""
    import numpy as np

    vocabulary = np.array([word(rank) for rank in range(WORDS)], dtype=object)
    shares = np.cumsum(1 / (np.arange(WORDS) + 1 + OFFSET))
    shares /= shares[-1]
    for block in range(-(-documents // BLOCK)):
        chance = np.random.default_rng((2026, block))
        lengths = chance.integers(LENGTHS[0], LENGTHS[1] + 1, BLOCK)
        words = vocabulary[np.searchsorted(shares, chance.random(int(lengths.sum())))].tolist()
        place = folder / f"{block // 100:03}" / f"{block:05}"
        place.mkdir(parents=True, exist_ok=True)
        at = 0
        for number, length in enumerate(lengths[: documents - block * BLOCK].tolist()):
            name = place / f"{block * BLOCK + number:07}.md"
            name.write_text(document(words[at : at + length]), encoding="utf-8")
            at += length


def document(words: list[str]) -> str:
    """Words as a document: a heading, and paragraphs of sentences."""
    sentences = [
        f"{' '.join(words[at : at + SENTENCE])}.".capitalize()
        for at in range(0, len(words), SENTENCE)
    ]
    paragraphs = [
        " ".join(sentences[at : at + PARAGRAPH]) for at in range(0, len(sentences), PARAGRAPH)
    ]
    return "\n\n".join([f"# {' '.join(words[:4]).capitalize()}", *paragraphs, ""])


def searches(folder: Path, ranks: tuple[int, int], count: int = 20) -> list[str]:
    """Pairs of words of these ranks that the first generated documents have."""
    texts = (file.read_text(encoding="utf-8") for file in (folder / "000" / "00000").iterdir())
    held = {each for text in texts for each in re.findall(r"[a-z]+", text.lower())}
    words = [each for each in map(word, range(*ranks)) if each in held]
    chance = random.Random(5)
    return [" ".join(chance.sample(words, 2)) for _ in range(count)]


def recombined(searches: Sequence[str], turn: int) -> list[str]:
    """Replace the last word of each query by that of another one, so that no result is cached."""
    parted = [each.rpartition(" ") for each in searches]
    lasts = [last for _, _, last in parted]
    return [
        f"{head} {lasts[(at + turn) % len(lasts)]}".strip()
        for at, (head, _, _) in enumerate(parted)
    ]


def questions(files: list[Path], count: int = 20, *, sample: int = 500) -> list[Question]:
    """Questions that some file answers: no word that is in nearly all of them, or in one alone."""
    chance = random.Random(7)
    files = chance.sample(files, min(sample, len(files)))
    texts = [file.read_text(encoding="utf-8", errors="replace")[:20_000] for file in files]
    held = [set(re.findall(r"\b[a-z]{4,12}\b", text.lower())) for text in texts]
    seen = Counter(each for words in held for each in words)
    chosen = []
    for text, words in zip(texts, held, strict=True):
        good = sorted(each for each in words if 2 <= seen[each] <= max(2, len(files) // 10))
        lines = [line.strip()[:80] for line in text.splitlines() if len(line.split()) >= 6]
        if len(good) >= 2 and lines:
            pair = chance.choice(list(combinations(chance.sample(good, min(9, len(good))), 2)))
            plain = re.sub(r"[^\w ]+", " ", chance.choice(lines))
            chosen.append(Question(" ".join(pair), " ".join(plain.split())))
    return chosen[:count]


def words_of(folder: Path, count: int = 200, *, sample: int = 500) -> list[str]:
    """List words of such questions."""
    texts = questions(sorted(folder.rglob("*.md")), count, sample=sample)
    return sorted({word for each in texts for word in each.words.split()})


def combined(words: Sequence[str], count: int, size: int = 3) -> list[str]:
    """Make questions of some of the words, no two of the same ones.

    Raises:
        ValueError: there are not so many.
    """
    if math.comb(len(words), size) < count:
        raise ValueError(f"{len(words)} words make fewer than {count} questions")
    chance = random.Random(9)
    chosen: dict[frozenset[str], str] = {}
    while len(chosen) < count:
        some = chance.sample(words, size)
        chosen.setdefault(frozenset(some), " ".join(some))
    return list(chosen.values())


@contextmanager
def given_or_generated(folders: list[Path], documents: int) -> Iterator[list[Path]]:
    """Yield the folders, or where there are none, one of documents that are generated."""
    if folders:
        yield folders
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "generated")
        alone(generate, folder, documents)
        yield [folder]


def main() -> None:
    """Write a corpus."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("documents", type=int)
    options = parser.parse_args()
    generate(options.folder, options.documents)


if __name__ == "__main__":
    main()
