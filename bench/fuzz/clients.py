"""Readers of client requests, except for the HTTP server."""

from __future__ import annotations

import json
from collections.abc import Iterator

from bench.fuzz.sources import Bytes, Input, Target


def arguments() -> Iterator[Target]:
    """Arguments of tools."""
    from qmd.surfaces.tools import schemas
    from qmd.surfaces.tools.arguments import InvalidArguments, read

    def made(source: Bytes) -> Input:
        tool = source.number(0, len(schemas.TOOLS) - 1)
        known = list(schemas.TOOLS[tool].input["properties"]) or ["x"]
        given = source.fields([*known, "min_score", "type", "query", "lex"], source.number(0, 6))
        return json.dumps(given), tool

    def check(text: str, number: int) -> None:
        given = json.loads(text)
        tool = schemas.TOOLS[number]
        try:
            found = read(tool, given)
        except InvalidArguments as error:
            str(error).encode()
            return
        json.dumps(found, ensure_ascii=False).encode()
        assert set(found) <= set(tool.input["properties"])
        assert read(tool, found) == found

    yield Target(made, check, ("[", "]", '"', "true", "1e9", "{", "NaN"), linear=False)


def lines() -> Iterator[Target]:
    """Lines of a client on stdin, whole or in pieces."""
    from mcp_types import jsonrpc_message_adapter
    from pydantic import ValidationError

    from qmd.surfaces.mcp.json_lines import LineSplitter, line_problem

    def made(source: Bytes) -> Input:
        size = source.number(1, 200)
        return source.rest(), size

    def check(data: bytes, size: int) -> None:
        splitter = LineSplitter()
        pieces = [data[at : at + size] for at in range(0, len(data), size)]
        found = [line for piece in pieces for line in splitter.split(piece)]
        found += splitter.end()
        assert b"\n".join(found) == data.removesuffix(b"\n")
        for line in found:
            try:
                jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValidationError:
                problem = line_problem(line)
                json.dumps(problem._asdict(), ensure_ascii=False).encode()

    examples = (
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get"}}\n[1]\n',
        b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "x"}\n\xff\n\n{"id": 1e99}\nnull',
    )
    yield Target(made, check, (), examples)


def experience() -> Iterator[Target]:
    """Fuzz submitted records, and their queries."""
    from qmd.experiences import contract as experience

    known = [*experience.SUBMITTED, *experience.ASKED, "Title", "solutions"]

    def made(source: Bytes) -> Input:
        is_query = source.number(0, 3) == 0
        whole = {name: source.text(surrogates=True) for name in experience.REQUIRED}
        given = source.fields(known, source.number(0, 5))
        return json.dumps(given if source.number(0, 1) else whole | given), is_query

    def check(text: str, is_query: bool) -> None:
        given = json.loads(text)
        try:
            if is_query:
                asked = experience.query(given)
                assert asked.keywords.strip()
                return
            found = experience.submission(given)
        except experience.ContractViolations as refusal:
            json.dumps([str(refusal), refusal.violations, refusal.findings]).encode()
            return
        assert experience.heading(found.title).strip()

    yield Target(made, check, ("password=", "[", '"', "," * 30, "x" * 60), linear=False)
