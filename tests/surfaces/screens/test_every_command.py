"""No command gives orders to a terminal, whatever names, texts and files it is given."""

from __future__ import annotations

import json
import os

import typer.main

from qmd.cluster.manifest import FORMAT, NUMBERS, BuildManifest, ShardFile, schema
from qmd.operations.experiences import Experiences
from qmd.operations.index import Index
from qmd.settings.environment import Machine, Place
from qmd.surfaces.cli.app import application
from tests.surfaces.screens.seeing import ORDERS, PLAIN, seen, written

NAME = ORDERS.replace("/", "")
"""Orders that can be in the name of a file."""

NOTE = f"docs\u202e/odd{NAME}.md"

TOO_NEW = {"schema_version": 9999, "qmd_version": ORDERS, "index": ORDERS}

RUNS = {
    "append": [["append", "inbox/wild", "--file", "judged.json"], ["append", ORDERS]],
    "ask": [["ask", "wombat"], ["ask", ORDERS]],
    "bench": [["bench", "judged.json"]],
    "cleanup": [["cleanup"]],
    "cluster build": [["cluster", "build", "docs", "--to", f"kb{NAME}"]],
    "cluster status": [["cluster", "status", x] for x in ("shards", "old", "odd", "bare")],
    "cluster verify": [["cluster", "verify", "shards"], ["cluster", "verify", f"kb{NAME}"]],
    "collection add": [["collection", "add", f"kb{NAME}"], ["collection", "add", f"no{NAME}"]],
    "collection exclude": [["collection", "exclude", "docs\u202e"]],
    "collection ignore": [["collection", "ignore", "docs\u202e", f"*{NAME}.txt"]],
    "collection include": [["collection", "include", "docs\u202e"]],
    "collection list": [["collection", "list"]],
    "collection remove": [["collection", "remove", f"none{ORDERS}"]],
    "collection rename": [["collection", "rename", "docs\u202e", f"x{ORDERS}"]],
    "collection show": [["collection", "show", "docs\u202e"]],
    "collection update-cmd": [["collection", "update-cmd", "docs\u202e", f"true {ORDERS}"]],
    "context add": [["context", "add", "qmd://docs\u202e/a", f"about {ORDERS}"]],
    "context check": [["context", "check"]],
    "context list": [["context", "list"]],
    "context rm": [["context", "rm", f"qmd://docs/{NAME}"], ["context", "rm", ORDERS]],
    "doctor": [["doctor"], ["doctor", "--deep"]],
    "embed": [["embed"], ["embed", "--model", ORDERS]],
    "edit": [["edit", "inbox/wild", "--old", ORDERS, "--file", "judged.json"]],
    "experiences correct": [["experiences", "correct", ORDERS, "--title", ORDERS]],
    "experiences list": [["experiences", "list"]],
    "experiences remove": [["experiences", "remove", ORDERS]],
    "experiences restore": [["experiences", "restore", ORDERS]],
    "experiences retire": [["experiences", "retire", ORDERS]],
    "export": [["export", f"out{NAME}"], ["export", f"no{NAME}/{NAME}"]],
    "get": [["get", NOTE], ["get", "--full", NOTE], ["get", ORDERS]],
    "grep": [["grep", "wombat"], ["grep", f"({ORDERS}"], ["grep", "-c", "."]],
    "help": [["help", ORDERS]],
    "import": [["import", "foreign"], ["import", f"no{NAME}"]],
    "init": [["init"]],
    "journal": [["journal"]],
    "facets": [["facets"], ["facets", "docs\u202e", "--by", "kind"], ["facets", ORDERS]],
    "links": [["links", NOTE], ["links", ORDERS]],
    "ls": [["ls"], ["ls", "docs\u202e"], ["ls", ORDERS]],
    "map": [["map", f"map{NAME}.svg"], ["map", f"no/{NAME}.svg"]],
    "mcp status": [["mcp", "status"]],
    "mcp stop": [["mcp", "stop"]],
    "models list": [["models", "list"]],
    "move": [["move", ORDERS], ["move", "inbox/wild", "inbox/odd", "--title", ORDERS]],
    "multi-get": [["multi-get", "docs\u202e/*"], ["multi-get", f"{ORDERS},{NAME}*"]],
    "passages": [["passages", "wombat"], ["passages", ORDERS]],
    "put": [["put", ORDERS, "--file", "judged.json"], ["put", "x", "--file", f"no{NAME}"]],
    "query": [["query", "wombat"], ["query", f"lex: {ORDERS}\nvec: {ORDERS}"]],
    "remove": [["remove", ORDERS], ["remove", NOTE]],
    "search": [["search", "wombat"], ["search", f"title:{ORDERS}"], ["search", f"({ORDERS} a*)"]],
    "service install": [["service", "install", "--index", ORDERS], ["service", "install"]],
    "service remove": [["service", "remove"]],
    "service status": [["service", "status"]],
    "similar": [["similar", NOTE], ["similar", ORDERS]],
    "skill install": [["skill", "install", ORDERS]],
    "skill show": [["skill", "show"]],
    "sql": [["sql", "from documents"], ["sql", f"select {ORDERS}"], ["sql", "--file", f"no{NAME}"]],
    "stats": [["stats"], ["stats", ORDERS]],
    "status": [["status"]],
    "trust": [["trust"]],
    "trust list": [["trust", "list"]],
    "trust revoke": [["trust", "revoke"], ["trust", "revoke", f"/no{NAME}"]],
    "undo": [["undo", "99"]],
    "update": [["update"], ["update", "-c", ORDERS]],
    "version": [["version"]],
    "vsearch": [["vsearch", "wombat"]],
}  # fmt: skip
"""Words for each command; what they name is hostile, and much of it is missing."""

