"""`qmd mcp` and `qmd server`: what they refuse, what they print, and how they end."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import tomllib
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.surfaces.service import LONG

CLIENTS = ("claude", "claude-desktop", "cursor", "vscode", "codex", "gemini", "zed")

TABLES = {"vscode": "servers", "codex": "mcp_servers", "zed": "context_servers"}
"""Keys of the tables of servers; `mcpServers` elsewhere."""


@pytest.fixture(autouse=True)
def _unset(monkeypatch):
    """What the environment of a developer may say."""
    for name in ("QMD_TOKEN", "QMD_ALLOWED_ORIGINS", "QMD_ALLOWED_HOSTS", "QMD_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    for role in ("EMBED", "RERANK", "GENERATE"):
        monkeypatch.delenv(f"QMD_{role}_MODEL", raising=False)


@pytest.fixture
def serves(monkeypatch):
    """Nothing is served in this process: a test would wait for ever."""

    def refuse(*given):
        raise AssertionError("it serves")

    monkeypatch.setattr("anyio.run", refuse)


@contextmanager
def process(*words, stdin=subprocess.DEVNULL):
    """A command in a process of its own, which ends with the test at the latest."""
    started = subprocess.Popen(
        [sys.executable, "-m", "qmd", *map(str, words)],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    watchdog = threading.Timer(2 * LONG, started.kill)
    watchdog.start()
    try:
        yield started
    finally:
        watchdog.cancel()
        started.kill()
        started.communicate()


def url_of(started):
    """Where a server says that it listens."""
    line = started.stderr.readline()
    found = re.search(r" at (http://127\.0\.0\.1:\d+) ", line)
    assert found, line + started.stderr.read()
    return found[1]


# -- what is refused -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--port", 1], "--port is for the HTTP server. Add --http."),
        (["--host", "localhost"], "--host is for the HTTP server. Add --http."),
        (["--daemon"], "--daemon is for the HTTP server. Add --http."),
        (["--token", "x"], "--token is for the HTTP server. Add --http."),
        (["--http", "--host", "0.0.0.0"], "Other machines could read the index at 0.0.0.0."),
        (["--http", "--host", "::"], "Other machines could read the index at ::."),
        (["--http", "--host", ""], "Other machines could read the index at this address."),
        (["--http", "--host", "no such host"], "There is no host 'no such host'."),
        (["--http", "--host", "192.0.2.1", "--token", "x"], "A server cannot listen at 192.0.2.1"),
        (["--http", "--port", 70000], "it takes 0 to 65535, not 70000."),
        (["--http", "--token", ""], "A token has one or more letters"),
        (["--http", "--token", "two words"], "A token has one or more letters"),
        (["--http", "--token", "é"], "A token has one or more letters"),
        (["--http", "--token", "x", "--token-file", "y"], "Give either --token or --token-file."),
        (["--http", "--token-file", "/absent"], "cannot be read from /absent: No such file"),
        (["--http", "--token-file", "~nobody-at-all/x"], "there is no such home"),
        (["--http", "--allow-origin", "x"], "'x' is not the origin of a web page."),
        (["--http", "--allow-host", "http://x"], "'http://x' is not the name of a host."),
        (["--read-only", "--allow-write"], "contradict each other"),
        (["--confirm"], "--confirm is about tools that write: add --allow-write."),
        (["--tool-names", "short"], "'short' is not one of"),
        (["--print-config", "emacs"], "'emacs' is not one of"),
        (["status", "--daemon"], "No such option"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(qmd, serves, words, problem):
    code, out, err = qmd("mcp", *words)
    assert (code, out) == (1, "")
    assert problem in err


def test_a_long_name_refuses_the_same(qmd, serves):
    code, _, err = qmd("server", "--transport", "http", "--host", "0.0.0.0")
    assert code == 1
    assert "Set a token that requests have to bring, in QMD_TOKEN or with --token-file" in err
    assert qmd("server", "--transport", "tcp")[0] == 1


@pytest.mark.parametrize(
    "words",
    [
        ["--host", "localhost"], ["--port", "0"], ["--token", "x"], ["--token-file", "x"],
        ["--allow-host", "x"], ["--allow-origin", "http://x"],
    ],
)  # fmt: skip
def test_what_is_for_http_is_refused_where_there_is_none(qmd, serves, words):
    refused = f"{words[0]} is for the HTTP server."
    for transport in ([], ["--transport", "mcp"]):
        code, out, err = qmd("server", *transport, *words)
        assert (code, out, err) == (
            1, "", f"{refused} Add --transport http, or --transport both.\n"
        )  # fmt: skip
    assert qmd("mcp", *words) == (1, "", f"{refused} Add --http.\n")


# -- settings for clients --------------------------------------------------------------


def settings(client, text):
    """What was printed for a client: that of the server, and all."""
    whole = tomllib.loads(text) if client == "codex" else json.loads(text)
    return whole[TABLES.get(client, "mcpServers")]["qmd"], whole


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_is_told_how_to_start_the_server(qmd, tmp_path, monkeypatch, client):
    monkeypatch.setenv("QMD_EMBED_MODEL", "small")
    words = ("--print-config", client, "--tool-names", "both", "--read-only", "--compact")
    code, out, err = qmd("--index", "work", "mcp", *words)
    assert code == 0
    assert err.startswith("This belongs into ")
    found, _ = settings(client, out)
    assert Path(found["command"]).is_absolute()
    assert shutil.which(found["command"])
    assert found["args"][-7:] == [
        "--index", "work", "mcp", "--tool-names", "both", "--read-only", "--compact",
    ]  # fmt: skip
    assert found["env"]["INDEX_PATH"] == str(tmp_path / "index.duckdb")
    assert found["env"]["QMD_EMBED_MODEL"] == "small"
    assert found.get("type") == ("stdio" if client in ("claude", "cursor", "vscode") else None)
    assert found.get("source") == ("custom" if client == "zed" else None)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("part", ["", "me:s3cret@", "s3cret@"])
def test_a_client_is_told_the_endpoint_of_the_models_and_no_secret(qmd, monkeypatch, client, part):
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://{part}127.0.0.1:8080/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "s3cret")
    _, out, err = qmd("mcp", "--print-config", client)
    assert "s3cret" not in out + err
    found, _ = settings(client, out)
    assert found["env"]["OPENAI_BASE_URL"] == "http://127.0.0.1:8080/v1"
    assert "OPENAI_API_KEY" not in found["env"]


def test_the_name_of_a_model_is_told_as_it_is(qmd, monkeypatch):
    monkeypatch.setenv("QMD_EMBED_MODEL", "~//me@home.gguf")
    found, _ = settings("claude", qmd("mcp", "--print-config", "claude")[1])
    assert found["env"]["QMD_EMBED_MODEL"] == "~//me@home.gguf"


def test_the_command_that_a_client_is_told_runs_this_qmd(qmd):
    found, _ = settings("claude", qmd("mcp", "--print-config", "claude")[1])
    command = [found["command"], *found["args"], "--help"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LONG, check=False)
    assert ended.returncode == 0
    assert "--print-config" in ended.stdout


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_starts_the_server_of_a_project_in_its_folder(qmd, tmp_path, monkeypatch, client):
    project = tmp_path / "it's a project"
    (project / ".qmd").mkdir(parents=True)
    (project / ".qmd" / "index.yml").write_text("")
    monkeypatch.chdir(project)
    for name in ("INDEX_PATH", "QMD_CONFIG_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    found, _ = settings(client, qmd("mcp", "--print-config", client)[1])
    assert "env" not in found
    if client in ("vscode", "codex", "gemini"):
        assert found["cwd"] == str(project)
    else:
        assert found["args"][0] == "-c"
        assert shlex.split(found["args"][1])[:4] == ["cd", str(project), "&&", "exec"]


@pytest.mark.parametrize("client", [each for each in CLIENTS if each != "claude-desktop"])
def test_a_client_is_told_where_the_server_is(qmd, client):
    found, whole = settings(client, qmd("mcp", "--http", "--print-config", client)[1])
    assert found["httpUrl" if client == "gemini" else "url"] == "http://127.0.0.1:8181/mcp"
    assert not {"headers", "bearer_token_env_var", "command"} & set(found)
    assert "inputs" not in whole


@pytest.mark.parametrize("client", ["claude", "cursor", "vscode", "codex", "gemini"])
def test_no_token_is_written_into_settings(qmd, monkeypatch, client):
    monkeypatch.setenv("QMD_TOKEN", "s3cret")
    _, out, err = qmd("mcp", "--http", "--print-config", client)
    assert "s3cret" not in out + err
    found, whole = settings(client, out)
    reference = {
        "claude": "Bearer ${QMD_TOKEN}",
        "cursor": "Bearer ${env:QMD_TOKEN}",
        "vscode": "Bearer ${input:qmd-token}",
        "gemini": "Bearer $QMD_TOKEN",
    }
    if client == "codex":
        assert found["bearer_token_env_var"] == "QMD_TOKEN"
    else:
        assert found["headers"] == {"Authorization": reference[client]}
    assert ("inputs" in whole) == (client == "vscode")


def test_text_of_all_kinds_is_written_as_toml_and_json_have_it(monkeypatch):
    from qmd.surfaces.mcp.client_config import Client, settings_file, stdio_config

    odd = 'a "b" \\ é 🍵 \x7f'
    for client in Client:
        entry = stdio_config(client, [odd, odd], environ={"X": odd}, folder=None)
        found, _ = settings(client.value, settings_file(client, entry))
        assert (found["command"], found["args"], found["env"]) == (odd, [odd], {"X": odd})


# -- servers in processes of their own ---------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_and_that_is_no_failure(qmd, number):
    with process("mcp", "--http", "--port", 0) as started:
        assert httpx.get(f"{url_of(started)}/health", timeout=LONG).status_code == 200
        started.send_signal(number)
        out, err = started.communicate(timeout=LONG)
    assert (started.returncode, out, err) == (0, "", "")


@pytest.mark.parametrize("words", [["--http", "--port", 0], []])
def test_a_signal_that_comes_early_is_no_failure_either(qmd, monkeypatch, words):
    monkeypatch.setattr(
        "qmd.operations.index.Index", lambda *given, **more: os.kill(os.getpid(), 15)
    )
    assert qmd("mcp", *words)[0] == 0


def test_a_server_that_starts_opens_and_locks_nothing(qmd, tmp_path):
    with process("mcp", "--http", "--port", 0) as started:
        httpx.get(f"{url_of(started)}/health", timeout=LONG)
    assert not list(tmp_path.glob("index.duckdb*"))


def test_a_token_from_the_environment_or_a_file_is_asked_for(qmd, tmp_path, monkeypatch):
    monkeypatch.setenv("QMD_TOKEN", "of-the-environment")
    (tmp_path / "token").write_text("of-the-file\n")
    for words, token in (
        ([], "of-the-environment"),
        (["--token-file", tmp_path / "token"], "of-the-file"),
    ):
        with process("mcp", "--http", "--port", 0, *words) as started:
            url = f"{url_of(started)}/mcp"
            assert httpx.post(url, json={}, timeout=LONG).status_code == 401
            headers = {"authorization": f"Bearer {token}"}
            answer = httpx.post(url, json={}, headers=headers, timeout=LONG)
            assert "jsonrpc" in answer.json()


def test_names_and_pages_come_from_the_environment_or_the_command(qmd, monkeypatch):
    monkeypatch.setenv("QMD_ALLOWED_HOSTS", "notes.lan, other.lan")
    monkeypatch.setenv("QMD_ALLOWED_ORIGINS", "https://notes.example")
    words = ("--allow-origin", "https://tool.example")
    with process("server", "--transport", "http", "--port", 0, *words) as started:
        url = f"{url_of(started)}/health"
        for headers, status in [
            ({"host": "other.lan:9"}, 200),
            ({"host": "third.lan"}, 421),
            ({"origin": "https://tool.example"}, 200),
            ({"origin": "https://notes.example"}, 403),
        ]:
            assert httpx.get(url, headers=headers, timeout=LONG).status_code == status


def test_with_both_transports_the_end_of_the_input_ends_the_server(qmd):
    words = ("server", "--transport", "both", "--port", 0)
    with process(*words, stdin=subprocess.PIPE) as started:
        url = url_of(started)
        params = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }
        call = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        started.stdin.write(json.dumps(call) + "\n")
        started.stdin.flush()
        answer = json.loads(started.stdout.readline())
        assert answer["result"]["serverInfo"]["name"] == "qmd"
        headers = {"accept": "application/json, text/event-stream"}
        assert httpx.post(f"{url}/mcp", json=call, headers=headers, timeout=LONG).status_code == 200
        out, _ = started.communicate(timeout=LONG)
        assert (started.returncode, out) == (0, "")
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/health", timeout=LONG)


def test_with_both_transports_a_signal_ends_the_server(qmd):
    words = ("server", "--transport", "both", "--port", 0)
    with process(*words, stdin=subprocess.PIPE) as started:
        httpx.get(f"{url_of(started)}/health", timeout=LONG)
        started.terminate()
        assert started.wait(LONG) == 0
