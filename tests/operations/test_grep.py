"""`grep`: lines of the stored texts, as ripgrep finds them in files."""

from __future__ import annotations

import json
import re

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qmd.errors import CollectionNotFound, QueryError, UsageError
from qmd.operations.grep import grep
from qmd.surfaces.python.clients import AsyncKnowledgeBase
from qmd.surfaces.tools.dispatch import Toolbox

NOTES = {
    "tea.md": "# Tea\n\nGreen tea.\nblack Tea, a.b(c)\nteapot\r\n\nlast tea",
    "work/plan.md": "# Plan\n\n- [ ] buy tea\n- TODO: rest\n\n\ntée\n",
}


@pytest.fixture
def shelf(library):
    for path, text in NOTES.items():
        (library.root / path).parent.mkdir(exist_ok=True)
        (library.root / path).write_bytes(text.encode())
    library.update()
    return library


def found(library, pattern, *names, **options):
    lines = grep(library.engine, pattern, names, **options)
    return [f"{each.file.removeprefix('notes/')}:{each.line}" for each in lines]


@pytest.mark.parametrize(
    ("pattern", "options", "lines"),
    [
        ("tea", {}, ["tea.md:3", "tea.md:5", "tea.md:7", "work/plan.md:3"]),
        ("^# ", {}, ["tea.md:1", "work/plan.md:1"]),
        ("teapot$", {}, ["tea.md:5"]),  # a line may end with a carriage return
        ("^$", {}, ["tea.md:2", "tea.md:6", "work/plan.md:2", "work/plan.md:5", "work/plan.md:6"]),
        ("tea", {"ignore_case": True, "max_count": 2}, ["tea.md:1", "tea.md:3", "work/plan.md:3"]),
        ("tea", {"word": True}, ["tea.md:3", "tea.md:7", "work/plan.md:3"]),
        ("t|t.e|pot", {"word": True}, ["work/plan.md:7"]),
        ("a.b(c)", {"fixed": True}, ["tea.md:4"]),
        (r"a\.b\(c\)", {}, ["tea.md:4"]),
        (r"\Ateapot\z", {}, ["tea.md:5"]),
        ("[^x]*e", {"invert": True, "glob": "tea*"}, ["tea.md:2", "tea.md:6"]),
        ("rest", {"before": 1, "after": 1}, ["work/plan.md:3", "work/plan.md:4", "work/plan.md:5"]),
        ("tea", {"limit": 2}, ["tea.md:3", "tea.md:5"]),
        ("tea", {"names": ["work"]}, ["work/plan.md:3"]),
        ("tea", {"names": ["notes/tea.md"], "limit": 1}, ["tea.md:3"]),
        ("tea", {"glob": ["*.txt", "plan*"]}, ["work/plan.md:3"]),
        ("coffee", {}, []),
    ],
)
def test_lines_are_found(shelf, pattern, options, lines):
    names = options.pop("names", [])
    assert found(shelf, pattern, *names, **options) == lines


def test_lines_are_given_as_they_are_written(shelf):
    [line] = grep(shelf.engine, "teapot")
    assert (line.file, line.line, line.text, line.is_match) == ("notes/tea.md", 5, "teapot", True)
    around = grep(shelf.engine, "rest", before=1)
    assert [(each.text, each.is_match) for each in around] == [
        ("- [ ] buy tea", False),
        ("- TODO: rest", True),
    ]


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["a", "b+", "^a", "c$", "a|^$", "[^a]", "a.c", r"\bab", "x*"]), st.data())
def test_lines_are_those_of_a_plain_reading(new_library, pattern, data):
    texts = data.draw(st.lists(st.text("abc \n", max_size=20), min_size=1, max_size=3))
    library = new_library()
    try:
        for number, text in enumerate(texts):
            library.write(f"{number}.md", text)
        library.update()
        stored = dict(library.ask("select path, body from documents join content using (hash)"))
        expected = [
            f"{path}:{number}"
            for path, body in sorted(stored.items())
            for number, line in enumerate(body.removesuffix("\n").split("\n"), 1)
            if body and re.search(pattern, line)
        ]
        assert found(library, pattern) == expected
    finally:
        library.engine.close()


@pytest.mark.parametrize("pattern", ["(?=tea)", "(?<!a)tea", r"(a)\1", "(a", "a{2000}"])
def test_what_re2_does_not_take_is_refused_with_what_to_do(shelf, pattern):
    with pytest.raises(QueryError, match="RE2 syntax") as caught:
        grep(shelf.engine, pattern)
    assert "-F" in str(caught.value)
    assert found(shelf, pattern, fixed=True) == []


