"""Hashes: content hash, docid, file checksum, term number."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from qmd.patterns import pattern

if TYPE_CHECKING:
    from hashlib import md5 as _md5
    from hashlib import sha256 as _sha256
else:
    # `hashlib` loads OpenSSL, which is faster for much data, and takes longer than a search of
    # small ones. An interpreter that lacks the modules of its own has OpenSSL.
    try:
        from _md5 import md5 as _md5

        try:
            from _sha2 import sha256 as _sha256
        except ImportError:  # before Python 3.12
            from _sha256 import sha256 as _sha256
    except ImportError:
        from hashlib import md5 as _md5
        from hashlib import sha256 as _sha256

DOCID_DIGITS = 6
"""Length of the docid shown to users. Source: tobi/qmd (MIT), src/store.ts, getDocid."""

_HYPHEN = 0x5DE1_9A3F_26C7_B485
"""Bits in which a term and its hyphenated form differ: any number of 63 bits."""

_ACCENTS = 0x2B74_C6E1_588D_13AF
"""Bits in which a term and its form with accents differ: any number of 63 bits."""

_DOCID = pattern(r"#?(?P<digits>[0-9a-fA-F]{6,64})")


SHORT = 1 << 16
"""Bytes up to which a text is hashed in less time than OpenSSL takes to load, some milliseconds. It
hashes ten times as fast."""


def content_hash(text: str | bytes) -> str:
    """Return the SHA-256 of the text in UTF-8: 64 hex digits, the key of its content."""
    data = text.encode() if isinstance(text, str) else text
    if len(data) <= SHORT and "hashlib" not in sys.modules:
        return short_digest(data)
    import hashlib

    return hashlib.sha256(data).hexdigest()


def short_digest(data: bytes) -> str:
    """Return the SHA-256 of a few kilobytes: 64 hex digits, without loading OpenSSL."""
    return _sha256(data, usedforsecurity=False).hexdigest()


def damage_digest(data: bytes) -> str:
    """Return the MD5 of some kilobytes: 32 hex digits, to detect damage and nothing else."""
    return _md5(data, usedforsecurity=False).hexdigest()


def checksum(data: bytes) -> str:
    """Return the XXH3-128 of a file's bytes: 32 hex digits, to detect changes of the file."""
    import xxhash

    return xxhash.xxh3_128_hexdigest(data)


def term_id(term: str) -> int:
    """Return the number of a term: 63 bits of its MD5, DuckDB's `md5_number_lower(term) >> 1`."""
    digest = _md5(term.encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[8:], "little") >> 1


def joined_id(number: int) -> int:
    """Return the number of the hyphenated form of a term, and the term's of such a form.

    `e-mail` is found by `email` without a look at the list of words.
    """
    return number ^ _HYPHEN


def accented_id(number: int) -> int:
    """Return the number of all spellings of a term with accents, and the term's of these."""
    return number ^ _ACCENTS


def parse_docid(name: str) -> str | None:
    """Parse a docid as users write it to its hex digits, or None.

    `#abc123`, `abc123`, quoted, in any case, and longer prefixes of the hash too.
    """
    stripped = name.strip()
    if len(stripped) > 1 and stripped[0] in "\"'" and stripped[-1] == stripped[0]:
        stripped = stripped[1:-1].strip()
    found = _DOCID.fullmatch(stripped)
    return found["digits"].lower() if found else None
