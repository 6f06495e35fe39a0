"""The command line, as a user meets it."""

from __future__ import annotations

import errno
import io
import json
import os
import stat
import subprocess
import sys
import threading
from contextlib import closing

import _duckdb
import pytest

from qmd.errors import IndexNotWritable
from qmd.operations.search import NO_DOCUMENTS


def test_no_arguments_print_the_help(qmd):
    code, out, _ = qmd()
    assert code == 0
    assert "search" in out
    assert "collection" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["search", "tea", "-c", "absent"], "Collection not found: absent. Known: notes."),
        (["search", "tea", "--format", "yaml"], "Unknown format: yaml. Valid: cli, json, csv,"),
        (["search", "tea", "--json", "--csv"], "Choose one format"),
        (["search", 'odd"'], "unmatched double quote"),
        (["search", "--", "-tea"], "only says what to leave out"),
        (["search", "tea", "--since", "soon"], "--since takes a date"),
        (["search", "tea", "--filter", "status"], "filter cannot be read"),
        (["search", "tea", "--nonsense"], "No such option: --nonsense"),
        (["search", "tea", "-green"], "comes after --: qmd search -- tea -green\nSee 'qmd search"),
        (["search", "tea", "--all", "-n", 1], "Choose one: --all, or so many with -n."),
        (["collection", "add"], "Missing argument"),
        (["collection", "show", "absent"], "Collection not found: absent."),
        (["get", "notes/te.md"], "Did you mean one of these?\n  - notes/tea.md"),
        (["get", "notes/tea.md:99"], "has 8 lines; line 99 is past its end"),
        (["collection", "add", ""], "it is empty. The current folder is '.'."),
        (["collection", "add", ".", "--name", ""], "'' cannot be the name of a collection"),
        (["collection", "add", ".", "--mask", "[a"], "The '[' in the mask '[a' is never closed."),
        (["context", "add", "", "Drinks"], "The path is empty."),
        (["context", "rm", ""], "The path is empty."),
        (["ls", ""], "The path is empty."),
        (["get", ""], "Name a document"),
        (["export", ""], "it is empty."),
        (["import", ""], "it is empty."),
        (["bench", ""], "it is empty."),
        (["map", ""], "it is empty."),
        (["sql", "-f", ""], "it is empty."),
        (["sql", "select 1", "-o", ""], "it is empty."),
        (["--index", "../x", "status"], "cannot be the name of an index"),
    ],
)
def test_a_mistake_is_code_1_and_says_what_to_do(indexed, arguments, message):
    code, out, err = indexed(*arguments)
    assert code == 1
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_a_project_has_its_own_index_and_asks_for_approval(qmd, notes, monkeypatch):
    monkeypatch.delenv("QMD_CONFIG_DIR")
    monkeypatch.delenv("INDEX_PATH")
    monkeypatch.chdir(notes)
    assert qmd("init")[0] == 0
    assert qmd("collection", "add", ".")[0] == 0
    config = notes / ".qmd" / "index.yml"
    config.write_text(config.read_text() + "    update: touch made.md\n")
    _, _, err = qmd("update")
    assert "not approved" in err
    assert not (notes / "made.md").exists()
    assert qmd("trust")[0] == 1
    assert qmd("trust", "--yes")[0] == 0
    assert qmd("update")[0] == 0
    assert (notes / "made.md").exists()
    assert qmd("trust", "revoke")[0] == 0
    assert "not approved" in qmd("update")[2]


@pytest.mark.parametrize("folder", [".", "work", "~work", "../out"])
def test_a_project_names_its_folders_as_seen_from_it(qmd, notes, tmp_path, monkeypatch, folder):
    monkeypatch.delenv("QMD_CONFIG_DIR")
    monkeypatch.delenv("INDEX_PATH")
    for made in (notes / "~work", tmp_path / "out"):
        made.mkdir()
    monkeypatch.chdir(notes)
    qmd("init")
    root = (notes / folder).resolve()
    assert qmd("collection", "add", root, "--name", "a")[0] == 0
    written = folder if folder in (".", "work") else root
    assert f"    path: {written}\n" in (notes / ".qmd" / "index.yml").read_text()
    assert json.loads(qmd("collection", "show", "a", "--json")[1])["path"] == str(root)
    assert qmd("collection", "add", root, "--name", "b")[0] == 1


