"""Names that begin in the current folder, files on the disk alone, and lines of several."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def inside(indexed, notes, monkeypatch):
    """The notes and others of the same names, from a folder inside of them."""
    for name in ("work/tea.md", "old/tea.md"):
        (notes / name).parent.mkdir(exist_ok=True)
        (notes / name).write_text(f"# {name}\n")
    (notes / "tea.md").unlink()
    assert indexed("update")[0] == 0
    monkeypatch.chdir(notes / "work")
    return indexed


@pytest.mark.parametrize("name", ["./tea.md", "../work/tea.md", "tea.md", "tea.md:1", "./tea.md:1"])
def test_a_path_begins_in_the_current_folder(inside, name):
    assert inside("get", name) == (0, "# work/tea.md\n", "")
    assert "# work/tea.md\n" in inside("multi-get", f"plan.md, {name}")[1]


def test_a_name_of_several_documents_is_told_where_none_is_in_the_current_folder(
    inside, notes, monkeypatch
):
    monkeypatch.chdir(notes)
    code, _, err = inside("get", "tea.md")
    assert code == 1
    assert "tea.md names 2 documents" in err


@pytest.mark.parametrize("path", [".", "../work", "./../work/"])
def test_ls_takes_a_folder_on_the_disk(inside, notes, path):
    whole = inside("ls", "notes/work")[1]
    assert "notes/work/plan.md" in whole
    assert inside("ls", path) == (0, whole, "")
    assert inside("ls", notes / "work") == (0, whole, "")
    assert inside("ls", notes)[1] == inside("ls", "/notes")[1] == inside("ls", "notes")[1]


def test_ls_says_that_a_folder_is_in_no_collection(indexed, notes, monkeypatch):
    monkeypatch.chdir(notes.parent)
    code, out, err = indexed("ls", ".")
    assert (code, out) == (1, "")
    assert err.startswith(". is in no collection.")


def test_a_file_that_is_not_indexed_is_told_with_what_indexes_it(inside, notes):
    (notes / "work" / "new.md").write_text("# New\n")
    (notes / "work" / "new.png").write_text("New\n")
    wanted = (
        "It is not indexed. Run 'qmd update -c notes', which passes over files that are empty, "
        "no text, too large, links, in a folder such as node_modules, or in .gitignore."
    )
    (notes / "node_modules").mkdir()
    (notes / "node_modules" / "x.md").write_text("# X\n")
    (notes / "empty.md").touch()
    for name in (
        "new.md",
        "./new.md:3",
        "../empty.md",
        "../node_modules/x.md",
        notes / "work" / "new.md",
    ):
        code, _, err = inside("get", name)
        assert code == 1
        assert wanted in err
    assert "no file that collection 'notes' takes (documents)" in inside("get", "new.png")[2]
    assert inside("get", "notes/new.md")[2].startswith("Document not found: notes/new.md\n")


def test_multi_get_takes_lines_of_each_document(indexed, notes):
    (notes / "odd.md:2").write_text("# Odd\n")
    indexed("collection", "add", notes, "--name", "odd", "--mask", "odd.md:2")
    asked = "plan.md:3:1, plan.md:5, tea.md:99, plan.md, odd.md:2"
    code, out, _ = indexed("multi-get", asked, "--json")
    assert code == 2
    found = {(r["file"], r.get("line")): r.get("body") for r in json.loads(out)}
    assert found == {
        ("tea.md:99", None): None,
        ("notes/work/plan.md", 3): "Buy tea, then parse_json the list.",
        ("notes/work/plan.md", 5): "End.",
        ("notes/work/plan.md", 1): (notes / "work" / "plan.md").read_text(),
        ("odd/odd.md:2", 1): "# Odd\n",
    }
    assert indexed("multi-get", "plan.md:3", "-l", 1)[1].endswith(
        "Buy tea, then parse_json the list.\n"
    )


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("./*.md", ["work/plan.md", "work/tea.md"]),
        ("./{tea,plan}.md", ["work/plan.md", "work/tea.md"]),
        ("./t?a.md", ["work/tea.md"]),
        ("../*.md", ["coffee, black.md"]),
        ("../**/tea.md", ["old/tea.md", "work/tea.md"]),
        ("./../old/*", ["old/tea.md"]),
        ("../../*/work/p*", ["work/plan.md"]),
        ("{home}/old/*.md", ["old/tea.md"]),
        ("./old/*.md", None),
        ("../../*.md", None),
    ],
)
def test_a_glob_begins_in_the_current_folder(inside, notes, glob, expected):
    code, out, _ = inside("multi-get", glob.replace("{home}", str(notes)), "--json")
    found = [record["file"] for record in json.loads(out) if record["docid"]]
    assert (code, sorted(found)) == (int(not expected), [f"notes/{n}" for n in expected or ()])


def test_a_glob_begins_in_a_folder_whose_name_is_odd_or_that_a_link_leads_to(
    qmd, tmp_path, monkeypatch
):
    odd = tmp_path / ".a[b]{c,d}*" / "Cafe\u0301"
    odd.mkdir(parents=True)
    (odd / "tea.md").write_text("# Tea\n")
    (tmp_path / "link").symlink_to(odd)
    assert qmd("collection", "add", tmp_path / "link", "--name", "odd")[0] == 0
    for folder, glob in [(odd, "./*.md"), (odd, f"{tmp_path}/link/*.md"), (tmp_path, "./link/t*")]:
        monkeypatch.chdir(folder)
        assert ",odd/tea.md," in qmd("multi-get", glob, "--files")[1]


def test_multi_get_takes_lines_of_each_document_that_a_glob_means(inside, notes):
    (notes / "odd.md:2").write_text("# Odd\n\nEnd.\n")
    inside("collection", "add", notes, "--name", "odd", "--mask", "odd.md:2")

    def lines(glob, *options):
        code, out, _ = inside("multi-get", glob, *options, "--json")
        found = {r["file"]: (r.get("line"), r.get("body") or r.get("reason"))
                 for r in json.loads(out)}  # fmt: skip
        return code, found

    assert lines("notes/work/*.md:1:1") == (
        0,
        {"notes/work/plan.md": (1, "# Plan"), "notes/work/tea.md": (1, "# work/tea.md\n")},
    )
    assert lines("./{plan,absent}.md:3", "-l", 2) == (
        0,
        {"notes/work/plan.md": (3, "Buy tea, then parse_json the list.\n")},
    )
    assert lines("notes/work/*.md:5") == (
        2,
        {
            "notes/work/plan.md": (5, "End."),
            "notes/work/tea.md:5": (
                None,
                "notes/work/tea.md has 1 line; line 5 is past its end.",
            ),
        },
    )
    assert lines("o*.md:2") == (0, {"odd/odd.md:2": (1, "# Odd\n\nEnd.\n")})


def test_multi_get_gives_few_lines_of_a_large_document(indexed, notes):
    (notes / "large.md").write_text("# Large\n" + "tea\n" * 5_000)
    indexed("update")
    assert json.loads(indexed("multi-get", "large.md:2:1", "--json")[1])[0]["body"] == "tea"
    [left_out] = json.loads(indexed("multi-get", "large.md:3", "--json")[1])
    assert left_out["reason"] == "19995 bytes, more than 10240; use: qmd get notes/large.md:3"


def test_what_multi_get_did_not_find_has_no_facts_and_a_reason_of_one_line(inside):
    code, out, _ = inside("multi-get", "te.md, notes/*/tea.md", "--json")
    assert code == 2
    assert json.loads(out)[0] == {
        "docid": None,
        "file": "te.md",
        "title": None,
        "context": None,
        "uri": None,
        "skipped": True,
        "reason": "Document not found: te.md",
    }
    assert "Did you mean one of these?" in inside("multi-get", "te.md")[2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["plan.md:3:1", "-l", 1], "Give the number of lines either with :3:1 or with -l."),
        (["plan.md:3", "--from", 1], "Give the first line either with :3 or with --from."),
    ],
)
def test_lines_are_given_one_way(indexed, options, message):
    assert indexed("get", *options) == (1, "", f"{message}\n")
    assert indexed("get", "plan.md:3", "-l", 1)[0] == 0
