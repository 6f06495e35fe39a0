"""Files that other programs read as well: manifests of shards, settings of clients, services."""

from __future__ import annotations

import json
import plistlib
import re
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from bench.fuzz.sources import Bytes, Input, Target

_FIELDS = (
    "format build schema qmd collection root mask model shards number file bytes sha256 list "
    "documents vectors"
).split()


def shards() -> Iterator[Target]:
    """Manifests of shards: read the same after they are written again; no shard lies outside."""
    from qmd.cluster import manifest as ours
    from qmd.errors import ClusterFailure

    shard: dict[str, Any] = dict.fromkeys(ours.ShardFile._fields, "a")
    shard |= {"number": 0, "file": "b/shard-0000.duckdb", "bytes": 1, "documents": 1, "vectors": 0}
    whole: dict[str, Any] = {
        **dict.fromkeys(ours.BuildManifest._fields, "a"),
        "format": ours.FORMAT,
    }
    whole |= {"schema": ours.schema(), "model": None}

    def made(source: Bytes) -> Input:
        kind, count = source.number(0, 4), source.number(0, 4)
        if kind == 0:
            return (source.rest(),)
        given = whole | {"shards": [shard | {"number": number} for number in range(count)]}
        if kind < 3 and count:
            given["shards"][-1] |= {"file": source.text(surrogates=True)}
        given |= source.fields(_FIELDS, source.number(0, 3)) if kind > 1 else {}
        return (json.dumps(given).encode(),)

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)

        def check(data: bytes) -> None:
            (folder / ours.NAME).write_bytes(data)
            try:
                found = ours.read(folder)
            except ClusterFailure:
                return
            for each in found.shards:
                path = PurePosixPath(each.file)
                assert not path.is_absolute()
                assert ".." not in path.parts
                with suppress(ClusterFailure):
                    assert ours.check_file(folder, each).is_relative_to(folder)
            assert found.documents == sum(each.documents for each in found.shards)
            ours.write(folder, found)
            assert ours.read(folder) == found

        words = ["../", "/", "./", "\0", "~", "manifest.json", '"', "{", "[", "1e999", "\\ud800"]
        yield Target(made, check, words, (b'{"format": 1}\0', b"b/c.duckdb\1\1"), linear=False)


def installed() -> Iterator[Target]:
    """Fuzz settings of clients that get qmd's server: it can be read there, and all else stays."""
    from qmd.errors import UsageError
    from qmd.surfaces.mcp import client_config, client_files
    from qmd.surfaces.mcp.client_config import NAME, Client

    def made(source: Bytes) -> Input:
        client, has_token = source.pick(list(Client)), bool(source.number(0, 1))
        if source.number(0, 2):
            return source.text(), source.text(), client, has_token
        names = ["mcpServers", "servers", "context_servers", "inputs", "qmd", "id", "qmd-token"]
        made = json.dumps(source.fields(names, 3), indent=source.pick([None, 1, "\t"]))
        return made, "", client, has_token

    def read(client: Client, text: str) -> Any:
        text = text.removeprefix("\ufeff").replace("\r\n", "\n")
        if client is Client.CODEX:
            return tomllib.loads(text)
        return json.loads(text) if text.strip() else {}

    def check(text: str, value: str, client: Client, has_token: bool) -> None:
        try:
            entry = client_config.http_config(
                client, f"http://127.0.0.1/{value}", has_token=has_token
            )
        except UsageError:
            command = ["/bin/qmd", "mcp", value]
            entry = client_config.stdio_config(
                client, command, environ={"A": value}, folder=Path("/srv") / value.strip("\0/")
            )
        try:
            whole = client_files.with_server(client, entry, text, Path("settings"))
        except UsageError:
            return
        assert client_files.with_server(client, entry, whole, Path("settings")) == whole
        assert whole.startswith("\ufeff") == text.startswith("\ufeff")
        if client is Client.CODEX and '"""' not in text and "'''" not in text:
            comments = [line for line in text.splitlines() if line.startswith("#")]
            assert set(comments) <= set(whole.splitlines())
        before, after = read(client, text), read(client, whole)
        assert after[entry.table].pop(NAME) == json.loads(json.dumps(entry.server))
        before.get(entry.table, {}).pop(NAME, None)
        before.setdefault(entry.table, {})
        if entry.inputs:
            others = [each for each in before.pop("inputs", []) if each.get("id") != "qmd-token"]
            assert after.pop("inputs") == [*others, *entry.inputs]
        assert repr(after) == repr(before)

    words = (
        '{"mcpServers": {¦"qmd": ¦}}¦"a": 1.50¦// no\n¦\r\n¦\ufeff¦,¦:¦[mcp_servers]\n¦'
        '[mcp_servers.qmd]\n¦[mcp_servers.b]\n¦a = 1\n¦[[a]]\n¦# mine\n¦"""¦= ¦{¦}¦"inputs": [¦]¦'
        '"id": "qmd-token"¦"\\ud800"¦1e999¦NaN¦mcp_servers = {a = {}}\n¦mcp_servers.a.b = 1\n¦\\'
    ).split("¦")
    examples = (
        b'{\n\t"mcpServers": {"b": {"url": "x"}},\n\t"c": 1\n}\xffv\1\0\1',
        b"# mine\na = 1\n\n[mcp_servers.b]\nurl = 'x' # y\n\n[z]\nk = [1, 2]\n\xffv\1\0\4",
        b'{"inputs": [{"id": "b"}], "servers": {}}\xffv\1\1\3',
    )
    yield Target(made, check, words, examples, linear=False)


def units() -> Iterator[Target]:
    """Services: systemd and launchd read the words, variables and folder that were written."""
    from qmd.settings.environment import Place
    from qmd.surfaces import service
    from qmd.visible import hidden

    def made(source: Bytes) -> Input:
        return source.text(), source.text(), source.text()

    def check(word: str, value: str, folder: str) -> None:
        given = word + value + folder
        if hidden(given) or service._NO_XML & set(given) or not folder.strip("/ "):
            return
        project = Path("/srv") / folder.strip("/ ")
        place = Place("a", project / "a.yml", project / "a.db", project, Path("/t"))
        words, environ = ["/bin/qmd", word, "mcp"], {"A_B": value}
        unit = service._unit("qmd-a", place, words, environ, Path("/home/a")).text
        lines = unit.splitlines()
        assert lines == unit.split("\n")[:-1]
        given = dict(line.split("=", 1) for line in lines if "=" in line)
        assert len(given) == 6 + 1
        assert _words(given["ExecStart"].replace("$$", "$")) == words
        assert _words(given["Environment"]) == [f"A_B={value}"]
        assert given["WorkingDirectory"].replace("%%", "%") == str(project)
        agent = service._agent("qmd.a", place, words, environ, Path("/home/a")).text
        facts = plistlib.loads(agent.encode())
        assert facts["ProgramArguments"] == words
        assert facts["EnvironmentVariables"] == environ
        assert facts["WorkingDirectory"] == str(project)

    signs = ["$HOME", "${A}", "%h", "%%", '"', "'", "\\", "\\n", "; ", "=", " ", "#", "-", "@", "["]
    yield Target(made, check, signs, (b'a b\xffc"d\\e\xfff%g', b"$A;\xff'\xff[Unit]"), linear=False)


def _words(line: str) -> list[str]:
    """Split a line of a unit as systemd does. Source: systemd.syntax(7), Quoting."""
    found = re.findall(r'"((?:[^"\\]|\\.)*)"(?: |$)', line)
    return [re.sub(r"\\(.)", r"\1", word).replace("%%", "%") for word in found]
