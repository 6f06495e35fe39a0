"""`qmd get` and `multi-get`, as a user meets them."""

from __future__ import annotations

import json
import unicodedata

import pytest


def test_get_knows_a_document_by_all_its_names(indexed, notes):
    [record] = json.loads(indexed("search", "leaves", "--json")[1])
    names = [
        "notes/coffee, black.md",
        "qmd://notes/coffee, black.md",
        "qmd://notes/coffee%2C%20black.md",
        "//notes/coffee, black.md",
        "coffee, black.md",
        str(notes / "coffee, black.md"),
        record["docid"],
        record["docid"][1:],
        record["uri"],
    ]
    assert {indexed("get", name)[1] for name in names} == {"# Coffee\n\nNo leaves at all.\n"}


@pytest.mark.parametrize("stored", ["NFC", "NFD"])
@pytest.mark.parametrize("typed", ["NFC", "NFD"])
def test_a_name_is_found_however_its_characters_are_composed(qmd, notes, stored, typed):
    (notes / unicodedata.normalize(stored, "résumé.md")).write_text("# Résumé\n")
    qmd("collection", "add", notes)
    name = unicodedata.normalize(typed, "résumé.md")
    for each in (name, f"notes/{name}", f"qmd://notes/{name}", notes / name):
        code, out, _ = qmd("get", each)
        assert (code, out) == (0, "# Résumé\n")
    for each in (f"notes/{name},tea.md", f"**/{unicodedata.normalize(typed, 'rés')}*"):
        assert "# Résumé" in qmd("multi-get", each)[1]


@pytest.mark.parametrize("stored", ["NFC", "NFD"])
@pytest.mark.parametrize("typed", ["NFC", "NFD"])
def test_a_folder_is_meant_however_its_characters_are_composed(qmd, notes, stored, typed):
    folder = notes / unicodedata.normalize(stored, "été")
    folder.mkdir()
    (folder / "a.md").write_text("# Été\n\nSoleil.\n")
    qmd("collection", "add", notes)
    name = unicodedata.normalize(typed, "été")
    assert "a.md" in qmd("ls", f"notes/{name}")[1]
    assert qmd("context", "add", f"qmd://notes/{name}", "Summer")[0] == 0
    assert json.loads(qmd("search", "soleil", "--json")[1])[0]["context"] == "Summer"


def test_of_two_spellings_of_a_name_the_one_that_is_typed_is_found(qmd, notes):
    for form in ("NFC", "NFD"):
        (notes / unicodedata.normalize(form, "résumé.md")).write_text(f"{form}\n")
    qmd("collection", "add", notes)
    for form in ("NFC", "NFD"):
        name = unicodedata.normalize(form, "résumé.md")
        for each in (name, f"notes/{name}", f"qmd://notes/{name}", notes / name):
            assert qmd("get", each)[1] == f"{form}\n"


def test_get_gives_lines_by_suffix_and_by_option(indexed):
    expected = "3: Buy tea, then parse_json the list.\n"
    assert indexed("get", "notes/work/plan.md:3:1", "--line-numbers")[1] == expected
    assert (
        indexed("get", "notes/work/plan.md", "--from", 3, "-l", 1, "--line-numbers")[1] == expected
    )


@pytest.mark.parametrize("end", ["\r\n", "\r", ""])
def test_a_range_of_lines_ends_without_its_line_ending_and_a_document_is_whole(qmd, notes, end):
    text = f"# A\r\n\r\nb\r\nc{end}"
    (notes / "crlf.md").write_bytes(text.encode())
    assert qmd("collection", "add", notes)[0] == 0
    ended = "c" if end == "\r\n" else f"c{end}"
    bodies = {
        "crlf.md": text,
        "crlf.md:1:4": text,
        "crlf.md:1:1": "# A",
        "crlf.md:1:3": "# A\r\n\r\nb",
        "crlf.md:3:1": "b",
        "crlf.md:3": f"b\r\n{ended}",
    }
    got = {name: json.loads(qmd("get", name, "--json")[1])["body"] for name in bodies}
    assert got == bodies
    assert qmd("get", "crlf.md:3:1")[1] == "b\n"
    [several] = json.loads(qmd("multi-get", "crlf.md", "-l", 3, "--json")[1])
    assert several["body"] == bodies["crlf.md:1:3"]


