"""Hostile queries and the limits of time and memory of `qmd sql`.

    python -m bench.sql_limits [--timeout 8] [--memory 1GB] [--only NAME…]

Each query is asked by a new process, and then through the Python API in another. Prints the wall
time and the peak of the resident memory (of the process and all that it has started), both as
shares of the limit, and how the answer begins. A process that only asks `select 1` stands in the
first line: what it takes counts for all.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from bench.usage import family

LOOK = 0.005
"""Seconds between two looks at the memory of a process."""

BIG = 2_000_000_000
UNITS = {"MB": 1e6, "GB": 1e9}

QUERIES = {
    "nothing": "select 1",
    "printf": f"select printf('%{BIG}d', 1)",
    "format": f"select format('{{:>{BIG}}}', 1)",
    "lpad": f"select lpad('x', {BIG}, 'y')",
    "rpad": f"select length(rpad('x', {BIG}, 'y'))",
    "repeat": f"select repeat('x', {BIG})",
    "repeat of repeat": "select length(repeat(repeat('x', 60_000), 60_000))",
    "bar": "select bar(1, 0, 1, 1_000_000_000)",
    "bitstring": f"select bitstring('1', {BIG})",
    "to_base64": "select to_base64(encode(repeat('x', 900_000_000)))",
    "hex": "select hex(repeat('x', 900_000_000))",
    "blob": "select repeat('\\x00'::blob, 3_000_000_000)",
    "replace": "select length(replace(repeat('x', 1_000_000), 'x', repeat('y', 4_000)))",
    "regexp_replace": "select length(regexp_replace(repeat('x', 500_000), 'x', "
    "repeat('y', 8_000), 'g'))",
    "string_split": "select len(string_split(repeat('x,', 100_000_000), ','))",
    "list of a range": "select range(1_000_000_000)",
    "generate_series": "select len(generate_series(1, 3_000_000_000))",
    "list_resize": "select list_resize([1], 1_000_000_000, 1)",
    "list_transform": "select list_transform(range(100_000_000), lambda x: repeat('x', 100))",
    "list_reduce": "select length(list_reduce(list_transform(range(40), lambda x: 'xy'), "
    "lambda a, b: a || a || b))",
    "flatten": "select len(flatten(list_transform(range(100_000), lambda x: range(100_000))))",
    "string_agg": "select length(string_agg(repeat('x', 1000), '')) from range(10_000_000)",
    "array_agg": "select array_agg(range || 'xxxxxxxxxxxxxxxxxxxxxxxx') from range(100_000_000)",
    "recursive doubling": "with recursive t(n, s) as (select 0, 'x' union all "
    "select n + 1, s || s from t where n < 40) select max(length(s)) from t",
    "recursion without end": "with recursive t(n) as (select 0 union all "
    "select n + 1 from t) select max(n) from t",
    "levenshtein": "select levenshtein(repeat('a', 300_000), repeat('b', 300_000))",
    "jaro": "select jaro_winkler_similarity(repeat('ab', 400_000), repeat('ba', 400_000))",
    "cross join": "select sum(a.range * b.range * c.range) "
    "from range(100_000) a, range(100_000) b, range(100_000) c",
    "sorted cross join": "select * from range(100_000) a, range(100_000) b order by hash(a, b)",
    "many groups": "select count(*) from (select a.range || b.range as k, list(a.range) "
    "from range(50_000) a, range(50_000) b group by k)",
    "regular expression": "select count(*) from range(3_000) where regexp_matches("
    "repeat('a', 100_000), '(a?){500}(a*)*b')",
    "100,000 columns": "select " + ", ".join(["1"] * 50_000),
    "columns of columns": "with t as (select "
    + ", ".join(f"1 as c{i}" for i in range(5_000))
    + ") select "
    + ", ".join(f"columns(*) as c{i}" for i in range(40))
    + " from t",
    "wide pivot": "pivot (select range as k from range(10)) on k in ("
    + ", ".join(map(str, range(20_000)))
    + ") using count(*)",
    "a million terms": "select " + " + ".join(["1"] * 60_000),
    "a long list": "select " + ", ".join(["[" + ", ".join(["1"] * 1000) + "]"] * 60),
    "nested parentheses": "select " + "(" * 50_000 + "1" + ")" * 50_000,
    "nested lists": "select " + "[" * 900 + "1" + "]" * 900,
    "nested queries": "select * from (" * 300 + "select 1" + ")" * 300,
    "with that doubles": "with t0 as (select 1 as x)"
    + "".join(f", t{i} as (select a.x from t{i - 1} a, t{i - 1} b)" for i in range(1, 24))
    + " select count(*) from t23",
    "big JSON": "select json_extract('[' || repeat('[', 20_000_000), '$[0]')",
    "json_object": "select json_group_array(repeat('x', 1000)) from range(5_000_000)",
    "factorials": "select sum(factorial(range::int % 33)) from range(10_000_000_000)",
    "unnest": "select count(distinct u) from (select unnest(range(1_000_000_000)) as u)",
    "bins": "select histogram(range || 'xxxxxxxxxxxxxxxxxxxx') from range(50_000_000)",
    "text of an answer": "select list_transform(range(30_000_000), lambda x: x * 1000)",
    "many big rows": "select repeat('x', 500_000) from range(1000) where random() < 2",
    "one row, many texts": "select " + ", ".join(f"repeat('x{i}', 20_000_000)" for i in range(30)),
}


class Weighed(NamedTuple):
    """Cost of one query.

    Attributes:
        seconds: of wall time.
        memory: bytes that were resident at most.
        said: how its answer or its message begins.
    """

    seconds: float
    memory: int
    said: str


PYTHON = """
import sys, qmd
from qmd.errors import QmdError
with qmd.connect() as kb:
    kb.sql("select 1")
    try:
        found = kb.sql(sys.stdin.read(), timeout=float(sys.argv[1]), memory=sys.argv[2])
        print(len(found), "rows")
    except QmdError as error:
        print(error, file=sys.stderr)
    assert list(kb.sql("select 42 as x")) == [{"x": 42}]
