"""State of the search page, which its address holds whole."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote, urlencode

from starlette.datastructures import QueryParams

from qmd.declaration.parameters import LONGEST_QUERY, Selection
from qmd.named_tuple import NamedTuple

BOTH, WORDS, MEANING = "both", "words", "meaning"
MODES = {BOTH: "Words and meaning", WORDS: "Words", MEANING: "Meaning"}
"""What is searched, and its name."""

ON_A_PAGE = 20
"""Results."""

LAST_PAGE = 500

_GLOB = re.compile(r"([\\*?\[\]{},!])")

MANY = 20
"""Values of a filter at most."""


class AddressedSearch(NamedTuple):
    """A search as its address has it.

    Attributes:
        collections: any of them; none means those that searches look into by default.
        folder: `collection/folder`, or ''.
        tags: a document has all of them.
        kind: suffix without a dot, or ''.
        since: first day, or ''.
        before: day after the last one, or ''.
        page: from 1.
        why: each score is explained.
    """

    query: str = ""
    mode: str = BOTH
    collections: tuple[str, ...] = ()
    folder: str = ""
    tags: tuple[str, ...] = ()
    kind: str = ""
    since: str = ""
    before: str = ""
    page: int = 1
    why: bool = False

    @classmethod
    def read(cls, given: QueryParams) -> AddressedSearch:
        """Read an address. What is not understood is left out."""
        mode, page = given.get("mode", BOTH), given.get("page", "1")
        number = int(page) if re.fullmatch(r"[0-9]{1,4}", page) else 1
        return cls(
            _clean(given.get("q", ""))[:LONGEST_QUERY],
            mode if mode in MODES else BOTH,
            _several(given, "c"),
            _clean(given.get("folder", "")).strip("/"),
            _several(given, "tag"),
            kind if re.fullmatch(r"[a-z0-9]{1,12}", kind := given.get("kind", "")) else "",
            _clean(given.get("since", ""))[:40].strip(),
            _clean(given.get("before", ""))[:40].strip(),
            min(max(number, 1), LAST_PAGE),
            given.get("why") == "1",
        )

    @property
    def is_filtered(self) -> bool:
        """True if a filter is set."""
        return self.filters() != AddressedSearch().filters()

    def filters(self) -> tuple[object, ...]:
        """Return all that chooses documents."""
        return self.collections, self.folder, self.tags, self.kind, self.since, self.before

    def url(self, **changes: object) -> str:
        """Return the address of this search with some changes; the page begins anew."""
        return "/" + self.parameters(**changes)

    def parameters(self, **changes: object) -> str:
        """Return the query part of the address, with its question mark, or ''."""
        made = self._replace(**{"page": 1, **changes})  # type: ignore[arg-type]
        pairs = [("q", made.query)]
        pairs += [("mode", made.mode)] if made.mode != BOTH else []
        pairs += [("c", name) for name in made.collections]
        pairs += [("folder", made.folder)]
        pairs += [("tag", tag) for tag in made.tags]
        pairs += [("kind", made.kind), ("since", made.since), ("before", made.before)]
        pairs += [("page", str(made.page))] if made.page > 1 else []
        pairs += [("why", "1")] if made.why else []
        written = urlencode([(key, value) for key, value in pairs if value])
        return f"?{written}" if written else ""

    def selection(self) -> Selection:
        """Return the parameters of operations that choose the same documents."""
        chosen: Selection = {}
        if self.collections:
            chosen["collection"] = list(self.collections)
        if self.since:
            chosen["since"] = self.since
        if self.before:
            chosen["before"] = self.before
        if self.tags:
            chosen["filter"] = " and ".join(_equal("tags", tag) for tag in self.tags)
        if self.folder or self.kind:
            folder = _GLOB.sub(r"\\\1", self.folder)
            suffix = f"*.{self.kind}" if self.kind else ""
            chosen["path"] = f"{folder}/**/{suffix}" if folder and suffix else folder or suffix
        return chosen


def _equal(key: str, value: str) -> str:
    mark = "'" if '"' in value else '"'
    return f"{key} = {mark}{value.replace(mark, '')}{mark}"


def _clean(text: str) -> str:
    """Drop what is no character: half of a surrogate pair, and zero bytes."""
    return text.encode("utf-8", "ignore").decode().replace("\0", "")


def _several(given: QueryParams, name: str) -> tuple[str, ...]:
    texts = (_clean(each) for each in given.getlist(name)[:MANY])
    return tuple(dict.fromkeys(each for each in texts if each))


def document_url(file: str, *, fragment: str = "", **given: str | int) -> str:
    """Return the address of a document.

    Args:
        file: `collection/path`.
        given: further parameters.
    """
    written = urlencode({key: value for key, value in given.items() if value})
    query = f"?{written}" if written else ""
    return f"/doc/{quote(file)}{query}{'#' + fragment if fragment else ''}"


def links_url(file: str) -> str:
    """Return the address of the links around a document."""
    return f"/links/{quote(file)}"


def link_url(origin: str, target: str) -> str:
    """Return the address that leads on to the target of a link.

    Args:
        origin: `collection/path` of the document with the link.
        target: as it is written.
    """
    return _with({"from": origin, "to": target}, "/go")


def picture_url(origin: str, target: str) -> str:
    """Return the address of a picture of a document."""
    return _with({"from": origin, "to": target}, "/picture")


def _with(pairs: Mapping[str, str], path: str) -> str:
    return f"{path}?{urlencode(pairs)}"
