"""What a text is called."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.text.hashes import DOCID_DIGITS, checksum, content_hash, parse_docid

HEX = "0123456789abcdefABCDEF"


def test_the_key_of_a_content_is_the_sha_256_of_its_utf_8():
    assert content_hash("abc") == (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
    assert content_hash("茶") == content_hash(b"\xe8\x8c\xb6".decode())
    assert content_hash("é") != content_hash("e\u0301")


def test_the_checksum_of_a_file_is_the_xxh3_128_of_its_bytes():
    assert checksum(b"") == "99aa06d3014798d86001c324468d497f"
    assert checksum(b"a\r\n") != checksum(b"a\n")


@pytest.mark.parametrize(
    "name", ["abc123", "#abc123", " #abc123 ", "#ABC123", '"abc123"', "'#abc123'", '" #abc123 "']
)
def test_a_docid_is_known_in_all_its_forms(name):
    assert parse_docid(name) == "abc123"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "#",
        "abc12",
        "#abc12",
        "abc12g",
        '"abc123',
        "abc123'",
        "##abc123",
        "abc 123",
        "a" * 65,
        "c/abc123",
        "abc123.md",
        "١٢٣٤٥٦",
    ],
)
def test_other_names_are_no_docids(name):
    assert parse_docid(name) is None


@given(st.text(HEX, min_size=DOCID_DIGITS, max_size=64))
def test_any_prefix_of_a_hash_from_six_digits_on_is_a_docid(digits):
    assert parse_docid(digits) == parse_docid(f"#{digits}") == digits.lower()


@given(st.text())
def test_a_text_answers_to_the_first_digits_of_its_hash(text):
    key = content_hash(text)
    assert len(key) == 64
    assert parse_docid(key) == key
    assert parse_docid(key[:DOCID_DIGITS]) == key[:DOCID_DIGITS]
