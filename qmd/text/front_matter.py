"""Front matter: metadata of a Markdown file, before its text.

    --- YAML ---  or  +++ TOML +++  or  { JSON }     one block, or two
    key:: value                                      properties, in lines of their own
    Title: value                                     lines of known keys, the title first
    % title, % author, % date                        lines in this order

What is not quite YAML or TOML is read entry by entry, and the problem is told.
Sources: the documentation of Jekyll, Hugo (TOML, JSON), Obsidian, Logseq (properties),
MultiMarkdown and Pelican (lines of keys), and Pandoc (%).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from qmd.named_tuple import NamedTuple
from qmd.patterns import pattern
from qmd.text import yaml_reader

_OPENING = pattern(r"(?P<mark>---|\+\+\+)[ \t]*\r?\n")
_CLOSINGS = {
    "---": pattern(r"^(?:---|\.\.\.)[ \t]*\r?(?=\n|\Z)", re.M),
    "+++": pattern(r"^\+\+\+[ \t]*\r?(?=\n|\Z)", re.M),
}
_BLANK = pattern(r"[ \t\r\n]*+")
_BLANK_LINES = pattern(r"(?:[ \t\r]*+\n)*+")
_AFTER_JSON = pattern(r"[ \t]*\r?\n(?=[ \t\r\n]*\S)")
_JSON_BEGINS = pattern(r"\{\s*\"")
_PROPERTY = pattern(
    r"(?:[ \t]*-[ \t]+|[ \t]{0,4})(?P<key>[^\W\d_][\w.-]{0,99})::"
    r"(?:[ \t]+(?P<value>[^\n]*))?\r?(?:\n|\Z)"
)
_MOST_PROPERTIES = 200
_KEYS = (
    "abstract|affiliation|author|authors|category|copyright|created|date|description|keywords|lang|"
    "language|modified|save_as|slug|status|subtitle|summary|tags|template|title|translation|url"
)
_TITLED = pattern(r"title[ \t]*:[ \t]+\S", re.I)
_KEYED = pattern(rf"(?P<key>{_KEYS})[ \t]*:(?!:)[ \t]*(?P<value>[^\r\n]*)\r?(?:\n|\Z)", re.I)
_GOING_ON = pattern(r"(?:[ ]{2,}|\t)[ \t]*(?P<value>\S[^\r\n]*)\r?(?:\n|\Z)")
_PERCENT = pattern(r"%(?:[ \t]+(?P<value>[^\s%][^\r\n]*))?[ \t]*\r?(?:\n|\Z)")
_PERCENT_KEYS = ("title", "author", "date")
_FIRST_HEADING = pattern(r"#[ \t][^\n]*\n[ \t\r]*\n")
_EXPORTED = pattern(r"(?P<key>[^\W\d_][^:\n]{0,60}):[ \t]+(?P<value>[^\s][^\n]*)(?:\n|\Z)")
_LINE_END = pattern(r"[ \t]*\r?(?:\n|\Z)")
_WRITTEN_KEYS = ("tags", "tag", "aliases", "alias")
"""Keys whose values are texts, also where YAML reads a number or a boolean."""

_ENTRY = {
    ":": pattern(
        r"[ \t]{0,3}(?P<key>\"[^\"\n]*\"|'[^'\n]*'|[^\s#\-{}\[\],&*!|>%@`\"':][^:\n]{0,199}?)[ \t]*"
        r":(?=[ \t\r]|$)(?P<value>[^\n]*)"
    ),
    "=": pattern(r"[ \t]*(?P<key>\"[^\"\n]*\"|'[^'\n]*'|[\w.-]+)[ \t]*=(?P<value>[^\n]*)"),
}
_ITEM = pattern(r"[ \t]*-(?:[ \t]+|$)(?P<item>[^\n]*)")
_STRICT_LINE = pattern(r"[\w-]+[ \t]*[:=](?:[ \t\r]|$)|[ \t]|-[ \t]|#|\r?$|\]|\}")
_TAG = pattern(r"(?<![^\s,\[\"'])#[^\s,\[\]\"'#]+")
_TEMPLATES = frozenset(("{{", "{%", "<%", "${"))
LARGEST = 200_000
"""Characters of a block that is read entry by entry, or as TOML or JSON."""


class Frontmatter(NamedTuple):
    """Metadata before the text of a file.

    Attributes:
        metadata: its keys and values; empty if there is nothing.
        end: characters that it takes.
        problem: what could not be read, or None.
        properties: characters of it that are properties, at its end.
    """

    metadata: dict[str, object]
    end: int
    problem: str | None = None
    properties: int = 0

    def text_begins(self, text: str) -> int:
        """Return the characters before the first line of the text that is not blank."""
        found = _BLANK_LINES.match(text, self.end) if self.end else None
        return found.end() if found else 0

    @property
    def block(self) -> int:
        """Characters of its YAML, TOML or JSON."""
        return self.end - self.properties


NONE = Frontmatter({}, 0)


def frontmatter(text: str) -> Frontmatter:
    """Parse the front matter of `text`. What is not valid is told as a problem.

    What stands between two rules and is neither a mapping nor nothing is text.
    """
    first = text[:1]
    if first == "{":
        found = _json(text)
    elif first in ("-", "+"):
        found = _fenced(text, 0)
    elif first in ("T", "t") and _TITLED.match(text):
        return _keyed(text)
    elif first == "%":
        return _percent(text)
    else:
        found = NONE
    if found.end and (second := _second(text, found.end)):
        found = found._replace(metadata=second.metadata | found.metadata, end=second.end)
    return _with_properties(text, found)


def _fenced(text: str, at: int) -> Frontmatter:
    """Parse the block between two rules that begins at a place."""
    opening = _OPENING.match(text, at)
    closing = _CLOSINGS[opening["mark"]].search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return NONE
    start, stop, end = opening.end(), closing.start(), closing.end()
    if opening["mark"] == "+++":
        return _toml(text[start:stop].replace("\r\n", "\n"), end)
    # With the line break before it, so that line numbers are those of the file.
    return _yaml(text[start - 1 : stop], end)


def _yaml(block: str, end: int) -> Frontmatter:
    try:
        value = yaml_reader.read(block, yaml_reader.FRONTMATTER)
    except yaml_reader.LimitExceeded as error:
        return Frontmatter({}, end, f"frontmatter {error}")
    except yaml_reader.YamlError as error:
        problem = f"frontmatter is not valid YAML: {error}"
        return Frontmatter(_leniently(block, ":", _yaml_entry), end, problem)
    if value is None:
        return Frontmatter({}, end)
    if not isinstance(value, dict):
        return NONE
    metadata = {str(key): item for key, item in value.items()}
    for key in metadata:
        if key.lower() in _WRITTEN_KEYS and _is_other(metadata[key]):
            metadata[key] = _as_written(block, key, metadata[key])
        if key.lower() in ("tags", "tag") and _lacks(metadata[key]):
            metadata[key] = _commented_tags(block, key) or metadata[key]
    return Frontmatter(metadata, end)


def _is_other(value: object) -> bool:
    """Check whether a value is, or has, a number or a boolean."""
    return any(isinstance(item, int | float) for item in _listed(value))


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _as_written(block: str, key: str, value: object) -> object:
    """Return a value with numbers and booleans as texts where YAML writes others: 1.10, true."""
    lines = next((lines for name, lines in _entries(block, ":") if name == key), [""])
    written = _as_text([line.split(" #")[0] for line in lines], ":")
    if isinstance(written, str):
        written = list(map(_unquoted, written.strip("[] \t").split(",")))
    items = _listed(value)
    if not isinstance(written, list) or len(written) != len(items):
        return value
    texts = [
        text if isinstance(item, int | float) and str(item) != text else item
        for text, item in zip(written, items, strict=True)
    ]
    return texts if isinstance(value, list) else texts[0]


def _lacks(value: object) -> bool:
    return value is None or (isinstance(value, list) and None in value)


def _commented_tags(block: str, key: str) -> list[str]:
    """Find tags with a `#` in front, which is a comment to YAML."""
    for name, lines in _entries(block, ":"):
        if name == key:
            return [tag for line in lines for tag in _TAG.findall(line)]
    return []


def _toml(block: str, end: int) -> Frontmatter:
    import tomllib

    if len(block) > LARGEST:
        return Frontmatter({}, end, f"frontmatter has more than {LARGEST:,} characters")
    try:
        return Frontmatter(tomllib.loads(block), end)
    except (ValueError, RecursionError) as error:
        problem = f"frontmatter is not valid TOML: {error}"
        return Frontmatter(_leniently(block, "=", _toml_entry), end, problem)


def _json(text: str) -> Frontmatter:
    """Parse the JSON object that a text begins with, if a text follows."""
    if not _JSON_BEGINS.match(text):
        return NONE
    try:
        value, end = json.JSONDecoder().raw_decode(text[:LARGEST])
    except (ValueError, RecursionError):
        return NONE
    if not isinstance(value, dict) or not _AFTER_JSON.match(text, end):
        return NONE
    return Frontmatter(value, end)


def _keyed(text: str) -> Frontmatter:
    """Parse lines of `Key: value` before a blank line, all of known keys and at least two."""
    metadata: dict[str, object] = {}
    at, key = 0, ""
    while not (blank := _LINE_END.match(text, at)):
        if line := _KEYED.match(text, at):
            key = line["key"].lower()
            metadata.setdefault(key, line["value"].strip())
        elif key and (line := _GOING_ON.match(text, at)):
            metadata[key] = f"{metadata[key]} {line['value'].strip()}".strip()
        else:
            return NONE
        at = line.end()
    end = blank.start()
    return Frontmatter(metadata, end, properties=end) if len(metadata) > 1 else NONE


def _percent(text: str) -> Frontmatter:
    """Parse up to three lines that begin with `%`, before a blank line."""
    values: list[str] = []
    at = 0
    while len(values) < len(_PERCENT_KEYS) and (line := _PERCENT.match(text, at)):
        values.append((line["value"] or "").strip())
        at = line.end()
    if not any(values) or not _LINE_END.match(text, at):
        return NONE
    metadata = dict(zip(_PERCENT_KEYS, values, strict=False))
    return Frontmatter({key: value for key, value in metadata.items() if value}, at, properties=at)


def of_export(text: str) -> dict[str, object]:
    """Parse the lines of `Key: value` that Notion writes below the heading of a page."""
    metadata: dict[str, object] = {}
    if heading := _FIRST_HEADING.match(text):
        at = heading.end()
        while len(metadata) < _MOST_PROPERTIES and (line := _EXPORTED.match(text, at)):
            metadata.setdefault(line["key"], line["value"].strip())
            at = line.end()
        if not _LINE_END.match(text, at):
            return {}
    return metadata


def _second(text: str, at: int) -> Frontmatter | None:
    """Parse a second block that follows the first one, if every line of it is one of metadata."""
    following = _BLANK.match(text, at)
    begin = following.end() if following else at
    opening = _OPENING.match(text, begin)
    if opening is None:
        return None
    found = _fenced(text, begin)
    if not found.metadata or found.problem:
        return None
    lines = text[opening.end() : found.end].split("\n")[:-1]
    return found if all(map(_STRICT_LINE.match, lines)) else None


def _with_properties(text: str, found: Frontmatter) -> Frontmatter:
    """Add the properties in lines of their own that follow."""
    following = _BLANK.match(text, found.end)
    at = following.end() if following else found.end
    if text.find("::", at, at + 110) < 0:
        return found
    properties: dict[str, object] = {}
    end = at
    while len(properties) < _MOST_PROPERTIES and (line := _PROPERTY.match(text, end)):
        value = (line["value"] or "").strip()
        is_tags = line["key"].lower() in ("tags", "tag") and value
        # Here, blanks are part of a tag.
        properties.setdefault(line["key"], _between_commas(value) if is_tags else value)
        end = line.end()
    if not properties:
        return found
    return found._replace(metadata=properties | found.metadata, end=end, properties=end - found.end)


def _between_commas(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _leniently(
    block: str, separator: str, parsed: Callable[[str, list[str]], object]
) -> dict[str, object]:
    """Read what can be read of a block, entry by entry."""
    if len(block) > LARGEST:
        return {}
    metadata: dict[str, object] = {}
    for key, lines in _entries(block, separator):
        value = parsed(key, lines)
        if value is not None or key not in metadata:
            metadata[key] = value
    return metadata


def _entries(block: str, separator: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the keys of the top level, each with its lines."""
    key, lines = "", list[str]()
    for line in block.split("\n"):
        found = _ENTRY[separator].match(line)
        if found and (not key or not line[:1].isspace()):
            if key:
                yield key, lines
            key, lines = found["key"].strip("\"' \t"), [line]
        elif key and not line.lstrip().startswith("#"):
            lines.append(line)
    if key:
        yield key, lines


