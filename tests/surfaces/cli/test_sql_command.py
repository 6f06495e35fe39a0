"""`qmd sql`, as a user meets it."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import re
import signal
import subprocess
import sys
import threading
import time

import pyarrow as pa
import pytest
from pyarrow import parquet

LONG = 60
"""Seconds after which something that has to happen is taken for stuck."""

ENDLESS = "select count(*) from range(1_000_000_000_000)"


@pytest.fixture
def indexed(qmd, tmp_path):
    """The command, with two notes indexed."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "tea.md").write_text("---\ntags: [hot]\nsize: 2.5\n---\n# Tea, green\n\nBrew tea.\n")
    (notes / "coffee.md").write_text("# Coffee\n\nNo leaves.\n")
    assert qmd("collection", "add", notes)[0] == 0
    return qmd


@pytest.fixture
def terminal(monkeypatch):
    """Makes standard output a terminal of so many columns."""

    def make(columns: int = 80) -> None:
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    return make


def test_an_answer_is_a_table_with_numbers_to_the_right(indexed):
    query = "select title, length(title) as length, null::text as n from documents order by title"
    code, out, err = indexed("sql", query)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "title       length  n",
        "──────────  ──────  ────",
        "Coffee           6  NULL",
        "Tea, green      10  NULL",
    ]


def test_a_value_stays_in_its_line_and_gives_a_terminal_no_orders(indexed):
    _, out, _ = indexed("sql", "select 'a\nb\tc' || chr(27) || '[31m' as x, '渓流' as y, 1 as z")
    assert out.splitlines()[2] == r"a\nb\tc\x1b[31m  渓流  1"
    assert out.splitlines()[1] == "─" * 15 + "  ────  ─"


def test_json_keeps_types_nests_and_knows_no_nan(indexed):
    query = """
        select file, metadata, date 'infinity' as d, 'nan'::double as n, 9007199254740993 as big,
            ['-inf'::float, 1] as l, {'a': null} as s, null as nothing, '"NaN"' as text, 1 as file
        from documents where title ^@ 'Tea'
    """
    code, out, _ = indexed("sql", "--json", query)
    assert code == 0
    assert json.loads(out, parse_constant=pytest.fail) == [
        {
            "file": "notes/tea.md",
            "metadata": {"tags": ["hot"], "size": 2.5},
            "d": "infinity",
            "n": None,
            "big": 9007199254740993,
            "l": [None, 1.0],
            "s": {"a": None},
            "nothing": None,
            "text": '"NaN"',
            "file_1": 1,
        }
    ]
    assert indexed("sql", "--json", "from documents where false")[1] == "[]\n"


def test_the_same_rows_come_as_lines_csv_and_markdown(indexed):
    query = "select title, body from documents order by title desc"
    lines = [json.loads(line) for line in indexed("sql", "--jsonl", query)[1].splitlines()]
    rows = list(csv.reader(io.StringIO(indexed("sql", "--csv", "--raw-csv", query)[1])))
    assert rows[0] == ["title", "body"]
    assert rows[1:] == [[each["title"], each["body"]] for each in lines]
    assert lines[0]["title"] == "Tea, green"
    _, out, _ = indexed("sql", "--md", "select 'a|b' as x, 1 as y, null::int as z, 'c\nd' as u")
    head, rule, row = out.splitlines()
    assert (head, rule) == ("| x | y | z | u |", "| --- | --: | --: | --- |")
    assert row == "| a\\|b | 1 |  | c<br>d |"


def test_a_plan_is_shown_as_it_is_drawn(indexed):
    _, out, _ = indexed("sql", "explain select title from documents")
    assert out.startswith(("┌", "╭"))  # of DuckDB 1 and 2
    assert "explain_key" not in out


