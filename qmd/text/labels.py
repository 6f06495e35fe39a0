"""Tags, aliases and other words of the metadata by which a document is found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from qmd.patterns import pattern
from qmd.text.front_matter import is_template

TAGS = ("tags", "tag")
ALIASES = ("aliases", "alias")
DESCRIBING = (
    "title",
    *ALIASES,
    *TAGS,
    "keywords",
    "categories",
    "category",
    "summary",
    "description",
    "subtitle",
    "abstract",
    "author",
    "authors",
    "date",
    "status",
)
"""Keys whose values are searched as if they stood in the text."""

_LINKED = pattern(r"\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]*)\]\]")
_MOST = 1000
"""Values of a key that are looked at."""


def tags(known: Mapping[str, object]) -> list[str]:
    """List the tags of the metadata, without `#`, none twice.

    A text holds several, between commas or blanks. An item of a list is one, unless it has commas.

    Args:
        known: metadata, see `folded`.
    """
    found = (tag for key in TAGS if key in known for tag in _tags_of(known[key]))
    return list(dict.fromkeys(found))[:_MOST]


def aliases(known: Mapping[str, object]) -> list[str]:
    """List the other names of a document, none twice."""
    found: list[str] = []
    for value in (known[key] for key in ALIASES if key in known):
        if isinstance(value, list):
            found += filter(None, map(_text, value[:_MOST]))
        elif text := _text(value):
            found += filter(None, map(str.strip, text.split(",")))
    return list(dict.fromkeys(found))


def described(known: Mapping[str, object]) -> str:
    """Join the values of the metadata that are searched."""
    texts: dict[str, None] = {}
    for key in _describing(tuple(known)):
        value = known[key]
        for item in value[:_MOST] if isinstance(value, list) else (value,):
            texts[_text(item)] = None
    texts.pop("", None)
    return "\n".join(texts)


@lru_cache(100)
def _describing(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Select the keys whose values are searched, in their order. Many files have the same keys."""
    return tuple(key for key in DESCRIBING if key in keys)


_lower = lru_cache(1000)(str.lower)


def folded(metadata: Mapping[str, object]) -> dict[str, object]:
    """Return the metadata by keys without case, and without those that have no value."""
    return {_lower(key): value for key, value in metadata.items() if value is not None}


def _tags_of(value: object) -> Iterator[str]:
    if isinstance(value, list):
        for item in value[:_MOST]:
            if not isinstance(item, list | dict):
                yield from _split(item, is_item=True)
            elif isinstance(item, list):
                yield from (tag for part in item[:10] for tag in _split(part, is_item=True))
    elif not isinstance(value, dict):
        yield from _split(value, is_item=False)


def _split(value: object, *, is_item: bool) -> Iterator[str]:
    text = _text(value)
    if is_item and not (text.startswith("#") and " #" in text):
        parts = text.split(",")
    else:
        parts = text.replace(",", " ").split()
    for part in parts:
        tag = part.strip().lstrip("#").strip().rstrip("/")
        if tag:
            yield " ".join(tag.split())


def _text(value: object) -> str:
    """Return a value as text, with the text of links; '' for one that has none."""
    if not isinstance(value, str):  # most are
        if isinstance(value, bool | dict) or value is None:
            return ""
        if isinstance(value, list):
            return " ".join(filter(None, map(_text, value[:10])))
    elif is_template(value):
        return ""
    text = str(value).strip()
    return _LINKED.sub(r"\1", text).strip() if "[[" in text else text
