"""Outlines as they are kept: the same whether their rules were compiled or not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qmd.ingest.outlines import document_outline, hints, outlined, plainly_outlined
from qmd.text import further_links, hidden, markdown
from qmd.text.outline import BETWEEN, outline

LINES = st.sampled_from(
    [
        "# Tea",
        "## Pots and `cups` ##",
        "   ### Deep #",
        "#######",
        "#tag and #a/b-c #123 x#y",
        "plain [link](tea.md) and ![picture](cup.png)",
        "[a](b.md#c)`code [no](no)` [d](e)",
        "- item [one](1.md)\n- item `two\n- three` [x](y)",
        "| [cell](a.md) | `[[b]]` |",
        "[multi\nline](far.md)",
        '[title](a.md "Title") [round](a(b).md) [angled](<a b.md>)',
        "[![badge](i.png)](target.md) ![[embed.png]] [[Wiki|label]] [[a#b]]",
        "[ref] [text][ref] [ref][] [nope]",
        "[ref]: target.md 'T'\n[other]: <x y>",
        "see https://example.org/a_(b). <https://example.com> [in https://x.y](z)",
        "\\[no](x) \\`[yes](y)\\` [z\\](no) \\![i](j)",
        "``double ` tick [no](no)`` [yes](yes)",
        "`open\nclose` [p](q) `a` [r](s)",
        "```python\n[no](no)\n# no\n```",
        "~~~\n[no](no)\n~~~",
        "> ```\n> [no](no)\n> ```",
        "- ```\n  [no](no)\n  ```",
        "   ```` x\n```\n[no](no)\n````",
        "``` a ` b\n[yes](yes)",
        "```inline``` [yes](yes)",
        "```",
        "Under\n---",
        "Over\n===",
        "---",
        "- \n-",
        "",
        "  \t",
        "標題 #标签，x [鏈](中文.md) é",
        "[a]]](b) [[c](d)",
        "](x)",
        "[empty]() [x]( y )",
        "\x1e[sep](a\x1eb)",
        "https://a.b/[x](y)",
        "\ttext [t](u)\f#v",
        "\t# code\n \t# code\n\r# code\n   # Tea\n    # code",
    ]
)
TEXTS = st.lists(LINES, max_size=8).map("\n".join)
NOISE = st.text(alphabet="\n\n #`[]()!\\<>-=~|x1é/:\t\r\v\f", max_size=60)
PIECES = st.lists(
    st.sampled_from(
        [
            *"https:// http://a.b xhttp://c ) ( #t #7 #é - / _ ` `` \\ ! [ ] ]( x".split(),
            *["~~~", "```", "<", "a:", "é", "|", "\n", "\n\n", " ", "- ", "1. ", "## ", "> "],
            *["\n---\n", "\n===\n"],
        ]
    ),
    max_size=25,
).map("".join)
FRONT = st.sampled_from(["", "", "---\ntags: [x]\n---\n", "---\n# no [a](b) ```\n---"])
ENDS = st.sampled_from(["", "\n", "\r\n"])


def plain(text: str) -> list[tuple[int, str, str, str]]:
    """Line, kind, text and target of all marks, from the definition."""
    data = text.replace(BETWEEN.decode(), " ").encode()
    start = len(text[: markdown.frontmatter(text).end].encode())
    return [
        (
            data.count(b"\n", 0, mark.at) + 1,
            chr(mark.kind),
            data[mark.text : mark.text_end].decode(),
            data[mark.target : mark.target_end].decode(),
        )
        for mark in outline(data, start)
    ]


def kept(text: str) -> list[tuple[int, str, str, str]]:
    """The same, as the index keeps it."""
    data, start = text.encode(), len(text[: markdown.frontmatter(text).end].encode())
    found = outlined(data, start)
    assert found == plainly_outlined(data, start)
    columns = (
        map(int, found.lines.split(" ")),
        found.kinds,
        found.texts.split(BETWEEN.decode()),
        found.targets.split(BETWEEN.decode()),
    )
    return list(zip(*columns, strict=True)) if found.kinds else []


@settings(max_examples=1500)
@given(st.builds(lambda a, b, c: a + b + c, FRONT, TEXTS, ENDS))
def test_an_outline_is_that_of_the_definition(text):
    assert kept(text) == plain(text)


@settings(max_examples=1500)
@given(st.one_of(NOISE, PIECES))
def test_and_also_of_texts_that_make_no_sense(text):
    assert kept(text) == plain(text)


HIDDEN = st.lists(
    st.sampled_from(
        [
            *"< > = <!-- --> <!--> % %% $ $$ a [b](c) href= HREF src <a <p <A é -".split(),
            *["#", "http:/", "/x"],
            *["\n", "\n\n", "\n\n    ", "\n\r\n\t", "\r\n", "\t", " ", "   ", "    "],
            *['<a href="x.md">', "<img\nSrc =", "https://e", "]("],
        ]
    ),
    max_size=12,
).map("".join)


@settings(max_examples=1500)
@given(HIDDEN, st.integers(0, 30))
def test_hints_are_those_of_the_patterns_and_leave_nothing_out(text, start):
    data = text.encode()
    found = hints(data, start)
    assert found == hidden.hints(data, start)
    if not found & (hidden.HIDING | hidden.INDENTED):
        assert hidden.shown_parts(data) == data
    if not found & hidden.HTML:
        assert not list(further_links.in_html(data, 0))
    if not found & hidden.PROPERTIES:
        assert not list(further_links.in_properties(data[:start]))


@settings(max_examples=200)
@given(TEXTS)
def test_lines_that_end_with_a_carriage_return_have_the_same_marks(text):
    text = text.replace("\n", "\r\n")
    assert kept(text) == plain(text)


@pytest.mark.parametrize("text", ["", "\n", " ", "```", "#"])
def test_nothing_has_no_outline(text):
    assert kept(text) == plain(text) == []


@pytest.mark.parametrize("number", [9, 10, 99, 100, 12_345])
def test_lines_are_counted_from_the_start(number):
    assert kept("\n" * (number - 1) + "[b](c)") == [(number, "i", "b", "c")]


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("![a ![b](c) d](e)", [("p", "a ![b](c) d", "e")]),
        ("![a [b](c) #d](e)", [("p", "a [b](c) #d", "e")]),
        ("[![a](b) ![c](d)](e)", [("i", "![a](b) ![c](d)", "e"), ("p", "a", "b"), ("p", "c", "d")]),
    ],
)
def test_what_a_picture_says_is_text(text, marks):
    assert kept(text) == plain(text) == [(1, *mark) for mark in marks]


@pytest.mark.parametrize(
    "text",
    [
        "![" * 20_000 + "a" + "](x)" * 20_000,
        "[![" * 10_000 + "a" + "](x)](y)" * 10_000,
        f"[a]: {'x' * 50_000}\n\n" + "[a] " * 20_000,
    ],
    ids=["pictures", "links", "references"],
)
def test_no_text_has_an_outline_that_fills_the_memory(text):
    found = kept(text)
    assert 0 < sum(len(text) + len(target) for _, _, text, target in found) < 2_000_000


def test_references_are_counted_for_each_text_alone():
    text = f"[a]: {'x' * 50_000}\n\n" + "[a]\n\n" * 20
    assert [len(kept(text)) for _ in range(2)] == [20, 20]


@pytest.mark.parametrize("mark", ["a", "é", "茶", "🍵"])
@pytest.mark.parametrize("form", ['<a href="b.md">{}</a>', '<img src="b.png" alt="{}">'])
def test_a_long_text_of_a_link_is_cut_between_two_characters(form, mark):
    for before in ("", "-", "--", "---"):
        text = before + mark * 300
        [shown] = document_outline(form.format(text).encode(), 0).texts.split(BETWEEN.decode())
        assert text.startswith(shown)
        assert 190 < len(shown.encode()) <= 200


def test_links_of_several_kinds_have_their_lines():
    text = "#[[green tea]]\n\n<a href='b.md'>b</a>\n\n#[[black tea]]\n<a href='c.md'>c</a>\n"
    found = document_outline(text.encode(), 0)
    rows = zip(found.lines.split(), found.texts.split(BETWEEN.decode()), strict=True)
    green, black = ("1", "green tea"), ("5", "black tea")  # links as well as tags
    assert list(rows) == [green, green, ("3", "b"), black, black, ("6", "c")]