@pytest.mark.parametrize("name", ["answer.parquet", "answer.arrow", "answer.csv", "answer.json"])
def test_the_name_of_a_file_tells_its_format(indexed, name, tmp_path):
    file = tmp_path / name
    file.write_text("what was there before")
    query = "select title, date, metadata from documents order by title"
    code, out, err = indexed("sql", query, "-o", file)
    assert (code, out, err) == (0, "", "")
    match file.suffix:
        case ".parquet":
            rows = parquet.read_table(file).to_pylist()
        case ".arrow":
            rows = pa.ipc.open_file(file).read_all().to_pylist()
        case ".csv":
            rows = list(csv.DictReader(io.StringIO(file.read_text())))
        case _:
            rows = json.loads(file.read_text())
    assert [row["title"] for row in rows] == ["Coffee", "Tea, green"]
    assert [each.name for each in tmp_path.iterdir() if each.name.endswith(".part")] == []


def test_an_ending_that_tells_no_format_needs_one_that_is_chosen(indexed, tmp_path):
    for name in ("x.yaml", "x.csv.GZ"):
        file = tmp_path / name
        code, out, err = indexed("sql", "select 1 as x", "-o", file)
        assert (code, out, file.exists()) == (1, "", False)
        assert f"{file.suffix.lower()} tells no format. Valid: .json, .jsonl, .ndjson, .csv" in err
        assert "--format" in err
        assert indexed("sql", "select 1 as x", "--format", "csv", "-o", file) == (0, "", "")
        assert file.read_text() == "x\n1\n"
    for name in ("plain", "x.txt"):
        assert indexed("sql", "select 1 as x", "-o", tmp_path / name) == (0, "", "")
        assert (tmp_path / name).read_text() == "x\n─\n1\n"


def test_arrow_and_parquet_can_be_piped(indexed):
    command = [sys.executable, "-m", "qmd", "sql", "select title from documents order by title"]
    for form, read in [("arrow", pa.ipc.open_stream), ("parquet", parquet.ParquetFile)]:
        done = subprocess.run([*command, "--format", form], capture_output=True, timeout=LONG)
        found = read(io.BytesIO(done.stdout))
        table = found.read_all() if form == "arrow" else found.read()
        assert table["title"].to_pylist() == ["Coffee", "Tea, green"]


def test_a_file_that_cannot_be_written_stays_as_it_is(indexed, tmp_path):
    file = tmp_path / "old.parquet"
    file.write_text("old")
    code, _, err = indexed("sql", "select 3 month as m", "-o", file)
    assert (code, "Parser Error" in err) == (1, True)
    code, _, err = indexed("sql", "select interval 3 month as m", "-o", file)
    assert (code, "Parquet cannot hold this answer" in err) == (1, True)
    assert file.read_text() == "old"
    code, _, err = indexed("sql", "select 1", "-o", tmp_path / "absent" / "x.csv")
    assert (code, "there is no folder" in err) == (1, True)
    before = (tmp_path / "index.duckdb").read_bytes()
    code, _, err = indexed("sql", "select 1", "--csv", "-o", tmp_path / "index.duckdb")
    assert (code, "what qmd itself needs" in err) == (1, True)
    assert (tmp_path / "index.duckdb").read_bytes() == before


def test_a_query_comes_from_words_a_file_or_stdin(indexed, tmp_path, monkeypatch):
    assert indexed("sql", "--csv", "select", "1", "as", "x")[1] == "x\n1\n"
    (tmp_path / "q.sql").write_text("-- a file\nselect 2 as x;\n", encoding="utf-8-sig")
    assert indexed("sql", "--csv", "-f", tmp_path / "q.sql")[1] == "x\n2\n"
    for option in ("-", "--stdin"):
        monkeypatch.setattr(sys, "stdin", io.StringIO("select 3 as x"))
        assert indexed("sql", "--csv", option)[1] == "x\n3\n"


def test_a_query_on_stdin_that_is_not_utf_8_is_refused(indexed, monkeypatch):
    for option, errors in (("-", "strict"), ("--stdin", "surrogateescape")):
        typed = io.TextIOWrapper(io.BytesIO(b"\xff\xfe"), encoding="utf-8", errors=errors)
        monkeypatch.setattr(sys, "stdin", typed)
        assert indexed("sql", option) == (1, "", "What came on stdin is not valid UTF-8 text.\n")


