"""Comparison of both tools on one corpus: a table with ratios.

    python -m bench.beside [--corpus FOLDER] [--peer COMMAND] [--quick] [--json]

Without a corpus, 2,000 documents are generated. COMMAND is that of tobi/qmd; without it, the one
of npm is installed into a cache, if Node.js is here. Both run in turn and use the same model on the
CPU. What is asked is taken from the corpus: pairs of words that some document has, and lines.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from bench import embedding, forwarded, hybrid, indexing, peer, serving
from bench.alone import alone
from bench.corpora import Question, given_or_generated, questions, recombined
from bench.indexing import Cost, Tool, in_turn, tools_in
from bench.stdio import Server

GENERATED = 2000


class Effort(NamedTuple):
    """Amount of work.

    Attributes:
        documents: of the corpus that is generated where none is given.
        indexings, rounds: of each command.
        files: that are embedded.
        longest: bytes of such a file.
        seconds: of requests in each way of asking over HTTP.
    """

    documents: int = GENERATED
    indexings: int = 2
    rounds: int = 5
    files: int = 40
    longest: int = 4000
    seconds: float = 10


QUICK = Effort(documents=300, indexings=1, rounds=2, files=5, seconds=2)


@dataclass(frozen=True, slots=True)
class Row:
    """A figure of both tools.

    Attributes:
        theirs: None where they have not been measured.
    """

    what: str
    unit: str
    ours: float
    theirs: float | None = None

    @property
    def ratio(self) -> float | None:
        """Ours divided by theirs."""
        return self.ours / self.theirs if self.theirs else None


@dataclass(frozen=True, slots=True)
class Table:
    """Measurements on one corpus."""

    corpus: str
    files: int
    megabytes: float
    rows: tuple[Row, ...]


def measured(folder: Path, command: list[str], effort: Effort) -> Table:
    """Measure on a folder, which is copied."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        corpus = work / "corpus"
        shutil.copytree(folder, corpus, symlinks=True)
        files = sorted(corpus.rglob("*.md"))
        size = sum(file.stat().st_size for file in files) / 1e6
        asked, _ = alone(questions, files)
        rows = []
        for row in _rows(work, corpus, command, asked, effort):
            print(f"    {line(row)}", flush=True)
            rows.append(row)
    return Table(folder.name, len(files), size, tuple(rows))


def _rows(
    work: Path, corpus: Path, command: list[str], asked: list[Question], effort: Effort
) -> Iterator[Row]:
    tools = tools_in(work / "words", command)
    yield from words(tools, corpus, asked, effort)
    yield from through_server(tools, work / "run", asked, effort)
    yield from over_stdio(tools, asked, effort)
    yield from over_http(tools, asked, effort)
    tools = tools_in(work / "meaning", command)
    yield from meaning(tools, corpus, work / "some", asked, effort)


def words(tools: list[Tool], corpus: Path, asked: list[Question], effort: Effort) -> Iterator[Row]:
    """Index, update and search by words, as commands."""
    pairs = [each.words for each in asked]
    for title, costs in indexing.phases(
        tools, corpus, pairs, rounds=effort.rounds, indexings=effort.indexings
    ):
        yield from cost_rows(title, costs)
        if title == "index":
            yield row("index, size", "MB", {tool.name: tool.size for tool in tools})


def through_server(
    tools: list[Tool], runtime: Path, asked: list[Question], effort: Effort
) -> Iterator[Row]:
    """Commands while a server of ours runs; theirs have none that carries commands out."""
    runtime.mkdir()
    runtime.chmod(0o700)
    environ = tools[0].environ | {"XDG_RUNTIME_DIR": str(runtime)}
    others = {tool.name: tool.environ for tool in tools[1:]}
    with forwarded.server(environ) as process:
        for words in (("search", asked[0].words), ("status",), ("ls",)):
            ways = {tool.name: [*tool.command, *words] for tool in tools}
            taken = forwarded.measured(ways, environ, process, effort.rounds, others)
            title = f"{words[0]}, through a server"
            yield row(title, "s CPU", {name: each.cpu for name, each in taken.items()})
            yield row(title, "s", {name: each.wall for name, each in taken.items()})


def over_stdio(tools: list[Tool], asked: list[Question], effort: Effort) -> Iterator[Row]:
    """MCP over stdin and stdout: search by words in a process that stays."""
    pairs = [each.words for each in asked]

    def begun(tool: Tool) -> tuple[float, float]:
        server = Server(tool.command, tool.environ)
        try:
            return server.ready, server.first_search(pairs[0])
        finally:
            server.close()

    taken_first = in_turn(tools, begun, effort.rounds)
    for number, what in enumerate(("first answer", "first search")):
        seconds = {name: [each[number] for each in all_] for name, all_ in taken_first.items()}
        yield row(f"MCP stdio, {what}", "s", _medians(seconds))
    taken = in_turn(tools, lambda tool: by_words(tool, pairs))
    yield from latency_rows("search, warm, MCP stdio", _warm(taken))
    yield row("MCP stdio, memory", "MB", {name: memory for name, [(_, memory)] in taken.items()})
    library, _ = alone(indexing.warm, tools[0].environ, pairs)
    yield Row("search, warm, Python, p50", "ms", library)


