"""What is ignored is what git says, in all kinds of work trees."""

from __future__ import annotations

import os
import random
import shutil
import subprocess

import pytest

from qmd.ingest.git_index import tracked
from qmd.ingest.walk import walk
from qmd.types import Collection

GIT = shutil.which("git")
pytestmark = pytest.mark.skipif(GIT is None, reason="git is not installed")


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home without settings of git, besides a name and those that a test writes."""
    home = tmp_path / "home"
    home.mkdir()
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    (home / ".gitconfig").write_text(
        '[user]\nname = n\nemail = n@example.org\n[protocol "file"]\nallow = always\n'
        "[init]\ndefaultBranch = main\n"
    )
    return home


def git(folder, *arguments, **options):
    command = [GIT, "-C", str(folder), *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, **options).stdout


def write(root, *names, text="tea"):
    for name in names:
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def repository(root, *names):
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q")
    write(root, *names)
    return root


def walked(root):
    found = walk(Collection("notes", str(root), mask="**", respect_gitignore=True))
    return found.paths


def kept_by_git(root):
    """Files below a folder that `git check-ignore` does not name, in any of the repositories."""
    files = [each for each in root.rglob("*") if each.is_file() and not is_hidden(each, root)]
    return sorted(str(each.relative_to(root)) for each in files if not is_ignored(each, root))


def is_hidden(file, root):
    return any(part.startswith(".") for part in file.relative_to(root).parts)


def is_ignored(path, root):
    """Ask git about a path, and about the repositories that it is inside of."""
    asked = subprocess.run(
        [GIT, "-C", path.parent, "check-ignore", "-q", path], check=False, capture_output=True
    )
    inside = [each for each in path.parents if root in each.parents and (each / ".git").exists()]
    return asked.returncode == 0 or any(is_ignored(each, root) for each in inside)


def test_rules_of_the_user_and_of_the_repository_count(tmp_path, home):
    root = repository(tmp_path / "root", "a.md", "b.md", "c.md", "d.md", "x/a.md", "x/c.md")
    write(home, ".config/git/ignore", text="a.md\n/d.md\n")
    write(root, ".git/info/exclude", text="b.md\n!/x/a.md\n")
    assert walked(root) == ["c.md", "x/a.md", "x/c.md"] == kept_by_git(root)
    assert walked(root / "x") == ["a.md", "c.md"]
    write(home, "other", text="c.md\n")
    git(root, "config", "core.excludesFile", "~/other")
    assert walked(root) == ["a.md", "d.md", "x/a.md"] == kept_by_git(root)
    assert walked(root / "x") == ["a.md"]
    (home / "link").symlink_to("other")
    git(root, "config", "core.excludesFile", "~/link")
    assert walked(root / "x") == ["a.md"]


def test_files_that_git_tracks_are_not_ignored(tmp_path):
    root = repository(tmp_path / "root", "out/a.md", "out/deep/b.md", "out/c.md", "d.log", "e.log")
    git(root, "add", "-f", "out/deep/b.md", "d.log")
    write(root, ".gitignore", text="out/\n*.log\n")
    assert walked(root) == ["d.log", "out/deep/b.md"] == kept_by_git(root)
    git(root, "rm", "-q", "--cached", "d.log")
    assert walked(root) == ["out/deep/b.md"] == kept_by_git(root)


@pytest.mark.parametrize("version", [2, 3, 4])
@pytest.mark.parametrize("hash_", ["sha1", "sha256"])
def test_the_index_is_read_in_all_its_versions(tmp_path, version, hash_):
    root = tmp_path / "root"
    root.mkdir()
    git(root, "init", "-q", f"--object-format={hash_}")
    names = [f"{'d' * n}/{'e' * (n % 9)}x{n}.md" for n in range(1, 140)] + ["é/ü.md", "long" * 50]
    write(root, *names)
    git(root, "add", ".")
    write(root, "later.md")
    if version > 2:
        git(root, "add", "--intent-to-add", "later.md")  # which needs more flags
    git(root, "update-index", "--index-version", str(version))
    listed = git(root, "ls-files", "-z").decode().split("\0")[:-1]
    assert tracked(f"{root}/.git").files == frozenset(listed)


def test_a_split_and_a_sparse_index_are_read(tmp_path):
    root = repository(tmp_path / "root", "a/b.md", "a/c/d.md", "e/f.md", "g.md")
    git(root, "add", ".")
    git(root, "commit", "-qm", "all")
    git(root, "update-index", "--split-index")
    write(root, "h.md")
    git(root, "add", "h.md")
    assert {"a/b.md", "h.md"} <= tracked(f"{root}/.git").files
    git(root, "update-index", "--no-split-index")
    git(root, "commit", "-qam", "more")
    git(root, "sparse-checkout", "set", "--cone", "--sparse-index", "e")
    known = tracked(f"{root}/.git")
    assert "a" in known.whole
    assert known.has("a/c/d.md")
    assert known.has_below("a")


def test_a_damaged_index_tracks_nothing_more(tmp_path):
    root = repository(tmp_path / "root", *(f"{n}.md" for n in range(5)))
    git(root, "add", ".")
    whole = (root / ".git/index").read_bytes()
    for length in range(0, len(whole), 7):
        (root / ".git/index").write_bytes(whole[:length])
        assert tracked(f"{root}/.git").files <= {f"{n}.md" for n in range(5)}
    (root / ".git/index").unlink()
    os.mkfifo(root / ".git/index")
    assert tracked(f"{root}/.git").files == frozenset()


def test_a_further_work_tree_has_the_rules_of_its_repository(tmp_path):
    root = repository(tmp_path / "root", "a.md", "b.log", "c.log")
    git(root, "add", "-f", "c.log")
    git(root, "commit", "-qm", "one")
    write(root, ".git/info/exclude", text="*.log\n")
    other = tmp_path / "other"
    git(root, "worktree", "add", "-q", other)
    write(other, "a.md", "b.log", "x/d.log", "x/e.md")
    assert walked(other) == ["a.md", "c.log", "x/e.md"] == kept_by_git(other)
    assert walked(other / "x") == ["e.md"]
    assert walked(root) == ["a.md", "c.log"] == kept_by_git(root)


def test_a_submodule_has_rules_of_its_own(tmp_path):
    inner = repository(tmp_path / "inner", "a.md", "b.log", "c.tmp")
    write(inner, ".gitignore", text="*.tmp\n")
    git(inner, "add", "-f", ".")
    git(inner, "commit", "-qm", "one")
    root = repository(tmp_path / "root", "a.md", "x.log")
    git(root, "submodule", "add", "-q", inner, "out/sub")
    write(root, ".gitignore", text="*.log\nout/\n")
    write(root / "out/sub", "new.log", "new.tmp")
    expected = ["a.md", "out/sub/a.md", "out/sub/b.log", "out/sub/c.tmp", "out/sub/new.log"]
    assert walked(root) == expected
    assert walked(root / "out/sub") == kept_by_git(root / "out/sub")


def test_a_repository_inside_of_another_has_rules_of_its_own(tmp_path):
    root = repository(tmp_path / "root", "a.log", "in/b.md")
    repository(root / "in/side", "c.log", "d.md", "e.tmp")
    repository(root / "gone/side", "f.md")
    write(root, ".gitignore", text="*.log\ngone/\n")
    write(root, "in/side/.gitignore", text="*.tmp\n")
    assert walked(root) == ["in/b.md", "in/side/c.log", "in/side/d.md"] == kept_by_git(root)


def test_capitals_count_unless_the_repository_says_otherwise(tmp_path):
    root = repository(tmp_path / "root", "A.MD", "b.md", "sub/C.TMP")
    write(root, ".gitignore", text="*.md\n[[:lower:]].tmp\n")
    assert walked(root) == ["A.MD", "sub/C.TMP"] == kept_by_git(root)
    git(root, "config", "core.ignorecase", "true")
    assert walked(root) == [] == kept_by_git(root)
    assert walked(root / "sub") == []


def test_a_hook_of_another_repository_changes_nothing(tmp_path, monkeypatch):
    root = repository(tmp_path / "root", "a.md", "b.md")
    other = repository(tmp_path / "other")
    write(tmp_path, "rules", text="a.md\n")
    git(other, "config", "core.excludesFile", tmp_path / "rules")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert walked(root) == ["a.md", "b.md"]


def test_without_git_its_usual_file_of_rules_counts(tmp_path, home, monkeypatch):
    root = repository(tmp_path / "root", "a.md", "b.md")
    write(home, ".config/git/ignore", text="a.md\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert walked(root) == ["b.md"]


RULES = [
    *("*.md", "a", "/a", "a/", "!a/", "b/*", "!b/a", "**/c", "c/**", "!*.txt", "a?", "[ab].md"),
    *("/b/c/", "!c", "a/**/b", "#a", "\\#a", "a.md ", "a.md\\ ", "!b.md", "*", "!*/", "/*"),
    *("a.md\r", "", "!", "/", "**", "b//c", "[!a].txt", "c.*", "!/c.md", "\\!b", "b.md\\"),
    *("*/", "**/", "!**/", "**/a/", "a/*/c", "b/**/", "/*/", "!/*/", "*/c", "**/b/**"),
]
NAMES = ["a", "b", "c"]


@pytest.mark.parametrize("seed", range(12))
def test_trees_are_walked_as_git_lists_them(tmp_path, home, seed):
    chance = random.Random(seed)

    def rules():
        chosen = chance.choices(RULES, k=chance.randint(1, 6))
        return "\n".join(chosen) + chance.choice(["", "\n"])

    root = repository(tmp_path / "root")
    files = {
        "/".join([*chance.choices(NAMES, k=chance.randint(0, 3)), name])
        for name in ("a.md", "b.md", "c.md", "a.txt", "#a", "!b", "ab", "x.txt")
        for _ in range(4)
    }
    for file in sorted(files):
        write(root, file)
    for folder in ["", *chance.choices(["a", "b", "a/b", "c", "b/c"], k=2)]:
        if not folder or (root / folder).is_dir():
            write(root, f"{folder}/.gitignore".lstrip("/"), text=rules())
    write(root, ".git/info/exclude", text=rules() if chance.random() < 0.5 else "")
    if chance.random() < 0.5:
        write(home, ".config/git/ignore", text=rules())
    for file in chance.sample(sorted(files), 3):
        git(root, "add", "-f", file)
    options = ["--cached", "--others", "--exclude-standard", "-z"]
    listed = git(root, "ls-files", *options).decode().split("\0")[:-1]
    hidden = {path for path in listed if path.rpartition("/")[2].startswith(".")}
    assert walked(root) == sorted(set(listed) - hidden)
