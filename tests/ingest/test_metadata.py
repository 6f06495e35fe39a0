"""Metadata as people write it: found by its values, in filters, in views; told if unreadable."""

from __future__ import annotations

import os

import pytest

from qmd.ingest.verify import FACTS, prove
from qmd.operations.browse import facet_counts
from qmd.operations.doctor import doctor
from qmd.text import labels

NOTE = """---
title: Sencha
tags: [green, "#hot/drink"]
aliases: [Japanese leaf]
cssclass: wide
status: open
---

# Another heading

Steamed leaves. #inline

More lines.
"""


def results(library, query, **options):
    """Results of a search."""
    from qmd.operations.search import search

    return list(search(library.engine, query, limit=10, **options))


@pytest.fixture
def shelf(library):
    """A note with front matter, and one without."""
    library.write("sencha.md", NOTE)
    library.write("plain.md", "# Plain\n\nNothing but leaves.\n")
    library.update()
    return library


@pytest.mark.parametrize("query", ["sencha", "green", "drink", "japanese", '"japanese leaf"'])
def test_title_tags_and_aliases_are_searched(shelf, query):
    assert shelf.found(query)[0] == "sencha.md"


@pytest.mark.parametrize("query", ["aliases", "cssclass", "tags", "wide", "title"])
def test_keys_and_other_values_of_front_matter_are_no_text(shelf, query):
    assert shelf.found(query) == []


@pytest.mark.parametrize("query", ["japanese", "sencha", "green", "leaves", "open"])
def test_no_hit_points_into_front_matter_and_no_snippet_shows_it(shelf, query):
    found = next(each for each in results(shelf, query) if each.file == "notes/sencha.md")
    assert found.line >= 9
    assert "aliases" not in found.snippet
    assert "---" not in found.snippet


def test_passages_begin_behind_front_matter(shelf):
    shelf.embed()
    rows = shelf.ask(
        "select c.position, c.line, substring(t.body, c.position + 1, c.length) from chunks c "
        "join content t using (hash) where t.body like '---%'"
    )
    assert rows == [(NOTE.index("# Another"), 9, NOTE[NOTE.index("# Another") :])]


def test_long_front_matter_leaves_its_names_to_the_model(library, monkeypatch):
    from qmd.embedding import passages

    library.write("a.md", NOTE.replace("cssclass: wide", f"other: {'word ' * 400}"))
    library.update()
    prompts = []
    monkeypatch.setattr(
        passages.Passages,
        "_prompt",
        lambda self, text, passage: prompts.append(passage) or passage,
    )
    library.embed()
    assert prompts[-1].startswith("Sencha\nJapanese leaf, green, hot/drink, inline\n# Another")


def take_all(library):
    """Index files of all kinds."""
    settings = library.folder / "index.yml"
    settings.write_text(f"{settings.read_text()}    pattern: all\n")


def test_tags_are_one_set_in_the_view_and_in_filters(library):
    take_all(library)
    for name, tags in {
        "text.md": "tags: a, b",
        "list.md": "tags: ['#a', b]",
        "one.md": "tag: a b",
        "comment.md": "tags: #a #b",
    }.items():
        library.write(name, f"---\n{tags}\n---\nText\n")
    library.write("inline.md", "Text #a and #b\n")
    library.write("properties.md", "tags:: [[a]], #b\n\n- Text\n")
    library.write("toml.md", '+++\ntags = ["a", "b"]\n+++\nText\n')
    library.write("json.md", '{"tags": ["a", "b"]}\n\nText\n')
    library.write("page.org", "#+filetags: :a:b:\n\nText\n")
    library.write("other.md", "---\ntags: c\n---\nText\n")
    library.update()
    every = {"text", "list", "one", "comment", "inline", "properties", "toml", "json", "page"}
    found = library.ask(
        "select path, list_sort(tags) from documents where len(tags) > 1 order by path"
    )
    assert {path.partition(".")[0] for path, tags in found if tags == ["a", "b"]} == every
    for test in ("tags = a", "tag = b", "tags = a and tags = b", "tags != c"):
        chosen = library.found("text", filter=test)
        assert {path.partition(".")[0] for path in chosen} == every, test
    tagged = library.ask(
        "with told as (select path, unnest(tags) as tag from documents) "
        "select path from told where tag = 'a'"
    )
    assert {path.partition(".")[0] for (path,) in tagged} == every