def test_a_clone_of_a_project_indexes_its_own_files(qmd, notes, tmp_path, monkeypatch):
    monkeypatch.delenv("QMD_CONFIG_DIR")
    monkeypatch.delenv("INDEX_PATH")
    monkeypatch.chdir(notes)
    qmd("init")
    qmd("collection", "add", ".", "--name", "notes")
    clone = tmp_path / "clone"
    (clone / ".qmd").mkdir(parents=True)
    (clone / ".qmd" / "index.yml").write_bytes((notes / ".qmd" / "index.yml").read_bytes())
    (clone / "cup.md").write_text("# Cup\n\nOf porcelain.\n")
    monkeypatch.chdir(clone)
    code, out, _ = qmd("update")
    assert code == 0
    assert "Indexed: 1 new" in out


def test_index_may_stand_before_or_after_the_command(indexed, notes, tmp_path):
    assert indexed("collection", "add", notes / "work", "--index", "work")[0] == 0
    assert (tmp_path / "config" / "work.yml").exists()
    for arguments in (["--index", "work", "ls"], ["ls", "--index=work"], ["ls", "--index", "work"]):
        assert indexed(*arguments)[1].startswith("work/")
    assert indexed("ls")[1].startswith("notes/")


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("qmd sea", "search"),
        ("qmd search -c no", "notes"),
        ("qmd ls no", "notes"),
        ("qmd --index ind", "index"),
    ],
)
def test_a_shell_completes_commands_and_collections(indexed, line, names):
    environ = {
        "_QMD_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(line.count(" ")),
    }
    command = [sys.executable, "-m", "qmd"]
    done = subprocess.run(command, env=os.environ | environ, capture_output=True, text=True)
    assert done.stdout.split() == [names]


@pytest.mark.parametrize(("shell", "part"), [("zsh", "#compdef qmd"), ("bash", "complete -o")])
def test_completion_is_for_the_shell_that_is_named(qmd, tmp_path, shell, part):
    code, out, _ = qmd("--show-completion", shell)
    assert code == 0
    assert part in out
    code, out, _ = qmd("--install-completion", shell)
    assert code == 0
    assert out.startswith(f"Completion for {shell} is in {tmp_path}")
    assert f".{shell}rc" in {each.name for each in (tmp_path / "home").iterdir()}


@pytest.mark.parametrize(
    ("shell", "part"),
    [
        ("fish", "complete --command qmd"),
        ("powershell", "Register-ArgumentCompleter -Native -CommandName qmd"),
        ("pwsh", "Register-ArgumentCompleter -Native -CommandName qmd"),
    ],
)
def test_completion_can_be_shown_for_shells_that_are_not_here(qmd, shell, part):
    code, out, _ = qmd("--show-completion", shell)
    assert code == 0
    assert part in out


def test_completion_for_an_unknown_shell_is_refused_and_writes_nothing(qmd, tmp_path):
    for option in ("--show-completion", "--install-completion"):
        code, out, err = qmd(option, "foo")
        assert (code, out) == (1, "")
        assert f"{option} takes the name of a shell, not 'foo'. Valid: bash, zsh, fish" in err
    assert not (tmp_path / "home").exists()


def test_a_folder_that_is_made_for_an_index_is_the_users_alone(qmd, notes, tmp_path, monkeypatch):
    folder = tmp_path / "new" / "qmd"
    monkeypatch.setenv("INDEX_PATH", str(folder / "index.duckdb"))
    assert qmd("collection", "add", notes)[0] == 0
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_who_has_collections_and_no_documents_is_told_to_update(qmd, notes, tmp_path, monkeypatch):
    assert qmd("collection", "add", notes)[0] == 0
    monkeypatch.setenv("INDEX_PATH", str(tmp_path / "other.duckdb"))
    for command in ("search", "vsearch", "query"):
        code, out, err = qmd(command, "tea")
        assert (code, out, err) == (0, "No results found.\n", f"{NO_DOCUMENTS}\n")
    assert qmd("embed") == (0, "", f"{NO_DOCUMENTS}\n")


