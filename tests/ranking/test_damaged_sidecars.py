"""Files in the place of a sidecar that are none of this index: they are not used."""

from __future__ import annotations

import json
import os
import shutil

import numpy as np
import pytest
import xxhash
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qmd.ranking.sidecar_file import Packer, SidecarFile
from qmd.ranking.sidecar_format import POSTINGS
from tests.library import Library
from tests.ranking.sidecars import ASKED, another, mapped, of_tables, two_notes
from tests.ranking.test_holder import answer, engine_of, hold, sidecar


@pytest.fixture
def warm(library):
    yield from two_notes(library)


@pytest.fixture
def tables(warm):
    """Answers without a sidecar."""
    return of_tables(warm)


def test_the_sidecar_of_another_index_is_not_used(warm, tmp_path_factory):
    other = Library(tmp_path_factory.mktemp("other"))
    other.engine.close()
    other.engine = engine_of(other)
    for name in ("tea.md", "cup.md"):
        other.write(name, "Foreign tea, with quite other water and milk in a teaPot cup.")
    other.update()
    assert hold(other.engine) is not None
    shutil.copy(sidecar(other), sidecar(warm))
    other.engine.close()
    assert not mapped(warm)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.9, 0.999])
def test_a_cut_sidecar_is_not_used(warm, share):
    hold(warm.engine)
    whole = sidecar(warm).read_bytes()
    sidecar(warm).write_bytes(whole[: int(share * len(whole))])
    assert not mapped(warm)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.floats(0, 1), bit=st.integers(0, 7))
def test_a_damaged_sidecar_is_not_used(warm, tables, where, bit):
    if not sidecar(warm).exists():
        hold(warm.engine)
    whole = sidecar(warm).read_bytes()
    spoilt = bytearray(whole)
    spoilt[min(int(where * len(whole)), len(whole) - 1)] ^= 1 << bit
    sidecar(warm).unlink()
    sidecar(warm).write_bytes(spoilt)
    assert not mapped(warm, tables)
    sidecar(warm).unlink()
    sidecar(warm).write_bytes(whole)


NAMES = (
    "ids lengths path_starts body_starts matter languages lists codes codes_bounds revisions "
    "word_terms words words_bounds title_bounds hash_bounds terms_3 bounds_3 places_3 slots_3 "
    "doubled_3 counts_3 positions_3 wide_3 beyond_3"
).split()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(NAMES),
    change=st.sampled_from(["more", "fewer", "high", "negative", "floats", "backwards", "none"]),
)
def test_arrays_that_do_not_fit_each_other_are_not_searched(warm, name, change):
    """A file with a right checksum, as another program could make it."""
    if not sidecar(warm).exists():
        hold(warm.engine)
    whole = sidecar(warm).read_bytes()
    packed = SidecarFile(warm.engine.place.database, POSTINGS).mapped()
    assert packed is not None
    arrays = dict(packed.arrays)
    one = arrays[name]
    arrays[name] = {
        "more": np.concatenate((one, one[:1], one[:1])),
        "fewer": one[:-1],
        "high": (one + 60_000).astype(one.dtype) if one.dtype.itemsize > 1 else one | 128,
        "negative": -one.astype(np.int64) - 1,
        "floats": one.astype(np.float32),
        "backwards": one[::-1],
        "none": one[:0],
    }[change]
    sidecar(warm).unlink()
    with sidecar(warm).open("wb") as file:
        packer = Packer(file, POSTINGS)
        packer.add(**arrays)
        packer.finish(packed.note)
    try:
        with another(warm) as engine:
            for text in ASKED:  # some arrays may be wrong and yet fit: nothing else goes wrong
                answer(engine, text)
    finally:
        sidecar(warm).unlink()
        sidecar(warm).write_bytes(whole)


def test_a_term_below_0_is_not_believed(warm):
    """Such a number stands for what was counted during a search."""
    hold(warm.engine)
    packed = SidecarFile(warm.engine.place.database, POSTINGS).mapped()
    assert packed is not None
    arrays = dict(packed.arrays)
    arrays["word_terms"] = -arrays["word_terms"] - 1
    sidecar(warm).unlink()
    with sidecar(warm).open("wb") as file:
        packer = Packer(file, POSTINGS)
        packer.add(**arrays)
        packer.finish(packed.note)
    assert not mapped(warm)


@pytest.mark.parametrize(
    "contents",
    [
        [],
        {},
        {"arrays": {}},
        {"note": {}, "arrays": {}},
        {"note": {"state": [], "parts": 8}, "arrays": {"ids": ["|u1", 0, 10**12]}},
        {"note": 1, "arrays": {"ids": ["|O", 0, 1]}},
        {"note": 1, "arrays": {"ids": ["<f8", -8, 1]}},
        {"note": 1, "arrays": {"ids": ["<u4", 0, 2**70]}},
        {"note": 1, "arrays": []},
        "[" * 100_000,
    ],
)
def test_a_table_of_contents_of_another_program_is_not_believed(warm, contents):
    text = (contents if isinstance(contents, str) else json.dumps(contents)).encode()
    data = text + POSTINGS.mark + len(text).to_bytes(8, "little")
    sidecar(warm).write_bytes(data + xxhash.xxh3_128(data).digest())
    assert not mapped(warm)


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_no_file_is_left_alone(warm, tmp_path, kind):
    elsewhere = tmp_path / "elsewhere"
    if kind == "link":
        elsewhere.write_text("theirs")
        sidecar(warm).symlink_to(elsewhere)
    elif kind == "pipe":
        os.mkfifo(sidecar(warm))
    else:
        sidecar(warm).mkdir()
    assert not mapped(warm)
    hold(warm.engine)
    if kind == "link":
        assert elsewhere.read_text() == "theirs"
