"""Where an index is, and what index.yml says."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from qmd.errors import ConfigError, IndexOutOfReach, UsageError
from qmd.settings.commented_yaml import parse_commented
from qmd.settings.config import digest, load, understood
from qmd.settings.config_reader import check_name
from qmd.settings.edit import edit, entry
from qmd.settings.environment import at, check_reach, locate
from qmd.settings.schema import Settings
from qmd.types import Collection

NOTES = "collections:\n  notes:\n    path: /notes\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return locate({"QMD_CONFIG_DIR": str(tmp_path / "config")}, tmp_path)


def write(place, text):
    place.config.parent.mkdir(parents=True, exist_ok=True)
    place.config.write_bytes(text.encode(errors="surrogateescape"))
    return place


def project(folder):
    (folder / ".qmd").mkdir(parents=True)
    (folder / ".qmd/index.yml").touch()
    return folder


@pytest.mark.parametrize(
    ("environ", "config", "database"),
    [
        ("HOME=/h", "/h/.config/qmd/index.yml", "/h/.cache/qmd/index.duckdb"),
        ("HOME=/h XDG_CONFIG_HOME=/c", "/c/qmd/index.yml", "/h/.cache/qmd/index.duckdb"),
        ("QMD_CONFIG_DIR=/q XDG_CONFIG_HOME=/c HOME=/", "/q/index.yml", "/.cache/qmd/index.duckdb"),
        ("HOME=/h XDG_CACHE_HOME=/d", "/h/.config/qmd/index.yml", "/d/qmd/index.duckdb"),
        ("HOME=/h XDG_CACHE_HOME=/d INDEX_PATH=/i/x.db", "/h/.config/qmd/index.yml", "/i/x.db"),
    ],
)
def test_the_environment_says_where_the_users_own_index_is(tmp_path, environ, config, database):
    place = locate(dict(pair.split("=") for pair in environ.split()), tmp_path)
    assert (place.name, str(place.config), str(place.database)) == ("index", config, database)
    assert (place.trusted, place.project) == (place.config.with_name("trusted.json"), None)


def test_a_named_index_has_its_own_settings_and_file(tmp_path):
    place = locate({"HOME": "/h", "INDEX_PATH": "/i/x.db"}, project(tmp_path), index="work")
    assert (place.name, str(place.config)) == ("work", "/h/.config/qmd/work.yml")
    assert (place.project, str(place.database)) == (None, "/h/.cache/qmd/work.duckdb")


@pytest.mark.parametrize("named", ["", ".qmd", ".qmd/index.duckdb"])
def test_a_path_in_a_project_means_its_index_whatever_the_environment_says(tmp_path, named):
    environ = {"HOME": "/h", "INDEX_PATH": "/i/x.db", "QMD_CONFIG_DIR": "/q"}
    place = at(environ, project(tmp_path) / named)
    assert (place.config, place.database, place.project) == (
        tmp_path / ".qmd/index.yml", tmp_path / ".qmd/index.duckdb", tmp_path,
    )  # fmt: skip
    assert str(place.trusted) == "/q/trusted.json"


def test_a_file_that_the_command_line_uses_has_the_settings_that_it_has_there():
    environ = {"HOME": "/h", "INDEX_PATH": "/i/x.db"}
    assert str(at(environ, Path("/i/x.db")).config) == "/h/.config/qmd/index.yml"
    assert str(at(environ, Path("~/.cache/qmd/work.duckdb")).config) == "/h/.config/qmd/work.yml"


def test_any_other_file_has_its_settings_beside_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = at({"HOME": "/h"}, Path("../kb/work.duckdb"))
    assert (place.name, place.project) == ("work", None)
    assert place.database == tmp_path.parent / "kb/work.duckdb"
    assert place.config == tmp_path.parent / "kb/work.yml"


@pytest.mark.parametrize(
    ("name", "problem"),
    [("", "has no index of its own"), ("work.yml", "has settings"), (".duckdb", "cannot be the")],
)
def test_a_path_that_is_no_index_is_refused(tmp_path, name, problem):
    with pytest.raises(UsageError, match=problem):
        at({"HOME": "/h"}, tmp_path / name)


@pytest.mark.parametrize("name", ["", "a/b", "/tmp/x", "..", ".hidden"])
def test_a_path_is_no_name_of_an_index(tmp_path, name):
    with pytest.raises(UsageError, match="cannot be the name of an index"):
        locate({"HOME": "/h"}, tmp_path, index=name)


def test_the_nearest_project_comes_before_the_users_own_index(tmp_path):
    inner = project(project(tmp_path / "outer") / "inner")
    place = locate({"HOME": "/h"}, inner / "a/b")
    assert (place.project, str(place.trusted)) == (inner, "/h/.config/qmd/trusted.json")
    local = inner / ".qmd"
    assert (place.config, place.database) == (local / "index.yml", local / "index.duckdb")
    assert locate({"HOME": "/h"}, tmp_path / "outer/b").project == tmp_path / "outer"


def moved(file, target):
    """Put what is there, or will be, elsewhere, and a link in its place."""
    if file.exists():
        file.rename(target)
    file.symlink_to(os.path.relpath(target, file.parent))


LINKS = [".qmd", *(f".qmd/index.{end}" for end in ("yml", "duckdb", "duckdb.lock", "duckdb.wal"))]


@pytest.mark.parametrize("name", LINKS)
def test_an_index_of_a_project_that_is_a_link_out_of_it_is_refused(tmp_path, name):
    own = project(tmp_path / "project")
    outside = tmp_path / "outside"
    moved(own / name, outside)
    for find in (lambda: locate({"HOME": "/h"}, own / "a"), lambda: at({"HOME": "/h"}, own)):
        with pytest.raises(UsageError) as refused:
            find()
        assert str(refused.value).startswith(
            f"{own / name} is a link that leads out of this project, to {outside}.\n\n"
        )
    trusting = {"HOME": "/h", "QMD_TRUST_LOCAL_CONFIG": "1"}
    assert locate(trusting, own).project == own
    assert locate({"HOME": "/h"}, own, index="work").project is None


@pytest.mark.parametrize("name", LINKS)
def test_an_index_of_a_project_may_be_a_link_within_it(tmp_path, name):
    own = project(tmp_path / "project")
    moved(own / name, own / "kept")
    assert locate({"HOME": "/h"}, own).project == own


@pytest.mark.parametrize("name", LINKS)
def test_a_project_below_a_link_is_one_like_others(tmp_path, name):
    own = project(tmp_path / "project")
    (tmp_path / "link").symlink_to("project")
    assert locate({"HOME": "/h"}, tmp_path / "link").project == tmp_path / "link"
    moved(own / name, tmp_path / "project-2")
    with pytest.raises(UsageError, match="a link that leads out"):
        locate({"HOME": "/h"}, tmp_path / "link")


@pytest.mark.parametrize("variable", ["INDEX_PATH", "QMD_CONFIG_DIR"])
@pytest.mark.parametrize(("value", "is_place"), [("/x", True), ("", False)])
def test_a_place_in_the_environment_comes_before_a_project(tmp_path, variable, value, is_place):
    found = locate({"HOME": "/h", variable: value}, project(tmp_path))
    assert (found.project is None) is is_place


def test_a_folder_is_no_index(tmp_path):
    with pytest.raises(UsageError, match=r"^INDEX_PATH is a folder: .*\n\nName a file"):
        locate({"HOME": "/h", "INDEX_PATH": str(tmp_path)}, tmp_path)


@pytest.mark.parametrize(
    "text", [None, "", "# only a comment\n", "collections:\nmodels: {embed: }\n"]
)
def test_without_settings_the_defaults_count(place, text):
    assert load(place if text is None else write(place, text)) == Settings()
    if text == "":
        assert digest(place) is None  # it is being written
        os.utime(place.config, (1e9, 1e9))
    assert (digest(place) is None) == (text is None)


@pytest.mark.parametrize(
    ("written", "languages"),
    [("true", "eng"), ("false", ""), ("", ""), ("deu+chi_sim", "deu+chi_sim"), ("fra", "fra")],
)
def test_languages_of_pictures_are_read(place, written, languages):
    assert load(write(place, f"ocr: {written}\n")).ocr == languages


def test_everything_in_index_yml_is_read(place):
    text = """
