"""Markdown to HTML that is safe to show: markdown-it-py renders, nh3 removes what could act.

Raw HTML of a document stays as far as it is text, tables and the like. Scripts, styles, forms,
SVG and addresses other than http, https and mailto do not. No picture of another host is loaded.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import MutableMapping, Sequence
from typing import TYPE_CHECKING, Any
from unicodedata import bidirectional
from urllib.parse import unquote

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

from qmd.named_tuple import NamedTuple
from qmd.surfaces.page.address import document_url, link_url, picture_url
from qmd.surfaces.page.marks import IsMatch, displayed, marked_pieces
from qmd.text.headings import slug, without_anchor

if TYPE_CHECKING:
    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline

_TAGS = set(
    "a abbr b blockquote br caption cite code dd del details dfn div dl dt em figcaption figure h1 "
    "h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q s samp small span strong sub summary sup "
    "table tbody td tfoot th thead tr u ul var".split()
)

_ATTRIBUTES = {
    "*": {"id", "class", "dir", "lang", "title"},
    "a": {"href"},
    "img": {"src", "alt", "width", "height"},
    "ol": {"start"},
    "td": {"colspan", "rowspan", "align"},
    "th": {"colspan", "rowspan", "align"},
}

_SCHEMES = {"http", "https", "mailto", "qmd"}

_WIKI = re.compile(r"(!?)\[\[([^\[\]\n]{1,400})\]\]")
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|webp|avif|svg)$", re.I)
_OUTSIDE = re.compile(r"(?:[a-z][a-z0-9+.-]*:|//)", re.I)
_WITHOUT_LABEL = re.compile(r"<img(?![^>]* alt=)")
_AS_WRITTEN = "as_written"
"""Key in the `meta` of a heading's token."""

_OUR_ID = re.compile(r"L[0-9]+|hit|h-.*")
_OUR_CLASSES = ("hit", "outside")
_DIRECTED = ("p", "h1", "h2", "h3", "h4", "h5", "h6", "td", "th", "dd", "dt")
_AROUND = ("bullet_list_open", "ordered_list_open", "list_item_open", "blockquote_open")
"""Blocks whose direction is that of the first text in them. `dir="auto"` would not see it: HTML
leaves out elements that have a `dir` of their own."""


_ELEMENT = re.compile(r"<(/?)([a-z][a-z0-9-]*)", re.I)
_CELL = re.compile(r"[ \t]*\|[ \t]*")
_UNCOUNTED = frozenset("p li dt dd tr td th thead tbody tfoot br hr img input wbr".split())
"""Elements that are empty, or that the next of their kind ends."""

DEEPEST = 500
"""Elements inside one another at most; further tags are shown as text.

The time that nh3 takes grows with the square of the depth. Source: browsers end at 512
(kMaximumHTMLParserDOMTreeDepth in Chromium)."""


class OutlineEntry(NamedTuple):
    """A heading of a rendered text.

    Attributes:
        level: 1 to 6.
        id: of its element.
    """

    level: int
    text: str
    id: str


class Rendered(NamedTuple):
    """A text as HTML, with its headings."""

    html: str
    outline: list[OutlineEntry]


def render_markdown(
    text: str,
    file: str,
    *,
    is_match: IsMatch | None = None,
    hit: int | None = None,
    before: int = 0,
) -> Rendered:
    """Render a text; each block has the number of its line as its id, `L12`.

    Args:
        file: `collection/path`, from which relative links lead on.
        is_match: tells words that are marked.
        hit: line whose block is pointed out.
        before: lines of the document before the text.
    """
    env: dict[str, Any] = {"file": file, "is_match": is_match}
    tokens = _MARKDOWN.parse(displayed(text), env)
    _number(tokens, before, hit)
    _direct(tokens)
    outline = _headings(tokens)
    html = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, env)
    return Rendered(_cleaned(_flattened(html), file), outline)


