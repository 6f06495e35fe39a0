"""An index for torture tests, driven by real processes, with a final integrity check."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import anyio

from qmd.errors import QmdError
from qmd.operations import doctor
from qmd.operations.index import Index
from qmd.operations.search import search
from qmd.operations.update import run_update
from qmd.settings.environment import Place
from qmd.storage.cursor import Cursor

PATIENCE = 120.0
"""Seconds after which a process is taken for stuck."""

PARTLY = 2
"""Exit code of an embedding that leaves something to another."""

FACTS = {
    "documents": """
        select
            collection, path, title, documents.hash,
            body || coalesce((
                select string_agg(text, '' order by number)
                from text_pieces
                where text_pieces.hash = documents.hash
            ), '') as body,
            title_length, path_length, body_length, path_start, body_start
        from documents join content on documents.hash = content.hash
        where collection <> 'experiences'
        order by collection, path
    """,
    "postings": """
        select
            collection, path, term, title_frequency, path_frequency, body_frequency,
            positions
        from postings
        join documents using (document_id)
        join (select distinct term, term_id from words) using (term_id)
        where collection <> 'experiences'
        order by collection, path, term
    """,
    "collections": "select * from collections where name <> 'experiences' order by name",
}


class Said(NamedTuple):
    """Exit code and output of a process."""

    code: int
    out: str
    err: str

    @property
    def problem(self) -> str | None:
        """Unexpected output, or None."""
        if "Traceback" in self.err or "a mistake in qmd" in self.err:
            return f"no words for it: {self.err.strip()[-1500:]}"
        return f"exit {self.code}: {self.err.strip()[-500:]}" if self.code else None


class Home:
    """A folder of documents, an index and settings.

    Args:
        work: an empty folder.
        index: where the index is, if not there.
    """

    def __init__(self, work: Path, index: Path | None = None) -> None:
        self.work = work
        self.docs = work / "docs"
        self.database = index or work / "index.duckdb"
        self.settings = work / "config" / "index.yml"
        self.environ = {
            **os.environ,
            "QMD_CONFIG_DIR": str(self.settings.parent),
            "INDEX_PATH": str(self.database),
            "XDG_STATE_HOME": str(work / "state"),
            "COLUMNS": "100",
        }

    def start(
        self,
        *arguments: str,
        code: Sequence[str] = ("-m", "qmd"),
        before: Sequence[str] = (),
        **more: Any,
    ) -> subprocess.Popen[str]:
        """Start a process of qmd.

        Args:
            code: what Python runs.
            before: a command that runs the command.
        """
        return subprocess.Popen(
            [*before, sys.executable, *code, *arguments],
            **{
                "cwd": Path(__file__).parents[2],
                "env": self.environ,
                "stdin": subprocess.DEVNULL,
                "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE,
                "text": True,
                **more,
            },
        )

    def run(self, *arguments: str, patience: float = PATIENCE, **more: Any) -> Said:
        """Run a process to its end."""
        with self.start(*arguments, **more) as process:
            try:
                out, err = process.communicate(timeout=patience)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
                return Said(-1, out, f"no end within {patience:.0f} s\n{err}")
        return Said(process.returncode, out, err)

    def search(self, words: str) -> list[str]:
        """Files that a search finds.

        Raises:
            RuntimeError: it fails.
        """
        said = self.run("search", words, "--json")
        if said.code:
            raise RuntimeError(said.err)
        return [each["file"] for each in json.loads(said.out)]

    def engine(self, database: Path | None = None) -> Index:
        """Open an engine on the index, or on another with the same settings."""
        place = Place(
            "index", self.settings, database or self.database, None, self.work / "trusted"
        )
        return Index(place, warm=True)

    def wrong(self, queries: Sequence[str] = ()) -> list[str]:
        """List the problems of the index, by itself and compared with a new one.

        Args:
            queries: whose answers are compared.
        """
        return self.unsound() + self.differences(queries)

    def unsound(self) -> list[str]:
        """Run `qmd doctor --deep` in this process and list its problems."""
        engine = self.engine()
        try:
            findings = [*doctor.examine(engine), *doctor.prove(engine)]
        except QmdError as error:
            return [f"doctor: {error}"]
        finally:
            engine.close()
        problems = [each for each in findings if each.status == "problem"]
        return [f"doctor: {each.check}: {each.detail}" for each in problems]

    def differences(self, queries: Sequence[str] = ()) -> list[str]:
        """List the differences from a new index of the same files."""
        found = _said(self.engine(), queries)
        with tempfile.TemporaryDirectory() as name:
            fresh = self.engine(Path(name, "index.duckdb"))
            anyio.run(run_update, fresh)
            expected = _said(fresh, queries)
        return [
            f"{subject}: {first(found[subject], rows)}"
            for subject, rows in expected.items()
            if found[subject] != rows
        ]


Rows = list[tuple[Any, ...]]


def _said(engine: Index, queries: Sequence[str]) -> dict[str, Rows]:
    """Return the content of an index, and the best ten of each query, to nine places."""
    try:
        found = engine.database.read(_facts)
        for query in queries:
            results = list(search(engine, query, limit=10))
            found[query] = [(each.file, round(each.score, 9)) for each in results]
        return found
    finally:
        engine.close()


def _facts(cursor: Cursor) -> dict[str, Rows]:
    run = cursor.connection.execute
    return {subject: run(question).fetchall() for subject, question in FACTS.items()}


def first(ours: Sequence[tuple[Any, ...]], theirs: Sequence[tuple[Any, ...]]) -> str:
    """Return the first row that differs."""
    for mine, other in zip(ours, theirs, strict=False):
        if mine != other:
            return f"{mine} instead of {other}"
    return f"{len(ours)} rows instead of {len(theirs)}"


@contextmanager
def mounted(folder: Path, *arguments: str):
    """Mount a file system for a while.

    Raises:
        OSError: mounting is not permitted.
    """
    folder.mkdir(exist_ok=True)
    _mount(*arguments, str(folder))
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False, timeout=10)


def remounted(folder: Path, options: str) -> None:
    """Change the options of a file system."""
    _mount("-o", f"remount,{options}", str(folder))


def _mount(*arguments: str) -> None:
    command = ["mount", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, timeout=10, text=True, check=False)
    except FileNotFoundError as error:
        raise PermissionError("there is no mount") from error
    if done.returncode:
        raise PermissionError(done.stderr.strip())
