"""Bundles for Claude Desktop: a manifest that starts the server of this index."""

from __future__ import annotations

import json
import os
import subprocess
import zipfile

import pytest

from qmd.version import __version__
from tests.surfaces.mcp.server_process import INITIALIZE, INITIALIZED, request

STRICT = set(
    "manifest_version name display_name version description long_description author repository "
    "homepage documentation support icon icons screenshots localization server tools "
    "tools_generated prompts prompts_generated keywords license privacy_policies compatibility "
    "user_config _meta".split()
)
"""Fields of a manifest: others are refused. Source: MCPB manifest 0.3."""


@pytest.fixture
def shelf(qmd, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "tea.md").write_text("# Tea\n\nGreen tea.\n")
    qmd("collection", "add", folder)
    return tmp_path


def read(path):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return json.loads(archive.read("manifest.json")), archive


def answers(server, environ):
    """What the server of a manifest says to a client."""
    asked = (INITIALIZE, INITIALIZED, request(1, "search", query="green"))
    done = subprocess.run(
        [server["command"], *server["args"]],
        input="".join(json.dumps(each) + "\n" for each in asked),
        env={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **environ},
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_bundle_has_what_its_specification_requires(qmd, shelf):
    code, out, _ = qmd("mcp", "--bundle", shelf, "--read-only")
    assert (code, out.startswith(f"Wrote {shelf / 'qmd.mcpb'}.")) == (0, True)
    manifest, archive = read(shelf / "qmd.mcpb")
    assert manifest.keys() <= STRICT
    assert manifest["manifest_version"] == "0.3"
    assert (manifest["name"], manifest["version"]) == ("qmd", __version__)
    assert manifest["description"]
    assert manifest["author"]["name"]
    server = manifest["server"]
    assert server.keys() == {"type", "entry_point", "mcp_config"}
    assert server["type"] in ("python", "node", "binary")
    assert server["mcp_config"].keys() <= {"command", "args", "env", "platform_overrides"}
    entry = next(each for each in archive.infolist() if each.filename == server["entry_point"])
    assert entry.external_attr >> 16 & 0o777 == 0o755
    names = [tool["name"] for tool in manifest["tools"]]
    assert "context" in names
    assert "submit_experience" not in names


def test_the_command_of_a_bundle_starts_a_server_of_the_index(qmd, shelf):
    qmd("mcp", "--bundle", shelf / "tea.mcpb")
    manifest, _ = read(shelf / "tea.mcpb")
    server = manifest["server"]["mcp_config"]
    hello, found = answers(server, server["env"])
    assert hello["result"]["serverInfo"]["name"] == "qmd"
    [result] = found["result"]["structuredContent"]["results"]
    assert result["file"] == "notes/tea.md"
    with zipfile.ZipFile(shelf / "tea.mcpb") as archive:
        script = shelf / "entry"
        script.write_bytes(archive.read(manifest["server"]["entry_point"]))
    script.chmod(0o755)
    assert answers({"command": str(script), "args": []}, {})[0]["id"] == "hello"


def test_the_same_call_writes_the_same_bundle(qmd, shelf):
    qmd("mcp", "--bundle", shelf)
    before = (shelf / "qmd.mcpb").read_bytes()
    qmd("mcp", "--bundle", shelf)
    assert (shelf / "qmd.mcpb").read_bytes() == before


def test_a_bundle_of_a_named_index_has_a_name_of_its_own(qmd, shelf):
    qmd("--index", "work", "mcp", "--bundle", shelf)
    manifest, _ = read(shelf / "qmd-work.mcpb")
    assert (manifest["name"], manifest["display_name"]) == ("qmd-work", "qmd: work")
    assert manifest["server"]["mcp_config"]["args"][-3:] == ["--index", "work", "mcp"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--bundle", "x.zip"], "ends with .mcpb"),
        (["--bundle", "no/x.mcpb"], "cannot be written: No such file"),
        (["--bundle", "x.mcpb", "--http"], "leave out --http"),
    ],
)
def test_a_bundle_that_cannot_be_is_refused_in_words(qmd, shelf, monkeypatch, words, problem):
    monkeypatch.chdir(shelf)
    code, _, err = qmd("mcp", *words)
    assert (code, problem in err) == (1, True)
    assert not list(shelf.glob("x*"))