def test_parameters_are_json_scalars_or_text(indexed):
    query = "select typeof($a), typeof($b), typeof($c), $d, $e, $f, $g"
    given = ["a=1", "b=1.5", "c=true", 'd="1"', "e=[1]", "f=2025-01-01", "g=null"]
    options = [option for each in given for option in ("-p", each)]
    _, out, _ = indexed("sql", "--jsonl", query, *options)
    values = list(json.loads(out).values())
    assert values == ["INTEGER", "DOUBLE", "BOOLEAN", "1", "[1]", "2025-01-01", None]
    assert indexed("sql", "--csv", "select ? + ? as x", "-p", "1=2", "-p", "2=3")[1] == "x\n5\n"
    dated = "select title from documents where date > $d"
    assert len(indexed("sql", "--jsonl", dated, "-p", "d=2020-01-01")[1].splitlines()) == 2


def test_a_value_that_arrow_has_no_type_for_is_refused_where_arrow_is_written(indexed, tmp_path):
    for kind in ("uhugeint", "variant"):
        query = f"select [7::{kind}] as seven"
        assert "7" in indexed("sql", query, "--json")[1]
        for name in ("a.parquet", "a.arrow"):
            code, _, err = indexed("sql", query, "-o", tmp_path / name)
            assert (code, err.splitlines()[0]) == (
                1, f"Arrow has no type for the {kind.upper()} of column seven.",
            )  # fmt: skip
            assert not (tmp_path / name).exists()
    assert indexed("sql", "select 7::uhugeint::text as a", "-o", tmp_path / "a.parquet")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "There is no query."),
        ([], "With - it is read from stdin."),
        (["select 1", "--stdin"], "Give one query"),
        (["-f", "absent.sql"], "absent.sql cannot be read: No such file"),
        (["select 1", "-p", "x"], "-p takes NAME=VALUE, not 'x'."),
        (["select $x", "-p", "x=1", "-p", "x=2"], "There are two values for x."),
        (["select $x"], "There is no value for $x.\n\nGive one with -p x=VALUE."),
        (["select 1", "-p", "x=1"], "The query has no $x.\n\nWrite $x where its value belongs"),
        (["select 1", "--format", "yaml"], "Unknown format: yaml. Valid: table, json, jsonl, csv,"),
        (["select 1", "--json", "--csv"], "Choose one format, not csv and json."),
        (["select 1", "--memory", "lots"], "'lots' is no size of memory."),
        (["select 1", "--memory", "999999999TB"], "999999999TB of memory is more than there"),
        (["select $a", "-p", 'a="\\ud800"'], "The value of a has half a character in it."),
        (["select $a", "-p", "a=1", "-p", "A=2"], "Two values are for one parameter"),
        (["select 1", "--timeout", "0"], "A query needs some time"),
        (["drop table documents"], "qmd sql only reads: DROP is no query."),
        (["selec 1"], "LINE 1: selec 1"),
        (["from bm25('tea', collection := 'x')"], "Collection not found: x. Known: notes."),
        (["from vsearch('tea')"], "Run 'qmd embed'"),
        (["from read_text('x')"], "Allow it to read files with --allow-files."),
        (["select 1", "--jso"], "No such option: --jso"),
    ],
)
def test_a_mistake_is_explained_and_nothing_is_printed(indexed, arguments, message):
    code, out, err = indexed("sql", *arguments)
    assert (code, out) == (1, "")
    assert message in err
    assert "Traceback" not in err


def test_files_can_be_read_when_they_are_allowed(indexed, tmp_path):
    (tmp_path / "drinks.csv").write_text("title,price\nCoffee,4\n")
    query = f"select price from documents join '{tmp_path}/drinks.csv' using (title)"
    assert indexed("sql", query)[0] == 1
    assert indexed("sql", "--csv", "--allow-files", query)[1] == "price\n4\n"


