"""Models for tests of search by words and meaning: what each of them answers is known."""

from __future__ import annotations

import re
import time

import numpy as np

from qmd.errors import ModelFailure
from qmd.models.protocols import nothing
from qmd.models.registry import Model
from tests.library import drawn

LONG = 20
"""Seconds after which something that has to happen is taken for stuck."""

SHORT = 0.05
"""Seconds after which a model that never answers has had its time."""

SAME = {"automobile": "car", "vehicle": "car", "physician": "doctor"}
"""Words that mean what another does."""


class FakeReranker:
    """A judge whose scores are known.

    Attributes:
        says: gives the score of a passage.
        asked: the question and the passages of each call.
        before: called with what says whether to go on.
    """

    model = Model("judge", "rerank", "judge.gguf")

    def __init__(self):
        self.says = lambda passage: 0.5
        self.asked = []
        self.before = lambda between: None

    def score(self, query, passages, *, between=nothing):
        self.before(between)
        self.asked.append((query, list(passages)))
        return [self.says(passage) for passage in passages]

    def close(self):
        pass


class FakeGenerator:
    """A model that writes what it is told to.

    Attributes:
        says: its answer.
        asked: the prompt, the grammar and the tokens of each call.
        before: called with what says whether to go on.
    """

    model = Model("writer", "generate", "writer.gguf")

    def __init__(self):
        self.says = ""
        self.asked = []
        self.before = lambda between: None

    def generate(self, prompt, *, grammar=None, tokens=256, between=nothing):
        self.before(between)
        self.asked.append((prompt, grammar, tokens))
        return self.says

    def close(self):
        pass


def meant(text):
    """The direction in which the words of a text point together; some of them mean the same."""
    found = [SAME.get(word, word) for word in re.findall(r"\w+", text.lower())]
    vector = sum((drawn(word, 64) for word in found), np.zeros(64, np.float32))
    length = np.linalg.norm(vector)
    return vector / length if length else drawn(text, 64)


def never(between):
    """Works until it is told to stop."""
    end = time.monotonic() + LONG
    while time.monotonic() < end:
        between()
    raise AssertionError


def fail(between):
    raise ModelFailure("It broke.\n\nTry another.")
