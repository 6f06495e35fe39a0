"""Readers of what notes say besides their text: metadata, links, languages, names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from bench.fuzz.sources import Bytes, Input, Target

_YAML = "title: ¦tags: ¦tag: #¦aliases:\n- ¦: ¦- ¦\t¦{{date}}¦\"¦'¦[¦]¦,¦#tea ¦\n---\n¦---\n¦...\n"
_OTHERS = '+++\n¦ = ¦[a]\n¦"""¦{"a": ¦}¦\\¦key:: ¦- b:: ¦a:: [[¦]]¦|¦&a ¦*a¦!!¦\r\n¦: Tea: green\n'

BLOCKS = {"---": "---\n{}\n---\n{}", "+++": "+++\n{}\n+++\n{}", "{": '{{"{}\n{}', "": "{}{}"}
"""Texts with a block of metadata of each kind, and with none."""


def metadata() -> Iterator[Target]:
    """Front matter of all kinds, also what is not quite one."""
    from qmd.text import labels, markdown
    from qmd.text.front_matter import frontmatter

    def made(source: Bytes) -> Input:
        kind = source.pick(list(BLOCKS))
        return source.text(), source.text(), kind

    def check(block: str, after: str, kind: str) -> None:
        text = BLOCKS[kind].format(block, after)
        found = frontmatter(text)
        begins = found.text_begins(text)
        assert 0 <= found.properties <= found.end <= begins <= len(text)
        assert not text[found.end : begins].strip()
        assert all(isinstance(key, str) for key in found.metadata)
        kept = markdown.metadata_json(found.metadata)
        known = labels.folded(json.loads(kept) if kept else {})
        tags, aliases = labels.tags(known), labels.aliases(known)
        assert all(tag and tag == " ".join(tag.split()) and tag[0] != "#" for tag in tags)
        assert all(alias == alias.strip() and alias for alias in aliases)
        for names in (tags, aliases):
            assert len(names) == len(set(names))
        labels.described(known).encode()
        if found.end:  # what follows does not change it
            alone = frontmatter(text[: found.end].rstrip("\n") + "\n\nTea\n")
            assert repr(alone.metadata) == repr(found.metadata)

    words = f"{_YAML}¦{_OTHERS}".split("¦")
    examples = (
        b"title: Tea: green\ntags: #a, b\n\tx: {{date}}\naliases: [a, [b]]\xffa:: b\n\0",
        b'title = "Tea"\ntags = ["a"\nx = """\ny"""\xff---\nb: c\n---\ntext\1',
        b'title": "Tea", "tags": ["a"]}\n\nText\xff\2',
        b"- a:: b\n- tags:: c, [[d]]\n\xffText\3",
    )
    yield Target(made, check, words, examples)


def composed() -> Iterator[Target]:
    """Texts that are given a title and tags: these are read back, and all else stays."""
    from qmd.errors import UsageError
    from qmd.text import labels, markdown
    from qmd.text.composing import with_metadata
    from qmd.text.front_matter import frontmatter, is_template

    def made(source: Bytes) -> Input:
        count = source.number(0, 2)
        return source.text(), source.text(), [source.text() for _ in range(count)]

    def check(text: str, title: str, tags: Sequence[str]) -> None:
        try:
            whole = with_metadata(text, title=title or None, tags=tags)
        except UsageError:
            return
        if whole == text:
            return
        if text.lstrip().startswith("---") and frontmatter(text.lstrip()).block:
            text = text.lstrip()  # blank lines before a block do not keep it from being one
        before, after = frontmatter(text), frontmatter(whole)
        assert whole.endswith(text[before.block :])
        if title.strip() and not before.problem and not is_template(title):
            assert markdown.title(whole, "a.md", after) == " ".join(title.split())
        if any(map(str.strip, tags)) and not before.problem:
            wanted = labels.tags({"tags": list(tags)})
            assert labels.tags(labels.folded(after.metadata)) == wanted
        for key, value in {} if before.problem else before.metadata.items():
            if key.strip("\"' ").lower() not in ("title", "tags", "tag"):
                assert repr(after.metadata[key]) == repr(value)

    words = f"---\n¦\n---\n¦{_YAML}".split("¦")
    examples = (
        b'---\ntitle: Old\n"tags": [a]\nx: 1\n---\n# Tea\n\xffNew\xffa\xffb\2',
        b'a:: b\n\ntext\xffTea: "green"\xff#x\1',
    )
    yield Target(made, check, words, examples)


