"""PDF files whose pages are pictures of text."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pypdfium2

from tests.ingest.readers.pdfs import pdf


def scan(*pages: Sequence[str]) -> bytes:
    """A document of pages, each a picture of lines."""
    written = pypdfium2.PdfDocument(pdf(*pages))
    scanned = pypdfium2.PdfDocument.new()
    for page in written:
        image = pypdfium2.PdfImage.new(scanned)
        image.set_bitmap(page.render(scale=3, grayscale=True))
        image.set_matrix(pypdfium2.PdfMatrix().scale(*page.get_size()))
        new = scanned.new_page(*page.get_size())
        new.insert_obj(image)
        new.gen_content()
    out = io.BytesIO()
    scanned.save(out)
    return out.getvalue()