@pytest.mark.parametrize("tag", ["हिन्दी", "தமிழ்", "ёлка", "عربى/مَدرسة", "ไทย", "caf\u0065\u0301"])
def test_tags_keep_the_marks_of_their_letters(library, tag):
    library.write("tea.md", f"# Tea\n\nHere #{tag}, (and) more")
    library.update()
    assert library.ask("select outline.texts from content") == [(["Tea", tag],)]
    assert library.found(f"tag:{tag}") == ["tea.md"]


def test_tags_are_told_without_case_and_with_their_blanks(library):
    library.write("upper.md", "---\ntags: Tea\n---\nText\n")
    library.write("lower.md", "Text #tea and #[[green  tea]]\n\n`#[[no]]` x#[[no]]\n")
    library.update()
    for test in ("tags = tea", "tags = TEA", "tags ~ EA"):
        assert sorted(library.found("text", filter=test)) == ["lower.md", "upper.md"], test
    assert library.found("text", filter="tags = 'green tea'") == ["lower.md"]
    counted = facet_counts(library.engine, "").of["tag"]
    assert counted == [("tea", 2), ("green tea", 1)]
    found = library.ask("select tags from documents where path = 'lower.md'")
    assert found == [(["tea", "green tea"],)]


def test_a_number_is_a_tag_as_it_is_written(library):
    library.write("a.md", "---\ntags: [1.10, 2024]\n---\nText\n")
    library.update()
    assert library.found("text", filter="tags = '1.10'") == ["a.md"]
    assert library.ask("select tags from documents") == [(["1.10", "2024"],)]


def test_tags_of_metadata_are_told_apart():
    assert labels.tags({"tags": "a, #b c"}) == ["a", "b", "c"]
    assert labels.tags({"tags": ["machine learning", "#x #y", "a,b", 2024, None, True]}) == [
        "machine learning",
        "x",
        "y",
        "a",
        "b",
        "2024",
    ]
    assert labels.tags({"tags": {"no": "list"}, "tag": "a/"}) == ["a"]
    assert labels.aliases({"aliases": ["[[x| Chai ]]", "[[ ]]"]}) == ["Chai"]
    assert labels.aliases({"aliases": "One thing, other", "alias": ["Third", {}]}) == [
        "One thing",
        "other",
        "Third",
    ]


def test_what_cannot_be_read_is_told_by_update_and_doctor(library):
    library.write("a.md", "---\ntitle: Tea: green\ndate: {{date}}\n---\nText\n")
    library.write("b.md", "---\ndate: soon\n---\nText\n")
    report = library.update()
    told = dict(report.notes)
    assert "not valid YAML" in told["a.md"]
    assert told["b.md"] == "date 'soon' is not a date; write it as 2024-05-17"
    assert library.ask("select title from documents where path = 'a.md'") == [("Tea: green",)]
    findings = [each for each in doctor(library.engine) if each.check == "files"]
    assert [each.status for each in findings] == ["warning", "warning"]
    assert findings[1].detail == f"notes/b.md: {told['b.md']}"


def test_doctor_names_some_of_many_files(library):
    for number in range(25):
        library.write(f"{number}.md", "---\ndate: soon\n---\nText\n")
    library.update()
    findings = [each.detail for each in doctor(library.engine) if each.check == "files"]
    assert len(findings) == 21
    assert findings[-1] == "and 5 files more with remarks"


def test_the_same_size_and_time_with_another_content_is_seen(library):
    file = library.root / "a.md"
    library.write("a.md", "# Tea\n\ngreen\n")
    os.utime(file, ns=(10**18, 10**18))
    library.update()
    library.write("a.md", "# Tea\n\nblack\n")
    os.utime(file, ns=(10**18, 10**18))
    assert library.update().updated == 1
    assert library.found("black") == ["a.md"]


def test_an_index_with_all_forms_says_what_its_texts_say(library):
    take_all(library)
    library.write("sencha.md", NOTE)
    library.write("toml.md", '+++\ntitle = "Tea"\ntags = ["a"]\n+++\nText\n')
    library.write("properties.md", "title:: Tea\ntags:: a\n\n- Text [[Sencha]]\n")
    library.write("page.org", "#+title: Org\n#+filetags: :a:\n\n[[file:sencha.md][Tea]]\n")
    library.write("page.html", "<title>Page</title><h1>Head</h1><a href='sencha.md'>x</a>")
    library.write("data.csv", "name,tag\ntea,#hot\n")
    library.update()
    assert prove(library.engine.database) == dict.fromkeys(FACTS, 0)
