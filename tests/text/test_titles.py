"""Titles of documents: headings, front matter, names of files."""

from __future__ import annotations

from datetime import datetime

import pytest

from qmd.text import markdown
from tests.text.test_document_dates import MODIFIED


def title(text, path="notes/plain.md"):
    return markdown.title(text, path, markdown.frontmatter(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Tea #", "Tea"),
        ("# Tea ## pot ###  ", "Tea ## pot"),
        ("# C#", "C#"),
        ("#\tTea\r\n", "Tea"),
        ("   # Tea   time", "Tea time"),
        ("## Not the title\n\n# Tea", "Tea"),
        ("intro\n\n## Settings\n### More", "plain"),
        ("text\n\n# Later", "Later"),
        ("#\n# Not the empty one", "Not the empty one"),
        ("#tag is no heading\n# Tea", "Tea"),
        ("####### seven\n# Tea", "Tea"),
        ("    # indented code\n# Tea", "Tea"),
        ("- # in a list\n# Tea", "Tea"),
        ("---\n# comment\na: 1\n---\n# Tea", "Tea"),
        ("no heading", "plain"),
    ],
)
def test_the_title_is_the_first_atx_heading_of_level_1(text, expected):
    assert title(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tea\n===\n# Later", "Tea"),
        ("Tea\r\n===\r\n", "Tea"),
        ("Not the title\n---\n", "plain"),
        ("**Tea** time\n============", "Tea time"),
        ("1.0.0 and later\n===============", "1.0.0 and later"),
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
    ("text", "path", "expected"),
    [
        (f"# a{' ' * 200_000}x", "a.md", "a x"),
        (f"# a{' #' * 100_000}x", "a.md", f"a{' #' * 100_000}x"),
        (f"#{' ' * 200_000}\rx", "a.md", "a"),
        (f"{'`' * 200_000} `\n# Tea", "a.md", "Tea"),
        (f"{'- ' * 100_000}x\n{'-' * 200_000}x", "a.md", "a"),
        (f"a\n={' ' * 200_000}x", "a.md", "a"),
        (f"#+title: a{' ' * 200_000}x", "a.org", f"a{' ' * 200_000}x"),
        (f"#+title: a{' ' * 200_000}", "a.org", "a"),
    ],
    ids=range(8),
)
def test_a_long_line_takes_time_in_proportion(text, path, expected):
    # A minute or more if it takes time in proportion to the square.
    assert title(text, path) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<!-- # no -->\n# Tea", "Tea"),
        ("<!--\n# no\n-->\n\nTea\n===", "Tea"),
        ("%%\n# no\n%%\n# Tea", "Tea"),
        ("`<!--` is code\n\n# Tea\n\n-->", "Tea"),
        ("# ![logo](a.png)\n\n# Tea", "Tea"),
        ("# [![build](b.svg)](https://example.org) \n# Tea", "Tea"),
        ("# <!-- nothing -->\n# Tea", "Tea"),
        ('<h1 align="center">\n  <img src="a.png">\n  Tea &amp; <b>pots</b>\n</h1>', "Tea & pots"),
        ("```\n<h1>no</h1>\n```\n<H1>Tea</H1>", "Tea"),
        ("`<h1>no</h1>` is code\n", "plain"),
        ("<h1>no end\n", "plain"),
        ("# The `qmd_tool` and *its* __many__ ~~uses~~", "The qmd_tool and its many uses"),
        ("# [Tea](a(b).md) and [[pots|Pots]], [[Cups]] [x][y]", "Tea and Pots, Cups x"),
        ("# snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"),
        ("# List<int> \\*Tea\\* [^1] {#anchor}", "List<int> *Tea*"),
        ("# Tea in MDX {/*anchor*/}", "Tea in MDX"),
        ("# Tea in MkDocs { #anchor }", "Tea in MkDocs"),
        ("# Notes\n\n# Tea", "Notes"),
        ("# 茶 ```x```\n", "茶 x"),
    ],
)
def test_a_heading_has_text_without_markup_and_is_no_comment(text, expected):
    assert title(text) == expected


def test_a_text_full_of_hidden_headings_takes_time_in_proportion():
    code = "```\n" + "# é\n" * 100_000 + "```\n"
    assert title(code + "# Tea\n") == "Tea"
    assert title("# \n" * 100_000 + "`x`\n# Tea\n") == "Tea"
    assert title("<h1>" * 50_000 + "\n# Tea\n") == "Tea"
    assert title("<!--" * 100_000 + "\n# Tea\n") == "Tea"
    assert title("`a`` " * 50_000 + "\n# Tea\n") == "Tea"
    assert title("%% " * 100_001 + "\n# Tea\n") in ("Tea", "plain")


