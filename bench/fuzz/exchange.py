"""Readers of exports."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from bench.fuzz.sources import Bytes, Input, Target

NAMES = (
    "format format_version qmd_version schema_version index exported selection settings models "
    "chunk tables name meaning rows bytes columns files path sha256 digest collection type unit"
).split()

WHOLE: dict[str, Any] = {
    "format": "qmd export",
    "format_version": 1,
    "qmd_version": "0.1.0",
    "schema_version": 6,
    "index": "index",
    "exported": "2026-01-02T03:04:05",
    "selection": {},
    "settings": {"models": {"embed": "minilm"}, "chunk": {"tokens": 900}},
    "tables": [],
}


def manifest() -> Iterator[Target]:
    """manifest.json: read the same after it was written again, and never outside of its folder."""
    from qmd.errors import QmdError
    from qmd.exchange import manifest as ours
    from qmd.exchange.parquet import FileColumn

    column = dict.fromkeys(FileColumn._fields, "x")
    file = {"path": "a/b.parquet", "rows": 1, "bytes": 2, "sha256": "0", "digest": "0"}
    table = {"name": "documents", "meaning": "m", "columns": [column], "files": [file]}

    def made(source: Bytes) -> Input:
        kind = source.number(0, 5)
        if kind == 0:
            return (source.rest(),)
        given = WHOLE | {"tables": [table | source.fields(NAMES, source.number(0, 3))]}
        if kind == 1:
            given["tables"][0]["files"] = [file | source.fields(NAMES, source.number(0, 3))]
        if kind == 2:
            given["tables"][0]["files"] = [file | {"path": source.text(surrogates=True)}]
        if kind > 3:
            given |= source.fields(NAMES, source.number(0, 3))
        return (json.dumps(given).encode(),)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def check(data: bytes) -> None:
            (folder / ours.NAME).write_bytes(data)
            known = ours.is_export_folder(folder)
            try:
                found = ours.read_manifest(folder)
            except QmdError as error:
                said = str(error)
                assert len(said) < 2000
                return
            assert known
            for each in found.files:
                parts = PurePosixPath(each.path).parts
                assert parts
                assert not each.path.startswith("/")
                assert ".." not in parts
            ours.write_manifest(folder, found)
            assert ours.read_manifest(folder) == found

        examples = (json.dumps(WHOLE | {"tables": [table]}).encode(), b"[" * 2000, b"../a\xff")
        yield Target(made, check, ("..", "/", "\\", "a/../b"), examples, linear=False)


def imported() -> Iterator[Target]:
    """Fuzz settings of an export: commands and models are left out, the rest can be written."""
    from qmd.errors import QmdError
    from qmd.exchange.imported_settings import ImportedSettings
    from qmd.exchange.manifest import Manifest
    from qmd.settings import config, edit
    from qmd.settings.environment import Place
    from qmd.types import Collection, Context

    names = ["tokens", "overlap", "strategy", "auto", "embed", "rerank", "x"]

    def made(source: Bytes) -> Input:
        trusting = source.number(0, 1) == 1
        chunk = source.fields(names, source.number(0, 3))
        models = {source.pick(names): source.text() for _ in range(source.number(0, 2))}
        odd = [source.number(0, 1) for _ in range(4)]
        root, name, mask, command = (source.text() for _ in range(4))
        one = Collection(
            name if odd[0] else "notes",
            root if odd[1] else "/tmp",
            mask if odd[2] else "**/*.md",
            update_command=command or None,
        )
        context = Context(one.name if odd[3] else None, source.text().strip("/"), source.text())
        return root, chunk, models, one, context, trusting

    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        place = Place("index", work / "index.yml", work / "i.duckdb", None, work / "t", home=work)

        def check(
            root: str,
            chunk: dict[str, Any],
            models: dict[str, str],
            one: Collection,
            context: Context,
            trusting: bool,
        ) -> None:
            facts = ("0.1.0", 6, "index", "now", {})
            document = Manifest(*facts, models, chunk, ())
            wanted = ImportedSettings(document, [one], [context], trusting=trusting)
            place.config.write_text("# mine\n", encoding="utf-8")
            before = config.load(place)
            try:
                wanted.check(place)
                found = edit.edit(place, lambda given: wanted.add(given, before=before))
            except QmdError:
                assert place.config.read_text(encoding="utf-8") == "# mine\n"
                return
            assert config.load(place) == found
            if not one.root:  # it is stored in the index alone
                assert not found.collections
                return
            (added,) = found.collections
            assert added.name == one.name
            if not trusting:
                assert added.update_command is None
                assert not found.models
                assert len(wanted.left_out) == bool(one.update_command) + len(models)

        words = ["..", "/", "~", "**/", "\n", ": ", "#", "-", "'", "2024", "true", "null"]
        yield Target(made, check, words, (b"/tmp/a\xffnotes\xff**/*.md\xffgit pull",), linear=False)
