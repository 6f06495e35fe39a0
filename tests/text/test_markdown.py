"""What a Markdown file says of itself."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qmd.text import markdown

MODIFIED = datetime(2020, 5, 6, 7, 8, 9)
YAML = ["a", "title", "date", ": ", "- ", "? ", "{", "}", "[", "]", ", ", "\n", "\n  ", "'", '"']
YAML += ["20240101123456789012", "\ue000"]
YAML += ["&a ", "*a", "!x ", "|", "# ", "1", ".nan", "2024-01-02", "T10:00:00+14:00", "0001-01-01"]


def title(text, path="notes/plain.md"):
    return markdown.title(text, path, markdown.frontmatter(text))


def metadata(yaml):
    return markdown.frontmatter(f"---\n{yaml}\n---\n").metadata


def strict(made):
    """JSON, read; NaN and infinities are none."""
    return json.loads(made, parse_constant=pytest.fail) if made is not None else None


def dated(yaml="", path="plain.md"):
    text = f"---\n{yaml}\n---\n" if yaml else ""
    return markdown.dated(path, MODIFIED, markdown.frontmatter(text))


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
    assert metadata("title: 1.10") == {"title": 1.1}


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


def test_frontmatter_is_a_block_at_the_start_that_ends():
    block = "---\r\na: 1\r\n---\r"
    assert markdown.frontmatter(f"{block}\nbody") == markdown.Frontmatter({"a": 1}, len(block))
    assert markdown.frontmatter("---\na: 1\n...\nbody").metadata == {"a": 1}
    assert markdown.frontmatter("---\n\n---\n") == markdown.Frontmatter({}, len("---\n\n---"))
    for text in ["", "body", "\n---\na: 1\n---\n", "---\na: 1\n", "----\na: 1\n---\n"]:
        assert markdown.frontmatter(text) == markdown.Frontmatter({}, 0)


@pytest.mark.parametrize("between", ["\n# Tea\n\ntext\n", "# Tea\ntext", "- a\n# Tea\n- b"])
def test_text_between_two_rules_is_no_frontmatter(between):
    text = f"---\n{between}\n---\n# Later"
    assert markdown.frontmatter(text) == markdown.Frontmatter({}, 0)
    assert title(text) == "Tea"


@pytest.mark.parametrize("yaml", ["a: [", "a: b: c", "a: 1\na: 2", "a: &x [*x]"])
def test_broken_yaml_is_a_problem_and_read_as_far_as_it_can_be(yaml):
    matter = markdown.frontmatter(f"---\n{yaml}\n---\n# Tea")
    assert list(matter.metadata) == ["a"]
    assert matter.problem.startswith("frontmatter is not valid YAML: ")
    assert title(f"---\n{yaml}\n---\n# Tea") == "Tea"


@pytest.mark.parametrize(
    ("yaml", "line"),
    [
        ("id: {{date}}", 2),
        ("id: '{{date}}'\ntags: [a,\n  b]\r\ntitle: {{title}}", 5),
        ("a: 1\n? [x]\n: y\nb: 2", 3),
        ("id: 20240101123456789012\n{{date}}: 1", 3),
        ("id: 20240101123456789012\ntitle: {{title}}", 3),
    ],
)
def test_a_template_is_told_in_words_of_yaml_and_with_its_line(yaml, line):
    matter = markdown.frontmatter(f"---\n{yaml}\n---\n# Tea")
    problem = f"a key is a list or a mapping at line {line}; text in braces needs quotes"
    assert "{{date}}" not in matter.metadata
    assert matter.problem == f"frontmatter is not valid YAML: {problem}"


@pytest.mark.parametrize(
    ("yaml", "expected"),
    [
        ("title: Tea: a story\ntags: [a, b]", {"title": "Tea: a story", "tags": ["a", "b"]}),
        ("title: {{title}}\ndate: {{date}}", {"title": "{{title}}", "date": "{{date}}"}),
        ("a: 1\nlist:\n\t- x\n\t- y\nb: 2", {"a": 1, "list": ["x", "y"], "b": 2}),
        ("a: [x\nb: 2", {"a": "[x", "b": 2}),
        ("a: @home\nb: `x`\nc: %d", {"a": "@home", "b": "`x`", "c": "%d"}),
        ("a: 'it's'\nb: 2", {"a": "it's", "b": 2}),
        ("a: 1\na: 2\nb: 3", {"a": 2, "b": 3}),
        ("a: x: y\n  and more\nb: 2", {"a": "x: y and more", "b": 2}),
        ("list:\n- x: [\n- y\nb: 2", {"list": ["x: [", "y"], "b": 2}),
        ("tags: #one #two", {"tags": ["#one", "#two"]}),
        ("tags:\n  - #one\n  - #two/three", {"tags": ["#one", "#two/three"]}),
        ("tags: [1.10, 'a', 007]\na: 1.10", {"tags": ["1.10", "a", "007"], "a": 1.1}),
        ("tags:\n- 2024  # this year\n- yes", {"tags": [2024, "yes"]}),
        ("aliases: 1e3\ntag: no", {"aliases": "1e3", "tag": "no"}),
    ],
)
def test_yaml_is_read_as_people_write_it(yaml, expected):
    assert metadata(yaml) == expected


@pytest.mark.parametrize(
    ("text", "expected", "body"),
    [
        ('+++\ntitle = "Tea"\ntags = ["a"]\n+++\n\nText', {"title": "Tea", "tags": ["a"]}, "Text"),
        ('{\n "title": "Tea",\n "tags": ["a"]\n}\n\nText', {"title": "Tea", "tags": ["a"]}, "Text"),
        ("title:: Tea\ntags:: a, b\n\n- Text", {"title": "Tea", "tags": ["a", "b"]}, "- Text"),
        ("tags:: green tea, [[b c]]\n- Text", {"tags": ["green tea", "[[b c]]"]}, "- Text"),
        ("- title:: Tea\n  icon:: x\n- Text", {"title": "Tea", "icon": "x"}, "- Text"),
        ("---\na: 1\n---\n\n---\nb: 2\na: 3\n---\nText", {"a": 1, "b": 2}, "Text"),
        ("---\na: 1\n---\nb:: 2\nText", {"a": 1, "b": "2"}, "Text"),
        ("+++\na = 1\nb = x\n+++\nText", {"a": 1, "b": "x"}, "Text"),
        ("---\na: 1\n---\n---\nSee: this text\nand that\n---\n", {"a": 1}, "---\nSee: this text"),
        ("{ not json }\nText", {}, "{ not json }"),
        ('{"whole": "file"}\n', {}, '{"whole"'),
        ("std::cout\nText", {}, "std::cout"),
        ("f :: Int -> Int\nText", {}, "f :: Int"),
        ("+++\nno end\n", {}, "+++"),
        ("Title: Tea\nDate: 2024\n\nText", {"title": "Tea", "date": "2024"}, "Text"),
        ("title: Tea\nAuthor: Ann\n  Bo\n\nText", {"title": "Tea", "author": "Ann Bo"}, "Text"),
        ("Title: Tea\nAnd more\n\nText", {}, "Title: Tea"),
        ("Title: Tea\n\nText", {}, "Title: Tea"),
        ("% Tea\n% Ann\n% 2024\n\nText", {"title": "Tea", "author": "Ann", "date": "2024"}, "Text"),
        ("% Tea\n%\n% 2024\n\nText", {"title": "Tea", "date": "2024"}, "Text"),
        ("% Tea\nText", {}, "% Tea"),
        ("%% note %%\n\nText", {}, "%% note"),
    ],
)
def test_front_matter_has_many_forms(text, expected, body):
    for written in (text, text.replace("\n", "\r\n")):
        matter = markdown.frontmatter(written)
        assert matter.metadata == expected
        assert written[matter.text_begins(written) :].replace("\r", "").startswith(body)


def test_front_matter_that_nests_without_end_is_told():
    for text in ("+++\na = " + "[" * 100_000 + "\n+++\n", '{"a": ' + "[" * 100_000 + "\nx"):
        assert isinstance(markdown.frontmatter(text).metadata.get("a", ""), str)


def test_a_frontmatter_with_every_odd_character_is_read_but_for_numbers_that_are_too_long():
    odd = "".join(map(chr, range(0xE000, 0xF900)))
    assert markdown.frontmatter(f"---\na: 1\nb: {odd}\n---\n").metadata == {"a": 1, "b": odd}
    long = "a: 99999999999999999999"
    assert markdown.frontmatter(f"---\n{long}\nb: {odd[1:]}\n---\n").metadata["a"] == int(long[3:])
    problem = markdown.frontmatter(f"---\n{long}\nb: {odd}\n---\n").problem
    assert problem == "frontmatter is not valid YAML: a number is too long"


def test_the_line_of_a_mistake_is_not_looked_for_among_too_many():
    lines = "\n".join(f"a{number}: [1]" for number in range(60))
    problem = markdown.frontmatter(f"---\n{lines}\n{{{{x}}}}: 1\n---\n").problem
    assert problem.endswith(": a key is a list or a mapping; text in braces needs quotes")


def test_a_long_template_is_told_without_a_line():
    yaml = "# comment\n" * 500 + "title: {{title}}"
    problem = markdown.frontmatter(f"---\n{yaml}\n---\n").problem
    assert problem.endswith(": a key is a list or a mapping; text in braces needs quotes")


def test_lines_of_broken_yaml_count_from_the_top_of_the_file():
    problem = markdown.frontmatter("---\ntitle: Tea\ndate: a: b\n---\n").problem
    assert "at line 3 column 8" in problem


@given(st.lists(st.sampled_from(YAML), max_size=12).map("".join))
@example("date: {{ date }}")
@example("? [a]\n: b")
@settings(deadline=None)
def test_any_frontmatter_is_read_or_told_as_a_problem(yaml):
    text = f"---\n{yaml}\n---\n"
    matter = markdown.frontmatter(text)
    assert (strict(markdown.metadata_json(matter.metadata)) is None) == (not matter.metadata)
    markdown.title(text, "a.md", matter)
    markdown.dated("a.md", MODIFIED, matter)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("20240101123456789012", 20240101123456789012),
        ("-9223372036854775809", -9223372036854775809),
        ("+18446744073709551616", 2**64),
        ("0x1FFFFFFFFFFFFFFFFFF", 0x1FFFFFFFFFFFFFFFFFF),
        ("18446744073709551615", 2**64 - 1),
        ("'20240101123456789012'", "20240101123456789012"),
        ("call 20240101123456789012, now", "call 20240101123456789012, now"),
        ("[20240101123456789012, {b: 20240101123456789013}]",
         [20240101123456789012, {"b": 20240101123456789013}]),
    ],
)  # fmt: skip
def test_a_number_of_any_length_is_kept_and_so_is_what_stands_beside_it(value, expected):
    yaml = f"a: {value}\nid: 20240101123456789012\ntags: [x]\nlow: 1.5\nprivate: \ue000"
    matter = markdown.frontmatter(f"---\n{yaml}\n---\n")
    beside = {"id": 20240101123456789012, "tags": ["x"], "low": 1.5, "private": "\ue000"}
    assert matter.problem is None
    assert strict(markdown.metadata_json(matter.metadata)) == {"a": expected, **beside}


def test_broken_yaml_with_a_long_number_is_told_as_it_stands():
    matter = markdown.frontmatter("---\n20240101123456789012: 1\n20240101123456789012: 2\n---\n")
    assert matter.problem.isascii()
    assert "20240101123456789012" in matter.problem


def test_metadata_becomes_json_that_has_no_nan():
    made = markdown.metadata_json(metadata("a: .inf\nb: [.nan, 1.5]\nc: {d: -.inf}\né: 茶"))
    assert "茶" in made
    assert strict(made) == {"a": None, "b": [None, 1.5], "c": {"d": None}, "é": "茶"}


def test_keys_that_are_no_text_become_text():
    assert strict(markdown.metadata_json(metadata("1: a\n2.5: b"))) == {"1": "a", "2.5": "b"}
    nested = {"a": {(1, 2): float("nan"), 3: MODIFIED}}
    expected = {"a": {"(1, 2)": None, "3": "2020-05-06 07:08:09"}}
    assert strict(markdown.metadata_json(nested)) == expected


@pytest.mark.parametrize(
    ("yaml", "expected"),
    [
        ("date: 2024-01-02", datetime(2024, 1, 2)),
        ("date: 20240102", datetime(2024, 1, 2)),
        ("date: 2024-02", datetime(2024, 2, 1)),
        ("date: 2024/01/02 10:30", datetime(2024, 1, 2, 10, 30)),
        ("date: 2024-01-02T10:00:00+02:00", datetime(2024, 1, 2, 8)),
        ("updated: 2025-01-02\ncreated: 2024-01-02", datetime(2024, 1, 2)),
        ("date: soon\nmodified: 2024-01-02", datetime(2024, 1, 2)),
        ("date: May 17, 2024", datetime(2024, 5, 17)),
        ("Date: Friday, 17th of May 2024", datetime(2024, 5, 17)),
        ("date: Fri, 17 May 2024 10:30:00 +0200", datetime(2024, 5, 17, 8, 30)),
        ("date: 17-May-2024", datetime(2024, 5, 17)),
        ("date: 17.5.2024", datetime(2024, 5, 17)),
        ("date: 5/17/2024", datetime(2024, 5, 17)),
        ("date: 17/05/2024 9:05 pm", datetime(2024, 5, 17, 21, 5)),
        ("date: 2024-5-7", datetime(2024, 5, 7)),
        ("date: 2024年5月17日", datetime(2024, 5, 17)),
        ("date: '[[2024-05-17]]'", datetime(2024, 5, 17)),
        ("date: '[[May 17th, 2024]]'", datetime(2024, 5, 17)),
        ("created: 1596374871110", datetime(2020, 8, 2, 13, 27, 51, 110000)),
        ("created: '1596374871'", datetime(2020, 8, 2, 13, 27, 51)),
        ("date: 202405171030", datetime(2024, 5, 17, 10, 30)),
        ("date: 20240517103059", datetime(2024, 5, 17, 10, 30, 59)),
        ("date: <2024-05-17 Fri 10:30>", datetime(2024, 5, 17, 10, 30)),
        ("date: 2024-05-17 10:30:00 UTC", datetime(2024, 5, 17, 10, 30)),
        ("date: Sept. 2024", datetime(2024, 9, 1)),
        ("date: 2024", datetime(2024, 1, 1)),
        ("date: [soon, 2024-01-02]", datetime(2024, 1, 2)),
        ("date_created: 2024-01-02", datetime(2024, 1, 2)),
        ("lastmod: 2024-01-02", datetime(2024, 1, 2)),
        ("date: {created: 2024-01-02, updated: 2025-01-02}", datetime(2024, 1, 2)),
        ("date: May 17, 2024 → May 19, 2024", datetime(2024, 5, 17)),
        ("date: Fri May 17 10:30:00 2024 +0200", datetime(2024, 5, 17, 8, 30)),
        ("date: Fri May 17 10:30:00 UTC 2024", datetime(2024, 5, 17, 10, 30)),
        ("date: 2024년 5월 17일", datetime(2024, 5, 17)),
        ("date: 17. Mai 2024 um 10:30 Uhr", datetime(2024, 5, 17, 10, 30)),
        ("date: Di., 5. März 2024", datetime(2024, 3, 5)),
        ("date: mardi 5 mars 2024", datetime(2024, 3, 5)),
        ("date: mar 5 marzo 2024", datetime(2024, 3, 5)),
        ("date: 1er août 2024", datetime(2024, 8, 1)),
        ("date: Segunda-feira, 17 de junho de 2024", datetime(2024, 6, 17)),
        ("date: 17 мая 2024 г.", datetime(2024, 5, 17)),
        ("date: styczeń 2024", datetime(2024, 1, 1)),
    ],
)
def test_a_document_is_from_the_date_in_its_frontmatter(yaml, expected):
    assert dated(yaml, "2020-01-01.md") == expected


@pytest.mark.parametrize(
    "date",
    [
        "2024-99-99",
        "20249999",
        "9701012312345",
        "2024-13",
        "1",
        "true",
        "[soon]",
        "03/04/2024",
        "31.02.2024",
        "May 2024 was warm",
        "un mai 2024 chaud",
        "mai",
        "5 mars 2024 mars 2025",
        "{{date}}",
        "202413171030",
        "1999999999",
        "0001-01-01T00:00:00+14:00",
    ],
)
def test_a_date_in_the_frontmatter_that_is_none_does_not_count(date):
    assert dated(f"date: {date}") == MODIFIED
    matter = markdown.frontmatter(f"---\ndate: {date}\n---\n")
    told = markdown.undated(matter)
    assert (told is None) == (date == "true")  # `published: true` is no mistake
    assert told is None or told.endswith("' is not a date; write it as 2024-05-17")


def test_a_moment_with_a_zone_is_told_in_utc():
    moment = datetime(2024, 1, 2, 1, tzinfo=timezone(timedelta(hours=3)))
    assert markdown.parsed_date(moment) == datetime(2024, 1, 1, 22)


@pytest.mark.parametrize(
    "name", ["2024-01-02 a.md", "log/a_20240102.md", "2024-13-45 2024.01.02", "202401021030 a.md"]
)
def test_without_frontmatter_a_document_is_from_the_date_in_its_name(name):
    assert dated(path=name) == datetime(2024, 1, 2)


@pytest.mark.parametrize("name", ["2024-01-02/a.md", "120240102.md", "2024-01-021.md", "a.md"])
def test_without_a_date_a_document_is_from_its_last_change(name):
    assert dated(path=name) == MODIFIED


@pytest.mark.parametrize("yaml", ["a: " + "[" * 2001, "- " * 999, "? " * 999])
def test_nesting_without_end_is_not_read_but_told_of(yaml):
    text = f"---\n{yaml}\n---\n# Tea\n"
    matter = markdown.frontmatter(text)
    assert matter.metadata == {}
    assert matter.problem.startswith(
        "frontmatter nests lists and mappings in more than 128 levels: write it flatter"
    )
    assert markdown.title(text, "a.md", matter) == "Tea"


def test_two_thousand_lists_are_read():
    text = "---\na: [" + "[1]," * 1999 + "]\n---\n"
    assert markdown.frontmatter(text).metadata == {"a": [[1]] * 1999}
