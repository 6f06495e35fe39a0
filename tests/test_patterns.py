"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import copy
import pickle
import re

import pytest

from qmd.patterns import pattern


def test_a_pattern_does_what_a_compiled_one_does():
    made = pattern("(?P<name>t.a)", re.IGNORECASE)
    usual = re.compile("(?P<name>t.a)", re.IGNORECASE)
    for _ in range(2):
        assert made.sub("-", "a Tea") == usual.sub("-", "a Tea") == "a -"
        assert made.findall("tea tia") == ["tea", "tia"]
        assert (made.pattern, made.flags, made.groupindex) == (
            usual.pattern,
            usual.flags,
            usual.groupindex,
        )
    with pytest.raises(AttributeError):
        made.colour  # noqa: B018


def test_an_error_is_raised_at_the_first_use():
    broken = pattern("(")
    with pytest.raises(re.error):
        broken.match("tea")


def test_nothing_is_compiled_before():
    made = pattern("[qz]{3}tea")
    assert vars(made).keys() == {"_given"}
    assert made.match("qzqtea")
    assert vars(made).keys() == {"_given", "match"}


def test_a_copy_does_the_same():
    made = copy.deepcopy(pickle.loads(pickle.dumps(pattern("t.a"))))
    assert made.match("tea")