def test_a_terminal_gets_a_hundred_rows_and_is_told_of_more(indexed, terminal):
    assert len(indexed("sql", "from range(150)")[1].splitlines()) == 152
    terminal()
    code, out, err = indexed("sql", "from range(150)")
    assert (code, len(out.splitlines())) == (0, 102)
    assert err == "… 50 more rows; --limit 0 shows all.\n"
    assert len(indexed("sql", "from range(150)", "--limit", 0)[1].splitlines()) == 152
    _, out, err = indexed("sql", "from range(3)", "-n", 2)
    assert (len(out.splitlines()), err) == (4, "… 1 more row; --limit 0 shows all.\n")
    assert indexed("sql", "from range(0)")[2] == "No rows.\n"


def test_a_table_fits_its_terminal(indexed, terminal):
    terminal(40)
    query = "select repeat('long ', 50) as a, 'short' as b, repeat('渓', 50) as c"
    _, out, _ = indexed("sql", query)
    header, rule, row = out.splitlines()
    assert len(rule) <= 40
    assert row.count("…") == 2
    assert "short" in row
    assert len(header) <= 40


def test_binary_formats_are_not_for_a_terminal(indexed, terminal):
    terminal()
    code, out, err = indexed("sql", "select 1", "--format", "parquet")
    assert (code, out) == (1, "")
    assert "Write a file: -o answer.parquet" in err


def test_views_and_questions_are_shown_with_what_they_mean(indexed):
    _, out, _ = indexed("sql", "--tables")
    assert "bm25(query, n := 100, collection := null" in out
    assert re.search(r"^  hash +text +SHA-256 of the body, 64 hex digits$", out, re.M)
    shown = {view["name"]: view for view in json.loads(indexed("sql", "--tables", "--json")[1])}
    assert {"documents", "frontmatter", "bm25", "vsearch", "hybrid", "terms"} <= set(shown)
    assert shown["documents"]["columns"][0]["name"] == "docid"
    assert "-- Which documents changed last?\nselect" in indexed("sql", "--examples")[1]
    assert len(json.loads(indexed("sql", "--examples", "--json")[1])) >= 20


def test_a_query_that_takes_too_long_is_stopped(indexed):
    code, out, err = indexed("sql", ENDLESS, "--timeout", "0.2")
    assert (code, out) == (1, "")
    assert "stopped after 0.2 seconds" in err


def test_ctrl_c_stops_a_query(indexed, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "qmd", "sql", ENDLESS],
        stderr=subprocess.PIPE,
        text=True,
        # An interrupt may be ignored where this was started, and so by what it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        _wait_until_read(tmp_path / "index.duckdb.readers")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=LONG)
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
    assert (process.returncode, err) == (130, "Interrupted.\n")


def test_ctrl_c_while_the_query_is_being_begun_stops_it(indexed, monkeypatch):
    begun = []

    class Interrupted(threading.Thread):
        def start(self):
            super().start()
            begun.append(self)
            if self.name == "qmd-sql":
                raise KeyboardInterrupt

    monkeypatch.setattr(threading, "Thread", Interrupted)
    monkeypatch.setattr("qmd.surfaces.cli.sql.PATIENCE", LONG)  # it would end this process
    code, _, err = indexed("sql", ENDLESS)
    assert (code, err) == (130, "Interrupted.\n")
    begun[0].join(LONG)
    assert not begun[0].is_alive()


def _wait_until_read(room):
    """Wait until somebody reads the index."""
    for _ in range(LONG * 50):
        with room.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
        time.sleep(0.02)
    pytest.fail("nobody reads the index")


def test_a_reader_that_goes_away_is_no_error(indexed):
    command = f"{sys.executable} -m qmd sql 'from range(1_000_000)' | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=LONG)
    assert (done.stdout, done.stderr) == (" range\n", "")


def test_a_query_loads_no_more_than_it_needs(indexed):
    command = [sys.executable, "-X", "importtime", "-m", "qmd", "sql", "select 1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONG)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert {"qmd.analytics.sandbox", "_duckdb"} <= loaded
    heavy = {"pyarrow", "numpy", "duckdb", "prompt_toolkit", "anyio", "rich", "httpx"}
    assert loaded & heavy == set()
