"""Readers of settings: index.yml, approvals, variables and .gitignore."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from bench.fuzz.sources import Bytes, Input, Target

MARKS = (
    "collections:\n¦  notes:\n    path: ¦    pattern: ¦'**/*.md'¦    ignore: [a, b]\n¦    update: ¦"
    "    context:\n      /: ¦models:\n¦  embed: ¦chunk:\n¦  tokens: ¦  overlap: 0.1\n¦editor_uri: ¦"
    "global_context: ¦query_log: ¦true\n¦# c\n¦&a ¦*a¦<<: ¦!!¦{¦}¦|\n¦'¦\"¦- ¦? ¦---\n¦{path}¦~¦"
    "012¦1_000¦2024-01-02¦.nan¦%YAML 1.1\n¦\t¦null"
).split("¦")
EXAMPLES = (
    b"# mine\ncollections:\n  notes:\n    path: /tmp\n    pattern: '**/*.md'\n    context:\n"
    b"      /: All\n      a/b: Part\n  # next\n  2024: {path: /, ignore: [x/]}\nquery_log: false\n",
    b"models:\n  embed: minilm\nchunk: {tokens: 100, overlap: 0.2, strategy: plain}\n"
    b"editor_uri: x://{path}\nglobal_context: |\n  two\n  lines\n",
)


@contextmanager
def _place() -> Iterator[Any]:
    """Yield the paths of empty project settings."""
    from qmd.settings.environment import Place

    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        yield Place("index", work / "index.yml", work / "i.duckdb", work, work / "t", home=work)


def settings() -> Iterator[Target]:
    """Fuzz settings: an edit without changes preserves them."""
    from qmd.errors import ConfigError
    from qmd.settings import config, edit, trust

    with _place() as place:

        def check(text: str, edited: bool) -> None:
            place.config.write_text(text, encoding="utf-8", newline="")
            try:
                found = config.load(place)
            except ConfigError as error:
                said = str(error)
                assert len(said) < 2 * len(text) + 1000
                return
            trust.needs_approval(place, found)
            if not edited:
                return
            before = place.config.read_bytes()
            try:
                again = edit.edit(place, lambda _: None)
            except ConfigError:
                assert place.config.read_bytes() == before
                return
            assert again == found
            assert config.load(place) == found

        def made(source: Bytes) -> Input:
            edited = source.number(0, 3)
            return source.text(), edited == 0

        yield Target(made, check, MARKS, EXAMPLES)


def edits() -> Iterator[Target]:
    """Fuzz edits of settings: only the requested part changes."""
    from qmd.errors import QmdError
    from qmd.settings import config, config_reader, edit
    from qmd.types import Collection, Context

    with _place() as place:

        def made(source: Bytes) -> Input:
            kind, named, where = (source.number(0, most) for most in (4, 2, 2))
            text, name, body = source.text(), source.text(), source.text()
            name = [name[:20] or "new", "notes", "2024"][named]
            return text, kind, name, ["", "a/b", body[:9].strip("/")][where], body

        def check(text: str, kind: int, name: str, prefix: str, body: str) -> None:
            place.config.write_text(text, encoding="utf-8", newline="")
            before = place.config.read_bytes()
            collection = Collection(name, str(place.project / "new"), ignored=(body,))

            def change(document: Any) -> None:
                if kind == 0:
                    config_reader.check_name(name)
                    edit.add_collection(document, collection)
                elif kind == 1:
                    edit.remove_collection(document, name)
                elif kind == 2:
                    edit.set_context(document, Context(name, prefix, body))
                elif kind == 3:
                    edit.remove_context(document, name, prefix)

            try:
                old = config.load(place)
                found = edit.edit(place, change)
            except QmdError:
                assert place.config.read_bytes() == before
                return
            assert config.load(place) == found
            roots = {each.name: each for each in old.collections}
            contexts = {each[:2]: each.body for each in old.contexts}
            if kind == 0:
                ignored = tuple(filter(None, (body,)))
                roots[name] = collection._replace(ignored=ignored)
                contexts = {key: told for key, told in contexts.items() if key[0] != name}
            elif kind == 1:
                del roots[name]
                contexts = {key: told for key, told in contexts.items() if key[0] != name}
            elif kind == 2:
                contexts[name, prefix] = body
            elif kind == 3:
                contexts.pop((name, prefix), None)
            assert {each.name: each for each in found.collections} == roots
            assert {each[:2]: each.body for each in found.contexts} == contexts
            assert found._replace(collections=(), contexts=()) == old._replace(
                collections=(), contexts=()
            )

        yield Target(made, check, MARKS, tuple(b + b"\xff" for b in EXAMPLES), linear=False)


def approvals() -> Iterator[Target]:
    """Fuzz the file of approvals of projects."""
    from qmd.errors import ConfigError
    from qmd.settings import trust
    from qmd.settings.schema import Settings

    with _place() as place:
        wanted = Settings(models={"embed": "minilm"})

        def check(data: bytes) -> None:
            place.trusted.write_bytes(data)
            try:
                known = trust.approvals(place)
                assert trust.is_trusted(place, wanted) <= (str(place.project) in known)
            except ConfigError:
                return
            trust.approve(place, wanted)
            assert trust.is_trusted(place, wanted)
            assert trust.revoke(place, place.project)
            assert not trust.is_trusted(place, wanted)

        def made(source: Bytes) -> Input:
            return (source.rest(),)

        examples = (b'{"/a/b": "0f"}', b"[1]", b"{", b'{"a": {"b": [1]}}', b"[" * 2000)
        yield Target(made, check, (), examples, linear=False)


def environment() -> Iterator[Target]:
    """Variables that choose an index, models and servers."""
    from qmd.errors import UsageError
    from qmd.settings import environment as ours

    names = (*ours.PLACES, *ours.CHOICES, "HOME", "HF_HOME", "HF_HUB_OFFLINE", "QMD_TOKEN")
    names = (*names, "QMD_ALLOWED_ORIGINS", "QMD_ALLOWED_HOSTS", "XDG_STATE_HOME", "OPENAI_API_KEY")

    def made(source: Bytes) -> Input:
        index = source.pick([None, None, "work", "a/b", ".x", ""])
        chosen = [source.pick(names) for _ in range(source.number(1, 4))]
        given = {name: source.text().replace("\0", "") for name in chosen}
        return next(iter(given.values())), given, index

    def check(first: str, given: dict[str, str], index: str | None) -> None:
        given = given | {next(iter(given)): first.replace("\0", "")}
        with suppress(UsageError):
            place = ours.locate(given, Path("/nowhere"), index=index)
            assert place.database.is_absolute()
            assert index is None or place.name == index
        ours.machine(given)
        serving = ours.serving(given)
        assert all(name == name.strip() and name for name in (*serving.origins, *serving.hosts))
        with suppress(UsageError):
            passed = ours.carried(given)
            assert not {"OPENAI_API_KEY", "QMD_TOKEN"} & set(passed)
            base = passed.get("OPENAI_BASE_URL", "")
            assert not re.match(r"\s*https?://[^/?#]*@", base, re.I)
            kept = {name: passed[name] for name in ours.CHOICES if name in passed}
            assert ours.carried(kept) == kept

    words = ["~", "~root/", "/", "..", "~nobody", "http://u:pw@h/v1", ",", "index.duckdb", "*"]
    yield Target(made, check, words, (b"~/notes\xff/tmp", b"http://u:p@h/v1"), linear=False)


def ignores() -> Iterator[Target]:
    """Rules of .gitignore: they leave files out, and saying them twice changes nothing."""
    from qmd.ingest.walk import walk
    from qmd.types import Collection

    files = ("a.md", "b/a.md", "b/c/d.md", "é.md", "[x].md", "a b.md", "#a.md", "!a.md", "b/a\\.md")
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for file in files:
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text("x", encoding="utf-8")
        collection = Collection("notes", name, mask="**/*", respect_gitignore=True)
        rules = root / ".gitignore"
        everything = set(walk(collection._replace(respect_gitignore=False)).paths)

        def found(text: str) -> set[str]:
            rules.write_text(text, encoding="utf-8", newline="")
            return set(walk(collection).paths)

        def check(text: str) -> None:
            once = found(text)
            assert once <= everything
            assert found(f"{text}\n{text}\n# c\n\n") == once
            assert found("*\n" + text) <= everything

        def made(source: Bytes) -> Input:
            return (source.text(),)

        words = "*¦**/¦/**¦!¦\\¦/¦\n¦[a-z]¦[!x]¦#¦.md¦?¦b/¦a¦\\ ¦[[:alpha:]]".split("¦")
        examples = (b"*.md\n!a.md\n/b/\n\\#a.md\n", b"**/c\na b.md\\ \n[x].md\n")
        yield Target(made, check, words, examples)
