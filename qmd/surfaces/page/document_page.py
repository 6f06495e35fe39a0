"""Page of a document: its text, outline and facts, and the way to its file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from qmd.named_tuple import NamedTuple
from qmd.operations import reading
from qmd.surfaces.page.address import AddressedSearch, document_url
from qmd.surfaces.page.document_dates import DocumentDates, document_dates
from qmd.surfaces.page.marks import NumberedLine, highlighted
from qmd.surfaces.page.search_page import kind_name
from qmd.text import kinds, markdown

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.operations.reading import OpenedDocument
    from qmd.surfaces.page.markdown_html import OutlineEntry
    from qmd.surfaces.page.marks import IsMatch

LINES, LARGEST = 1000, 200_000
"""Lines of a text on a page, and characters of a Markdown document that is rendered. A longer one
is shown as text, page by page."""

LONGEST_LINE = 5000
"""Characters of a line that are shown."""

MOST_HEADINGS = 200

RENDERED, TEXT = "rendered", "text"


class DocumentPart(NamedTuple):
    """A part of a document: of a PDF a page.

    Attributes:
        label: its name, or ''.
    """

    label: str
    html: str


class DocumentView(NamedTuple):
    """Content of the page of a document.

    Attributes:
        title: of the document.
        view: rendered or text.
        parts: of a rendered document.
        lines: of one that is shown as text.
        first, last, total: lines that are shown, and how many there are.
        facts: names and values.
        views: names and addresses of rendered and text.
        earlier, later: addresses of the lines before and after, or None.
    """

    title: str
    file: str
    trail: list[tuple[str, str]]
    name: str
    view: str
    parts: list[DocumentPart]
    outline: list[OutlineEntry]
    lines: list[NumberedLine]
    first: int
    last: int
    total: int
    hit: int
    facts: list[tuple[str, str]]
    dates: DocumentDates
    tags: list[tuple[str, str]]
    context: str | None
    editor: str | None
    original: str | None
    views: list[tuple[str, str, bool]]
    is_long: bool
    query: str
    earlier: str | None = None
    later: str | None = None
    begins_with_title: bool = False


def document_view(
    index: Index, name: str, *, query: str = "", line: int = 0, view: str = ""
) -> DocumentView:
    """Read a document for its page.

    Args:
        query: keywords that are marked.
        line: that is pointed out, from 1; 0: none.
        view: rendered or text; '' chooses by the kind of the document.

    Raises:
        DocumentNotFound: there is no such document.
    """
    opened = reading.open_document(index, name)
    document, body = opened.document, opened.body
    is_match = _matcher(query)
    is_long = len(body) > LARGEST
    kind = kinds.kind_of(document.path)
    is_prose = kind is None or kind.group == kinds.DOCUMENT
    chosen = view if view in (RENDERED, TEXT) else (RENDERED if is_prose else TEXT)
    if is_long:
        chosen = TEXT
    lines = body.splitlines()
    shown = DocumentView(
        document.title,
        document.name,
        _trail(document.name),
        document.path.rpartition("/")[2],
        chosen,
        [],
        [],
        [],
        1,
        len(lines),
        len(lines),
        line,
        _facts(opened),
        document_dates(opened),
        [(tag, AddressedSearch(tags=(tag,)).url()) for tag in opened.tags[:30]],
        opened.context,
        _editor(index, document.name, max(line, 1)),
        f"/original{document_url(document.name)[4:]}" if opened.place else None,
        [
            (name, document_url(document.name, q=query, line=line, view=value), value == chosen)
            for name, value in (("Page", RENDERED), ("Text", TEXT))
        ],
        is_long,
        query,
    )
    if chosen == TEXT:
        return _as_text(shown, lines, is_match)
    return _as_page(shown, opened, is_match)


def _matcher(query: str) -> IsMatch | None:
    from qmd.errors import QueryError
    from qmd.ranking.matcher import Matcher
    from qmd.ranking.query import content_words

    if not query.strip():
        return None
    try:
        words = content_words(query)
    except QueryError:
        return None
    return Matcher(words) if words else None


def _as_text(shown: DocumentView, lines: list[str], is_match: IsMatch | None) -> DocumentView:
    """Show a page of the lines as they are."""
    at = max(0, (min(shown.hit, len(lines)) - 1) // LINES * LINES) if shown.hit else 0

    def url(line: int) -> str:
        return document_url(shown.file, q=shown.query, line=line, view=TEXT)

    part = lines[at : at + LINES]
    return shown._replace(
        lines=[
            NumberedLine(number, highlighted(_cut(text), is_match))
            for number, text in enumerate(part, at + 1)
        ],
        first=at + 1 if part else 0,
        last=at + len(part),
        earlier=url(at - LINES + 1) if at else None,
        later=url(at + LINES + 1) if at + LINES < len(lines) else None,
    )


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} …"


def _as_page(shown: DocumentView, opened: OpenedDocument, is_match: IsMatch | None) -> DocumentView:
    """Render Markdown, or text that a reader has made of a file, place by place."""
    from qmd.surfaces.page.markdown_html import render_markdown

    text = opened.body[opened.begins :]
    before = opened.body.count("\n", 0, opened.begins)
    lines = text.splitlines(keepends=True)
    cuts: list[tuple[int, str]] = [(1, "")]
    if opened.places is not None:
        found = [
            (line - before, opened.places.at(line) or "")
            for line in dict.fromkeys(opened.places.lines)
        ]
        cuts = [each for each in found if each[0] >= 1] or cuts
        if cuts[0][0] > 1:
            cuts.insert(0, (1, ""))
    parts, outline = [], []
    for (first, label), (end, _) in zip(cuts, [*cuts[1:], (len(lines) + 1, "")], strict=True):
        made = render_markdown(
            "".join(lines[first - 1 : end - 1]),
            shown.file,
            is_match=is_match,
            hit=shown.hit or None,
            before=before + first - 1,
        )
        parts.append(DocumentPart(label, made.html))
        outline += made.outline
    begins = bool(outline) and outline[0].level == 1 and parts[0].html.lstrip().startswith("<h1")
    return shown._replace(
        parts=parts,
        outline=outline[:MOST_HEADINGS],
        begins_with_title=begins and outline[0].text.strip() == shown.title.strip(),
    )


def _trail(file: str) -> list[tuple[str, str]]:
    """Return the collection and the folders of a document, with addresses of their documents."""
    collection, *folders = file.split("/")[:-1]
    found = [(collection, AddressedSearch(collections=(collection,)).url())]
    for at in range(len(folders)):
        folder = "/".join((collection, *folders[: at + 1]))
        found.append((folders[at], AddressedSearch(folder=folder).url()))
    return found


def _facts(opened: OpenedDocument) -> list[tuple[str, str]]:
    document = opened.document
    facts = [
        ("Size", _size(document.size)),
        ("Kind", kind_name(document.name) or "Markdown"),
        ("Docid", document.docid),
    ]
    dated = {key.partition(".")[0] for key, _ in markdown.metadata_dates(opened.metadata)}
    for key, value in list(opened.metadata.items())[:30]:
        if key.lower() not in ("title", "tags", "tag") and key not in dated:
            facts.append((str(key)[:60], _written(value)[:300]))
    return facts


def _written(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def _size(size: int) -> str:
    for unit, bytes_of in (("MB", 1_000_000), ("kB", 1000)):
        if size >= bytes_of:
            return f"{size / bytes_of:.1f} {unit}"
    return f"{size} bytes"


def _editor(index: Index, file: str, line: int) -> str | None:
    """Return the link that opens a document in the editor of index.yml, if it is approved."""
    from qmd.settings import trust
    from qmd.surfaces import render

    settings = index.settings()
    if not settings.editor_uri or not trust.is_trusted(index.place, settings):
        return None
    roots = {each.name: each.root for each in settings.collections}
    uri = render.editor_link(settings.editor_uri, roots)(file, line)
    scheme = (uri or "").partition(":")[0].lower()
    return None if scheme in ("javascript", "data", "vbscript", "") else uri
