"""Lists of links are told from texts with links."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qmd.ingest import link_shares
from qmd.storage.statements import LINK_LIST
from qmd.text.link_lists import link_percent

PROSE = "Water of eighty degrees is poured over the leaves, which then draw for two minutes. " * 4


@pytest.mark.parametrize(
    "text",
    [
        "# Summary\n\n- [Tea](tea.md)\n  - [Green](tea/green.md)\n- [Coffee](coffee.md)\n",
        "# Drinks\n\n- [[Tea]]\n- [[Coffee|Beans]]\n- ![[Mate]]\n",
        "\n".join(
            f"* [Tool {n}](https://t.example/{n}) - Does a thing very well." for n in range(5)
        ),
        "1. **[Tea](tea.md)** \u2014 how to brew it\n2. [Mate](m.md): gourds\n3. [x](y.md), too\n",
        "| [Tea](tea.md) | leaves |\n|---|---|\n| [Coffee](c.md) | beans |\n| [Mate](m.md) | |\n",
        "- [Tea][t]\n- [Mate][m]\n- [Coffee][c]\n\n[t]: tea.md\n[m]: mate.md\n[c]: coffee.md\n",
        "- [ ] [Tea](tea.md)\n- [x] [Mate](m.md)\n- [ ] [Coffee](c.md)\n",
        "- https://a.example/tea\n- <https://b.example/coffee>\n- https://c.example/mate\n",
        "- [Tea](tea.md) - leaves that\n  are poured over with water\n- [a](a.md)\n- [b](b.md)\n",
    ],
)
def test_lists_of_links(text):
    assert link_percent(text) >= LINK_LIST


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        f"# Tea\n\n{PROSE}\n\n## See also\n\n- [Coffee](c.md)\n- [Mate](m.md)\n- [Milk](x.md)\n",
        "# Meeting\n\n" + "- [[Anna]] wants to move the date of the move by two weeks.\n" * 5,
        "Brew [green](g.md) tea as in [the book](b.md), unless [it](i.md) is a dark one.\n",
        "- [Tea](tea.md)\n- [Mate](mate.md)\n",
        "",
    ],
)
def test_texts_with_links(text):
    assert link_percent(text) < LINK_LIST


def test_front_matter_does_not_count():
    matter = f"---\nsummary: {PROSE}\n---\n"
    text = f"{matter}- [Tea](tea.md)\n- [Coffee](coffee.md)\n- [Mate](mate.md)\n"
    assert link_percent(text, start=len(matter)) == 100
    assert link_percent(text) < LINK_LIST


@pytest.mark.parametrize("mark", ["[", "[[", "](", "[a](", "![", "(", "[x][", "- [a](b) ", "**"])
def test_hostile_texts_take_no_long_time(mark):
    assert 0 <= link_percent(f"[[a]][[b]][[c]]{mark * 20_000}") <= 100


LINES = st.sampled_from(
    [
        "- [Tea](tea.md)",
        '* [Tool](https://t.example/x_(y) "A title") - does a thing',
        "1. **[Tea](tea.md)**\u2014how",
        "1234567890. [a](b)",
        "\u0661) [a](b)",
        "| [[Tea|Green]] | leaves |",
        "- [ ] [Tea](tea.md)",
        "- [x](y) and on",
        "> + ![[Mate]]\u00b7",
        "- <https://b.example/coffee>",
        "https://c.example/mate",
        "  goes on [here](h.md)",
        "\u2003indented [here][h]",
        "# Heading [a](b)",
        "####### seven",
        "---|:--",
        "[t]: tea.md",
        "words that are read",
        "",
        "- [a](b",
        '- [a](b "") [c]( d )[e](f\u00a0)',
        "[[a] [[b]] ![c](d) <x https:// http://e>",
    ]
)
NOISE = st.text(
    alphabet='[]()!<>|-*+_~`#:;.,"= \t\nxX19h\u0663\u2010\u00a0\u3000\x85\r\0é', max_size=60
)
LISTS = st.lists(LINES | NOISE, max_size=8).map("\n".join)


@pytest.mark.skipif(link_shares._compiled is None, reason="nothing was compiled")
@given(LISTS, st.sampled_from(["", "é", "\u2013", "\U0001f375"]), st.integers(0, 40))
@example("- [a](b)\n- [c](d)\n- [e](f)\nthree", "", 2)
def test_compiled_and_plain_rules_compute_the_same(text, letter, start):
    text = f"- [a](b) [c](d) https://e\n- [f](g)\n- [[h]]\n{text}{letter}"
    start = min(start, len(text))
    assert link_shares._compiled(text, start=start) == link_percent(text, start=start)


@pytest.mark.skipif(link_shares._compiled is None, reason="nothing was compiled")
@given(st.integers(0, 5), st.integers(0, 5), st.integers(0, 2100))
def test_both_leave_out_the_same_texts_with_few_links(entries, links, size):
    text = "- [a](b)\n" * entries + "[c](d) http://e\n" * links + "x" * size
    assert link_shares._compiled(text) == link_percent(text)
