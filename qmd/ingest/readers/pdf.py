"""Reader of PDF files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from qmd.ingest.readers.building import Builder, single_spaced
from qmd.ingest.readers.dates import of_pdf
from qmd.ingest.readers.office import given_title
from qmd.ingest.readers.reading import Reading, Unreadable
from qmd.text.kinds import NO_TEXT_ON

if TYPE_CHECKING:
    from qmd.ingest.readers.ocr import Tesseract

MOST_PAGES = 20_000

DOTS = 300 / 72
"""Dots of a page that is rendered, for each point: 300 an inch, as Tesseract wants them."""

MOST_DOTS = 25_000_000
"""Dots of one page: three times those of A4."""

_HYPHENATED = re.compile("(?<=\\w)[\ufffe\x02\xad]\r?\n?")
_BLANK_LINES = re.compile(r"\n\s*\n+")


def read(data: bytes, name: str, ocr: Tesseract | None = None) -> Reading:
    """Read a document page by page; entries of its outline become headings.

    Args:
        ocr: reads pages without text; None: their numbers are told.
    """
    import pypdfium2
    from pypdfium2 import raw

    out = Builder("PDF")
    told: dict[str, str] = {}
    language = None
    blank: list[int] = []
    scanned: list[int] = []
    if not data:
        raise Unreadable("empty file")
    if b"%PDF-" not in data[:1024]:
        raise Unreadable("no PDF file")
    with out.filling():
        try:
            document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            encrypted = raw.FPDF_GetLastError() in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY)
            raise Unreadable("encrypted PDF" if encrypted else "damaged PDF") from error
        try:
            told = {key.lower(): text for key, text in document.get_metadata_dict().items() if text}
            language = _language(document.raw)
            headings = _outline(document)
            count = len(document)
            for index in range(min(count, MOST_PAGES)):
                out.place("page", str(index + 1))
                if _page(out, document, index, headings.get(index, [])):
                    continue
                if ocr is not None and not ocr.is_spent and _scan(out, document, index, ocr):
                    scanned.append(index + 1)
                else:
                    blank.append(index + 1)
            if count > MOST_PAGES:
                out.remark = f"only the first {MOST_PAGES} of {count} pages were read"
        finally:
            document.close()
    if blank:
        if out.empty:
            raise Unreadable(_no_text_on(blank))
        out.remark = out.remark or _no_text_on(blank)
    return out.reading(
        title=given_title(told.get("title")),
        date=of_pdf(told.get("creationdate")) or of_pdf(told.get("moddate")),
        author=told.get("author"),
        language=language,
        metadata={
            "modified": of_pdf(told.get("moddate")),
            "pages": count,
            "ocr": page_spans(scanned) if scanned else None,
            **{key: told.get(key) for key in ("subject", "keywords")},
        },
    )


def _no_text_on(pages: list[int]) -> str:
    return f"{NO_TEXT_ON}{page_spans(pages).removeprefix('page')}"


def _page(out: Builder, document: Any, index: int, headings: list[tuple[int, str]]) -> bool:
    """Add the text of a page; false if there is none."""
    page = document[index]
    try:
        text_page = page.get_textpage()
        try:
            text = text_page.get_text_range()
        finally:
            text_page.close()
        for target in _links(document.raw, page.raw):
            out.link(target)
    finally:
        page.close()
    text = _HYPHENATED.sub("", text).replace("\r\n", "\n")
    lines: list[str] = []
    for line in text.split("\n"):
        level = next((level for level, title in headings if single_spaced(line) == title), 0)
        if level:
            out.block("\n".join(lines))
            lines = []
            out.heading(level, line)
        else:
            lines.append(line.rstrip())
    out.block(_BLANK_LINES.sub("\n\n", "\n".join(lines)))
    return bool(text.strip())


def _scan(out: Builder, document: Any, index: int, ocr: Tesseract) -> bool:
    """Add the text of a page that is a picture; false if there is none."""
    page = document[index]
    try:
        width, height = page.get_size()
        scale = min(DOTS, (MOST_DOTS / max(1.0, width * height)) ** 0.5)
        bitmap = page.render(scale=scale, grayscale=True)
        try:
            rows = bytes(bitmap.buffer)
            step, wide, high = bitmap.stride, bitmap.width, bitmap.height
        finally:
            bitmap.close()
    finally:
        page.close()
    dots = b"".join(rows[row * step : row * step + wide] for row in range(high))
    text = ocr.text(b"P5 %d %d 255\n" % (wide, high) + dots)
    out.block(_BLANK_LINES.sub("\n\n", text.strip()))
    return bool(text.strip())


def _outline(document: Any) -> dict[int, list[tuple[int, str]]]:
    """Give the entries of the outline by page: level and title."""
    found: dict[int, list[tuple[int, str]]] = {}
    for number, entry in enumerate(document.get_toc(max_depth=6)):
        if number >= 10_000:
            break
        target = entry.get_dest()
        title = single_spaced(entry.get_title())
        if target is not None and title and target.get_index() is not None:
            found.setdefault(target.get_index(), []).append((entry.level + 1, title))
    return found


def _links(document: Any, page: Any) -> Iterator[str]:
    """Give the addresses to which annotations of a page lead."""
    import ctypes

    from pypdfium2 import raw

    at, link = ctypes.c_int(0), raw.FPDF_LINK()
    for _ in range(1000):
        if not raw.FPDFLink_Enumerate(page, at, link):
            return
        action = raw.FPDFLink_GetAction(link)
        size = raw.FPDFAction_GetURIPath(document, action, None, 0) if action else 0
        if 1 < size < 4096:
            text = ctypes.create_string_buffer(size)
            raw.FPDFAction_GetURIPath(document, action, text, size)
            yield text.value.decode("utf-8", "replace")


def _language(document: Any) -> str | None:
    import ctypes

    from pypdfium2 import raw

    size = raw.FPDFCatalog_GetLanguage(document, None, 0)
    if not 2 < size < 200:
        return None
    text = ctypes.create_string_buffer(size)
    raw.FPDFCatalog_GetLanguage(document, ctypes.cast(text, ctypes.POINTER(raw.FPDF_WCHAR)), size)
    return text.raw.decode("utf-16-le", "replace").rstrip("\x00") or None


def page_spans(numbers: list[int]) -> str:
    """Name pages by their ascending numbers: `page 2`, `pages 1-3, 7`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    shown = ", ".join("-".join(map(str, part)) for part in parts[:10])
    more = " and more" if len(parts) > 10 else ""
    return f"{'page' if len(numbers) == 1 else 'pages'} {shown}{more}"
