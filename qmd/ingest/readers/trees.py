"""XML and HTML trees of hostile bytes: no entities, no network, bounded depth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, TypeAlias

from lxml import etree

from qmd.ingest.readers import charsets, wide
from qmd.ingest.readers.reading import Unreadable

Element: TypeAlias = Any

_XML_ENCODING = re.compile(rb"\s*<\?xml[^>]{0,200}encoding")
_BINARY = {
    b"%PDF-": "a PDF file",
    b"PK\x03\x04": "a zip archive",
    b"\x1f\x8b": "a gzip archive",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"\x7fELF": "a program",
    b"{\\rtf": "an RTF file",
}


def xml(data: bytes) -> Element:
    """Parse XML.

    Raises:
        Unreadable: it declares entities.
        etree.XMLSyntaxError: it is damaged, or nests deeper than 256 levels.
    """
    return _parsed(data, recover=False)[0]


def damaged_xml(data: bytes) -> tuple[Element, bool]:
    """Parse as much of XML as can be read.

    Returns:
        The root, and whether all of it could be read.

    Raises:
        Unreadable: it declares entities, or there is no element in it.
    """
    return _parsed(data, recover=True)


def declared_xml(data: bytes) -> bytes:
    """Give XML in UTF-8 if it neither names its encoding nor has the mark of one."""
    if _XML_ENCODING.match(data) or data.startswith(wide.MARKS):
        return data
    found = charsets.with_encoding(data)
    return data if found.encoding == "utf-8" else found.text.encode("utf-8", "replace")


def _parsed(data: bytes, *, recover: bool) -> tuple[Element, bool]:
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        recover=recover,
        remove_comments=True,
        remove_pis=True,
    )
    root = etree.fromstring(data, parser)
    if root is None:
        raise Unreadable("damaged XML")
    dtd = root.getroottree().docinfo.internalDTD
    if dtd is not None and next(dtd.iterentities(), None) is not None:
        raise Unreadable("XML that declares entities")
    return root, not parser.error_log.filter_from_errors()


def html(data: bytes) -> Element | None:
    """Parse HTML; None if there is no element in it."""
    parser = etree.HTMLParser(
        encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True
    )
    text = text_of(data, declared=True).replace("\x00", "")
    if not text.strip():
        return None
    root: Element | None = etree.fromstring(text.encode("utf-8", "replace"), parser)
    return root


def in_utf8(data: bytes) -> bytes:
    """Give text of a format in ASCII without its byte order mark, and in UTF-8 if it is UTF-16."""
    if data.startswith(wide.MARKS) or (b"\x00" in data[:64] and wide.is_wide(data)):
        return text_of(data).encode("utf-8", "replace")
    return data


def text_of(data: bytes, *, declared: bool = False) -> str:
    r"""Decode a text file; its line breaks become `\n`.

    Raises:
        Unreadable: it is a binary file, whatever its name says.
    """
    for mark, kind in _BINARY.items():
        if data.startswith(mark):
            raise Unreadable(f"no text but {kind}")
    if b"\x00" in data[:8192] and not wide.is_wide(data):
        raise Unreadable("no text: it holds zero bytes")
    text = charsets.with_encoding(data, declared=declared).text
    return text.replace("\r\n", "\n").replace("\r", "\n")


def within(parent: Element, *names: str) -> Iterator[Element]:
    """Give the elements of some names below another, without those within each other."""
    for element in parent:
        name = local(element)
        if name in names:
            yield element
        elif name != "Fallback":  # the same drawing again, for old programs
            yield from within(element, *names)


def local(element: Any) -> str:
    """Give the name of an element without its namespace; "" for what is no element."""
    tag = element.tag
    return _local(tag) if isinstance(tag, str) else ""


@lru_cache(maxsize=1000)
def _local(tag: str) -> str:
    return tag.rpartition("}")[2]