def plain_text(text: str) -> str:
    """Return the words of a passage in a line, without the marks of Markdown.

    Rows of a table count as text, since a passage may begin below its head.
    """
    rows = [line.strip(" \t|") for line in text.splitlines() if line.strip(" \t|:-")]
    parts = []
    for token in _MARKDOWN.parse("\n".join(_CELL.sub(" · ", row) for row in rows), {}):
        for each in token.children or (() if token.nesting else (token,)):
            is_break = each.type in ("softbreak", "hardbreak")
            is_html = each.type in ("html_inline", "html_block")
            parts.append(" " if is_break else "" if is_html else each.content)
        parts.append(" ")
    return " ".join("".join(parts).split())


def _flattened(html: str) -> str:
    """Make text of tags that open more than `DEEPEST` elements inside one another."""
    opened: dict[str, int] = {}
    depth = 0

    def tag(found: re.Match[str]) -> str:
        nonlocal depth
        name = found[2].lower()
        if name in _UNCOUNTED:
            return found[0]
        now = opened.get(name, 0)
        if not found[1]:
            if depth >= DEEPEST:
                return f"&lt;{found[2]}"
            opened[name] = now + 1
            depth += 1
        elif now:
            opened[name] = now - 1
            depth -= 1
        return found[0]

    return _ELEMENT.sub(tag, html) if html.count("<") > DEEPEST else html


def _cleaned(html: str, file: str) -> str:
    def attribute(element: str, name: str, value: str) -> str | None:
        if name == "id":
            return value if _OUR_ID.fullmatch(value) else None
        if name == "class":
            kept = " ".join(each for each in value.split() if each in _OUR_CLASSES)
            return kept or None
        if name == "href":
            return _href(value, file)
        if name == "src":
            return None if _OUTSIDE.match(value) else picture_url(file, unquote(_bare(value)))
        return value

    cleaned = nh3.clean(
        html,
        tags=_TAGS,
        clean_content_tags={"script", "style", "svg", "math", "template", "noscript"},
        attributes=_ATTRIBUTES,
        attribute_filter=attribute,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer",
        set_tag_attribute_values={each: {"dir": "auto"} for each in _DIRECTED}
        | {"img": {"loading": "lazy"}},
    )
    return _WITHOUT_LABEL.sub('<img alt=""', cleaned)


def _href(value: str, file: str) -> str:
    """Choose where a link leads: out, to a heading, or on to a document."""
    if value.startswith("#"):
        return f"#h-{slug(unquote(value[1:]))}"
    if value[:4].lower() == "qmd:":
        return document_url(unquote(value[4:].removeprefix("//").partition("?")[0]))
    if value.startswith("//"):
        # Without a scheme: the page's own, `http` on this machine, would be taken.
        return f"https:{value}"
    if _OUTSIDE.match(value):
        return value
    return link_url(file, value if value.startswith("[[") else unquote(value))


def _bare(target: str) -> str:
    return target.removeprefix("[[").removesuffix("]]").partition("#")[0].partition("?")[0]


def _number(tokens: Sequence[Token], before: int, hit: int | None) -> None:
    """Give each block the id of its first line; that of the hit is `hit`."""
    seen: set[int] = set()
    best: Token | None = None
    for token in tokens:
        if token.map is None or token.nesting < 0 or token.hidden or token.type == "inline":
            continue
        first, last = token.map[0] + 1 + before, token.map[1] + before
        if first not in seen and token.type not in ("html_block", "thead_open", "tbody_open"):
            seen.add(first)
            token.attrSet("id", f"L{first}")
        if hit is not None and first <= hit <= last and not token.type.endswith("list_open"):
            best = token
    if best is not None:
        best.attrSet("id", "hit")
        best.attrJoin("class", "hit")


def _direct(tokens: Sequence[Token]) -> None:
    """Let lists and quotations whose text runs from right to left do so."""
    around: list[Token] = []
    for token in tokens:
        if token.type in _AROUND:
            around.append(token)
        elif token.nesting < 0 and f"{token.type[:-5]}open" in _AROUND:
            around.pop()
        elif token.type == "inline" and (direction := direction_of(token.content)):
            for each in around:
                if each.attrGet("dir") is None:
                    each.attrSet("dir", direction)


