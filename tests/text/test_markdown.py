"""Front matter of Markdown files."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qmd.text import markdown
from tests.text.test_document_dates import MODIFIED
from tests.text.test_titles import title

YAML = ["a", "title", "date", ": ", "- ", "? ", "{", "}", "[", "]", ", ", "\n", "\n  ", "'", '"']
YAML += ["20240101123456789012", "\ue000"]
YAML += ["&a ", "*a", "!x ", "|", "# ", "1", ".nan", "2024-01-02", "T10:00:00+14:00", "0001-01-01"]


def metadata(yaml):
    return markdown.frontmatter(f"---\n{yaml}\n---\n").metadata


def strict(made):
    """JSON, read; NaN and infinities are none."""
    return json.loads(made, parse_constant=pytest.fail) if made is not None else None


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
