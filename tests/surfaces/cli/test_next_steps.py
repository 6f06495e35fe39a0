"""What is not found, or not there, is told with what to do next, in words of the command line."""

from __future__ import annotations

import json

import pytest

from qmd.operations.search import NO_DOCUMENTS, NO_FILES


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("nothing/like-this.md", "or look for it with 'qmd search like this'."),
        ("notes/te.md", "or look for it with 'qmd search te'."),
        ("#000000", "or look for it with 'qmd search WORDS'."),
        ("日本 ☃.md", "or look for it with \"qmd search '日本'\"."),
    ],
)
def test_a_document_that_is_not_found_may_be_listed_or_searched_for(indexed, name, advice):
    code, out, err = indexed("get", name)
    assert (code, out) == (1, "")
    assert err.splitlines()[-1] == f"See what there is with 'qmd ls', {advice}"


def test_a_file_that_is_not_indexed_is_told_why_and_nothing_else(indexed, notes):
    (notes / "new.md").write_text("# New\n")
    code, _, err = indexed("get", notes / "new.md")
    assert (code, "Run 'qmd update -c notes'" in err, "qmd ls" in err) == (1, True, False)


def test_a_folder_of_a_collection_without_files_is_told_on_stderr(indexed):
    code, out, err = indexed("ls", "notes/absent")
    assert (code, out) == (0, "")
    assert err == "No files below notes/absent.\n\n'qmd ls' lists the collections.\n"
    assert indexed("ls", "notes/absent", "--json")[:2] == (0, "[]\n")


@pytest.mark.parametrize("pattern", ["absent.md", "absent/*.md", "absent.md, other/*.md"])
@pytest.mark.parametrize("form", ["cli", "md"])
def test_several_documents_none_of_which_is_found_leave_stdout_empty(indexed, pattern, form):
    code, out, err = indexed("multi-get", pattern, "--format", form)
    assert (code, out) == (1, "")
    for part in pattern.split(", "):
        assert part in err
    assert err.endswith(
        "See what there is with 'qmd ls', or look for words with 'qmd search WORDS'.\n"
    )


@pytest.mark.parametrize("form", ["json", "csv", "xml", "files"])
def test_programs_have_a_record_of_each_document_that_is_not_found(indexed, form):
    code, out, err = indexed("multi-get", "absent.md", "other.md", "--format", form)
    assert code == 1
    for name in ("absent.md", "other.md"):
        assert name in out
        assert f"Document not found: {name}" in err


def test_names_that_a_shell_makes_of_a_glob_are_each_found_or_told(indexed, notes, monkeypatch):
    (notes / "draft.xyz").write_text("Of no collection.\n")
    monkeypatch.chdir(notes)
    names = sorted(path.name for path in notes.iterdir() if path.is_file())
    assert names == ["coffee, black.md", "draft.xyz", "tea.md"]
    code, out, err = indexed("multi-get", *names)
    assert (code, out.count("\nFile: ")) == (2, 2)
    assert "File: notes/coffee, black.md\n" in out
    assert "File: notes/tea.md\n" in out
    assert "draft.xyz" not in out
    assert err.startswith("Document not found: draft.xyz. It is no file that collection 'notes'")
    code, out, _ = indexed("multi-get", *names, "--json")
    told = [(each["file"], each.get("skipped", False)) for each in json.loads(out)]
    assert sorted(told) == [
        ("draft.xyz", True),
        ("notes/coffee, black.md", False),
        ("notes/tea.md", False),
    ]


def test_patterns_lists_and_names_may_be_given_together_and_each_document_comes_once(indexed):
    code, out, err = indexed("multi-get", "notes/*.md", "tea.md,work/plan.md", "plan.md", "--files")
    assert (code, err) == (0, "")
    assert sorted(line.split(",", 1)[1][:16] for line in out.splitlines()) == [
        '"notes/coffee, b', 'notes/tea.md,""', 'notes/work/plan.',
    ]  # fmt: skip


def test_several_documents_are_got_by_their_names(indexed):
    code, out, err = indexed("get", "tea.md", "notes/work/plan.md")
    assert (code, err) == (0, "")
    assert [line for line in out.splitlines() if line.startswith("File: ")] == [
        "File: notes/tea.md",
        "File: notes/work/plan.md",
    ]
    code, out, err = indexed("get", "tea.md:5:1", "absent.md", "plan.md:99", "--json")
    assert code == 2
    assert [(each["file"], each["body"]) for each in json.loads(out)] == [("notes/tea.md", "---")]
    assert "Document not found: absent.md" in err
    assert "line 99 is past its end" in err
    code, out, _ = indexed("get", "absent.md", "other.md")
    assert (code, out) == (1, "")


def test_one_document_is_shown_as_it_is(indexed):
    assert indexed("get", "plan.md")[1].startswith("# Plan\n")
    assert isinstance(json.loads(indexed("get", "plan.md", "--json")[1]), dict)


def test_an_empty_folder_is_not_told_to_update(qmd, tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    assert qmd("collection", "add", folder)[0] == 0
    for command in ("search", "vsearch", "query"):
        assert qmd(command, "tea") == (0, "No results found.\n", f"{NO_FILES}\n")
    assert qmd("embed")[2] == f"{NO_FILES}\n"
    (folder / "blank.md").write_text("")
    (folder / "tea.xyz").write_text("tea\n")
    assert qmd("search", "tea")[2] == f"{NO_FILES}\n"
    (folder / "tea.md").write_text("# Tea\n")
    assert qmd("search", "tea")[2] == f"{NO_DOCUMENTS}\n"
    (folder / "tea.md").unlink()
    folder.rename(tmp_path / "elsewhere")
    assert qmd("search", "tea")[2] == f"{NO_DOCUMENTS}\n"


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (
            ["collection", "add", "{notes}", "--mask", "*.txt"],
            "Choose another name with --name NAME, or index it with 'qmd update notes'.",
        ),
        (["sql", "select $x"], "Give one with -p x=VALUE."),
        (["sql", "from read_csv('a.csv')"], "Allow it to read files with --allow-files."),
        (["sql", "from 'https://example.org/a.csv'"], "let the query read it with --allow-files."),
    ],
)
def test_advice_is_of_the_command_line_alone(indexed, notes, arguments, advice):
    code, _, err = indexed(*(word.format(notes=notes) for word in arguments))
    assert code == 1
    assert advice in err
    assert "Python" not in err


def test_only_the_named_collections_are_updated(indexed, notes, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.md").write_text("# X\n")
        assert indexed("collection", "add", tmp_path / name)[0] == 0
    out = indexed("update", "a", "b")[1]
    assert [line.split()[1] for line in out.splitlines() if line.startswith("[")] == ["a", "b"]
    for command in ("update", "embed", "watch"):
        code, _, err = indexed(command, "absent")
        assert (code, err) == (1, "Collection not found: absent. Known: a, b, notes.\n")
