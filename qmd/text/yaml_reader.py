"""YAML reader with limits, for frontmatter and for settings files.

Two libraries read YAML here: ryaml, which is fast, and ruamel.yaml, which knows lines and keeps
comments. Both take quadratic time for a hostile text: each open bracket costs time at every word
that follows, and aliases multiply their values. A text is measured before it is parsed, and a text
above a limit reaches neither library.
"""

from __future__ import annotations

import re

from qmd.named_tuple import NamedTuple


class YamlLimits(NamedTuple):
    """Limits of a YAML text: size, depth, values, aliases.

    Attributes:
        characters: of the text.
        lines: of the text.
        values: keys, items and values; what an alias stands for counts each time.
        levels: lists and mappings within one another.
        merges: keys `<<`. ruamel.yaml takes time in proportion to the square of their number.
    """

    characters: int
    lines: int
    values: int
    levels: int
    merges: int


FRONTMATTER = YamlLimits(1 << 20, 1 << 20, 100_000, 128, 1 << 20)
"""Limits of the frontmatter of a document, which ryaml alone reads. It refuses deeper nesting."""

SETTINGS = YamlLimits(1 << 18, 20_000, 10_000, 16, 200)
"""Limits of a settings file, which ruamel.yaml reads as well: 70 µs for a value."""

BRACKET_COST = 100_000_000
"""Opening brackets times characters that ryaml may be given: about 0.1 seconds."""

_FEW_BRACKETS = 64
"""Opening brackets that cost little in a text of any size."""

SLOW_CHARACTERS, SLOW_BRACKET_COST = 1 << 14, 250_000
"""Limits for ruamel.yaml, which gives better messages and reads texts that ryaml does not: about
0.3 seconds."""

_ANCHOR = r"(?:^|[\s\[{,:?-])&[^\s,\[\]{}]"
_ALIAS = r"(?:^|[\s\[{,:?-])\*[^\s,\[\]{}]"
_LONG_NUMBER = (
    r"(?<![\w.\"'])[-+]?(?:0x[0-9A-Fa-f]{16,99}|0o[0-7]{21,99}|[1-9][0-9]{18,99})(?![\w.\"'])"
)
"""A number that may have more than 64 bits, which ryaml does not read."""

_KEY_OF_SEVERAL = r"[{\[?*]"
"""Start of a key that is a list or a mapping."""

_LINE = r" at line (\d+)"
_LONGEST_SEARCHED = 4096
"""Characters that are searched for the line of a mistake."""

_MOST_TRIED = 50
"""Lines tried as that of a mistake: each costs a parse of all lines before it."""


class YamlError(ValueError):
    """Invalid YAML.

    Attributes:
        line: of the mistake, counted from 1, if it is known.
    """

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.line = line


class LimitExceeded(YamlError):
    """YAML text above a limit; the message continues after the name of the text."""


def read(text: str, limits: YamlLimits) -> object:
    """Parse a YAML text within limits.

    Raises:
        LimitExceeded: the text is over a limit. No parser has seen it, or its value is dropped.
        YamlError: the text is not YAML.
    """
    check_text(text, limits)
    value = _parsed(text)
    if limits is SETTINGS:
        _check_value(value, limits)
    return value


def check_text(text: str, limits: YamlLimits) -> None:
    """Refuse a text that would be slow to parse, without parsing it.

    Raises:
        LimitExceeded: it is too large, or has too many brackets, merges or aliases.
        YamlError: it has aliases, and is not YAML.
    """
    if len(text) > limits.characters:
        raise LimitExceeded(
            f"has {len(text):,} characters, and at most {limits.characters:,} are read: "
            "shorten or split it"
        )
    lines = text.count("\n") + 1
    if lines > limits.lines:
        raise LimitExceeded(
            f"has {lines:,} lines, and at most {limits.lines:,} are read: shorten or split it"
        )
    brackets = _brackets(text)
    if brackets > _FEW_BRACKETS and brackets * len(text) > BRACKET_COST:
        raise LimitExceeded(
            f"has {brackets:,} brackets in {len(text):,} characters, which are too many: "
            "write lists as lines that begin with '-'"
        )
    if text.count("<<") > limits.merges:
        raise LimitExceeded(
            f"has {text.count('<<'):,} merges (<<), and at most {limits.merges:,} are read: "
            "write out what they stand for"
        )
    if "&" in text and "*" in text and re.search(_ANCHOR, text):
        _check_aliases(text, limits)


def is_slow(text: str) -> bool:
    """Check whether ruamel.yaml could be slow for a text."""
    return len(text) > SLOW_CHARACTERS or _brackets(text) * len(text) > SLOW_BRACKET_COST


def _brackets(text: str) -> int:
    return text.count("[") + text.count("{")


def _check_aliases(text: str, limits: YamlLimits) -> None:
    """Refuse aliases that expand too far: 1,200 characters can mean millions of values.

    Raises:
        LimitExceeded: they do.
    """
    # Nested as favourably as can be, n aliases repeat the text 3^(n/3) times.
    aliases = len(re.findall(_ALIAS, text))
    if not aliases or (aliases < 30 and 3 ** (aliases / 3) * len(text) <= limits.values):
        return
    if is_slow(text):
        raise LimitExceeded(
            f"has {aliases:,} aliases (*name) in {len(text):,} characters, which are too many: "
            "write out what they stand for"
        )
    values = _expanded(text)
    if values > limits.values:
        raise LimitExceeded(
            f"has aliases (*name) that stand for {values:,} values, and at most "
            f"{limits.values:,} are read: write out what is needed"
        )


