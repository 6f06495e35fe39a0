"""Files of a project that an update command runs, which an approval is bound to."""

from __future__ import annotations

import hashlib
import json
import os

import pytest

from qmd.errors import CommandRefused
from qmd.settings.environment import locate
from qmd.settings.schema import Settings
from qmd.settings.scripts import scripts
from qmd.settings.trust import approve, check_command, demands, is_trusted, needs_approval
from qmd.types import Collection


@pytest.fixture
def project(tmp_path):
    """A project with scripts, the collection `docs`, and something outside."""
    folder = tmp_path / "project"
    for name in ("tools/pull.sh", "tools/sub/x.py", "docs/sync.sh", "docs/Makefile", "run me.sh"):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"echo {name}\n")
    (tmp_path / "outside.sh").write_text("echo outside\n")
    (folder / ".qmd").mkdir()
    (folder / ".qmd/index.yml").touch()
    return folder


def names(project, command):
    return [each.name for each in scripts(command, project / "docs", project)]


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("./sync.sh", ["docs/sync.sh"]),
        ("sh sync.sh --fast", ["docs/sync.sh"]),
        ("sh ../tools/pull.sh", ["tools/pull.sh"]),
        ("sh tools/pull.sh", ["tools/pull.sh"]),
        ("python3 -O ../tools/sub/x.py", ["tools/sub/x.py"]),
        ("cd ../tools && ./pull.sh", ["tools/pull.sh"]),
        ("cd .. && python -m tools.sub.x", ["tools/sub/x.py"]),
        ("cd ../tools/sub; python -m x", ["tools/sub/x.py"]),
        ("git pull && ./sync.sh | sh ../tools/pull.sh", ["docs/sync.sh", "tools/pull.sh"]),
        ("A=1 ENV=./sync.sh sh", ["docs/sync.sh"]),
        ("sh -c 'true; ./sync.sh'", ["docs/sync.sh"]),
        ("sh -c \"sh -c './sync.sh'\"", ["docs/sync.sh"]),
        ("echo $(./sync.sh) `../tools/pull.sh`", ["docs/sync.sh", "tools/pull.sh"]),
        ("$PWD/sync.sh; ${PWD}/sync.sh", ["docs/sync.sh"]),
        ("(./sync.sh)&", ["docs/sync.sh"]),
        ("sh <sync.sh", ["docs/sync.sh"]),
        (". ./sync.sh\n", ["docs/sync.sh"]),
        ("sh '../run me.sh'", ["run me.sh"]),
        ("sh '../tools/pull.sh", ["tools/pull.sh"]),
        ("make docs", ["docs/Makefile"]),
        ("sh --rcfile=../tools/pull.sh", ["tools/pull.sh"]),
        ("curl -o sync.sh x; cat x > sync.sh", []),
        ("cat x >sync.sh; sh sync.sh", ["docs/sync.sh"]),
        ("git pull --ff-only", []),
        ("sh ../../outside.sh; ls /etc/passwd", []),
        ("ls .. ../tools", []),
        ("x" * 5000, []),
        ("", []),
    ],
)
def test_a_script_is_a_file_of_the_project_that_a_word_leads_to(project, command, found):
    assert names(project, command) == found


def test_a_script_is_known_by_all_of_its_content(project):
    [script] = scripts("./sync.sh", project / "docs", project)
    assert script.digest == hashlib.sha256(b"echo docs/sync.sh\n").hexdigest()


def test_a_link_is_named_with_where_it_leads_and_known_by_what_is_there(project, tmp_path):
    (project / "docs/link.sh").symlink_to(tmp_path / "outside.sh")
    [script] = scripts("sh link.sh", project / "docs", project)
    assert script.name == "docs/link.sh"
    assert script.target == str(tmp_path / "outside.sh")
    assert script.digest == hashlib.sha256(b"echo outside\n").hexdigest()


def test_a_pipe_in_the_place_of_a_script_is_not_waited_for(project):
    os.mkfifo(project / "docs/pipe.sh")
    [script] = scripts("sh pipe.sh", project / "docs", project)
    assert script.digest is None


@pytest.fixture
def place(project, tmp_path):
    return locate({"HOME": str(tmp_path)}, project)


def settings(place, command):
    return Settings((Collection("docs", str(place.project / "docs"), update_command=command),))


CHANGES = {
    "its text": lambda docs: (docs / "sync.sh").write_text("echo other\n"),
    "it is gone": lambda docs: (docs / "sync.sh").unlink(),
    "another appears": lambda docs: (docs / "later.sh").write_text("echo later\n"),
    "a link in its place": lambda docs: (
        (docs / "sync.sh").rename(docs / "old"),
        (docs / "sync.sh").symlink_to("old"),
    ),
}


@pytest.mark.parametrize(
    "command",
    [
        "touch made.md",
        "mkdir -p sub && touch made.md",
        "date | tee made.md",
        "cp tea.md made.md",
        "date > made.md",
    ],
)
def test_what_a_command_makes_is_no_script_of_it(project, command):
    (project / "docs" / "made.md").write_text("made before")
    assert "docs/made.md" not in names(project, command)


@pytest.mark.parametrize(
    "command",
    [
        "touch x\n./sync.sh",
        "touch x # don't\n./sync.sh",
        "touch x & ./sync.sh",
        "touch `sh ./sync.sh -x`",
        "touch $(./sync.sh)",
        'touch "$(./sync.sh)"',
        "touch x <(./sync.sh)",
        "tee x | ./sync.sh",
        "echo ./sync.sh | sh",
        "cp ./sync.sh /tmp/x; sh /tmp/x",
        "cp x $(./sync.sh)",
    ],
)
def test_a_script_beside_a_command_that_makes_files_counts(project, command):
    assert "docs/sync.sh" in names(project, command)


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_script_asks_again(place, change):
    wanted = settings(place, "./sync.sh; sh later.sh")
    approve(place, wanted)
    assert is_trusted(place, wanted)
    CHANGES[change](place.project / "docs")
    assert not is_trusted(place, wanted)


def test_an_approval_from_before_scripts_were_looked_at_holds_where_there_are_none(place):
    for command, holds in (("git pull", True), ("./sync.sh", False)):
        wanted = settings(place, command)
        digest = hashlib.sha256(json.dumps(needs_approval(place, wanted)).encode()).hexdigest()
        place.trusted.parent.mkdir(parents=True, exist_ok=True)
        place.trusted.write_text(json.dumps({str(place.project): digest}))
        assert is_trusted(place, wanted) is holds


def test_a_script_that_changes_while_the_user_looks_is_not_approved(place):
    wanted = settings(place, "./sync.sh")
    seen = demands(place, wanted)
    (place.project / "docs/sync.sh").write_text("echo swapped\n")
    approve(place, wanted, seen=seen)
    assert not is_trusted(place, wanted)


@pytest.mark.parametrize("mark", ["\x1b", "\r", "\x7f", "\x9b", "\u202e", "\u2067", "\u200b"])
def test_a_command_may_have_line_breaks_and_tabs_but_nothing_else_that_is_unseen(place, mark):
    check_command("docs", "git pull\n\tmake x", place.config)
    with pytest.raises(CommandRefused, match="'docs' has characters that cannot be seen"):
        check_command("docs", f"git pull {mark}", place.config)
