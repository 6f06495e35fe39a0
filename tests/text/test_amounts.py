"""Values that fill a screen are cut in messages, and seen to be."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.errors import CollectionNotFound, DocumentNotFound, IndexBusy, QmdError
from qmd.wording import MOST_OF_LINE, MOST_OF_VALUE, readable, shortened

PATH = "/begin/" + "/".join(["d" * 99] * 40) + "/end.md"


@given(st.text(max_size=3000), st.integers(0, 400))
def test_a_text_keeps_its_beginning_and_its_end(text, most):
    short = shortened(text, most)
    if len(text) <= most:
        assert short == text
        return
    head, _, rest = short.rpartition("[… ")
    count, _, tail = rest.partition(" characters …]")
    assert len(head) - len(tail) in (0, 1)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert int(count) == len(text) - len(head) - len(tail)
    assert len(short) <= max(most, len(f"[… {len(text)} characters …]"))


@pytest.mark.parametrize(
    "error",
    [
        DocumentNotFound(PATH),
        CollectionNotFound(PATH),
        IndexBusy(PATH, holder="qmd update, process 7", waited=30),
        QmdError(f"{PATH} is where {PATH} has to be."),
        QmdError(f"{PATH.replace('d', ' ')} is full of spaces."),
    ],
)
def test_a_long_path_in_an_error_is_cut_and_the_words_are_not(error):
    text = str(error)
    assert len(text) < 1500
    assert "/begin/" in text
    assert "characters …]" in text
    assert "/end.md" in text or "spaces." in text


def test_both_of_two_long_values_are_told_of():
    text = readable(f"{PATH} is where {PATH} has to be.\n\nMove {PATH} away.")
    assert text.count("/begin/") == text.count("/end.md") == text.count(" characters …]") == 3
    assert " is where /begin/" in text
    assert text.endswith(" away.")


@given(st.lists(st.text(string.ascii_letters + " \n", max_size=MOST_OF_VALUE // 2), max_size=9))
def test_a_message_of_usual_words_stays_as_it_is(words):
    message = "\n".join(words)
    assert readable(message) == message
    assert all(len(line) <= MOST_OF_LINE for line in readable(message).split("\n"))