def direction_of(text: str) -> str | None:
    """Return `rtl` or `ltr` by the first letter that has a direction; None: there is none.

    Source: Unicode Standard Annex #9, rules P2 and P3.
    """
    kinds = map(bidirectional, text)
    kind = next((each for each in kinds if each in ("L", "R", "AL")), None)
    return None if kind is None else "ltr" if kind == "L" else "rtl"


def _headings(tokens: Sequence[Token]) -> list[OutlineEntry]:
    found: list[OutlineEntry] = []
    seen: dict[str, int] = {}
    for token, inline in itertools.pairwise(tokens):
        if token.type != "heading_open":
            continue
        text = "".join(
            each.content for each in inline.children or () if each.type in ("text", "code_inline")
        )
        name = slug(token.meta[_AS_WRITTEN])
        again = seen.get(name, 0)
        seen[name] = again + 1
        name = f"h-{name}-{again}" if again else f"h-{name}"
        if token.attrGet("id") != "hit":
            token.attrSet("id", name)
        found.append(OutlineEntry(int(token.tag[1]), text, str(token.attrGet("id"))))
    return found


def _take_anchors(state: StateCore) -> None:
    """Take the anchors that headings are given out of what is shown."""
    for token, inline in itertools.pairwise(state.tokens):
        if token.type == "heading_open":
            token.meta = {_AS_WRITTEN: inline.content}
            inline.content = without_anchor(inline.content)


def _wiki(state: StateInline, silent: bool) -> bool:
    """Parse `[[Name#Heading|text]]` as a link, and `![[picture.png]]` as a picture."""
    found = _WIKI.match(state.src, state.pos)
    if found is None:
        return False
    target, _, shown = found[2].partition("|")
    if not silent:
        is_picture = bool(found[1]) and _PICTURE.search(target.partition("#")[0]) is not None
        if is_picture:
            token = state.push("image", "img", 0)
            token.attrs = {"src": f"[[{target}]]", "alt": ""}
            token.children, token.content = [], target
        else:
            state.push("link_open", "a", 1).attrs = {"href": f"[[{target}]]"}
            state.push("text", "", 0).content = (shown or target).strip()
            state.push("link_close", "a", -1)
    state.pos = found.end()
    return True


def _finish(state: StateCore) -> None:
    """Mark words that match, and make links of pictures of other hosts."""
    is_match: IsMatch | None = state.env.get("is_match")
    for token in state.tokens:
        if token.type != "inline" or not token.children:
            continue
        made: list[Token] = []
        for child in token.children:
            if child.type == "image" and _OUTSIDE.match(str(child.attrGet("src") or "")):
                made += _link_in_place_of(child)
            elif child.type == "text" and is_match is not None:
                made += _with_marks(child, is_match)
            else:
                made.append(child)
        token.children = made


def _link_in_place_of(image: Token) -> list[Token]:
    source = str(image.attrGet("src"))
    opened = Token("link_open", "a", 1, attrs={"href": source, "class": "outside"})
    text = Token("text", "", 0, content=image.content or source)
    return [opened, text, Token("link_close", "a", -1)]


def _with_marks(token: Token, is_match: IsMatch) -> list[Token]:
    found: list[Token] = []
    for part, is_hit in marked_pieces(token.content, is_match):
        text = Token("text", "", 0, content=part)
        if is_hit:
            found += [Token("mark_open", "mark", 1), text, Token("mark_close", "mark", -1)]
        else:
            found.append(text)
    return found


def _image(
    self: Any, tokens: Sequence[Token], at: int, options: Any, env: MutableMapping[str, Any]
) -> str:
    """Render a picture with the text of its label."""
    token = tokens[at]
    label = self.renderInlineAsText(token.children, options, env) if token.children else ""
    token.attrSet("alt", label or token.content)
    return str(self.renderToken(tokens, at, options, env))


def _made() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    made.inline.ruler.before("link", "wiki", _wiki)
    made.inline.ruler.before("image", "wiki_picture", _wiki)
    made.core.ruler.before("inline", "anchors", _take_anchors)
    made.core.ruler.push("finish", _finish)
    made.add_render_rule("image", _image)
    return made


_MARKDOWN = _made()
