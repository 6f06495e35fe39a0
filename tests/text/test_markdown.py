"""What a Markdown file says of itself."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qmd.text import markdown

MODIFIED = datetime(2020, 5, 6, 7, 8, 9)


def title(text, path="notes/plain.md"):
    return markdown.title(text, path, markdown.frontmatter(text))


def metadata(yaml):
    return markdown.frontmatter(f"---\n{yaml}\n---\n").metadata


def dated(yaml="", path="plain.md"):
    text = f"---\n{yaml}\n---\n" if yaml else ""
    return markdown.dated(path, MODIFIED, markdown.frontmatter(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Tea #", "Tea"),
        ("## Tea ## pot ###  ", "Tea ## pot"),
        ("# C#", "C#"),
        ("#\tTea\r\n", "Tea"),
        ("   ###### Tea   time", "Tea time"),
        ("text\n\n# Later", "Later"),
        ("#\n# Not the empty one", "Not the empty one"),
        ("#tag is no heading\n# Tea", "Tea"),
        ("####### seven\n# Tea", "Tea"),
        ("    # indented code\n# Tea", "Tea"),
        ("- # in a list\n# Tea", "Tea"),
        ("no heading", "plain"),
    ],
)
def test_the_title_is_the_first_atx_heading(text, expected):
    assert title(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tea\n===\n# Later", "Tea"),
        ("Tea\r\n---\r\n", "Tea"),
        ("**Tea** time\n============", "**Tea** time"),
        ("1.0.0 and later\n---------------", "1.0.0 and later"),
        ("text\n\n---\n\n# Tea", "Tea"),
        ("- item\n---\n# Tea", "Tea"),
        ("1. item\n---\n# Tea", "Tea"),
        ("> quote\n---\n# Tea", "Tea"),
        ("| a | b |\n---\n# Tea", "Tea"),
        ("***\n---\n# Tea", "Tea"),
        ("text\n--- no underline\n# Tea", "Tea"),
    ],
)
def test_a_setext_heading_is_a_heading(text, expected):
    assert title(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```\n# code\n```\n# Tea", "Tea"),
        ("~~~ python\n# code\n~~~\n# Tea", "Tea"),
        ("````\n```\n# code\n````\n# Tea", "Tea"),
        ("~~~\n```\n~~~\n# Tea", "Tea"),
        ("  ```\n# code\n  ```\n# Tea", "Tea"),
        ("```\nTea\n===\n```\n# Pot", "Pot"),
        ("```\n# an open fence runs to the end", "plain"),
        ("```\n```python\n# only a bare fence closes\n```\n# Tea", "Tea"),
        ("```code``` in a line opens nothing\n\n# Tea", "Tea"),
    ],
)
def test_a_heading_in_a_code_fence_is_none(text, expected):
    assert title(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Notes\n\n## Tea", "Tea"),
        ("# 📝 notes\n\n## Tea", "Tea"),
        ("Notes\n===\n\n## Tea", "Tea"),
        ("# Notes\n", "Notes"),
        ("# Notes on tea\n## Pot", "Notes on tea"),
    ],
)
def test_a_heading_that_is_only_notes_yields_to_the_next(text, expected):
    assert title(text) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Tea: the drink", "plain"),
        ("'  Tea   time '", "Tea time"),
        ("2024-01-02", "2024-01-02"),
        ("42", "42"),
        ("[a, b]", "Heading"),
        ("''", "Heading"),
        ("null", "Heading"),
    ],
)
def test_the_title_in_the_frontmatter_comes_first(value, expected):
    heading = "" if expected == "plain" else "# Heading\n"
    assert title(f"---\ntitle: {value}\n---\n{heading}") == expected


def test_a_comment_in_the_frontmatter_is_no_heading():
    assert title("---\n# comment\na: 1\n---\n# Tea") == "Tea"


def test_an_org_file_has_its_title_line():
    assert title("* Heading\n#+title:  Tea time \n", "a.org") == "Tea time"
    assert title("#+TITLE:\n#+TITLE: Tea\r\nx", "a.org") == "Tea"
    assert title("* Heading", "a.org") == "a"


@pytest.mark.parametrize(
    ("path", "expected"),
    [("dir/tea.tar.gz", "tea.tar"), ("tea", "tea"), ("a b/茶.md", "茶"), ("dir/.md", ".md")],
)
def test_without_a_heading_the_title_is_the_name_without_its_last_extension(path, expected):
    assert title("", path) == expected


def test_a_hash_in_a_file_that_is_no_markdown_is_no_heading():
    assert title("# comment", "tool.py") == "tool"


def test_frontmatter_is_a_block_at_the_start_that_ends():
    matter = markdown.frontmatter("---\r\na: 1\r\n---\r\nbody")
    assert (matter.metadata, matter.end, matter.problem) == ({"a": 1}, len("---\r\na: 1\r\n---\r"), None)
    assert markdown.frontmatter("---\na: 1\n...\nbody").metadata == {"a": 1}
    for text in ["", "body", "\n---\na: 1\n---\n", "---\na: 1\n", "----\na: 1\n---\n"]:
        assert markdown.frontmatter(text) == markdown.Frontmatter({}, 0)


@pytest.mark.parametrize("yaml", ["a: [", "a: b: c", "a: 1\na: 2", "a: &x [*x]", "a: " + "[" * 999])
def test_broken_yaml_is_no_metadata_and_a_problem(yaml):
    matter = markdown.frontmatter(f"---\n{yaml}\n---\n# Tea")
    assert matter.metadata == {}
    assert matter.problem.startswith("frontmatter is not valid YAML: ")
    assert title(f"---\n{yaml}\n---\n# Tea") == "Tea"


@pytest.mark.parametrize("yaml", ["title: {{ title }}", "? [a, b]\n: c"])
def test_a_key_that_is_a_list_or_a_mapping_is_a_problem_and_no_crash(yaml):
    assert markdown.frontmatter(f"---\n{yaml}\n---\n").problem is not None


@given(st.text("ab12:-[]{}?!&*#|>'\"%@, \n\t.~", max_size=40))
@example("a: {b: {c: d}: e}")
@settings(deadline=None)
def test_any_frontmatter_is_read_or_told_as_a_problem(yaml):
    text = f"---\n{yaml}\n---\n"
    matter = markdown.frontmatter(text)
    json.loads(markdown.metadata_json(matter.metadata) or "{}")
    markdown.title(text, "a.md", matter)


def test_metadata_that_is_no_mapping_is_none():
    assert markdown.frontmatter("---\n- a\n---\n") == markdown.Frontmatter({}, len("---\n- a\n---"))
    assert markdown.metadata_json({}) is None


def test_metadata_becomes_json_that_has_no_nan():
    made = markdown.metadata_json(metadata("a: .inf\nb: [.nan, 1.5]\nc: {d: -.inf}\né: 茶"))
    assert "茶" in made
    assert json.loads(made) == {"a": None, "b": [None, 1.5], "c": {"d": None}, "é": "茶"}


def test_keys_that_are_no_text_become_text():
    assert json.loads(markdown.metadata_json(metadata("1: a\n2.5: b"))) == {"1": "a", "2.5": "b"}
    nested = {"a": {(1, 2): float("nan"), 3: datetime(2024, 1, 2)}}
    assert json.loads(markdown.metadata_json(nested)) == {
        "a": {"(1, 2)": None, "3": "2024-01-02 00:00:00"}
    }


@pytest.mark.parametrize(
    ("yaml", "expected"),
    [
        ("date: 2024-01-02", datetime(2024, 1, 2)),
        ("date: 2024/01/02 10:30", datetime(2024, 1, 2, 10, 30)),
        ("date: 2024-01-02T10:00:00+02:00", datetime(2024, 1, 2, 8)),
        ("created: 2024-01-02\nupdated: 2025-01-02", datetime(2024, 1, 2)),
        ("date: soon\nmodified: 2024-01-02", datetime(2024, 1, 2)),
        ("date: 2024-99-99", MODIFIED),
        ("date: 0001-01-01T00:00:00+14:00", MODIFIED),
        ("date: [2024-01-02]", MODIFIED),
    ],
)
def test_a_document_is_from_the_date_in_its_frontmatter(yaml, expected):
    assert dated(yaml) == expected


def test_a_moment_with_a_zone_is_told_in_utc():
    moment = datetime(2024, 1, 2, 1, tzinfo=timezone(timedelta(hours=3)))
    assert markdown.parsed_date(moment) == datetime(2024, 1, 1, 22)
    assert markdown.parsed_date(moment.date()) == datetime(2024, 1, 2)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("2024-01-02 tea.md", datetime(2024, 1, 2)),
        ("log/tea_20240102.md", datetime(2024, 1, 2)),
        ("2024.01.02.md", datetime(2024, 1, 2)),
        ("2024-13-45 2024-01-02.md", datetime(2024, 1, 2)),
        ("2024-01-02/tea.md", MODIFIED),
        ("120240102.md", MODIFIED),
        ("tea.md", MODIFIED),
    ],
)
def test_without_frontmatter_a_document_is_from_the_date_in_its_name(path, expected):
    assert dated(path=path) == expected
    assert dated("date: 2019-01-01", path) == datetime(2019, 1, 1)