def test_who_has_indexed_nothing_yet_is_told_how_to(qmd, notes):
    code, out, err = qmd("search", "tea")
    assert (code, out) == (0, "No results found.\n")
    assert err == "Nothing is indexed yet. Add a folder with 'qmd collection add PATH'.\n"
    out = qmd("collection", "add", notes)[1]
    assert out.endswith("Run 'qmd embed' to update embeddings (3 documents need vectors).\n")
    assert qmd("search", "nowhere")[2] == ""


def _loading_is_interrupted(*_):
    raise ImportError("initialization failed") from KeyboardInterrupt()


def _duckdb_is_interrupted(*_):
    raise _duckdb.InvalidInputException("Module 'decimal' failed to import: KeyboardInterrupt: <>")


@pytest.mark.parametrize("fails", [_loading_is_interrupted, _duckdb_is_interrupted])
def test_what_failed_only_because_of_ctrl_c_is_no_mistake_of_ours(qmd, monkeypatch, fails):
    monkeypatch.setattr("qmd.surfaces.cli.direct.command", fails)
    assert qmd("status") == (130, "", "Interrupted.\n")


def test_ctrl_c_in_a_statement_is_no_mistake_of_ours(qmd, monkeypatch, press_ctrl_c):
    def long_statement(*_):
        threading.Timer(0.2, press_ctrl_c).start()
        with closing(_duckdb.connect()) as connection:
            connection.execute("select sum(hash(number)) from range(1_000_000_000_000) t(number)")

    monkeypatch.setattr("qmd.surfaces.cli.direct.command", long_statement)
    assert qmd("status") == (130, "", "Interrupted.\n")


class Full(io.RawIOBase):
    """A file on a disk that is full."""

    def writable(self):
        return True

    def write(self, _):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    "arguments",
    [["search", "tea"], ["sql", "from range(100_000)"], ["sql", "--format", "arrow", "select 1"]],
)
def test_output_for_which_there_is_no_room_is_told_of(indexed, monkeypatch, arguments):
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedWriter(Full()), "utf-8"))
        code, _, err = indexed(*arguments)
        patch.setattr(Full, "write", lambda self, content: len(content))
        sys.stdout.close()
    assert (code, err) == (1, "The output cannot be written: No space left on device.\n")