def _yaml_entry(key: str, lines: list[str]) -> object:
    """Parse an entry of YAML; what cannot be parsed is text."""
    text = "\n".join(_spaced(line) for line in lines)
    try:
        value = yaml_reader.read(text, yaml_reader.FRONTMATTER)
        if isinstance(value, dict) and len(value) == 1:
            return next(iter(value.values()))
    except yaml_reader.YamlError:
        pass  # read as text below
    return _as_text(lines, ":")


def _toml_entry(key: str, lines: list[str]) -> object:
    import tomllib

    for count in (len(lines), 1):
        try:
            return next(iter(tomllib.loads("\n".join(lines[:count])).values()))
        except (ValueError, RecursionError):
            continue
    return _as_text(lines[:1], "=")


def _spaced(line: str) -> str:
    """Replace the tabs that a line begins with, which YAML does not allow."""
    bare = line.lstrip(" \t")
    return line[: len(line) - len(bare)].replace("\t", "  ") + bare


def _as_text(lines: list[str], separator: str) -> object:
    """Read the value of an entry as text, or as a list of texts."""
    found = _ENTRY[separator].match(lines[0])
    first = (found["value"] if found else "").strip()
    items = [item["item"] for line in lines[1:] if (item := _ITEM.match(line))]
    if not first and items:
        return [text for item in items if (text := _unquoted(item))]
    rest = (line.strip() for line in lines[1:])
    return _unquoted(" ".join([first, *filter(None, rest)])) or None


def _unquoted(text: str) -> str:
    text = text.strip()
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1].strip() if is_quoted else text


def is_template(value: object) -> bool:
    """Check whether a value is a placeholder of a template, such as `{{title}}`."""
    return isinstance(value, str) and value.lstrip()[:2] in _TEMPLATES