global_context: All
editor_uri: "e://{path}:{line}"
models: {embed: "hf:o/r/f.gguf"}
chunk: {tokens: 256, overlap: 0}
collections:
  notes: {path: /n, pattern: "**/*.{md,txt}", ignore: ["Archive/**"], update: git pull --rebase,
    includeByDefault: false, gitignore: true, follow_symlinks: true,
    context: {/: Personal, /work/: Work}}
  2024: {path: /y, ignore: x}
"""
    found = load(write(place, text))
    notes, other = found.collections
    assert (notes.name, notes.root, notes.mask) == ("notes", "/n", "**/*.{md,txt}")
    assert (notes.ignored, notes.update_command) == (("Archive/**",), "git pull --rebase")
    assert (notes.included, notes.follow_symlinks, notes.respect_gitignore) == (False, True, True)
    assert other == Collection("2024", "/y", ignored=("x",))
    described = [(each.collection, each.prefix, each.body) for each in found.contexts]
    assert described == [(None, "", "All"), ("notes", "", "Personal"), ("notes", "work", "Work")]
    assert (found.editor_uri, found.models) == ("e://{path}:{line}", {"embed": "hf:o/r/f.gguf"})
    assert (found.chunk_tokens, found.chunk_overlap) == (256, 0.0)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("models: [\n", 2, "expected the node content"),
        ("editor_uri: a\neditor_uri: b\n", 2, "duplicate key 'editor_uri': keep one"),
        ("editor_uri: vscode://x\n", 1, "'editor_uri' needs {path}"),
        ("collections:\n  a:\n    path: 5\n", 3, "'path' has to be text"),
        ('collections:\n  a:\n    pattern: x\n    path: ""\n', 4, "'a' needs a path"),
        ("collections:\n  a:\n    pattern: x\n    path:\n", 4, "'a' needs a path"),
        (f"{NOTES}  notes:\n    path: /x\n", 4, "duplicate key 'notes': keep one of the two"),
        ("# c\n\nmodel: x\n", 3, "unknown key 'model' in index.yml. Known: global_context"),
        (f"{NOTES}    patern: x\n", 4, "unknown key 'patern' in collection 'notes'"),
        ("collections:\n  notes:\n    path: ~nobody-/n\n", 3, "~nobody-/n"),
        ("collections:\n  notes: {}\n", 2, "collection 'notes' needs a path"),
        ("collections:\n  a/b:\n    path: /x\n", 2, "'a/b' cannot be the name of a collection"),
        (f"{NOTES}    update: [a]\n", 4, "'update' has to be text"),
        (f"{NOTES}    pattern: ../*.md\n", 4, "The mask '../*.md' leaves the collection."),
        (f"{NOTES}    includeByDefault: maybe\n", 4, "has to be true or false"),
        (f"{NOTES}    ignore: 5\n", 4, "ignore"),
        (f"{NOTES}    ignore: {{a: b}}\n", 4, "ignore"),
        (f"{NOTES}    ignore: [a, 5]\n", 4, "ignore"),
        (f"{NOTES}    context: hello\n", 4, "context of 'notes' has to be"),
        ("chunk:\n  tokens: 15\n", 2, "tokens"),
        ("ocr: --help\n", 1, "'ocr' has to be true, or languages of Tesseract"),
        ("ocr: eng deu\n", 1, "'ocr' has to be true, or languages of Tesseract"),
        ("chunk:\n  overlap: 0.9\n", 2, "from 0 to below 0.9"),
        ('collections:\n  n:\n    path: "/a\\0b"\n', 3, "'path' has a NUL in it"),
        ('collections:\n  n:\n    path: /n\n    update: "a\\0b"\n', 4, "'update' has a NUL"),
    ],
)
def test_a_mistake_is_told_with_its_line(place, text, line, problem):
    with pytest.raises(ConfigError) as refused:
        load(write(place, text))
    where, _, message = str(refused.value).partition(": ")
    assert (where, refused.value.line) == (f"{place.config}:{line}", line)
    assert problem in message


@pytest.mark.parametrize(
    "text", ["- a\n", "models: \udce9\n", "[" * 1000, "a: !!int b\n", "a: 2024-99-99\n", "0"]
)
def test_a_file_that_makes_no_sense_is_told_by_name(place, text):
    with pytest.raises(ConfigError, match=r"index\.yml"):
        load(write(place, text))


@pytest.mark.parametrize(
    ("path", "root"), [("~/n", "home/n"), ("~", "home"), ("n/../m", "home/m"), ("/a/../b", "/b")]
)
def test_paths_of_the_user_start_at_home(place, tmp_path, path, root):
    write(place, NOTES.replace("/notes", f'"{path}"'))
    assert load(place).collections[0].root == str(tmp_path / root)


def test_home_is_that_of_the_environment_given(tmp_path):
    place = locate({"HOME": str(tmp_path), "INDEX_PATH": "~/x.db"}, tmp_path)
    assert place.database == tmp_path / "x.db"
    for path in ("~/n", "n"):
        write(place, NOTES.replace("/notes", path))
        assert load(place).collections[0].root == f"{tmp_path}/n"


def test_the_home_of_nobody_is_an_error(tmp_path):
    with pytest.raises(UsageError, match="~nobody-/x"):
        locate({"HOME": "/h", "INDEX_PATH": "~nobody-/x.db"}, tmp_path)


def test_an_index_that_is_named_is_found_wherever_others_are(tmp_path):
    environ = {"HOME": str(tmp_path / ("n" * 300))}  # nobody can look there
    file = tmp_path / "kb.duckdb"
    assert at(environ, file).database == file
    with pytest.raises(IndexOutOfReach):
        check_reach(locate(environ, tmp_path))


def test_paths_of_a_project_start_at_its_folder(tmp_path):
    place = locate({"HOME": "/h"}, project(tmp_path) / "below")
    assert load(write(place, NOTES.replace("/n", "n"))).collections[0].root == f"{tmp_path}/notes"


def add(name):
    return lambda document: document.setdefault("collections", {}).update({name: {"path": "/x"}})


def test_edit_keeps_comments_quotes_and_the_order_of_keys(place):
    before = f"# mine\n\nmodels:\n  embed: 'x' # why\n{NOTES}    update: {'long ' * 40}end # last\n"
    edit(write(place, before), add("new"))
    assert place.config.read_text() == f"{before}  new:\n    path: /x\n"


def test_edit_keeps_a_file_that_is_only_comments(place):
    edit(write(place, "# mine\n"), add("new"))
    assert place.config.read_text() == "# mine\ncollections:\n  new:\n    path: /x\n"


@pytest.mark.parametrize("text", ["---\n# mine", "# mine\n---\n...\n", "# mine\nnull\n"])
def test_edit_keeps_the_comments_of_a_file_that_says_nothing_else(place, text):
    edit(write(place, text), add("new"))
    assert place.config.read_text() == "# mine\ncollections:\n  new:\n    path: /x\n"


def test_edit_keeps_a_symlink(place, tmp_path):
    place.config.parent.mkdir()
    place.config.symlink_to(tmp_path / "dotfiles.yml")
    for name in ("a", "b"):
        edit(place, add(name))
    assert place.config.is_symlink()
    assert [each.name for each in load(place).collections] == ["a", "b"]
    assert (tmp_path / "dotfiles.yml").is_file()


def test_edit_makes_a_new_file_and_keeps_the_permissions_of_an_old_one(place):
    for mode in (0o644, 0o600):
        edit(place, add("new"))
        assert [each.name for each in load(place).collections] == ["new"]
        assert stat.S_IMODE(place.config.stat().st_mode) == mode
        place.config.chmod(0o600)


@pytest.mark.parametrize("before", [NOTES, "- a\n", "collections: 5\n", "collections: [\n"])
def test_an_edit_that_makes_no_sense_changes_nothing(place, before):
    write(place, before)
    with pytest.raises(ConfigError):
        edit(place, lambda document: document["collections"].update(notes={"paths": "/x"}))
    assert place.config.read_text() == before
    assert {file.name for file in place.config.parent.iterdir()} <= {"index.yml", "index.yml.lock"}


def test_a_collection_whose_name_yaml_takes_for_a_number_can_be_changed(place):
    write(place, "collections:\n  2024:\n    path: /x # here\n  b:\n    path: /y\n")
    edit(place, lambda document: entry(document, "2024").update(update="ls"))
    assert place.config.read_text() == (
        "collections:\n  '2024':\n    path: /x # here\n    update: ls\n  b:\n    path: /y\n"
    )


def test_edits_at_the_same_time_are_all_kept(place):
    names = [f"c{number}" for number in range(8)]
    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(lambda name: edit(place, add(name)), names))
    assert sorted(each.name for each in load(place).collections) == names


def test_what_could_not_be_written_in_a_path_is_no_name_of_a_collection():
    for name in ("notes", "my notes", "2024", "é茶", "a.b", "a-b#c", "100%_"):
        check_name(name)
    for name in ("", "a/b", "a:b", "a?b", "a\nb", "a\tb", "a\0b", ".a", "#a", "-a"):
        with pytest.raises(UsageError, match="cannot be the name of a collection"):
            check_name(name)


@pytest.mark.parametrize(
    "text",
    [
        NOTES,
        "",
        "# nothing\n",
        "collections:\n  a: &x\n    path: /x\n    ignore: [b]\n  c:\n    <<: *x\n    path: /c\n",
        "collections:\n  a: {path: !!str 5}\n",
        "chunk: {tokens: 1_000, overlap: 0.2}\nquery_log: false\n",
        "collections: {012: {path: 007, update: 1_0}, 1_0: {path: /a-01/02_3}}\n",
        "collections: {a: {path: /x, ignore: [2020-01-01]}}\n",
        "collections:\n  a: {path: ~, update: no}\n  12: {path: '/x'}\n",
        "collections: {a: {path: /x, ignore: '*.md', context: {/: text, b: 1.5}}}\n",
        "query_log: yes\n",
        "a: 1\na: 2\n",
        "global_context: |\n  one\n  two\n",
        "%YAML 1.2\n---\nglobal_context: x\n",
    ],
)
def test_settings_are_those_that_whoever_edits_the_file_reads(place, text):
    write(place, text)

    def told(work):
        try:
            return work()
        except ConfigError as error:
            return str(error)

    assert told(lambda: load(place)) == told(
        lambda: understood(parse_commented(text, place.config), place)
    )
