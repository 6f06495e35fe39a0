"""Bytes become lines, and lines messages, or it is told why not."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qmd.surfaces.mcp.json_lines import (
    MOST_BYTES,
    LineSplitter,
    Problem,
    line_problem,
    message_of,
)


def split(*pieces: bytes):
    """The lines of an input that comes in these pieces."""
    splitter = LineSplitter()
    return [line for piece in pieces for line in splitter.split(piece)] + list(splitter.end())


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        ([b"a\nb\n"], [b"a", b"b"]),
        ([b"a", b"b\nc", b"\n"], [b"ab", b"c"]),
        ([b"\n\na"], [b"", b"", b"a"]),
        ([b"a\r\n"], [b"a\r"]),
        ([], []),
    ],
)
def test_lines_may_come_in_any_pieces(given, lines):
    assert split(*given) == lines


@given(
    st.dictionaries(
        st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "x"]),
        st.sampled_from(
            ["2.0", "x", '"2.0"', '"ping"', "7", "null", "1.5", "1e999", "9" * 5000, "{}", "[]",
             '"\\ud83d"', "true", "[" * 300 + "]" * 300, '{"code": 1, "message": "x"}']
        ),
    )
)  # fmt: skip
@example({"jsonrpc": '"2.0"', "method": '"ping"', "x": "9" * 5000})
def test_any_line_is_a_message_or_told_why_not(fields):
    line = "{" + ", ".join(f'"{name}": {value}' for name, value in fields.items()) + "}"
    found = message_of(line.encode())
    if isinstance(found, Problem):
        assert json.loads(found.answer)["error"]["code"] in (-32700, -32600)
    else:
        assert hasattr(found, "id") or "id" not in fields


def test_a_line_too_long_is_told_of_once_and_costs_no_memory():
    half = b"x" * (MOST_BYTES // 2 + 1)
    found_lines = split(half, half, half, b"tail\nnext\n", half, half)
    assert [line if isinstance(line, bytes) else "long" for line in found_lines] == [
        "long",
        b"next",
        "long",
    ]


def test_the_id_of_what_is_no_message_is_given_back_only_if_it_is_one():
    for text, number in [
        ('{"id": 3}', 3),
        ('{"id": "x"}', "x"),
        ('{"id": true}', None),
        ('{"id": [1]}', None),
        ('{"id": "\\ud83d"}', None),
        ("3", None),
        ("[" * 100_000, None),
    ]:
        assert line_problem(text.encode()).id == number
