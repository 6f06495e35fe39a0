"""Files for those who work on the project: they parse, and name what there is."""

from __future__ import annotations

import configparser
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted(each for each in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if each.stem != "config")
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
PAGES = (
    *(ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md")),
    *(ROOT / "docs" / name for name in ("architecture.md", "threat-model.md", "versioning.md")),
    ROOT / "docs" / "decisions" / "README.md",
    *DECISIONS,
)


def loaded(path: Path) -> Any:
    return YAML(typ="safe").load(path)


def test_there_is_something_to_look_at():
    assert {each.stem for each in WORKFLOWS} >= {"test", "fuzz"}
    assert {each.stem for each in FORMS} >= {"bug", "feature"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_only_read_and_its_steps_do_something(path):
    workflow = loaded(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert "pull_request_target" not in workflow["on"]
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"]
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            # What others choose goes through a variable, never into the text of a command.
            assert "${{" not in step.get("run", "")
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


def test_tests_run_what_a_fresh_machine_runs_on_every_version_of_python():
    jobs = loaded(GITHUB / "workflows" / "test.yml")["jobs"]
    ran = re.findall(r"^make ([\w-]+)$", (ROOT / ".ci" / "run").read_text(), re.M)
    steps = [step.get("run", "") for step in jobs["test"]["steps"]]
    assert ran == [step.split()[1] for step in steps if step.startswith("make ")]
    (least,) = re.findall(r'requires-python = ">=([\d.]+)"', (ROOT / "pyproject.toml").read_text())
    for job in jobs.values():
        assert job["strategy"]["matrix"]["python"][0] == least


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_of_an_issue_has_what_the_host_wants(path):
    form = loaded(path)
    assert form["name"]
    assert form["description"]
    kinds = [part["type"] for part in form["body"]]
    assert set(kinds) <= {"markdown", "textarea", "input", "dropdown", "checkboxes"}
    assert set(kinds) - {"markdown"}
    ids = [part["id"] for part in form["body"] if part["type"] != "markdown"]
    assert len(set(ids)) == len(ids)
    for part in form["body"]:
        assert part["attributes"]["value" if part["type"] == "markdown" else "label"]


def test_hooks_of_commits_run_what_make_check_runs():
    hooks = [
        hook for repo in loaded(ROOT / ".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]
    ]
    entries = {hook["id"]: hook["entry"] for hook in hooks if "entry" in hook}
    check = (ROOT / "Makefile").read_text().replace("$(BIN)", ".venv/bin")
    for entry in entries.values():
        assert f"\t{entry.removesuffix(' --force-exclude').removesuffix(' --check')}" in check
    assert {"ruff-check", "ruff-format", "mypy"} <= set(entries)


def test_settings_of_editors_parse():
    parser = configparser.ConfigParser()
    parser.read_string("[top]\n" + (ROOT / ".editorconfig").read_text())
    assert parser["top"]["root"] == "true"
    assert parser["*"]["end_of_line"] == "lf"


def test_make_help_names_every_target():
    text = (ROOT / "Makefile").read_text()
    targets = re.search(r"^\.PHONY: (.*)$", text, re.M)[1].split()
    printed = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert re.findall(r"^make ([\w-]+) +\S", printed, re.M) == targets


def named(page: Path) -> Iterator[str]:
    """Paths that a page names in backticks or links to, without those that only show a form."""
    text = page.read_text(encoding="utf-8")
    yield from re.findall(r"`([\w.-]+(?:/[\w.-]*)+|[A-Z]+\.md)`", text)
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        yield str((page.parent / link).resolve().relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_file_that_a_page_names_is_there(page):
    places = (ROOT, ROOT / "qmd", ROOT / "tests" / "pipeline")
    missing = [
        name
        for name in dict.fromkeys(named(page))
        if not name.startswith((".venv/", ".qmd"))
        and not any((place / name).exists() for place in places)
    ]
    assert missing == []


def test_every_decision_has_its_number_its_parts_and_a_line_in_the_list():
    listed = (ROOT / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    assert DECISIONS
    for number, page in enumerate(DECISIONS, 1):
        assert page.name.startswith(f"{number:03}-")
        text = page.read_text(encoding="utf-8")
        assert text.startswith(f"# {number:03}: ")
        parts = re.findall(r"^## (.+)$", text, re.M)
        assert parts == ["Context", "Decision", "Figures", "Consequences"]
        title = text.partition("\n")[0].removeprefix(f"# {number:03}: ")
        assert f"[{number:03}]({page.name}) | {title} |" in listed


@pytest.mark.parametrize("picture", ["update.svg", "search.svg"])
def test_a_picture_of_the_data_flow_names_modules_that_are_there(picture):
    text = (ROOT / "docs" / picture).read_text(encoding="utf-8")
    modules = re.findall(r"\b([a-z_]+/[a-z_]+\.py)", text)
    assert len(modules) > 5
    assert [name for name in modules if not (ROOT / "qmd" / name).exists()] == []


FOREIGN = re.compile(
    r"\b(?:(?:pip|uv|pipx|tool) (?:install|add|run|inject)|uvx(?! --from (?:\.|qmd-duckdb) ))\b"
    r"[^\n`;&|]*?"
    r"(?<![\w./-])qmd(?=[\[\s'\"`,.;:)=<>~@]|$)(?!\.(?:git|whl))"
)
"""A command that takes `qmd` from the package index, where it is another project."""

TEXTS = ("*.md", "*.py", "*.sql", "*.sh", "*.toml", "*.yml", "*.yaml", "*.html", "*.txt", "*.rb")


def written() -> Iterator[Path]:
    """Each file of the project that a user or a contributor may read an installation from."""
    for name in ("qmd", "sql", "docs", "examples", "bench", "tools", ".github", ".ci"):
        for pattern in TEXTS:
            yield from (ROOT / name).rglob(pattern)
    yield from (each for each in ROOT.iterdir() if each.is_file() and each.name != ".git")


@pytest.mark.parametrize(
    "text",
    [
        "pip install 'qmd[llama]'",
        "pip install qmd",
        "pip install --upgrade qmd==1",
        "uv tool install qmd",
        "uv add 'qmd[polars]'",
        "pipx run qmd",
        "uvx qmd search",
        "uvx --from qmd qmd search",
    ],
)
def test_an_installation_of_the_other_project_is_recognized(text):
    assert FOREIGN.search(text)


@pytest.mark.parametrize(
    "text",
    [
        "pip install 'qmd-duckdb[llama]'",
        "pip install .",
        "uvx --from . qmd search",
        "pip install -e /home/anna/qmd/",
        "uv pip install --python .venv/bin/python 'qmd-duckdb[plots]'",
    ],
)
def test_an_installation_of_this_project_is_not_taken_for_the_other(text):
    assert not FOREIGN.search(text)


def test_no_text_installs_the_project_of_others_that_has_this_name():
    found = [
        (str(page.relative_to(ROOT)), line)
        for page in written()
        for line in page.read_text(encoding="utf-8", errors="replace").splitlines()
        if FOREIGN.search(line)
    ]
    assert found == []


def test_only_one_module_writes_the_command_that_installs():
    """It knows where the installation came from; a message that names pip by itself does not."""
    writes = re.compile(r"\b(?:pip|pipx|uv|uv pip|uv tool) (?:install|add)\b|\buvx \w")
    found = {
        str(module.relative_to(ROOT))
        for module in (ROOT / "qmd").rglob("*.py")
        if writes.search(module.read_text(encoding="utf-8"))
    }
    assert found == {"qmd/errors/extras.py"}


LOCKS = ("requirements.lock", "requirements-all.lock")


def pins(name: str = "requirements.lock") -> dict[str, list[tuple[Requirement, int]]]:
    """Versions that a lock has of each package, with the number of their hashes."""
    found: dict[str, list[tuple[Requirement, int]]] = {}
    text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        if line and not line.lstrip().startswith("#"):
            pin, *hashes = line.split("--hash=sha256:")
            requirement = Requirement(pin)
            found.setdefault(canonicalize_name(requirement.name), []).append(
                (requirement, len(hashes))
            )
    return found


def test_the_lock_pins_every_dependency_to_a_version_that_is_allowed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    locked = pins()
    for wanted in map(Requirement, project["dependencies"]):
        for pin, _ in locked.get(canonicalize_name(wanted.name), []):
            (only,) = pin.specifier
            assert wanted.specifier.contains(only.version), f"{wanted}, run: make lock"
        assert canonicalize_name(wanted.name) in locked, f"{wanted}, run: make lock"


def test_the_lock_of_all_has_what_builds_a_wheel_and_every_extra():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = settings["project"]["optional-dependencies"].values()
    wanted = [*settings["build-system"]["requires"], *(each for extra in extras for each in extra)]
    locked = pins("requirements-all.lock")
    for requirement in map(Requirement, wanted):
        if requirement.name != settings["project"]["name"]:
            pinned = locked.get(canonicalize_name(requirement.name), [])
            assert pinned, f"{requirement}, run: make lock"
            for pin, _ in pinned:
                (only,) = pin.specifier
                assert requirement.specifier.contains(only.version), f"{requirement}: make lock"


def test_the_locks_differ_only_where_an_extra_needs_another_version():
    """Else a developer tests other versions than a user installs."""
    locked, everything = pins(), pins("requirements-all.lock")
    differing = [name for name in locked if str(locked[name]) != str(everything.get(name))]
    assert differing == ["duckdb"]


@pytest.mark.parametrize("lock", LOCKS)
def test_the_lock_has_hashes_of_every_version_and_nothing_from_elsewhere(lock):
    for versions in pins(lock).values():
        for pin, hashes in versions:
            assert hashes, pin
            assert [each.operator for each in pin.specifier] == ["=="]
            assert pin.url is None


def test_a_release_has_a_wheel_for_every_python_that_is_tested():
    jobs = loaded(GITHUB / "workflows" / "test.yml")["jobs"]
    release = loaded(GITHUB / "workflows" / "release.yml")["jobs"]
    built = release["compiled"]["env"]["CIBW_BUILD"].split()
    tested = jobs["test"]["strategy"]["matrix"]["python"]
    assert built == [f"cp{version.replace('.', '')}-*" for version in tested]
    assert release["source"]["env"]["QMD_PURE"] == "1"


def test_every_make_target_of_a_workflow_is_there():
    targets = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.M)[1].split()
    called = [
        name
        for path in WORKFLOWS
        for job in loaded(path)["jobs"].values()
        for step in job["steps"]
        for name in re.findall(r"^make ([\w-]+)", step.get("run", ""), re.M)
    ]
    assert "wheel-trial" in called
    assert set(called) <= set(targets)


def test_a_pure_wheel_is_for_every_system_and_has_nothing_compiled(tmp_path):
    """It is what pip takes where no compiled wheel fits."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", tmp_path],
        cwd=ROOT,
        env=os.environ | {"QMD_PURE": "1"},
        capture_output=True,
        check=True,
    )
    (wheel,) = tmp_path.iterdir()
    assert wheel.name.endswith("-py3-none-any.whl")
    names = zipfile.ZipFile(wheel).namelist()
    sources = {file.relative_to(ROOT).as_posix() for file in (ROOT / "qmd").rglob("*.pyx")}
    assert sources >= {
        "qmd/ingest/compiled/words.pyx",
        "qmd/ranking/compiled/code_products.pyx",
        "qmd/ranking/compiled/line_words.pyx",
        "qmd/ranking/compiled/posting_search.pyx",
    }
    assert sources <= set(names)
    assert [name for name in names if name.endswith("/share/man/man1/qmd.1")]
    assert not [name for name in names if name.endswith((".so", ".pyd"))]


def test_no_two_modules_of_tests_have_one_name():
    names = Counter(file.name for file in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
