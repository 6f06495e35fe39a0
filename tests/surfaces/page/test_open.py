"""`qmd open`: a server in the background, and its address."""

from __future__ import annotations

import socket

import httpx
import pytest


@pytest.fixture
def command(qmd, tmp_path, monkeypatch):
    """Runs a command; what it leaves in the background is ended."""
    for name in ("QMD_TOKEN", "QMD_ALLOWED_ORIGINS", "QMD_ALLOWED_HOSTS", "QMD_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    yield qmd
    qmd("mcp", "stop")


def test_a_server_is_started_once_and_the_address_has_the_search(command, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or True)
    with socket.socket() as taken:
        # Another server has the usual port, whether by this test or before it.
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", 8181))
            taken.listen()
        except OSError:
            pass
        code, out, err = command("open", "--no-browser")
    assert code == 0, err
    url = out.strip()
    assert ":8181" not in url
    assert "qmd mcp stop" in err
    assert httpx.get(url).status_code == 200
    assert opened == []
    code, out, err = command("open", "green", "tea & milk")
    assert (code, out.strip(), err) == (0, f"{url}?q=green+tea+%26+milk", "")
    assert opened == [out.strip()]


def test_without_a_browser_the_address_is_there(command, monkeypatch):
    monkeypatch.setattr("webbrowser.open", lambda url: False)
    code, out, err = command("open")
    assert code == 0
    assert out.startswith("http://127.0.0.1:")
    assert "There is no browser here." in err