def put_names() -> Iterator[Target]:
    """Names of texts without files: they stay in their collection, and name themselves."""
    from qmd.errors import UsageError
    from qmd.settings.config_reader import check_name
    from qmd.text import paths
    from qmd.text.composing import LONGEST_NAME, document_path

    def check(name: str) -> None:
        with suppress(UsageError):
            check_name(name)
            assert name.isprintable() or not re.search(r"[\x00-\x1f\x7f/\\]", name)
        try:
            path = document_path(name)
        except UsageError:
            return
        assert path.startswith(name)
        assert document_path(path) == path
        assert paths.is_below(path)
        assert not path.startswith("/")
        assert ".." not in path.split("/")
        assert len(path.encode()) <= LONGEST_NAME
        found = paths.parse_virtual(paths.uri("inbox", path))
        assert found is not None
        assert (found.collection, paths.decoded(found.path)) == ("inbox", path)

    words = "../¦./¦/¦.md¦.txt¦~¦\\¦qmd://¦inbox/¦C:¦#¦?¦%2e¦ /¦CON¦\u202e".split("¦")
    yield Target(_text, check, words, (b"ideas/tea", b"a/b.TXT", b"a b/c.d", b"inbox/tea"))


def links() -> Iterator[Target]:
    """Links in front matter, HTML and text, without those of comments, formulas and code."""
    from qmd.ingest import outlines
    from qmd.text import hidden
    from qmd.text.front_matter import frontmatter

    def check(text: str) -> None:
        data = text.encode()
        start = len(text[: frontmatter(text).end].encode())
        assert outlines.hints(data, start) == hidden.hints(data, start)
        parts = hidden.parts_not_shown(data, start)
        ends = [place for part in parts for place in (part.start, part.end)]
        assert ends == sorted(ends)
        assert all(part.start < part.end <= len(data) for part in parts)
        visible = hidden.shown_parts(data, start)
        assert [len(line) for line in visible.split(b"\n")] == [
            len(line) for line in data.split(b"\n")
        ]
        found = outlines.document_outline(data, start)
        lines = [int(line) for line in found.lines.split()]
        assert lines == sorted(lines)
        last = text.count("\n") + 1
        assert all(1 <= line <= last for line in lines)
        count = len(lines)
        assert len(found.kinds) == count
        for column in (found.texts, found.targets):
            assert not count or column.count(outlines.MARK) == count - 1
        more = found.with_links(["a", " b  c ", "a"])
        assert (
            more.targets.split(outlines.MARK)[:count] == found.targets.split(outlines.MARK)[:count]
        )
        assert len(more.kinds) <= count + 2

    words = (
        "---\n¦up: [[¦]]¦[a](¦)¦<a href='¦<img alt=x src=\"¦'>¦\">¦</a>¦<!--¦-->¦%%¦$$¦\n\n    ¦\t"
        "¦```\n¦`¦~~~¦#t¦https://a.b¦[[a|b]]¦![[¦&amp;¦href=¦ src = ¦<Tag\n¦- ¦> ¦|¦=¦{¦}¦\r\n"
    ).split("¦")
    examples = (
        b'---\nup: "[[Pot]]" # [[no]]\n---\n<a href="tea.md">t</a> %% [[x]] %%\n\n    [c](d)\n',
        b"<Card href='a&amp;b.md' />\n<!-- <img src=x> -->\n$$ #t $$\n<img alt='p' src=p.png>\n",
    )
    yield Target(_text, check, words, examples)


def languages() -> Iterator[Target]:
    """Languages of texts, and the stems of their words."""
    from qmd.text import languages as ours
    from qmd.text import stems, tokenizer

    codes = [*ours.STEMMED, "en", "xx", ""]
    found_before: dict[str, str | None] = {}

    def made(source: Bytes) -> Input:
        code, values = source.pick(codes), source.fields(["lang", "Language", "en-GB"], 1)
        return source.text(), source.text(), code, values

    def check(text: str, word: str, code: str, values: dict[str, object]) -> None:
        said = ours.language(text, json.dumps(values))
        assert said is None or re.fullmatch("[a-z]{2,3}", said)
        assert said is None or ours.language_code(said) == said
        told = ours.detected(text)
        assert told is None or ours.language_code(told) == told
        assert ours.detected(f"{text} {text}") == told
        assert ours.stemmed_in(code) in ("", code)
        for raw in tokenizer.split(word)[:20]:
            spelt = tokenizer.spelt(raw)
            stem = stems.stem(spelt, code)
            assert (stem is None) == (code not in ours.STEMMED)
            if stem is not None:
                assert stem or not tokenizer.fold(spelt)
                assert tokenizer.fold(stem) == stem
                assert found_before.setdefault(f"{code} {spelt}", stem) == stem
        found_before.clear()

    frequent = "der die und nicht¦le la et des¦och att det¦и в не на¦が の に¦것 이¦与 在¦ที่ และ"
    words = f"{frequent}¦the of and to ¦Häuser¦maisons¦книгами¦ßen¦ısı¦کتاب‌ها¦வீடுகள்¦घरों".split("¦")
    examples = (b"the cat and the dog of it\xffhouses\xff", b"\x80 \x80 \x81\xff\x89 \x8a\xff\1")
    yield Target(made, check, words, examples)


def _text(source: Bytes) -> Input:
    return (source.text(),)
