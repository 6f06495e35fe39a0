"""`qmd mcp --install`: the settings files of other programs."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest

from qmd.errors import UsageError
from qmd.surfaces.mcp import client_config, client_files
from qmd.surfaces.mcp.client_config import Client, Entry

FILES = {
    "claude": ".claude.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "zed": ".config/zed/settings.json",
}

ENTRY = Entry("mcpServers", {"command": "qmd"})

FILE = Path("mcp.json")


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def server(client, text):
    whole = tomllib.loads(text) if client == "codex" else json.loads(text)
    table = {"vscode": "servers", "codex": "mcp_servers", "zed": "context_servers"}
    return whole[table.get(client, "mcpServers")]["qmd"]


@pytest.mark.parametrize("client", FILES)
def test_what_is_printed_is_written_after_it_was_shown(qmd, home, client):
    printed = qmd("mcp", "--print-config", client)[1]
    file = home / FILES[client]
    code, out, err = qmd("mcp", "--install", client, "--yes")
    assert (code, err) == (0, "")
    assert f"+++ {file}" in out
    assert f"Wrote {file}. Start {client} again to use it." in out
    assert server(client, file.read_text()) == server(client, printed)
    assert qmd("mcp", "--install", client, "--yes")[1] == f"{file} has these settings already.\n"


def test_without_a_terminal_nothing_is_written_unless_it_was_agreed(qmd, home):
    code, _, err = qmd("mcp", "--install", "cursor")
    assert code == 1
    assert err == "Nothing was changed: there is no terminal to ask at. Add --yes.\n"
    assert not (home / ".cursor").exists()


def test_the_settings_of_a_project_go_into_its_folder(qmd, home, monkeypatch):
    project = home / "project"
    (project / ".qmd").mkdir(parents=True)
    (project / ".qmd" / "index.yml").write_text("collections: {}\n")
    monkeypatch.chdir(project)
    for name in ("INDEX_PATH", "QMD_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    assert qmd("mcp", "--install", "claude", "--yes")[0] == 0
    assert server("claude", (project / ".mcp.json").read_text())["type"] == "stdio"


def test_all_else_in_json_stays_as_it_is():
    text = """{
    "theme": "dürk",
    "mcpServers": {
        "other": {"command": "x"},
        "qmd": {"command": "old", "more": 1}
    },
    "last": [1.5, null]
}
"""
    after = client_files.with_server(Client.CURSOR, ENTRY, text, FILE)
    assert json.loads(after) == {
        "theme": "dürk",
        "mcpServers": {"other": {"command": "x"}, "qmd": {"command": "qmd"}},
        "last": [1.5, None],
    }
    assert list(json.loads(after)) == ["theme", "mcpServers", "last"]
    assert '    "theme": "dürk"' in after


def test_comments_and_tables_in_toml_stay():
    text = (
        "# mine\nmodel = 'o'  # best\n\n[mcp_servers.qmd]\ncommand = 'old'\n"
        "\n[mcp_servers.qmd.env]\nA = '1'\n\n[mcp_servers.other]\ncommand = 'x'\n"
    )
    entry = Entry("mcp_servers", {"command": "qmd", "env": {"B": "2"}})
    after = client_files.with_server(Client.CODEX, entry, text, FILE)
    assert after.startswith("# mine\nmodel = 'o'  # best\n")
    assert client_files.with_server(Client.CODEX, entry, after, FILE) == after
    assert tomllib.loads(after) == {
        "model": "o",
        "mcp_servers": {"qmd": {"command": "qmd", "env": {"B": "2"}}, "other": {"command": "x"}},
    }


def test_a_comment_behind_the_server_stays_when_it_is_written_again():
    text = "mcp_servers.a.b = 1\n# mine\n"
    entry = Entry("mcp_servers", {"command": "qmd", "args": ["mcp"]})
    once = client_files.with_server(Client.CODEX, entry, text, FILE)
    other = Entry("mcp_servers", {"url": "http://h/mcp"})
    again = client_files.with_server(Client.CODEX, other, once, FILE)
    assert "# mine\n" in again
    assert tomllib.loads(again)["mcp_servers"]["qmd"] == {"url": "http://h/mcp"}
    assert client_files.with_server(Client.CODEX, entry, again, FILE).count("# mine\n") == 1


@pytest.mark.parametrize(
    ("client", "text"),
    [
        (Client.ZED, "// mine\n{}"),
        (Client.ZED, '{"a": 1,}'),
        (Client.CURSOR, "[]"),
        (Client.CURSOR, '{"mcpServers": 3}'),
        (Client.CURSOR, '{"a": 1, "a": 2}'),
        (Client.CURSOR, '{"a": 12345678901234567890.5}'),
        (Client.CURSOR, "[" * 100_000),
        (Client.CURSOR, '{"a": "\\ud800"}'),
        (Client.VSCODE, '{"inputs": 3}'),
        (Client.CODEX, "x = "),
        (Client.CODEX, "mcp_servers = 3"),
    ],
)
def test_what_would_be_lost_is_left_alone_and_the_lines_are_shown(client, text):
    entry = client_config.http_config(client, "http://h/mcp", has_token=client is Client.VSCODE)
    with pytest.raises(UsageError, match=r"(?s)without a loss.*Add this by hand:.*http://h/mcp"):
        client_files.with_server(client, entry, text, FILE)


def test_what_vs_code_asks_for_stands_there_once():
    entry = client_config.http_config(Client.VSCODE, "http://h/mcp", has_token=True)
    once = client_files.with_server(Client.VSCODE, entry, '{"inputs": [{"id": "a"}]}', FILE)
    assert client_files.with_server(Client.VSCODE, entry, once, FILE) == once
    assert [each["id"] for each in json.loads(once)["inputs"]] == ["a", "qmd-token"]


def test_a_link_stays_and_its_target_is_written(tmp_path):
    target = tmp_path / "dotfiles.json"
    target.write_text("{}")
    (tmp_path / "mcp.json").symlink_to(target)
    client_files.write(tmp_path / "mcp.json", "new")
    assert (tmp_path / "mcp.json").is_symlink()
    assert target.read_text() == "new"


def test_a_file_that_cannot_be_read_or_written_is_told(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "latin").write_bytes(b"\xff")
    for name in ("folder", "latin"):
        with pytest.raises(UsageError, match="cannot be read"):
            client_files.read(tmp_path / name)
    with pytest.raises(UsageError, match="cannot be written"):
        client_files.write(tmp_path / "latin" / "x.json", "{}")


def test_a_pipe_and_what_is_too_large_are_not_read(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_text(" " * 11)
    monkeypatch.setattr(client_files, "LARGEST", 10)
    with pytest.raises(UsageError, match="it is a link, a pipe or a folder"):
        client_files.read(tmp_path / "pipe")
    with pytest.raises(UsageError, match="more than 10 bytes"):
        client_files.read(tmp_path / "large")


@pytest.mark.parametrize(
    ("client", "name", "text"),
    [
        (Client.CURSOR, ".cursor/mcp.json", '{\n    "mcpServers": {\n        "a": 1\n    }\n}\n'),
        (Client.CODEX, ".codex/config.toml", "# mine\nmodel = 'o'\n"),
    ],
)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\r\n", b"\n"])
def test_a_byte_order_mark_and_line_ends_stay(qmd, home, client, name, text, mark, end):
    file = home / name
    file.parent.mkdir()
    file.write_bytes(mark + text.encode().replace(b"\n", end))
    assert qmd("mcp", "--install", client, "--yes")[0] == 0
    data = file.read_bytes()
    assert data.startswith(mark + text[:6].encode().replace(b"\n", end))
    assert data.count(end) == data.count(b"\n")
    assert server(client, data.decode("utf-8-sig"))["args"] == ["mcp"]


def test_a_link_out_of_a_project_is_not_followed(qmd, home, monkeypatch):
    project = home / "project"
    (project / ".qmd").mkdir(parents=True)
    (project / ".qmd" / "index.yml").write_text("collections: {}\n")
    (home / ".claude.json").write_text("{}")
    (project / ".mcp.json").symlink_to("../.claude.json")
    monkeypatch.chdir(project)
    for name in ("INDEX_PATH", "QMD_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    code, _, err = qmd("mcp", "--install", "claude", "--yes")
    assert code == 1
    assert f"is a link to {home / '.claude.json'}, outside of the project" in err
    assert (home / ".claude.json").read_text() == "{}"


def test_the_file_that_a_link_leads_to_is_shown_and_written(qmd, home):
    (home / "dot").mkdir()
    (home / ".cursor").symlink_to("dot")
    assert f"+++ {home / 'dot' / 'mcp.json'}" in qmd("mcp", "--install", "cursor", "--yes")[1]
    assert server("cursor", (home / "dot" / "mcp.json").read_text())["args"] == ["mcp"]


def test_clients_that_cannot_are_told_so():
    with pytest.raises(UsageError, match="leave out --http"):
        client_config.http_config(Client.CLAUDE_DESKTOP, "http://h", has_token=False)
    with pytest.raises(UsageError, match="no way to name a token"):
        client_config.http_config(Client.ZED, "http://h", has_token=True)
