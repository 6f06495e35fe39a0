"""Reader of HTML."""

from __future__ import annotations

from qmd.ingest.readers import trees
from qmd.ingest.readers.building import Builder, single_spaced
from qmd.ingest.readers.dates import iso
from qmd.ingest.readers.html_blocks import blocks
from qmd.ingest.readers.reading import Reading, Unreadable

_DATES = (
    "article:published_time",
    "datepublished",
    "dcterms.created",
    "dcterms.date",
    "dc.date",
    "date",
    "article:modified_time",
)


def read(data: bytes, name: str) -> Reading:
    """Read a page as Markdown, without scripts, navigation and hidden text."""
    out = Builder("HTML")
    head = Head(None)
    with out.filling():
        root = trees.html(data)
        if root is None:
            raise Unreadable("no text" if data else "empty file")
        head = Head(root)
        blocks(out, root)
    return out.reading(
        title=head.title,
        date=head.date,
        author=head.meta.get("author") or head.meta.get("dc.creator"),
        language=head.language,
        metadata={key: head.meta.get(key) for key in ("description", "keywords")},
    )


class Head:
    """The metadata in the head of a page.

    Attributes:
        meta: contents of `<meta>` by their names in lower case.
    """

    def __init__(self, root: trees.Element | None) -> None:
        self.title: str | None = None
        self.language: str | None = None
        self.meta: dict[str, str] = {}
        if root is None:
            return
        for element in root.iter("html", "title", "meta"):
            if element.tag == "html":
                self.language = self.language or element.get("lang") or element.get("xml:lang")
            elif element.tag == "title":
                inside = element.getparent()
                if self.title is None and (inside is None or inside.tag in ("head", "html")):
                    self.title = single_spaced("".join(element.itertext())) or None
            else:
                key = element.get("name") or element.get("property") or element.get("itemprop")
                self.meta.setdefault(
                    (key or "").lower(), single_spaced(element.get("content") or "")
                )

    @property
    def date(self) -> str | None:
        """The day on which the page was published."""
        found = (iso(self.meta.get(key)) for key in _DATES)
        return next((date for date in found if date), None)
