"""Sections of a text, by the names of their headings."""

from __future__ import annotations

import pytest

from qmd.text.headings import SectionHeading, section, slug

HEADINGS = [
    SectionHeading(1, 1, "Green tea"),
    SectionHeading(3, 2, "Set up: *the pot*"),
    SectionHeading(5, 3, "Notes"),
    SectionHeading(9, 2, "Brewing"),
    SectionHeading(11, 3, "Notes"),
    SectionHeading(15, 1, "[Ünï](x.md) code_word"),
    SectionHeading(20, 2, "Own {#mine}"),
    SectionHeading(24, 2, "In `MDX` {/*its-own*/}"),
]


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("Green tea", (1, 14)),
        ("green-tea", (1, 14)),
        ("Set up: *the pot*", (3, 6)),
        ("set-up-the-pot", (3, 6)),
        ("BREWING", (9, 6)),
        ("Notes", (5, 4)),
        ("notes-1", (11, 4)),
        ("Brewing > Notes", (11, 4)),
        ("Green tea > Notes", (5, 4)),
        ("ünï-code_word", (15, None)),
        ("mine", (20, 4)),
        ("Own", (20, 4)),
        ("its-own", (24, None)),
        ("In MDX", (24, None)),
        ("Pots", None),
        ("Pots > Notes", None),
        ("notes-2", None),
        ("", None),
        (" > ", None),
    ],
)
def test_a_section_goes_to_the_next_heading_of_its_level(name, lines):
    assert section(HEADINGS, name) == lines


def test_a_slug_is_what_links_have():
    assert slug("What's *new* in `qmd`?") == "whats-new-in-qmd"
    written = ("{#Start .wide}", "{ #start }", "{: .wide #start }", "{:#start}", "{/* #start */}")
    assert {slug(f"Set up {anchor}") for anchor in written} == {"start"}
    assert slug("The set {a, b}") == "the-set-a-b"
