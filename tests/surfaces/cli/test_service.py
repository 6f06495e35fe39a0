"""The service of the user, with stand-ins for systemctl and launchctl."""

from __future__ import annotations

import configparser
import json
import os
import plistlib
import shutil
import subprocess
import sys

import pytest

STAND_IN = """#!/bin/sh
echo "$(basename "$0") $*" >> "$CALLS"
exit ${RESULT:-0}
"""


@pytest.fixture
def manager(tmp_path, monkeypatch, indexed):
    """Stand-ins on PATH; gives the commands that they were called with."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("systemctl", "launchctl"):
        (folder / name).write_text(STAND_IN)
        (folder / name).chmod(0o755)
    calls = tmp_path / "calls"
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("CALLS", str(calls))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / "home").mkdir(exist_ok=True)

    def told():
        lines = calls.read_text().splitlines() if calls.exists() else []
        calls.unlink(missing_ok=True)
        return lines

    return told


def units(tmp_path):
    return list((tmp_path / "home" / ".config" / "systemd" / "user").glob("*"))


def test_without_a_terminal_nothing_is_written_unless_it_is_meant(indexed, manager, tmp_path):
    code, out, err = indexed("service", "install")
    assert (code, err) == (
        1,
        "Nothing was changed: there is no terminal to ask at. Add --yes.\n",
    )
    assert "ExecStart=" in out  # it is shown all the same
    assert units(tmp_path) == manager() == []


def test_a_unit_is_shown_written_and_started(indexed, manager, tmp_path):
    code, out, err = indexed("service", "install", "--yes")
    assert (code, err) == (0, "")
    [unit] = units(tmp_path)
    text = unit.read_text()
    assert text in out
    assert str(unit) in out
    assert manager() == [
        "systemctl --user daemon-reload",
        f"systemctl --user enable {unit.name}",
        f"systemctl --user restart {unit.name}",
    ]
    parsed = configparser.RawConfigParser(strict=False)
    parsed.optionxform = str
    parsed.read_string(text)
    assert parsed["Service"]["ExecStart"] == f'"{sys.executable}" "-P" "-m" "qmd" "watch" "--embed"'
    assert f'Environment="INDEX_PATH={tmp_path / "index.duckdb"}"' in text
    assert unit.stat().st_mode & 0o777 == 0o600


def test_no_secret_is_written(indexed, manager, tmp_path, monkeypatch):
    for name in ("OPENAI_API_KEY", "HF_TOKEN", "QMD_TOKEN"):
        monkeypatch.setenv(name, "s3cret")
    assert indexed("service", "install", "--yes")[0] == 0
    assert "s3cret" not in units(tmp_path)[0].read_text()


@pytest.mark.parametrize("name", ["50% $HOME", 'a"b\\c', "a b"])
def test_names_reach_the_program_as_they_are(qmd, manager, tmp_path, name, monkeypatch):
    folder = tmp_path / name
    folder.mkdir()
    monkeypatch.setenv("INDEX_PATH", str(folder / "index.duckdb"))
    assert qmd("service", "install", "--yes")[0] == 0
    [unit] = units(tmp_path)
    line = next(line for line in unit.read_text().splitlines() if "INDEX_PATH" in line)
    value = line.removeprefix('Environment="INDEX_PATH=').removesuffix('"')
    read = value.replace("%%", "%").replace('\\"', '"').replace("\\\\", "\\")
    assert read == str(folder / "index.duckdb")


def test_what_cannot_be_seen_is_in_no_service(qmd, manager, tmp_path, monkeypatch):
    for name in ("a\nExecStartPre=rm.duckdb", "a\uffff.duckdb"):
        monkeypatch.setenv("INDEX_PATH", str(tmp_path / name))
        code, _, err = qmd("service", "install", "--yes")
        assert code == 1
        assert "invisible characters" in err
        assert units(tmp_path) == []


def test_what_the_manager_refuses_is_told(indexed, manager, monkeypatch):
    monkeypatch.setenv("RESULT", "5")
    code, _, err = indexed("service", "install", "--yes")
    assert code == 1
    assert err.startswith("'systemctl --user daemon-reload' failed: exit code 5")


def test_the_service_is_removed(indexed, manager, tmp_path):
    assert indexed("service", "remove", "--yes") == (0, "", "The service is not installed.\n")
    indexed("service", "install", "--yes")
    manager()
    [unit] = units(tmp_path)
    code, _, _ = indexed("service", "remove")
    assert code == 1
    assert unit.exists()
    assert indexed("service", "remove", "--yes")[0] == 0
    assert manager() == [
        f"systemctl --user disable --now {unit.name}",
        "systemctl --user daemon-reload",
    ]
    assert units(tmp_path) == []


def test_the_state_of_the_service_is_shown(indexed, manager, monkeypatch):
    monkeypatch.setenv("RESULT", "3")
    facts = json.loads(indexed("service", "status", "--json")[1])
    assert (facts["installed"], facts["running"], facts["answers"]) == (False, False, False)
    monkeypatch.setenv("RESULT", "0")
    indexed("service", "install", "--yes")
    facts = json.loads(indexed("service", "status", "--json")[1])
    assert (facts["installed"], facts["running"], facts["answers"]) == (True, True, False)
    assert "running" in indexed("service", "status")[1]


def test_an_agent_of_launchd_is_written_and_started(indexed, manager, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert indexed("service", "install", "--yes")[0] == 0
    [file] = (tmp_path / "home" / "Library" / "LaunchAgents").iterdir()
    facts = plistlib.loads(file.read_bytes())
    assert facts["ProgramArguments"] == [sys.executable, "-P", "-m", "qmd", "watch", "--embed"]
    assert facts["EnvironmentVariables"]["INDEX_PATH"] == str(tmp_path / "index.duckdb")
    assert facts["RunAtLoad"] is True
    domain = f"gui/{os.getuid()}"
    assert manager() == [f"launchctl bootstrap {domain} {file}"]
    assert indexed("service", "remove", "--yes")[0] == 0
    assert manager() == [f"launchctl bootout {domain}/{facts['Label']}"]
    assert not file.exists()


def test_without_a_manager_another_way_is_told(indexed, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    code, _, err = indexed("service", "install", "--yes")
    assert code == 1
    assert err.startswith("There is neither systemd nor launchd here.")


def test_each_index_has_a_service_of_its_own(indexed, manager, tmp_path, monkeypatch):
    indexed("service", "install", "--yes")
    monkeypatch.setenv("INDEX_PATH", str(tmp_path / "other.duckdb"))
    indexed("service", "install", "--yes")
    assert len(units(tmp_path)) == 2


def test_systemd_itself_finds_no_fault_in_a_unit(indexed, manager, tmp_path):
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not here")
    indexed("service", "install", "--yes")
    [unit] = units(tmp_path)
    done = subprocess.run(
        [analyze, "--user", "verify", str(unit)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
