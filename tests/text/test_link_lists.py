"""Lists of links are told from texts with links."""

from __future__ import annotations

import pytest

from qmd.text.link_lists import LEAST, link_percent

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
    assert link_percent(text) >= LEAST


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
    assert link_percent(text) < LEAST


def test_front_matter_does_not_count():
    matter = f"---\nsummary: {PROSE}\n---\n"
    text = f"{matter}- [Tea](tea.md)\n- [Coffee](coffee.md)\n- [Mate](mate.md)\n"
    assert link_percent(text, start=len(matter)) == 100
    assert link_percent(text) < LEAST


@pytest.mark.parametrize("mark", ["[", "[[", "](", "[a](", "![", "(", "[x][", "- [a](b) ", "**"])
def test_hostile_texts_take_no_long_time(mark):
    assert 0 <= link_percent(f"[[a]][[b]][[c]]{mark * 20_000}") <= 100
