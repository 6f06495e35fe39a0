"""The skill for assistants, and where it is put."""

from __future__ import annotations

import re
import shlex

import pytest
from ruamel.yaml import YAML

from qmd.surfaces.cli import ALIASES, COMMANDS, GROUPS
from qmd.surfaces.cli.skill import SKILL
from qmd.surfaces.tools import schemas

TEXT = SKILL.read_text(encoding="utf-8")
BLOCKS = "".join(re.findall(r"```bash\n(.*?)```", TEXT, re.DOTALL))
"""The commands that it shows."""

PLACE = ".claude/skills/qmd/SKILL.md"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The current folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_the_skill_says_in_front_what_it_is_for(qmd):
    assert qmd("skill", "show") == (0, TEXT, "")
    _, front, body = TEXT.split("---\n", 2)
    facts = YAML(typ="safe").load(front)
    assert set(facts) == {"name", "description"}
    assert facts["name"] == "qmd"
    assert 100 < len(facts["description"]) <= 1024
    assert body.lstrip().startswith("# ")


def test_all_commands_and_tools_of_the_skill_exist():
    called = set(re.findall(r"`qmd ([a-z-]+)", TEXT))
    called |= set(re.findall(r"(?m)^qmd ([a-z-]+)", BLOCKS))
    assert {"search", "vsearch", "query", "get", "multi-get"} <= called
    assert called <= {*COMMANDS, *GROUPS, *ALIASES}
    for tool in schemas.TOOLS:
        assert tool.optional or f"`{tool.name}`" in TEXT


def test_all_options_of_the_skill_exist(qmd):
    lines = [line.split("#  ")[0] for line in BLOCKS.splitlines() if line.startswith("qmd ")]
    assert lines
    for line in lines:
        words = shlex.split(line, comments=True)
        shown = qmd(words[1], "--help")[1]
        for word in words[2:]:
            assert word == "-" or not word.startswith("-") or word in shown, line


def test_the_skill_is_put_into_the_project(qmd, project):
    code, out, err = qmd("skill", "install")
    assert (code, out) == (0, f"Wrote {project / PLACE}\n")
    assert "started again" in err
    assert (project / PLACE).read_text(encoding="utf-8") == TEXT
    assert qmd("skill", "install") == (0, f"The skill is there already: {project / PLACE}\n", "")


def test_the_skill_is_put_where_it_is_wished(qmd, project, tmp_path):
    assert qmd("skill", "install", "--global")[0] == 0
    assert (tmp_path / "home" / PLACE).is_file()
    assert qmd("skill", "install", "--dir", tmp_path / "skills")[0] == 0
    assert (tmp_path / "skills" / "qmd" / "SKILL.md").is_file()
    assert not list(project.iterdir())
    assert qmd("skill", "install", "--global", "--dir", "x")[0] == 1


def test_a_skill_that_was_changed_is_replaced_by_force_only(qmd, project):
    qmd("skill", "install")
    (project / PLACE).write_text("mine")
    code, out, err = qmd("skill", "install")
    assert (code, out) == (1, "")
    assert "differs from the skill of this qmd" in err
    assert (project / PLACE).read_text() == "mine"
    assert qmd("skill", "install", "--force")[0] == 0
    assert (project / PLACE).read_text(encoding="utf-8") == TEXT
    assert [path.name for path in (project / PLACE).parent.iterdir()] == ["SKILL.md"]


@pytest.mark.parametrize("link", [".claude", ".claude/skills", ".claude/skills/qmd"])
def test_no_link_is_followed_out_of_the_project(qmd, project, tmp_path, link):
    outside = tmp_path / "outside"
    outside.mkdir()
    (project / link).parent.mkdir(parents=True, exist_ok=True)
    (project / link).symlink_to(outside)
    for words in ([], ["--force"]):
        code, _, err = qmd("skill", "install", *words)
        assert code == 1
        assert f"{project / link} is a link to {outside}" in err
    assert not list(outside.iterdir())


def test_a_file_that_is_a_link_is_neither_followed_nor_replaced(qmd, project, tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_text("theirs")
    (project / PLACE).parent.mkdir(parents=True)
    (project / PLACE).symlink_to(outside)
    for words in ([], ["--force"]):
        code, _, err = qmd("skill", "install", *words)
        assert code == 1
        assert f"is a link to {outside}. Remove it first." in err
    assert outside.read_text() == "theirs"


def test_what_is_in_the_way_is_told(qmd, project):
    (project / ".claude").write_text("a file")
    code, _, err = qmd("skill", "install")
    assert code == 1
    assert f"{project / '.claude'} is not a folder." in err


@pytest.mark.parametrize(
    ("folder", "problem"),
    [
        ("file", "file/qmd/SKILL.md: Not a directory."),
        ("file/deeper", "file/deeper/qmd/SKILL.md: Not a directory."),
        ("x" * 300, "File name too long."),
        ("~nobody-at-all/skills", "There is no home ~nobody-at-all."),
    ],
)
def test_a_place_that_cannot_be_used_is_told_in_words(qmd, project, folder, problem):
    (project / "file").write_text("")
    code, out, err = qmd("skill", "install", "--dir", folder)
    assert (code, out) == (1, "")
    assert err.endswith(f"{problem}\n")


def test_a_folder_that_is_gone_is_told_in_words(qmd, project, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    for words in ("skill install", "mcp --print-config claude", "status"):
        code, _, err = qmd(*words.split())
        assert (code, err.splitlines()[0]) == (1, "The folder you are in does not exist any more.")