def test_multi_get_takes_globs_lists_and_says_what_it_skips(indexed):
    _, out, _ = indexed("multi-get", "notes/*.md, plan.md, absent.md", "--json")
    records = {record["file"]: record for record in json.loads(out)}
    assert set(records) == {
        "notes/tea.md", "notes/coffee, black.md", "notes/work/plan.md", "absent.md",
    }  # fmt: skip
    assert records["absent.md"]["skipped"] is True
    _, out, _ = indexed("multi-get", "notes/tea.md", "--max-bytes", 10, "--json")
    assert "bytes, more than 10" in json.loads(out)[0]["reason"]


def test_multi_get_takes_a_name_that_has_a_comma_in_it(indexed, notes):
    def files(pattern):
        return [record["file"] for record in json.loads(indexed("multi-get", pattern, "--json")[1])]

    for name in ("notes/coffee, black.md", "coffee, black.md", str(notes / "coffee, black.md")):
        assert files(name) == ["notes/coffee, black.md"]
    assert files("notes/tea.md, plan.md") == ["notes/tea.md", "notes/work/plan.md"]
    for folder in ("work", "home"):
        (notes / folder).mkdir(exist_ok=True)
        (notes / folder / "milk, warm.md").write_text(f"# Milk at {folder}\n")
    assert indexed("update")[0] == 0
    code, _, err = indexed("multi-get", "milk, warm.md")
    assert code == 1
    assert "milk, warm.md names 2 documents" in err


def test_multi_get_tells_of_a_document_that_is_too_large_all_but_its_text(indexed):
    assert indexed("context", "add", "qmd://notes/work", "Work notes")[0] == 0

    def got(*form):
        return indexed("multi-get", "work/plan.md", *form)[1]

    [whole] = json.loads(got("--json"))
    [record] = json.loads(got("--json", "--max-bytes", 10))
    del whole["line"], whole["lines"], whole["body"]
    assert record.pop("skipped") is True
    assert "bytes, more than 10" in record.pop("reason")
    assert record == whole
    assert (record["uri"], record["context"]) == ("qmd://notes/work/plan.md", "Work notes")
    for form in ("--csv", "--files", "--md", "--xml", "--format=cli"):
        assert "Work notes" in got(form, "--max-bytes", 10)


@pytest.mark.parametrize(
    ("pattern", "code"),
    [
        ("notes/tea.md, work/plan.md", 0),
        ("notes/tea.md, absent.md", 2),
        ("notes/tea.md, absent/*.md", 2),
        ("notes/*.md", 0),
        ("absent.md", 1),
        ("absent.md, absent/*.md", 1),
    ],
)
@pytest.mark.parametrize("largest", [10_240, 1])
def test_multi_get_ends_with_2_if_some_are_missing_and_with_1_if_all_are(
    indexed, pattern, code, largest
):
    assert indexed("multi-get", pattern, "--max-bytes", largest)[0] == code


def test_a_control_character_in_a_name_is_shown_as_get_takes_it(qmd, notes):
    odd, shown = "work/50%20\nof\x1b all\u2028.md", "work/50%2520%0Aof%1B all%E2%80%A8.md"
    (notes / odd).write_text("no heading, but oolong\n")
    (notes / "b\r50%20.md").write_bytes(b"oolong, too\xff\n")
    out = qmd("collection", "add", notes)[1]
    assert "  note notes/b%0D50%2520.md: read as Windows-1252\n" in out
    lines = qmd("ls", "notes")[1].split("\n")
    assert len(lines) == 6
    [name] = [line.split("  ")[-1] for line in lines if "%2520%0A" in line]
    assert name == f"notes/{shown}"

    def found(*form):
        return qmd("search", "heading", *form)[1]

    full = found("--files", "--full-path").split(",")[2]
    assert full == f"{notes}/{shown}"
    for known in (name, shown, full, f"qmd://{name}", f"{shown}:1:1"):
        assert qmd("get", known)[1] == "no heading, but oolong\n"
    assert qmd("get", f"{shown}:9")[2].startswith(f"{name} has 1 line; ")
    assert f"  - {name}\n" in qmd("get", "notes/work/50% of al.md")[2]
    assert qmd("multi-get", shown, "--files")[1].count("\n") == 1
    assert f"\nFile: {name}\n" in qmd("multi-get", shown)[1]
    assert f"qmd get '{name}'" in qmd("multi-get", shown, "--max-bytes", 1, "--format=cli")[1]
    assert f",{name}," in found("--files")
    assert f"**file:** `{name}`" in found("--md")
    assert found().split("\n")[1].startswith("Title: 50%20 of")
    assert json.loads(found("--json"))[0]["file"] == f"notes/{odd}"
    assert f"notes/{odd}" in [each["file"] for each in json.loads(qmd("ls", "notes", "--json")[1])]
    assert json.loads(qmd("get", name, "--json")[1])["file"] == f"notes/{odd}"