"""


def main() -> None:
    """Ask, weigh, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--timeout", type=float, default=8.0)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--only", nargs="*", metavar="NAME")
    parser.add_argument("--surfaces", nargs="*", default=["command", "python"])
    options = parser.parse_args()
    limits = ["--timeout", str(options.timeout), "--memory", options.memory]
    bytes_ = float(options.memory[:-2]) * UNITS[options.memory[-2:].upper()]
    surfaces = {
        "command": [sys.executable, "-m", "qmd", "sql", "-", "--csv", *limits],
        "python": [sys.executable, "-c", PYTHON, str(options.timeout), options.memory],
    }
    chosen = options.only or list(QUERIES)
    with tempfile.TemporaryDirectory() as name:
        environ = os.environ | {
            "INDEX_PATH": f"{name}/index.duckdb",
            "XDG_CONFIG_HOME": name,
            "XDG_CACHE_HOME": name,
            "PYTHONPATH": str(Path(__file__).parents[1]),
        }
        for surface in options.surfaces:
            print(f"\n{surface:<24}{'s':>8}{'of limit':>10}{'MB':>8}{'of limit':>10}")
            for title in chosen:
                found = weighed(surfaces[surface], QUERIES[title], environ)
                print(
                    f"{title:<24}{found.seconds:>8.2f}{found.seconds / options.timeout:>10.2f}"
                    f"{found.memory / 1e6:>8.0f}{found.memory / bytes_:>10.2f}  {found.said}",
                    flush=True,
                )


def weighed(command: list[str], query: str, environ: dict[str, str]) -> Weighed:
    """Ask one query."""
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        given.write(query.encode())
        given.seek(0)
        began = time.monotonic()
        process = subprocess.Popen(command, stdin=given, stdout=out, stderr=err, env=environ)
        most = 0
        while process.poll() is None:
            with suppress(OSError):  # it ends while it is looked at
                most = max(most, resident(process.pid))
            time.sleep(LOOK)
        seconds = time.monotonic() - began
        err.seek(0)
        out.seek(0)
        said = err.read(400) or out.read(400).replace(b"\n", b" ")
        first = said.decode(errors="replace").partition("\n")[0]
        return Weighed(seconds, most, f"[{process.returncode}] {first[:70]}")


def resident(process: int) -> int:
    """Bytes that a process and those it has started have in memory; what they share counts once."""
    kilobytes = 0
    for each in family(process):
        try:
            shares = Path(f"/proc/{each}/smaps_rollup").read_text(encoding="ascii")
        except OSError:
            continue  # it has just ended
        kilobytes += int(shares.partition("Pss:")[2].split()[0])
    return kilobytes * 1024


if __name__ == "__main__":
    main()
