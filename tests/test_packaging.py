"""Files for packages: the container, the formula of Homebrew, sizes of an installation."""

from __future__ import annotations

import ast
import hashlib
import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

from tests.test_documentation import problem
from tools import formula, install_sizes

ROOT = Path(__file__).parents[1]
CONTAINER = ROOT / "packaging" / "Containerfile"


def instructions() -> list[tuple[str, str]]:
    """Instructions of the Containerfile with their arguments, on one line each."""
    text = re.sub(r"^#.*\n", "", CONTAINER.read_text(encoding="utf-8"), flags=re.M)
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines if line)]


def last_stage() -> dict[str, str]:
    """The last of each instruction of the image that is kept."""
    every = instructions()
    begin = max(number for number, (name, _) in enumerate(every) if name == "FROM")
    return dict(every[begin:])


def test_the_image_runs_as_a_user_without_rights_and_keeps_data_in_a_volume():
    stage = last_stage()
    assert stage["USER"] == "10001"
    assert stage["VOLUME"] == stage["WORKDIR"] == "/data"
    assert "--home-dir /data" in stage["RUN"]
    assert "HOME=/data" in stage["ENV"]


def test_the_image_installs_what_is_locked_and_has_no_compiler():
    text = " ".join(rest for name, rest in instructions() if name == "RUN")
    assert "--require-hashes --requirement requirements.lock" in text
    assert "--no-deps ." in text
    assert "apt-get" not in last_stage()["RUN"]
    bases = {rest.split()[0] for name, rest in instructions() if name == "FROM"}
    assert bases == {"docker.io/library/python:3.13-slim"}


def test_the_image_starts_a_server_that_there_is():
    stage = last_stage()
    (program,) = json.loads(stage["ENTRYPOINT"])
    command = json.loads(stage["CMD"])
    assert program == "qmd"
    assert problem(command) == ""
    port = command[command.index("--port") + 1]
    assert stage["EXPOSE"] == port
    _, _, check = stage["HEALTHCHECK"].partition(" CMD ")
    python, flag, code = json.loads(check)
    assert (python, flag) == ("python", "-c")
    assert f"http://127.0.0.1:{port}/health" in code
    ast.parse(code)


def test_the_image_gets_the_files_that_build_a_wheel():
    kept = {
        line[1:]
        for line in (ROOT / ".containerignore").read_text(encoding="utf-8").splitlines()
        if line.startswith("!")
    }
    assert [name for name in kept if not (ROOT / name).exists()] == []
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = settings["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {
        *wheel["only-include"],
        *wheel["shared-data"],
        wheel["hooks"]["custom"]["path"],
        settings["project"]["readme"],
    }
    assert needed <= kept


def test_the_formula_names_the_archive_and_its_hash(tmp_path):
    archive = tmp_path / "qmd_duckdb-1.2.3.tar.gz"
    archive.write_bytes(b"archive")
    text = formula.formula(archive)
    assert f'url "{formula.HOST}/qmd_duckdb-1.2.3.tar.gz"' in text
    assert f'sha256 "{hashlib.sha256(b"archive").hexdigest()}"' in text
    assert "@" not in text.replace("python@3.13", "")


def test_the_formula_installs_what_is_locked():
    text = formula.TEMPLATE.read_text(encoding="utf-8")
    assert '"--require-hashes", "--requirement", "requirements.lock"' in text
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "/requirements.lock" in settings["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    licences = set(re.findall(r'license all_of: \["(.*?)", "(.*?)"\]', text)[0])
    assert licences == set(settings["project"]["license"].split(" AND "))
    opened = re.findall(r"^ *(?:class|def|test do)\b", text, re.M)
    assert len(re.findall(r"^ *end$", text, re.M)) == len(opened)


@pytest.mark.parametrize(
    "words", [["collection", "add", "notes"], ["search", "eighty degrees", "--files"]]
)
def test_the_formula_tries_commands_that_there_are(words):
    text = formula.TEMPLATE.read_text(encoding="utf-8")
    assert words[0] in text
    assert problem(words) == ""


def test_sizes_are_those_of_files_that_packages_brought(tmp_path):
    folder = tmp_path / "lib" / "python3.13" / "site-packages"
    (folder / "tea-1.dist-info").mkdir(parents=True)
    (folder / "tea.py").write_bytes(b"x" * 4_000_000)
    (folder / "tea-1.dist-info" / "METADATA").write_text("Name: tea\nVersion: 1\n")
    (folder / "tea-1.dist-info" / "RECORD").write_text("tea.py,,\ntea.pyc,,\ngone.py,,\n")
    (folder / "tea.pyc").write_bytes(b"x" * 9_000)
    assert install_sizes.sizes(tmp_path) == {"tea": 4_000_000}
    rows = list(install_sizes.table(install_sizes.sizes(tmp_path)))
    assert rows[2:] == ["| tea | 4 |", "| 0 others | 0 |", "| **all 1** | **4** |"]


def test_sizes_of_this_environment_have_its_packages():
    found = install_sizes.sizes(Path(sys.prefix))
    assert found["duckdb"] > 10_000_000
    assert list(found.values()) == sorted(found.values(), reverse=True)
