"""A sidecar of postings that another program could have forged, and what is noted about it."""

from __future__ import annotations

import json
from copy import copy
from shutil import copyfile

import numpy as np
import pytest

from qmd.operations.index import Index
from qmd.ranking import mapped_postings
from qmd.ranking.postings import FIT
from qmd.ranking.sidecar_file import Packer, SidecarFile
from qmd.ranking.sidecar_format import POSTINGS
from qmd.storage import file_version
from qmd.storage.saved_facts import SavedFacts, facts_path
from tests.ranking.test_mapped_postings import (
    ASKED,
    answers,
    as_commands,
    fill,
    is_used,
    note,
    sidecar,
)

pytestmark = pytest.mark.skipif(
    mapped_postings.CompiledPostings is None, reason="nothing was compiled"
)


@pytest.fixture(scope="module")
def made(libraries):
    """A library with a sidecar, whose files are copied."""
    library = libraries()
    with pytest.MonkeyPatch.context() as patch:
        as_commands(patch)
        fill(library)
        note(library)
    library.engine.close()
    return library


@pytest.fixture(scope="module")
def expected(made):
    """Answers of the tables, whatever the sidecar is."""
    with pytest.MonkeyPatch.context() as patch:
        as_commands(patch)
        return answers(made, ASKED, stays=True)


@pytest.fixture
def large(made, tmp_path, monkeypatch):
    """The same library with an index and a sidecar of its own; each test says what is noted."""
    as_commands(monkeypatch)
    place = made.engine.place._replace(database=tmp_path / "index.duckdb")
    library = copy(made)
    library.engine = Index(place, made.engine.models.machine)
    copyfile(made.engine.place.database, place.database)
    copyfile(sidecar(made), sidecar(library))
    yield library
    library.engine.close()


def forge(library, change):
    """Replace the sidecar by another one, and note that it fits."""
    place = sidecar(library)
    packed = SidecarFile(library.engine.place.database, POSTINGS).mapped()
    assert packed is not None
    arrays = dict(packed.arrays)
    noted = change(arrays, packed.note) or packed.note
    place.unlink()
    with place.open("wb") as file:
        packer = Packer(file, POSTINGS)
        packer.add(**arrays)
        packer.finish(noted)
    forge_note(
        library, [list(SidecarFile(library.engine.place.database, POSTINGS).stamp()), [], None]
    )


def forge_note(library, fit):
    """Save a fact as another program could."""
    index = library.engine.place.database
    version = file_version.version_of(index)
    assert version is not None
    facts = SavedFacts(index, version)
    facts.note(FIT, fit)
    facts.save()
    assert json.loads(facts_path(index).read_text().partition("\n")[2])["facts"][FIT] == fit


def test_one_that_was_made_again_as_it_was_is_used(large, expected, monkeypatch):
    forge(large, lambda arrays, note: note)
    assert is_used(large, monkeypatch, expected=expected)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.9, 0.999])
def test_a_cut_sidecar_that_is_noted_to_fit_is_not_used(large, expected, monkeypatch, share):
    whole = sidecar(large).read_bytes()
    sidecar(large).write_bytes(whole[: int(share * len(whole))])
    index = SidecarFile(large.engine.place.database, POSTINGS)
    forge_note(large, [list(index.stamp()), [], None])
    assert not is_used(large, monkeypatch, expected=expected)


@pytest.mark.parametrize(
    "fit", [None, 7, "postings", [], [[], []], [[], [], None], [["a"], [], 1], [[1], {"a": 1}, {}]]
)
def test_a_note_of_another_form_is_not_believed(large, expected, monkeypatch, fit):
    forge_note(large, fit)
    assert not is_used(large, monkeypatch, expected=expected)


PARTS = "terms bounds places slots doubled counts positions wide beyond".split()
CHANGES = ("more", "fewer", "high", "huge", "no number", "negative", "floats", "backwards", "none")
LARGEST = np.finfo(np.float64).max


def changed(one, change):
    return {
        "more": np.concatenate((one, one[:1], one[:1])),
        "fewer": one[:-1],
        "high": (one + 60_000).astype(one.dtype) if one.dtype.itemsize > 1 else one | 128,
        "huge": np.full_like(one, LARGEST if one.dtype.kind == "f" else np.iinfo(one.dtype).max),
        "no number": np.full_like(one, np.nan) if one.dtype.kind == "f" else one,
        "negative": -one.astype(np.int64) - 1,
        "floats": one.astype(np.float32),
        "backwards": one[::-1],
        "none": one[:0],
    }[change]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["ids", "lengths", "path_starts", "body_starts", *PARTS])
def test_no_search_leaves_the_bounds_of_a_forged_sidecar(large, name, change):
    """One that was checked is never like this: what a search finds in it may be wrong."""
    if name == "ids" and change in ("high", "huge", "backwards"):
        pytest.skip("documents that there are not")

    def of_all(arrays, _):
        for each in list(arrays):
            if each == name or each.rpartition("_")[0] == name:
                arrays[each] = changed(arrays[each], change)

    forge(large, of_all)
    assert len(answers(large, ASKED)) == len(ASKED)


@pytest.mark.parametrize("counts", [1, 2**32 - 1])
@pytest.mark.parametrize("place", [2**63 - 1, 2**63 - 10, 2**40])
def test_no_sum_of_forged_numbers_leads_out_of_an_array(large, expected, place, counts):
    def of_all(arrays, _):
        for each in list(arrays):
            if each.startswith("places_"):
                arrays[each] = np.full_like(arrays[each], place)
            if each.startswith("counts_"):
                arrays[each] = np.full(len(arrays[each]), counts, np.uint32)

    forge(large, of_all)
    assert answers(large, ASKED) == expected


def test_no_forged_position_leads_to_another_document(large, expected):
    def of_all(arrays, _):
        for each in list(arrays):
            if each.startswith("positions_"):
                arrays[each] = np.full_like(arrays[each], 0xFFFF)
                number = each.removeprefix("positions_")
                arrays[f"wide_{number}"] = np.arange(len(arrays[each]), dtype=np.int64)
                beyond = np.full(len(arrays[each]), 2**32 - 1, np.uint32)
                arrays[f"beyond_{number}"] = beyond

    forge(large, of_all)
    assert answers(large, ASKED) == expected


@pytest.mark.parametrize("gone", [[0] * 5000, [1, 0], [-1], [2**32], [1e400], [10_000]])
def test_a_note_of_documents_that_cannot_be_gone_is_not_believed(
    large, expected, monkeypatch, gone
):
    stamp = SidecarFile(large.engine.place.database, POSTINGS).stamp()
    forge_note(large, [list(stamp), gone, None])
    assert not is_used(large, monkeypatch, expected=expected)


@pytest.mark.parametrize("name", ["slots", "bounds", "places"])
def test_the_tables_answer_where_a_number_leads_out_of_an_array(large, expected, name):
    def of_all(arrays, _):
        for each in list(arrays):
            if each.rpartition("_")[0] == name:
                arrays[each] = changed(arrays[each], "high")

    forge(large, of_all)
    assert answers(large, ASKED) == expected


@pytest.mark.parametrize("parts", [0, -1, 3, 1 << 40, "8", None])
def test_parts_of_another_number_are_not_used(large, expected, monkeypatch, parts):
    forge(large, lambda arrays, note: note | {"parts": parts})
    assert not is_used(large, monkeypatch, expected=expected)