def _expanded(text: str) -> int:
    """Count the values of a text after expansion of its aliases.

    Raises:
        YamlError: it is not YAML.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError
    from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, ScalarEvent

    sizes: dict[str, int] = {}
    total = 0
    open_: list[tuple[str | None, int]] = []
    try:
        for event in YAML(typ="safe", pure=True).parse(text):
            if re.search(r"[^\w-]", getattr(event, "anchor", None) or ""):
                # The libraries do not agree where such a name ends.
                raise YamlError(f"'{event.anchor}' cannot be the name of an anchor")
            if isinstance(event, CollectionEndEvent):
                anchor, before = open_.pop()
                if anchor is not None:
                    sizes[anchor] = total - before
            elif isinstance(event, CollectionStartEvent):
                open_.append((event.anchor, total))
                total += 1
            elif isinstance(event, AliasEvent):
                if event.anchor not in sizes:
                    raise YamlError(f"the alias *{event.anchor} names nothing that is complete")
                total += sizes[event.anchor]
            elif isinstance(event, ScalarEvent):
                total += 1
                if event.anchor is not None:
                    sizes[event.anchor] = 1
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise YamlError(problem, mark.line + 1 if mark else None) from error
    return total


def _check_value(value: object, limits: YamlLimits) -> None:
    """Refuse a value with too many levels or parts.

    Raises:
        LimitExceeded: it is, or has.
    """
    level, values = 0, 0
    row = [value]
    while row:
        inner: list[object] = []
        values += len(row)
        for each in row:
            if isinstance(each, dict):
                inner += each.keys()
                inner += each.values()
            elif isinstance(each, list):
                inner += each
        if values + len(inner) > limits.values:
            raise LimitExceeded(
                f"has more than {limits.values:,} keys and values: shorten or split it"
            )
        if level > limits.levels:
            raise _too_deep(limits.levels)
        level += 1
        row = inner


def _too_deep(levels: int, line: int | None = None) -> LimitExceeded:
    return LimitExceeded(
        f"nests lists and mappings in more than {levels} levels: write it flatter", line
    )


def _parsed(text: str) -> object:
    """Parse a text with ryaml.

    Raises:
        YamlError: it is not YAML.
    """
    import ryaml

    try:
        return ryaml.loads(text)
    except ryaml.InvalidYamlError as error:
        if not re.search(_LONG_NUMBER, text):
            raise _told(str(error), text) from error
    except ValueError as error:  # an error of Python
        raise _bad_key(text) from error
    return _parsed_with_long_numbers(text)


def _parsed_with_long_numbers(text: str) -> object:
    """Parse a text with numbers that are too long for ryaml, which reads them as text."""
    import ryaml

    private_use = map(chr, range(0xE000, 0xF900))
    mark = min(set(private_use) - set(text), default=None)
    if mark is None:
        raise YamlError("a number is too long")

    def marked(number: re.Match[str]) -> str:
        return number[0] if -(2**63) <= int(number[0], 0) < 2**64 else number[0] + mark

    def unmarked(value: object) -> object:
        if isinstance(value, str):
            text = value.replace(mark, "")
            is_number = value == text + mark and re.fullmatch(_LONG_NUMBER, text)
            return int(text, 0) if is_number else text
        if isinstance(value, dict):
            return {unmarked(key): unmarked(item) for key, item in value.items()}
        return [unmarked(item) for item in value] if isinstance(value, list) else value

    text = re.sub(_LONG_NUMBER, marked, text)
    try:
        return unmarked(ryaml.loads(text))
    except ryaml.InvalidYamlError as error:
        raise _told(str(error).replace(mark, ""), text) from error
    except ValueError as error:
        raise _bad_key(text) from error


def _told(problem: str, text: str) -> YamlError:
    """Translate an error of ryaml, with its line; limits of ryaml get our own text."""
    found = re.search(_LINE, problem)
    line = int(found[1]) if found else None
    if problem.startswith("repetition limit"):
        return LimitExceeded(
            "has aliases (*name) that stand for too much: write out what is needed"
        )
    if problem.startswith("recursion limit") and not re.search(_ALIAS, text):
        return _too_deep(FRONTMATTER.levels, line)
    return YamlError(problem, line)


def _bad_key(text: str) -> YamlError:
    """Return the error of a key that is a list or a mapping, as in `title: {{ title }}`."""
    line = _line_of_bad_key(text)
    at = f" at line {line}" if line is not None else ""
    return YamlError(f"a key is a list or a mapping{at}; text in braces needs quotes", line)


def _line_of_bad_key(text: str) -> int | None:
    """Find the line of the invalid key; None if the text is long."""
    import ryaml

    if len(text) > _LONGEST_SEARCHED:
        return None
    lines = text.split("\n")
    candidates = [line for line, part in enumerate(lines, 1) if re.search(_KEY_OF_SEVERAL, part)]
    for line in candidates[:_MOST_TRIED]:
        try:
            ryaml.loads("\n".join(lines[:line]))
        except ryaml.InvalidYamlError:
            pass  # only the beginning of something
        except ValueError:
            return line
    return None