def test_a_path_may_say_of_which_index_it_is(indexed, notes, tmp_path, monkeypatch):
    monkeypatch.delenv("INDEX_PATH")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "tea.md").write_text("# Oolong\n\nRolled.\n")
    assert indexed("collection", "add", notes)[0] == 1
    assert indexed("update")[0] == 0
    added = indexed("--index", "work", "collection", "add", tmp_path / "other", "--name", "notes")
    assert added[0] == 0
    for options in ([], ["--index", "work"]):
        assert indexed(*options, "get", "qmd://notes/tea.md?index=work")[1].startswith("# Oolong")
    assert indexed("get", "qmd://notes/tea.md?index=work:3:1")[1] == "Rolled.\n"
    assert "status: open" in indexed("get", "qmd://notes/tea.md?index=index")[1]
    code, _, err = indexed("get", "qmd://notes/tea.md?index=absent")
    assert (code, err.splitlines()[0]) == (1, "There is no index 'absent'. Known: index, work.")
    code, _, err = indexed("--index", "index", "get", "qmd://notes/tea.md?index=work")
    assert (code, "Choose one index: --index says 'index'" in err) == (1, True)
    assert "tea.md" in indexed("ls", "//notes?index=work")[1]
    assert "plan.md" not in indexed("ls", "//notes?index=work")[1]
    code, _, err = indexed("multi-get", "qmd://notes/*.md?index=work")
    assert (code, "is of the index 'work', and this is 'index'" in err) == (1, True)


def test_a_folder_may_be_named_as_a_uri_has_it(indexed, notes, tmp_path):
    (notes / "飲み物 2").mkdir()
    (notes / "飲み物 2" / "sencha.md").write_text("# Sencha\n")
    (notes / "100%25").mkdir()
    (notes / "100%25" / "a.md").write_text("# A\n")
    assert indexed("update")[0] == 0
    [hit] = json.loads(indexed("search", "sencha", "--json")[1])
    folder = hit["uri"].removesuffix("/sencha.md")
    assert "%" in folder
    for name in (folder, "qmd://notes/飲み物 2", folder.replace("qmd:", ""), folder + "/"):
        assert "notes/飲み物 2/sencha.md" in indexed("ls", name)[1]
    assert "# Sencha" in indexed("multi-get", f"{folder}/*.md")[1]
    assert "# Sencha" in indexed("multi-get", "qmd:////notes/**/sencha*")[1]
    assert "notes/100%25/a.md" in indexed("ls", "qmd://notes/100%25")[1]
    assert indexed("context", "add", folder, "What to drink.")[0] == 0
    assert json.loads(indexed("get", hit["uri"], "--json")[1])["context"] == "What to drink."
    assert indexed("context", "rm", folder)[0] == 0
    settings = tmp_path / "config" / "index.yml"
    settings.write_text(settings.read_text() + "    context: {/x%20y: Old.}\n")
    assert indexed("context", "rm", "qmd://notes/x%20y")[0] == 0


def test_a_path_from_the_current_folder_on_is_known(indexed, notes, monkeypatch):
    monkeypatch.chdir(notes.parent)
    assert indexed("collection", "rename", "notes", "mine")[0] == 0
    assert indexed("get", "notes/work/plan.md")[1].startswith("# Plan")
    assert "# Plan" in indexed("multi-get", "notes/work/plan.md,absent.md")[1]


def test_a_name_may_end_in_a_blank(qmd, notes):
    (notes / "odd .md ").write_text("# Odd\n")
    assert qmd("collection", "add", notes, "--mask", "**/*.md*")[0] == 0
    for command in (["get", "notes/odd .md "], ["multi-get", "notes/odd .md "]):
        code, out, _ = qmd(*command)
        assert (code, "# Odd" in out) == (0, True)
    assert qmd("get", " notes/tea.md ")[0] == 0


def test_programs_are_told_which_documents_an_ambiguous_name_means(indexed, notes):
    (notes / "work" / "tea.md").write_text("# Tea at work\n")
    (notes / "home").mkdir()
    (notes / "home" / "plan.md").write_text("# Plan at home\n")
    assert indexed("update")[0] == 0
    code, out, _ = indexed("multi-get", "plan.md,work/tea.md", "--json")
    assert code == 2
    assert json.loads(out)[0]["reason"] == (
        "plan.md names 2 documents: notes/home/plan.md, notes/work/plan.md"
    )