@pytest.mark.parametrize("written", ["{{title}}", "'{{ title }}'", "<% tp.file.title %>"])
def test_a_placeholder_of_a_template_is_no_title(written):
    assert title(f"---\ntitle: {written}\n---\n# Tea\n") == "Tea"


@pytest.mark.parametrize(
    ("value", "expected"),
    [("' Tea  pot '", "Tea pot"), ("42", "42"), ("2024-01-02", "2024-01-02"), ("''", "Heading")],
)
def test_the_title_in_the_frontmatter_comes_first(value, expected):
    assert title(f"---\ntitle: {value}\n---\n# Heading\n") == expected


@pytest.mark.parametrize(
    "value",
    [
        "1.10",
        "1e3",
        "0x1F",
        "0o17",
        "false",
        "True",
        "+5",
        ".inf",
        ".NaN",
        "-1.50",
        "0x1" + "F" * 20,
    ],
)
def test_a_title_that_yaml_takes_for_a_number_is_what_stands_in_the_file(value):
    for yaml in [
        f"title: {value}",
        f"'title' : {value}  # of a version\ntags: [a]",
        f"{{title: {value}, tags: [a]}}",
        f"a:\n  title: {value}0\n  b: {{title: 7}}\ntitle:\n  &x {value}\nb: *x",
    ]:
        assert title(f"---\n{yaml}\n---\n# Heading\n") == value
        assert title(f"---\n{yaml}\n---\n# Heading\n".replace("\n", "\r\n")) == value


def test_a_title_that_stands_elsewhere_is_told_as_yaml_would():
    assert title("---\na: &x false\ntitle: *x\n---\n") == "false"
    assert markdown.frontmatter("---\ntitle: 1.10\n---\n").metadata == {"title": 1.1}


def test_an_org_file_has_its_title_line():
    assert title("* Heading\n#+title:  Tea time \n", "a.org") == "Tea time"
    assert title("#+TITLE:\n#+TITLE: Tea\r\nx", "a.org") == "Tea"
    assert title("* Heading", "a.org") == "a"


@pytest.mark.parametrize(
    ("path", "expected"),
    [("dir/tea.tar.gz", "tea.tar"), ("tea", "tea"), ("a b/茶.md", "茶"), ("tool.py", "tool")],
)
def test_without_a_heading_the_title_is_the_name_without_its_last_extension(path, expected):
    assert title("#comment" if path.endswith(".md") else "# comment", path) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("pages/Tea___Green___Sencha.md", "Tea/Green/Sencha"),
        ("pages/Tea%2FGreen%3A a.org", "Tea/Green: a"),
        ("journals/2024_05_01.md", "May 1st, 2024"),
        ("a/journals/2024_12_12.org", "Dec 12th, 2024"),
        ("journals/2024_05_23.md", "May 23rd, 2024"),
        ("journals/2024_13_01.md", "2024_13_01"),
        ("notes/2024_05_17.md", "2024_05_17"),
        ("a___.md", "a___"),
        ("100%41.md", "100%41"),
        ("a___b.py", "a___b"),
    ],
)
def test_names_of_logseq_files_are_those_of_their_pages(path, expected):
    assert title("text", path) == expected


def test_the_names_that_notion_gives_to_files_are_without_its_ids():
    page = "Tea 0123456789abcdef0123456789abcdef"
    assert title("text", f"a/{page}.md") == "Tea"
    assert title("a,b", f"{page}_all.csv") == "Tea"
    assert title("text", f"{page[4:]}.md") == page[4:]


def test_metadata_that_notion_exports_stands_below_the_heading():
    name = "Tea 0123456789abcdef0123456789abcdef.md"
    text = "# Tea\n\nCreated: May 17, 2024 10:30 AM\nTags: green, hot\n\nText\n"
    matter = markdown.of_document(text, name)
    assert matter.metadata == {"Created": "May 17, 2024 10:30 AM", "Tags": "green, hot"}
    assert matter.end == 0
    assert markdown.dated(name, MODIFIED, matter) == datetime(2024, 5, 17, 10, 30)
    assert markdown.of_document(text, "tea.md") == markdown.NONE
    assert markdown.of_document("# Tea\n\nNote: this\nis text\n", name).metadata == {}


def test_headings_of_a_drawing_are_no_title():
    assert title("---\nexcalidraw-plugin: parsed\n---\n# Text Elements\n") == "plain"