def by_words(tool: Tool, pairs: list[str]) -> tuple[list[float], float]:
    """Milliseconds of each search to a server over stdin and stdout, and its megabytes."""
    [way] = [way for way in serving.ways(tool) if way.path == "/mcp"]
    server = Server(tool.command, tool.environ)
    try:
        times = hybrid.taken(lambda pair: server.ask(way.body(pair)), pairs, in_new_pairs)
        return times, server.memory
    finally:
        server.close()


def in_new_pairs(pairs: Sequence[str], turn: int) -> list[tuple[str]]:
    """Make new pairs of the same words, so that no result is cached."""
    return [(pair,) for pair in recombined(pairs, turn)]


def over_http(tools: list[Tool], asked: list[Question], effort: Effort) -> Iterator[Row]:
    """Measure the servers with concurrent clients."""
    clients = 8
    found: dict[str, dict[str, tuple[serving.Outcome, float]]] = {}
    pairs = [each.words for each in asked]
    for way, tool, outcome, memory in serving.served(
        tools, pairs, clients=clients, seconds=effort.seconds
    ):
        found.setdefault(way.name, {})[tool] = outcome, memory
        if outcome.problems:
            print(f"    {tool}, {way.name}: {len(outcome.problems)} errors: {outcome.problems[0]}")
    for way_name, both in found.items():
        title = f"HTTP {way_name}, {clients} clients"
        outcomes = {name: outcome for name, (outcome, _) in both.items()}
        yield row(title, "requests/s", {name: each.rate for name, each in outcomes.items()})
        yield from latency_rows(title, {name: each.times for name, each in outcomes.items()})
        yield row(
            title,
            "ms CPU each",
            {name: each.cpu * 1000 / len(each.times) for name, each in outcomes.items()},
        )
        yield row(f"{title}, memory", "MB", {name: memory for name, (_, memory) in both.items()})


def meaning(
    tools: list[Tool], corpus: Path, work: Path, asked: list[Question], effort: Effort
) -> Iterator[Row]:
    """Embed some files, and search them by meaning, and by both."""
    size = embedding.prepared(tools, corpus, work, files=effort.files, longest=effort.longest)
    costs = {name: cost for name, [cost] in embedding.both_embed(tools).items()}
    rates = {name: size / 1000 / cost.wall for name, cost in costs.items()}
    yield row(f"embed {effort.files} files", "kB/s", rates)
    yield from cost_rows(f"embed {effort.files} files", costs)
    kinds = {
        "vector search": [(("vec", each.sentence),) for each in asked],
        "hybrid search": [(("lex", each.words), ("vec", each.sentence)) for each in asked],
    }
    for title, searches in kinds.items():
        yield from cost_rows(f"{title}, cold", hybrid.cold(tools, searches[0], effort.rounds))
        taken = in_turn(tools, lambda tool, asked=searches: hybrid.over_mcp(tool, asked))
        yield from latency_rows(f"{title}, warm, MCP stdio", _warm(taken))
        library, _ = alone(hybrid.through_python, tools[0].environ, searches)
        yield Row(f"{title}, warm, Python, p50", "ms", statistics.median(library))


def _warm(taken: Mapping[str, list[tuple[list[float], float]]]) -> dict[str, list[float]]:
    return {name: times for name, [(times, _)] in taken.items()}


def _medians(taken: Mapping[str, list[float]]) -> dict[str, float]:
    return {name: statistics.median(values) for name, values in taken.items()}


def row(what: str, unit: str, values: Mapping[str, float]) -> Row:
    """Make a row of the figures of each tool."""
    return Row(what, unit, values["qmd"], values.get("peer"))


def cost_rows(what: str, costs: Mapping[str, Cost]) -> Iterator[Row]:
    """Make the rows of the costs of processes."""
    for unit, field in (("s CPU", "cpu"), ("s", "wall"), ("MB of memory", "memory")):
        yield row(what, unit, {name: getattr(cost, field) for name, cost in costs.items()})


def latency_rows(what: str, times: Mapping[str, list[float]]) -> Iterator[Row]:
    """Median and 95th percentile of milliseconds in order."""
    for share in (0.5, 0.95):
        values = {name: serving.at(share, each) for name, each in times.items()}
        yield row(f"{what}, p{share * 100:.0f}", "ms", values)


def line(row: Row) -> str:
    """Format a row as text."""
    text = f"{row.what:42} {row.ours:10.3g} {row.unit}"
    return f"{text:68} {row.theirs:10.3g}   ratio {row.ratio:.3g}" if row.ratio else text


def measured_on(folders: list[Path], command: list[str], effort: Effort) -> list[Table]:
    """Measure each folder."""
    tables = []
    for folder in folders:
        print(f"Both on {folder.name}:", flush=True)
        tables.append(measured(folder, command, effort))
    return tables


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, action="append", default=[])
    parser.add_argument("--peer", help="command of tobi/qmd")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true", help="print JSON at the end")
    options = parser.parse_args()
    found = peer.find(options.peer)
    print(found.version)
    effort = QUICK if options.quick else Effort()
    with given_or_generated(options.corpus, effort.documents) as folders:
        tables = measured_on(folders, found.command, effort)
    if options.json:
        print(json.dumps([asdict(table) for table in tables], indent=1))


if __name__ == "__main__":
    main()