def test_what_else_fails_is_not_laid_to_the_output(indexed, monkeypatch):
    def fails(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("qmd.surfaces.cli.direct.command", fails)
    code, _, err = indexed("status")
    assert code == 1
    assert err.startswith("The system refuses: No space left on device.\n\nCheck the path, ")


def test_notices_that_cannot_be_written_are_no_failure(indexed, monkeypatch):
    full = io.TextIOWrapper(io.BufferedWriter(Full()), "utf-8", line_buffering=True)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", full)
        assert indexed("sql", "selec")[0] == 1
        assert indexed("multi-get", "absent*")[0] == 1
        patch.setattr(Full, "write", lambda self, content: len(content))
        full.close()


@pytest.mark.parametrize(
    ("closed", "out"), [(">&-", False), ("2>&-", True), ("<&- >&- 2>&-", False)]
)
def test_streams_that_are_closed_lead_nowhere(indexed, closed, out):
    for command in ("search tea", "sql 'select 1'", "status", "--help", "--version"):
        done = subprocess.run(
            ["sh", "-c", f"{sys.executable} -m qmd {command} {closed}"],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode, bool(done.stdout), done.stderr) == (0, out, "")


def test_a_mistake_that_only_quotes_the_word_is_told_as_one(qmd, monkeypatch):
    def fail(*_):
        raise ValueError("no note is called KeyboardInterrupt")

    monkeypatch.setattr("qmd.surfaces.cli.direct.command", fail)
    code, _, err = qmd("status")
    assert code == 1
    assert err.startswith("qmd failed: ValueError: no note is called KeyboardInterrupt\n")


def test_a_mask_that_matches_no_file_is_told(qmd, notes):
    code, out, err = qmd("collection", "add", notes, "--mask", "**/*.mdd")
    assert code == 0
    assert "Indexed: 0 new" in out
    assert err == "No file matches the mask **/*.mdd. Another one is given with --mask.\n"
    (notes / "empty.text").write_text(" ")
    assert (
        "matches the mask"
        not in qmd("collection", "add", notes, "--name", "b", "--mask", "*.text")[2]
    )


def test_a_reader_that_goes_away_is_no_failure(indexed):
    for command in ("--version", "--help", "search tea", "get notes/tea.md"):
        for unbuffered in ("", "1"):
            reader, writer = os.pipe()
            os.close(reader)
            with open(writer, "wb") as closed:
                done = subprocess.run(
                    [sys.executable, "-m", "qmd", *command.split()],
                    stdout=closed,
                    stderr=subprocess.PIPE,
                    text=True,
                    timeout=60,
                    env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
                )
            assert (done.returncode, done.stderr) == (0, "")


def test_an_option_that_lacks_its_value_is_told_with_the_help_of_its_command(qmd):
    code, _, err = qmd("search", "tea", "-n")
    assert (code, err.endswith("See 'qmd search --help'.\n")) == (1, True)


def test_what_an_encoding_has_no_character_for_is_spelled_out(indexed, notes):
    (notes / "茶🍵é.md").write_text("# 茶\n")
    assert indexed("update")[0] == 0
    done = subprocess.run(
        [sys.executable, "-m", "qmd", "ls", "notes", "--json"],
        capture_output=True,
        timeout=60,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert "notes/茶🍵é.md" in [each["file"] for each in json.loads(done.stdout)]


@pytest.mark.parametrize("variable", ["QMD_CONFIG_DIR", "INDEX_PATH", "XDG_CACHE_HOME"])
def test_a_place_that_cannot_be_is_told_of(indexed, tmp_path, monkeypatch, variable):
    file = tmp_path / "file"
    file.write_text("")
    for place in (file / "below", tmp_path / ("n" * 300) / "below"):
        monkeypatch.delenv("INDEX_PATH", raising=False)
        monkeypatch.setenv(variable, str(place))
        for command in ("search tea", "update", "status", "doctor"):
            code, _, err = indexed(*command.split())
            assert code in (1, 3)
            assert "mistake in qmd" not in err


def test_the_home_in_front_of_the_folder_of_settings_is_known(qmd, notes, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("QMD_CONFIG_DIR", "~/settings")
    assert qmd("collection", "add", notes)[0] == 0
    assert (tmp_path / "settings" / "index.yml").is_file()


def test_init_tells_of_what_keeps_its_index_from_being_used(qmd, notes, monkeypatch):
    monkeypatch.chdir(notes)
    code, out, err = qmd("init")
    assert (code, out) == (0, f"Made {notes}/.qmd/index.yml.\n")
    assert err.startswith("QMD_CONFIG_DIR and INDEX_PATH are set, and so commands here use another")
    code, _, err = qmd("--index", "work", "init")
    assert (code, err.startswith("--index names an index of yours")) == (1, True)


def test_what_is_registered_and_could_not_be_indexed_is_told(qmd, notes, monkeypatch):
    def full(*_, **__):
        raise IndexNotWritable(notes, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("qmd.surfaces.cli.collections.report_updates", full)
        code, _, err = qmd("collection", "add", notes)
    assert code == 3
    assert err.startswith(
        "Collection 'notes' is registered. To go on, add it again, or index it with "
        "'qmd update -c notes'. "
    )
    assert qmd("update", "-c", "notes")[0] == 0


def test_a_query_on_stdin_may_have_several_lines_and_has_to_be_text(indexed, monkeypatch):
    for data, code in ((b"tea\nbrew\n", 0), (b"tea \xff", 1)):
        stdin = io.TextIOWrapper(io.BytesIO(data), "utf-8", errors="surrogateescape")
        monkeypatch.setattr(sys, "stdin", stdin)
        assert indexed("search", "-")[0] == code
