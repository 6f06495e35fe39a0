"""Every statement is what its header says."""

from __future__ import annotations

import ast
import re
from functools import partial
from pathlib import Path

import pytest

from qmd.exchange import parquet
from qmd.storage import statements
from qmd.storage.statements import TITLE, data_folder, given, statement

OF_PEOPLE = ("views", "examples", "page", "links")
"""Folders of what runs over the views: they have tests of their own."""

NAMES = sorted(
    str(file.relative_to(data_folder("sql")).with_suffix(""))
    for file in data_folder("sql").rglob("*.sql")
    if file.parent.name not in OF_PEOPLE
)
ENGINE = {
    "store/attach_to_read",
    "store/attach_to_write",
    "store/detach",
    "store/limit_memory",
    "store/limit_threads",
    "store/buffer_row_groups",
    "store/limit_vacuum",
    "store/load_extension",
    "store/plan",
    "store/run_plan",
    "store/forget_plan",
    "store/use",
    "store/draw_nothing",
    "store/new_index",
    "maintenance/compact",
    "maintenance/compacted",
    "maintenance/copy_content",
    "maintenance/copy_table",
    *(name for name in NAMES if name.startswith(("shortcut/", "sandbox/", "import/"))),
    *(f"export/{name}" for name in ("columns", "copy", "copy_of_collection", "digests", "without")),
    *(f"export/{name}" for name in ("other", "other_of_documents")),
}
"""They make, attach and detach the index itself, or a file beside it, or run in a sandbox, or are
not whole without another statement or the name of a table."""

SAMPLE = {
    "text": "x",
    "numbers": "1",
    "text?": None,
    "json": "[]",
    "json?": None,
    "integer": 1,
    "integer?": None,
    "bigint": 1,
    "bigint?": None,
    "double": 0.5,
    "double?": None,
    "boolean": False,
    "timestamp": "2025-03-14",
    "timestamp?": None,
    "boolean?": None,
}

NAMED = {"vector": "[1.0]", "signs": "1"}
"""What a text has to look like, where it is not just any."""

_IN = re.compile(r"^-- in   \$?(\w+) +(\S+)", re.M)
_OUT = re.compile(r"^-- out  (\w+) +(\S+)", re.M)


def header(name: str) -> str:
    return "\n".join(line for line in statement(name).splitlines() if line.startswith("--"))


def body_of(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("--"))


def body(name: str) -> str:
    return body_of(statement(name))


def parameters(name: str) -> dict[str, str]:
    return {key: kind for key, kind in _IN.findall(header(name)) if kind != "relation"}


@pytest.mark.parametrize("name", NAMES)
def test_a_statement_begins_with_a_sentence_that_says_what_it_does(name):
    first = statement(name).splitlines()[0]
    assert re.fullmatch(r"-- [A-Z].*", first)


@pytest.mark.parametrize("name", NAMES)
def test_a_header_names_the_parameters_that_the_statement_takes(name):
    used = set(re.findall(r"\$([a-z_]\w*)", body(name)))
    assert set(parameters(name)) == used


def written(kind: str) -> str:
    """Return a type as headers write it, without what some of them leave open."""
    kind = kind.lower().rstrip("?").replace("varchar", "text")
    kind = re.sub(r"u?(tiny|small|big|huge)?int(eger)?\b", "integer", kind)
    return re.sub(r"^struct(\(.*\))?", "struct", kind)


class Undone(Exception):
    """Signal to roll back what a statement has changed."""


@pytest.fixture(scope="module")
def noted(libraries):
    library = libraries()
    library.write("tea.md", "# Tea\n\nA cup of tea.")
    library.update()
    return library


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ENGINE])
def test_a_statement_gives_the_columns_of_its_header(name, noted):
    if any(kind == "relation" for _, kind in _IN.findall(header(name))):
        pytest.skip("it takes a batch; every update or embedding runs it")
    if name.startswith("shortcut/"):
        pytest.skip("it runs on a file of its own")
    if name.startswith("words/") and name != "words/known" and name != "words/count":
        pytest.skip("it runs with the extension loaded; every update runs it")
    kinds = parameters(name)
    sparse = {key: NAMED.get(key, SAMPLE[kind]) for key, kind in kinds.items()}
    whole = {key: NAMED.get(key, SAMPLE[kind.rstrip("?")]) for key, kind in kinds.items()}

    def run(given, cursor):
        if name.startswith("export/"):
            parquet.choose(cursor, "[1]")
        cursor.run(name, **given)
        raise Undone([column[:2] for column in cursor.connection.description or []])

    def columns(given):
        with pytest.raises(Undone) as caught:
            noted.engine.database.write(partial(run, given))
        return caught.value.args[0]

    expected = [(column, written(kind)) for column, kind in _OUT.findall(header(name))]
    for values in (sparse, whole) if "-- if $" in statement(name) else (sparse,):
        found = [(column, written(str(kind))) for column, kind in columns(values)]
        assert not expected or found == expected
    assert noted.found("cup") == ["tea.md"]


@pytest.mark.parametrize("name", NAMES)
def test_the_parts_of_a_statement_end_and_are_of_parameters_that_may_be_missing(name):
    text = statement(name)
    marks = re.findall(r"-- (if \$\w+|end)$", text, re.M)
    assert [mark == "end" for mark in marks] == [False, True] * (len(marks) // 2)
    optional = {mark.removeprefix("if $") for mark in marks if mark != "end"}
    assert all(parameters(name)[each].endswith("?") for each in optional)
    given_all, taken = given(name, dict.fromkeys(parameters(name), 1))
    assert taken.keys() == parameters(name).keys()
    assert not optional or "-- if" not in given_all
    bare, taken = given(name, dict.fromkeys(parameters(name)))
    assert taken.keys() == set(re.findall(r"\$([a-z]\w*)", body_of(bare)))
    assert not taken.keys() & optional


def test_weights_of_fields_stand_in_one_place():
    written = re.compile(r"[\d.]+(::\w+)? *\* *(title|path)_(frequency|length)")
    texts = {file: file.read_text(encoding="utf-8") for file in data_folder("sql").rglob("*.sql")}
    assert [file.name for file, text in texts.items() if written.search(text)] == []
    assert written.search(statement("search/bm25"))[0] == f"{TITLE}::double * title_frequency"


def test_a_statement_that_names_an_unknown_number_is_refused(tmp_path, monkeypatch):
    (tmp_path / "sql" / "search").mkdir(parents=True)
    (tmp_path / "sql" / "search" / "odd.sql").write_text("-- Odd.\nselect @nothing\n")
    monkeypatch.setattr(statements, "data_folder", tmp_path.joinpath)
    with pytest.raises(KeyError, match="nothing"):
        statement("search/odd")


def test_no_sql_stands_in_python():
    begins = (
        r"\s*(select [^;]* from \w|select \w+\(|insert (or|into) |update \w+ set |delete from |"
        r"(create|drop|alter) (or|table|temp|index|view|macro|schema|sequence) |attach |"
        r"with \w+ as )"
    )
    root = Path(__file__).parents[2] / "qmd"
    found = [
        f"{file.name}:{node.lineno}: {node.value}"
        for file in root.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if re.match(begins, node.value)
    ]
    assert found == []
