"""Texts that are nearly the same: their signatures, and groups of them."""

from __future__ import annotations

import random
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qmd.ingest import grouping, near_duplicates, sketches
from qmd.ingest.near_duplicates import NamedText, around_leaders, differ
from qmd.storage.database import Database
from tests.ranking.texts import EDITED, TEA

POSTING = st.tuples(st.integers(-(2**63), 2**63 - 1), st.lists(st.integers(0, 90), max_size=30))
DOCUMENT = st.tuples(st.integers(0, 5), st.lists(POSTING, max_size=40))


def columns(documents):
    """Columns of postings of documents: start of the body, and (term, positions)."""
    rows = sorted(
        (term, number, sorted(set(positions)))
        for number, (_, found) in enumerate(documents)
        for term, positions in dict(found).items()
    )
    offsets = [0]
    for _, _, positions in rows:
        offsets.append(offsets[-1] + len(positions))
    return (
        array("q", [row[0] for row in rows]),
        array("I", [row[1] for row in rows]),
        array("i", offsets),
        array("I", [position for row in rows for position in row[2]]),
        array("I", [place for start, _ in documents for place in (0, 0, start)]),
        len(documents),
    )


@pytest.mark.skipif(sketches._compiled is None, reason="nothing was compiled")
@given(st.lists(DOCUMENT, max_size=4))
@settings(deadline=None)
def test_compiled_signatures_are_those_of_plain_python(documents):
    given_ = columns(documents)
    assert sketches._compiled.sketched(*given_) == sketches.plainly_sketched(*given_)


@pytest.mark.skipif(sketches._compiled is None, reason="nothing was compiled")
@given(st.integers(0, 2**32), st.integers(2, 5), st.integers(60, 128))
@settings(deadline=None, max_examples=30)
def test_compiled_pairs_are_those_of_plain_python(seed, crowd, least):
    chance = random.Random(seed)
    base = [chance.randrange(2**16) for _ in range(sketches.BINS)]
    texts = []
    for _ in range(8):
        share = chance.random()
        texts.append([chance.randrange(2**16) if chance.random() < share / 2 else n for n in base])
    bins = memoryview(array("H", [number for text in texts for number in text]))
    order = array("I", chance.sample(range(8), 8))
    found = sketches._compiled.near_pairs(bins, order, least, crowd)
    assert found == sketches.plain_pairs(bins, order, least, crowd)
    sorted_ = array("H", [number for text in order for number in texts[text]])
    assert found == sketches.plain_pairs(sorted_, range(8), least, crowd)


def test_the_share_of_equal_minima_is_that_of_common_runs():
    chance = random.Random(1)
    words = [chance.randrange(2**62) for _ in range(2000)]
    other = [*words[:1600], *(chance.randrange(2**62) for _ in range(400))]
    documents = [(0, [(word, [at]) for at, word in enumerate(each)]) for each in (words, other)]
    _, bins = sketches.plainly_sketched(*columns(documents))
    [(one, other, share)] = sketches.near_pairs(["b", "a"], bins, 0.5, 100)
    assert (one, other) == ("a", "b")
    assert share == pytest.approx(1598 / 2398, abs=0.12)  # three standard errors


def test_a_chain_does_not_join_its_ends():
    pairs = [("a", "b", 0.8), ("b", "c", 0.8), ("c", "d", 0.8), ("d", "e", 0.9)]
    assert around_leaders(pairs) == [
        ("b", "b", 1.0),
        ("a", "b", 0.8),
        ("c", "b", 0.8),
        ("d", "d", 1.0),
        ("e", "d", 0.9),
    ]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Tea guide", "Tea Guide, 2nd edition", False),
        ("Handbook 2018", "Handbook v2 (draft)", False),
        ("ch03 Types", "Chapter 4: Types", True),
        ("Minutes January", "Minutes March", True),
        ("Error C2296", "Error C2297", True),
        ("Operator <", "Operator <=", True),
        ("is_copyable", "is_trivially_copyable", True),
    ],
)
def test_names_tell_pages_of_a_template_from_editions(one, other, expected):
    def signed(title):
        return NamedText("", title, "x.md", 1)

    assert differ(signed(one), signed(other)) is expected