ENDLESS = {
    "models pull": "needs the network",
    "mcp": "speaks a protocol, or runs until it is interrupted",
    "server": "the same as mcp",
    "open": "starts a server",
    "watch": "runs until it is interrupted",
}


def commands(path, command):
    """Paths of the commands below one that can be run."""
    below = getattr(command, "commands", {})
    if path and (not below or command.invoke_without_command):
        yield path
    for name, each in below.items():
        yield from commands(f"{path} {name}".strip(), each) if not each.hidden else ()


def test_each_command_is_tried():
    known = set(commands("", typer.main.get_command(application([]))))
    assert known - {"collection", "context", "models"} == RUNS.keys() | ENDLESS.keys()


def test_no_command_gives_orders_to_a_terminal(hostile):
    assert seen("update", environ=PLAIN).code == 0
    assert seen("export", "foreign", environ=PLAIN).code == 0
    manifest = hostile / "foreign" / "manifest.json"
    written(manifest, json.dumps(json.loads(manifest.read_text()) | TOO_NEW))
    shard = dict.fromkeys(ShardFile._fields, f"x{ORDERS}") | dict.fromkeys(NUMBERS, 0)
    build = dict.fromkeys(BuildManifest._fields, f"x{ORDERS}") | {"model": None, "format": FORMAT}
    shard = {name: shard[name] for name in ShardFile._fields} | {"file": f"x{NAME}"}
    for name, number in (("old", 1), ("shards", schema())):
        made = build | {"schema": number, "shards": [shard | {"file": "x"}]}
        written(hostile / name / "manifest.json", json.dumps(made))
    written(hostile / "odd" / "manifest.json", json.dumps(made | {"shards": [shard]}))
    written(hostile / "bare" / "manifest.json", json.dumps({"format": ORDERS}))
    judged = [{"query": f"wombat {ORDERS}", "relevant": {f"docs/{NAME}.md": 1}, "id": ORDERS}]
    written(hostile / "judged.json", json.dumps(judged))
    os.environ.pop("QMD_TRUST_LOCAL_CONFIG", None)
    given = ("--title", f"wild {ORDERS}", "--tags", ORDERS, "--file", "judged.json")
    assert seen("put", "wild", *given, environ=PLAIN).code == 0
    told = dict.fromkeys(("title", "problem_description", "solution"), f"wombat {ORDERS}")
    place = Place(
        "a",
        hostile / ".qmd" / "index.yml",
        hostile / ".qmd" / "index.duckdb",
        None,
        hostile / "trust",
    )
    engine = Index(place, Machine(hub=hostile / "hub"))
    assert Experiences(engine).submit(told)["success"]
    engine.close()
    for path, runs in RUNS.items():
        for arguments in runs:
            found = seen(*arguments, answer="n\n", environ=PLAIN)
            assert (found.foreign, found.title) == ([], ""), path
            assert "Traceback" not in found.raw, (path, found.raw)
            assert "mistake in qmd" not in found.raw, (path, found.raw)
