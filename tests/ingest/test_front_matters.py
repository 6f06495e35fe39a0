"""Plain front matter is read alike by the compiled rules and by a reader of YAML."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qmd.ingest import front_matters
from qmd.ingest.front_matters import front_matter_of
from qmd.text import markdown

pytestmark = pytest.mark.skipif(front_matters._compiled is None, reason="nothing was compiled")

KEYS = st.sampled_from(
    [
        "title",
        "tags",
        "Tag",
        "alias",
        "ms.date",
        "a-b_1",
        "_x",
        "true",
        "Null",
        "no",
        "1a",
        "é",
        "k y",
        "<<",
    ]
)
SCALARS = st.sampled_from(
    [
        *"tea 12 0 012 -1 1e5 1e-5 0x1f 2024-05-17 11/04/2016 5e07-1 1_000 12:30".split(),
        *"999999999999999 9999999999999999 true False nULL ~ nan .inf yes C++ a#b".split(),
        *"@x &x *x !x %x |x >x - -- --- … {} [a] 5c075f37-c837-464d-90c1-d028a9d1c175".split(),
        *["a b", "a  ", " a", "a: b", "a #b", "a, b", "What?", "it's", 'a "b" c', "é\u00a0"],
        *['"a"', '""', '"a: b"', '"a\\n"', '"é\u2029"', '"\t"', '"&a" ', '"&a *b"', '"*a"'],
        *["'a'", "'it''s'", "'\\'", "'", '"', "\U0001f375", "\ufeffa", '"\x7f"', '"---"', '"a" x'],
        "\u2028",
    ]
)
LISTS = st.lists(SCALARS, max_size=4).flatmap(
    lambda items: st.sampled_from([", ", ",", " ,", ",\n  "]).map(
        lambda between: f"[{between.join(items)}]"
    )
)
ITEMS = st.builds(
    lambda items, indent: "".join(f"\n{' ' * indent}- {item}" for item in items),
    st.lists(SCALARS, min_size=1, max_size=3),
    st.sampled_from([0, 0, 2, 4]),
)
ENTRIES = st.builds(
    lambda key, colon, value: f"{key}{colon}{value}",
    KEYS,
    st.sampled_from([": ", ": ", ": ", ":", ":  ", " : "]),
    SCALARS | SCALARS | LISTS | ITEMS | st.just(""),
)
LINES = st.lists(
    st.one_of(ENTRIES, ENTRIES, ENTRIES, ENTRIES, st.sampled_from(["", "# a", "  b", "- c"])),
    min_size=1,
    max_size=5,
).map("\n".join)
ENDS = st.sampled_from(
    ["\n---\n", "\n---\n", "\n---", "\n--- \n", "\n...\n", "\r\n---\n", "", "\n---x\n---\n"]
)
AFTER = st.sampled_from(
    ["", "# Tea\n", "\n\n- x", "\n---\nb: c\n---\n", "\n+++\nb=1\n+++\n", "x:: y"]
)


@settings(max_examples=3000)
@given(st.builds(lambda a, b, c: f"---\n{a}{b}{c}", LINES, ENDS, AFTER))
@example("---\ntitle: Tea\ntags:\n  - a\n  - b\nweight: 3\n---\n# Tea\n")
@example("---\ntags:\n---\n")
@example('---\na: ["&x", "*x"]\n---\n')
def test_compiled_and_plain_rules_read_the_same(text):
    found = front_matter_of(text, "tea.md")
    expected = markdown.of_document(text, "tea.md")
    assert found == expected
    assert repr(found) == repr(expected)  # 1 is no True


@pytest.mark.parametrize(
    ("block", "metadata"),
    [
        ('title: "Tea: green"', {"title": "Tea: green"}),
        ("tags: [a, 'b c', \"d\"]", {"tags": ["a", "b c", "d"]}),
        ("tags:\n  - a\n  - 12\ndate: 2024-05-17", {"tags": ["a", 12], "date": "2024-05-17"}),
        ("draft:\nms.date: 11/04/2016", {"draft": None, "ms.date": "11/04/2016"}),
    ],
)
def test_plain_entries_need_no_reader_of_yaml(block, metadata):
    assert front_matters._compiled(f"---\n{block}\n---\n") == (metadata, len(block) + 8)


def test_only_markdown_has_front_matter():
    assert not front_matter_of("---\ntitle: Tea\n---\n", "tea.py").metadata
    assert front_matter_of("---\ntitle: Tea\n---\n", "tea.md").metadata == {"title": "Tea"}


def test_long_blocks_are_left_to_the_limits_of_the_reader_of_yaml():
    assert front_matters._compiled(f'---\na: "{"b" * 9000}"\n---\n') is None