def test_where_many_have_one_title_the_path_is_the_name():
    def signed(path):
        return NamedText("", "Moved", path, near_duplicates.COMMON + 1)

    assert differ(signed("a/tea.md"), signed("a/pot.md"))
    assert not differ(signed("a/tea.md"), signed("b/tea.md"))


def groups(library):
    rows = library.ask(
        "select path, leader from copies join documents using (hash) order by leader, path"
    )
    found = {}
    for path, leader in rows:
        found.setdefault(leader, []).append(path)
    return sorted(found.values())


def test_editions_and_copies_are_grouped_and_the_group_follows_the_files(library):
    library.write("tea.md", TEA)
    library.write("old/tea.md", EDITED)
    library.write("copy.md", TEA)
    library.write("other.md", "# Coffee\n\n" + "Coffee is roasted. " * 40)
    library.update()
    assert groups(library) == [["copy.md", "old/tea.md", "tea.md"]]
    (library.root / "old" / "tea.md").unlink()
    library.update()
    assert groups(library) == [["copy.md", "tea.md"]]
    (library.root / "copy.md").unlink()
    library.update()
    assert groups(library) == []


@pytest.mark.parametrize("changes", [0, 1])
def test_an_index_from_before_gets_signatures_by_the_next_update(library, changes):
    library.write("tea.md", TEA)
    library.write("old/tea.md", EDITED)
    library.write("empty.md", "# !")
    library.update()
    before = library.ask("select hash, bins from sketches order by hash")
    assert len(before) == 3
    library.engine.database.write(
        lambda cursor: cursor.connection.execute(
            "delete from sketches; delete from copies;"
            "delete from counters where name = 'grouped_documents'"
        )
    )
    for number in range(changes):
        library.write(f"new{number}.md", "# Water\n\nBoil it first.\n")
    library.update()
    now = library.ask("select hash, bins from sketches order by hash")
    assert len(now) == len(before) + changes
    assert set(before) <= set(now)
    assert groups(library) == [["old/tea.md", "tea.md"]]


@pytest.fixture
def writes(monkeypatch):
    """The writes of the index."""
    made = []
    write = Database.write

    def noted(self, work, **options):
        made.append(work)
        return write(self, work, **options)

    monkeypatch.setattr(Database, "write", noted)
    return made


def test_a_small_update_groups_texts_in_its_only_commit(library, writes):
    library.write("one.md", TEA)
    library.update()
    writes.clear()
    library.write("other.md", EDITED)
    library.update()
    assert len(writes) == 1
    assert groups(library) == [["one.md", "other.md"]]


def test_texts_of_several_collections_are_grouped_once(library, writes, monkeypatch):
    grouped = []
    group = grouping._group_all
    monkeypatch.setattr(grouping, "_group_all", lambda cursor: grouped.append(group(cursor)))
    library.configure("others")
    library.write("one.md", TEA)
    library.write("two.md", EDITED, collection="others")
    library.update()
    assert len(grouped) == 1
    library.write("one.md", TEA + "\nMore of it.\n")
    library.update()
    assert len(grouped) == 2
    assert groups(library) == [["one.md", "two.md"]]


def test_texts_of_a_large_index_are_grouped_on_their_own(library, writes, monkeypatch):
    library.write("one.md", TEA)
    library.update()
    writes.clear()
    monkeypatch.setattr(grouping, "FEW_TEXTS", 1)
    library.write("other.md", EDITED)
    library.update()
    assert len(writes) == 2
    assert groups(library) == [["one.md", "other.md"]]


def test_texts_are_grouped_after_documents_are_removed(library, writes):
    library.write("one.md", TEA)
    library.write("other.md", EDITED)
    library.update()
    writes.clear()
    (library.root / "one.md").unlink()
    library.write("new.md", "# New\n\nWater.\n")
    library.update()
    assert len(writes) == 3
    assert groups(library) == []
