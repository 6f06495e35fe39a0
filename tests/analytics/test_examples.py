"""What is shown of SQL runs, and says what the headers say."""

from __future__ import annotations

import re
import shlex
from contextlib import closing
from pathlib import Path

import pytest

from qmd.analytics.sandbox import Limits
from qmd.analytics.views import examples
from qmd.operations.search import search
from qmd.operations.sql import run_sql
from qmd.settings.environment import Machine
from tests.library import FakeEmbedder, Library
from tools import docs

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / "sql.md", ROOT / "README.md"]


def _shown(language: str, begin: str) -> list[str]:
    """Queries in the pages, and lines in their examples for a shell."""
    return [
        block
        for page in PAGES
        for block in re.findall(rf"```{language}\n(.*?)```", page.read_text("utf-8"), re.S)
        if begin in block
    ]


QUERIES = [query for query in _shown("sql", "") if "attach" not in query]
COMMANDS = [
    command.replace("\\\n", "")
    for page in PAGES
    for command in re.findall(
        r"^(?:    |\$ )?(qmd sql [^ #](?:.*\\\n)*.*)$", page.read_text("utf-8"), re.M
    )
]


@pytest.fixture(scope="module")
def embedded(tmp_path_factory, module_patch):
    """A library in which most questions have an answer."""
    module_patch.setattr(
        "qmd.models.selection.embedder", lambda model, machine, *, limit: FakeEmbedder(limit=2000)
    )
    folder = tmp_path_factory.mktemp("embedded")
    (folder / "fake.gguf").write_bytes(b"GGUF")
    made = Library(folder, Machine({"embed": str(folder / "fake.gguf")}, hub=folder / "hub"))
    for note in (ROOT / "examples" / "notes").rglob("*.md"):
        made.write(note.name, note.read_text("utf-8"))
        made.write(f"copy of {note.name}", note.read_text("utf-8"))
    made.update()
    made.embed()
    made.write("new.md", "# New\n\nNot embedded yet: https://example.org")
    made.update()
    for words in ("tea", "water", "xylophone"):
        search(made.engine, words)
    yield made
    made.engine.close()


@pytest.fixture(scope="module")
def module_patch():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def test_there_are_twenty_questions():
    assert len(examples()) >= 20
    assert len({each.name for each in examples()}) == len(examples())


@pytest.mark.parametrize("example", examples(), ids=lambda each: each.name)
def test_a_question_is_a_sentence_and_has_an_answer(example, embedded):
    assert re.fullmatch(r"[A-Z].+\?", example.question)
    with closing(run_sql(embedded.engine, example.query, (), Limits())) as answer:
        assert answer.count > 0
        assert len(list(answer.json())) == answer.count


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_in_the_documentation_runs(query, embedded):
    given = {"words": "tea"} if "$words" in query else {}
    with closing(run_sql(embedded.engine, query, given, Limits())) as answer:
        assert answer.headings


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_in_the_documentation_runs(command, qmd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "tea.md").write_text("# Tea\n\nA cup of tea.")
    (tmp_path / "question.sql").write_text("from documents")
    qmd("collection", "add", tmp_path / "notes")
    code, out, err = qmd(*shlex.split(command, comments=True)[1:])
    assert (code, err) == (0, "")
    assert out or "-o" in command


@pytest.mark.parametrize("path", docs.pages(), ids=lambda path: path.name)
def test_a_page_says_what_is_declared(path):
    assert docs.page(path) == path.read_text("utf-8"), "run: python -m tools.docs"
