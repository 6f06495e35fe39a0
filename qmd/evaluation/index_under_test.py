"""Index under test: the user's own, or a temporary one of a corpus."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from qmd.errors import UsageError
from qmd.evaluation import fixtures
from qmd.named_tuple import NamedTuple
from qmd.operations.documents import below
from qmd.operations.index import Index
from qmd.operations.update import run_update
from qmd.types import ALL, Collection, Filter

if TYPE_CHECKING:
    from qmd.evaluation.fixtures import Fixture
    from qmd.settings.edit import Parsed
    from qmd.settings.schema import Settings

Told = Callable[[int, int], None]
"""Callback with (done, in all)."""

Progress = Callable[[str], Told]
"""Factory of the progress callback for a named piece of work."""


class Bench(NamedTuple):
    """An index, and the engine that searches it.

    Attributes:
        among: documents that may answer.
        ids: of the documents of a corpus, by the name of the file; empty for a user's own index.
    """

    engine: Index
    fixture: Fixture
    among: Filter = ALL
    ids: Mapping[str, str] = MappingProxyType({})

    def names(self, file: str, docid: str) -> Sequence[str]:
        """List the names that a fixture may use for a document (`collection/path` and docid)."""
        if self.ids:
            return (self.ids[file.partition("/")[2]],)
        return (f"qmd://{file}",) if self.fixture.is_typed else (file, docid)


def own_index(engine: Index, fixture: Fixture, names: Sequence[str]) -> Bench:
    """Use the user's own index.

    Args:
        names: of collections; without any, those that the fixture names, or that searches look
            into.

    Raises:
        CollectionNotFound: no collection has one of the names.
        UsageError: there is nothing in it.
    """
    named = tuple(names) or ((fixture.collection,) if fixture.collection else ())
    for name in named:
        engine.collection(name)
    known = engine.overview()
    chosen = named or tuple(each.name for each in known if each.included)
    if not any(each.documents for each in known if each.name in chosen):
        raise UsageError(
            "There are no documents to find.\n\n"
            "Add a folder with 'qmd collection add PATH', or run 'qmd update'."
        )
    return Bench(engine, fixture, Filter(chosen) if named or len(chosen) < len(known) else ALL)


@contextmanager
def corpus_index(engine: Index, fixture: Fixture, progress: Progress) -> Iterator[Bench]:
    """Build a temporary index of the documents of a fixture.

    Args:
        engine: of the user: its models and its way to cut texts are used.

    Raises:
        UsageError: the documents cannot be read.
    """
    import anyio

    from qmd.models.registry import ROLES
    from qmd.settings.environment import Place

    assert fixture.corpus is not None
    with tempfile.TemporaryDirectory(prefix="qmd-bench-") as name:
        work = Path(name)
        ids = _written(fixture.corpus, work / "docs")
        place = Place(
            "index", work / "index.yml", work / "index.duckdb", None, work / "trusted.json"
        )
        used: dict[str, str] = {
            role: model.uri for role in ROLES if (model := engine.models.chosen(role)) is not None
        }
        made = Index(place, engine.models.machine._replace(chosen=used), warm=True)
        try:
            made.change(partial(_configure, engine.settings(), work / "docs"))
            told = progress("Indexing")

            def shown(done: int, total: int, _: str) -> None:
                told(done, total)

            [report] = anyio.run(lambda: run_update(made, progress=lambda _: shown))
            if report.failure:
                raise UsageError(f"{fixture.corpus} could not be indexed: {report.failure}")
            yield Bench(made, fixture, ids=ids)
        finally:
            made.close()


def _configure(own: Settings, folder: Path, _: Settings, document: Parsed) -> None:
    """Write an index.yml with one collection, and the user's way to cut texts."""
    from qmd.settings.edit import add_collection

    document["chunk"] = {
        "tokens": own.chunk_tokens,
        "overlap": own.chunk_overlap,
        "strategy": own.chunk_strategy,
    }
    add_collection(document, Collection("docs", str(folder)))


def _written(corpus: Path, folder: Path) -> dict[str, str]:
    """Write each document as a Markdown file whose name no question has a word of.

    Returns:
        The ids of the documents, by the names of the files.
    """
    folder.mkdir()
    ids = {}
    for number, (name, title, text) in enumerate(fixtures.corpus_documents(corpus), start=1):
        heading = " ".join(title.split())
        body = f"# {heading}\n\n{text}" if heading else text
        file = folder / f"zq{number}.md"
        file.write_text(body or ".", encoding="utf-8")
        ids[file.name] = name
    if not ids:
        raise UsageError(f"{corpus} has no documents.")
    return ids


def missing_documents(bench: Bench) -> list[str]:
    """List the judged documents that are not in the index."""
    among = bench.among.collections
    return bench.fixture.unknown(
        bench.names(document.name, document.docid)
        for document in below(bench.engine, None)
        if among is None or document.collection in among
    )