def test_a_hostile_expression_ends(shelf):
    shelf.write("long.md", "a" * 50_000 + "b\n")
    shelf.update()
    assert found(shelf, "^(a|aa|a*)*$") == found(shelf, "^$")


@pytest.mark.parametrize("pattern", [r"\C", r"t\Ce", r"\\\C"])
def test_a_single_byte_of_a_character_cannot_be_matched(shelf, pattern):
    with pytest.raises(QueryError, match="a single byte"):
        found(shelf, pattern)
    assert found(shelf, pattern, fixed=True) == []
    assert found(shelf, r"\\C") == []


@pytest.mark.parametrize("pattern", ["", "a\nb", r"a\nb"])
def test_a_pattern_is_for_one_line(shelf, pattern):
    with pytest.raises(QueryError):
        grep(shelf.engine, pattern)


def test_names_that_cannot_be_are_refused(shelf):
    with pytest.raises(UsageError, match="path on disk"):
        grep(shelf.engine, "tea", "/etc")
    with pytest.raises(CollectionNotFound):
        grep(shelf.engine, "tea", collection="other")


@pytest.fixture
def command(qmd, tmp_path):
    folder = tmp_path / "notes"
    for path, text in NOTES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    qmd("collection", "add", folder)
    return qmd


def test_the_command_writes_lines_as_ripgrep_does(command):
    code, out, _ = command("grep", "-n", "buy|rest")
    assert code == 0
    assert out == "notes/work/plan.md:3:- [ ] buy tea\nnotes/work/plan.md:4:- TODO: rest\n"
    assert command("grep", "-l", "tea")[1] == "notes/tea.md\nnotes/work/plan.md\n"
    assert command("grep", "-c", "-i", "tea")[1] == "notes/tea.md:5\nnotes/work/plan.md:1\n"
    assert command("grep", "-C", "1", "Green|last")[1] == (
        "notes/tea.md-2-\nnotes/tea.md:3:Green tea.\nnotes/tea.md-4-black Tea, a.b(c)\n--\n"
        "notes/tea.md-6-\nnotes/tea.md:7:last tea\n"
    )
    assert command("grep", "-F", "a.b(c)", "notes/tea.md", "-m", "1")[0] == 0


def test_the_command_writes_json(command):
    records = json.loads(command("grep", "buy|rest", "--json")[1])
    assert records[1] == {
        "file": "notes/work/plan.md",
        "line": 4,
        "text": "- TODO: rest",
        "match": True,
    }
    assert json.loads(command("grep", "-c", "tea", "--json")[1])[0] == {
        "file": "notes/tea.md",
        "count": 3,
    }
    assert command("grep", "coffee", "--json") == (1, "[]\n", "")


def test_the_command_ends_with_1_if_nothing_is_found(command):
    assert command("grep", "coffee") == (1, "", "")
    code, out, err = command("grep", "(?=tea)")
    assert (code, out) == (1, "")
    assert "RE2" in err


def test_matches_are_painted_and_controls_of_documents_are_not(command, tmp_path, monkeypatch):
    (tmp_path / "notes" / "evil.md").write_text("tea \x1b[31m tea\n")
    command("update")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = command("grep", "tea", "notes/evil.md")[1]
    assert "\x1b[31m tea" not in out
    assert "\\x1b[31m" in out
    assert out.count("\x1b[1;31mtea\x1b[0m") == 2


def test_a_tool_gives_lines_in_text_and_structured_content(shelf):
    async def call(**arguments):
        return await Toolbox(shelf.engine).call("grep", arguments)

    reply = anyio.run(lambda: call(pattern="buy|rest"))
    assert reply.content == (
        "notes/work/plan.md:3:- [ ] buy tea\nnotes/work/plan.md:4:- TODO: rest",
    )
    assert reply.structured == {
        "matches": [
            {"file": "notes/work/plan.md", "line": 3, "text": "- [ ] buy tea"},
            {"file": "notes/work/plan.md", "line": 4, "text": "- TODO: rest"},
        ],
        "more": False,
    }
    reply = anyio.run(lambda: call(pattern="tea", limit=1, paths=["tea.md"]))
    assert reply.structured["more"]
    assert [each["line"] for each in reply.structured["matches"]] == [3]
    reply = anyio.run(lambda: call(pattern="coffee"))
    assert reply.content == ("No lines match: coffee",)
    assert "RE2" in anyio.run(lambda: call(pattern="(?=a)")).content[0]


def test_python_has_it_too(shelf):
    async def work():
        return await AsyncKnowledgeBase(shelf.engine).grep("buy")

    [line] = anyio.run(work)
    assert line.text == "- [ ] buy tea"
