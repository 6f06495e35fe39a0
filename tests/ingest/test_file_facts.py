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


@pytest.mark.skipif(file_facts._compiled is None, reason="nothing was compiled")
@given(here=ROWS, there=ROWS, same=st.booleans(), order=st.randoms(), first=st.integers(0, 3))
def test_both_find_the_same_differences(here, there, same, order, first):
    files, others = table(here), table(here | there if same else there)
    lines = [others.line(at) for at in range(len(others.paths))]
    order.shuffle(lines)
    first = min(first, len(files.paths))
    asked = "\0".join(lines), files, first, len(files.paths)
    places, paths = differing(*asked)
    plain_places, plain_paths = plainly_differing(*asked)
    assert (places, sorted(paths)) == (plain_places, sorted(plain_paths))


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
