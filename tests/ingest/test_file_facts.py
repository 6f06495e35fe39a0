"""Comparison of files with what the index has of them: compiled, and in plain Python."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.ingest import file_facts
from qmd.ingest.file_facts import FileFacts, differing, plainly_differing

SIGNED = st.sampled_from([0, 1, -1, 2**63 - 1, -(2**63) + 1]) | st.integers(0, 10**19 // 2)
UNSIGNED = st.sampled_from([0, 1, 2**64 - 1])
NAMES = st.sampled_from(["a.md", "a/b.md", "é/ü.md", "日本.md", "a b-1 2/3.md", "z\n.md", "zz"])
ROWS = st.dictionaries(NAMES, st.tuples(SIGNED, SIGNED, UNSIGNED, SIGNED))


def table(rows):
    paths = sorted(rows)
    columns = zip(*(rows[path] for path in paths), strict=True) if rows else ((),) * 4
    return FileFacts(
        paths, *(array(code, each) for code, each in zip("qqQq", columns, strict=True))
    )


def columns(files, places):
    """Files in a part of the columns of documents/file_columns."""
    facts = (files.sizes, files.mtimes, files.ctimes, files.inodes)
    chosen = [array(each.typecode, map(each.__getitem__, places)) for each in facts]
    names = "".join(f"{files.paths[at]}\0" for at in places).encode()
    return *(memoryview(each).cast("B") for each in chosen), memoryview(names)


@pytest.mark.skipif(file_facts._compiled is None, reason="nothing was compiled")
@given(here=ROWS, there=ROWS, same=st.booleans(), order=st.randoms(), first=st.integers(0, 3))
def test_both_find_the_same_differences(here, there, same, order, first):
    files, others = table(here), table(here | there if same else there)
    chosen = list(range(len(others.paths)))
    order.shuffle(chosen)
    lines = "\0".join(map(others.line, chosen))
    first = min(first, len(files.paths))
    asked = files, first, len(files.paths)
    places, paths = plainly_differing(lines, *asked)
    cut = len(chosen) // 2
    for known in (lines, [columns(others, chosen[:cut]), columns(others, chosen[cut:])]):
        found, others_found = differing(known, *asked)
        assert (found, sorted(others_found)) == (places, sorted(paths))


@pytest.mark.parametrize("compiled", [None, file_facts._compiled])
def test_columns_are_compared_as_lines_are(monkeypatch, compiled):
    monkeypatch.setattr(file_facts, "_compiled", compiled)
    rows = {"a.md": (5, -7, 2**64 - 1, 9), "é/ü.md": (0, 1, 2, 3), "z\n.md": (1, 1, 1, 1)}
    files = table(rows)
    known = iter([columns(files, [0, 2]), columns(files, [1])])
    assert differing(known, files, 0, 3) == ([], [])
    known = iter([columns(table(rows | {"é/ü.md": (0, 1, 2, 4), "gone": (1, 1, 1, 1)}), range(4))])
    places, paths = differing(known, files, 0, 3)
    assert (places, sorted(paths)) == ([2], ["gone", "é/ü.md"])
    assert differing(iter([]), files, 1, 3) == ([1, 2], [])


@pytest.mark.parametrize("which", range(4))
def test_each_fact_counts(which):
    facts = [7, 7, 7, 7]
    other = facts.copy()
    other[which] = 8
    files, known = table({"a.md": facts, "b.md": facts}), table({"a.md": other, "b.md": facts})
    lines = "\0".join([known.line(1), known.line(0)])
    assert differing(lines, files, 0, 2) == ([0], ["a.md"])
    assert differing("", files, 0, 2) == ([0, 1], [])
    places, gone = differing(lines, table({}), 0, 0)
    assert (places, sorted(gone)) == ([], ["a.md", "b.md"])
