"""Postings of a sidecar, as a command that ends after one search uses them."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qmd import processes
from qmd.operations.index import Index
from qmd.ranking import mapped_postings, postings, postings_loader
from qmd.ranking.inverted_index import Inverted
from qmd.ranking.postings import FIT
from qmd.ranking.sidecar_file import Packer, SidecarFile
from qmd.ranking.sidecar_format import POSTINGS
from qmd.storage import file_version
from qmd.storage.saved_facts import SavedFacts, facts_path
from tests.library import Library
from tests.ranking.test_holder import QUESTIONS, answer, bodies, query_of

ASKED = ("tea", '"green tea"', "tea -water", "wate", "teaPot", "milk cup", "te*", "title:tea cup")

pytestmark = pytest.mark.skipif(
    mapped_postings.CompiledPostings is None, reason="nothing was compiled"
)


def as_commands(patch):
    """Let engines be those of commands, and each index large enough for a sidecar."""
    patch.setattr(processes, "leave_open", True)
    patch.setattr(postings_loader, "LARGE", 1)
    patch.setattr(file_version, "SETTLED_NS", 0)
    patch.setattr(postings_loader, "SETTLED_NS", 0)


@pytest.fixture
def large(library, monkeypatch):
    """A library with a sidecar, which is noted to fit."""
    as_commands(monkeypatch)
    library.write("tea.md", "# Green tea\n\nIn a teaPot, with water.")
    library.write("cup.md", "A cup of milk, and of green tea.")
    library.update()
    note(library)
    return library


def engine_of(library, *, stays=False):
    return Index(library.engine.place, library.engine.models.machine, stays=stays)


def note(library):
    """Make the sidecar if there is none, and note that it fits."""
    engine = engine_of(library)
    engine.holder.renew()
    engine.close()


def sidecar(library):
    return library.engine.place.database.with_name("index.duckdb.postings")


def answers(library, questions, *, stays=False, **options):
    engine = engine_of(library, stays=stays)
    try:
        return [answer(engine, text, **options) for text in questions]
    finally:
        engine.close()


def is_used(library, patch, questions=ASKED, **options):
    """Check that a command answers as the tables do; return whether it used the sidecar."""
    maps = []
    real = mapped_postings._mapped

    def mapped(*given):
        maps.append(real(*given))
        return maps[-1]

    expected = answers(library, questions, stays=True, **options)
    assert maps == []
    with patch.context() as patched:
        patched.setattr(mapped_postings, "_mapped", mapped)
        assert answers(library, questions, **options) == expected
    return any(each is not None for each in maps)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    history=st.lists(
        st.dictionaries(st.sampled_from("abcdefgh"), bodies | st.none(), min_size=1, max_size=6),
        min_size=1,
        max_size=4,
    ),
    questions=st.lists(QUESTIONS, min_size=4, max_size=12),
    limit=st.integers(1, 6),
    made_at=st.integers(0, 3),
)
def test_a_command_answers_as_the_tables_do(history, questions, limit, made_at):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        as_commands(patch)
        library = Library(Path(folder))
        library.configure("more")
        library.write("here.md", "tea team in water", collection="more")
        for number, step in enumerate(history):
            for name, body in step.items():
                if body is not None:
                    library.write(f"{name}.md", body)
                else:
                    (library.root / f"{name}.md").unlink(missing_ok=True)
            with patch.context() as patched:
                if number < min(made_at, len(history) - 1):
                    patched.setattr(postings_loader, "LARGE", 1 << 40)
                library.update()
        note(library)
        asked = [query_of(question) for question in questions]
        for chosen in (None, "notes"):
            assert is_used(library, patch, asked, limit=limit, collection=chosen)
        library.engine.close()


def test_an_update_notes_that_the_sidecar_fits(library, monkeypatch):
    as_commands(monkeypatch)
    library.write("tea.md", "# Green tea\n\nIn a teaPot, with water.")
    library.update()
    library.engine.close()
    assert is_used(library, monkeypatch)
    before = sidecar(library).stat()
    library.write("cup.md", "A cup of milk, and of green tea.")
    library.write("tea.md", "# Green tea\n\nIn a cup.")
    library.update()
    library.engine.close()
    assert is_used(library, monkeypatch)
    assert sidecar(library).stat() == before  # what is new is read from the tables


def test_postings_of_the_tables_are_read_only_where_the_sidecar_lacks_them(large, monkeypatch):
    def never(*_, **__):
        raise AssertionError

    with monkeypatch.context() as patch:
        for name in ("documents", "any_of", "phrases", "ranked"):
            patch.setattr(postings.Filed, name, never)
        patch.setattr(Inverted, "__init__", never)
        assert any(results for results, *_ in answers(large, ASKED))
    large.write("new.md", "A cup of new milk.")
    large.update()
    note(large)
    ran = []
    real = postings.Filed._run

    def run(self, name, **given):
        ran.append((name, self._since))
        return real(self, name, **given)

    monkeypatch.setattr(postings.Filed, "_run", run)
    assert is_used(large, monkeypatch, ["new milk"])
    assert {since for _, since in ran} == {None, 3}


def test_after_a_change_the_tables_answer_until_the_sidecar_is_compared_again(large, monkeypatch):
    assert is_used(large, monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(postings_loader, "LARGE", 1 << 40)
        large.write("new.md", "More milk in a cup.")
        large.update()
    assert not is_used(large, monkeypatch)
    note(large)
    assert is_used(large, monkeypatch)


def test_another_file_in_its_place_is_not_used(large, monkeypatch):
    place = sidecar(large)
    shutil.copy2(place, place.with_name("copy"))
    place.with_name("copy").replace(place)
    assert not is_used(large, monkeypatch)
    place.unlink()
    assert not is_used(large, monkeypatch)
    place.symlink_to("elsewhere")
    assert not is_used(large, monkeypatch)


def test_a_sidecar_that_is_written_to_is_not_used(large, monkeypatch):
    with sidecar(large).open("r+b") as file:
        file.write(b"\x00")
    assert not is_used(large, monkeypatch)


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


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.9, 0.999])
def test_a_cut_sidecar_that_is_noted_to_fit_is_not_used(large, monkeypatch, share):
    whole = sidecar(large).read_bytes()
    sidecar(large).write_bytes(whole[: int(share * len(whole))])
    index = SidecarFile(large.engine.place.database, POSTINGS)
    forge_note(large, [list(index.stamp()), [], None])
    assert not is_used(large, monkeypatch)


@pytest.mark.parametrize(
    "fit", [None, 7, "postings", [], [[], []], [[], [], None], [["a"], [], 1], [[1], {"a": 1}, {}]]
)
def test_a_note_of_another_form_is_not_believed(large, monkeypatch, fit):
    forge_note(large, fit)
    assert not is_used(large, monkeypatch)


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
def test_no_sum_of_forged_numbers_leads_out_of_an_array(large, place, counts):
    def of_all(arrays, _):
        for each in list(arrays):
            if each.startswith("places_"):
                arrays[each] = np.full_like(arrays[each], place)
            if each.startswith("counts_"):
                arrays[each] = np.full(len(arrays[each]), counts, np.uint32)

    expected = answers(large, ASKED, stays=True)
    forge(large, of_all)
    assert answers(large, ASKED) == expected


def test_no_forged_position_leads_to_another_document(large):
    def of_all(arrays, _):
        for each in list(arrays):
            if each.startswith("positions_"):
                arrays[each] = np.full_like(arrays[each], 0xFFFF)
                number = each.removeprefix("positions_")
                arrays[f"wide_{number}"] = np.arange(len(arrays[each]), dtype=np.int64)
                beyond = np.full(len(arrays[each]), 2**32 - 1, np.uint32)
                arrays[f"beyond_{number}"] = beyond

    expected = answers(large, ASKED, stays=True)
    forge(large, of_all)
    assert answers(large, ASKED) == expected


@pytest.mark.parametrize("gone", [[0] * 5000, [1, 0], [-1], [2**32], [1e400], [10_000]])
def test_a_note_of_documents_that_cannot_be_gone_is_not_believed(large, monkeypatch, gone):
    stamp = SidecarFile(large.engine.place.database, POSTINGS).stamp()
    forge_note(large, [list(stamp), gone, None])
    assert not is_used(large, monkeypatch)


def test_what_is_noted_is_not_compared_again(large, monkeypatch):
    def never(*_):
        raise AssertionError

    monkeypatch.setattr("qmd.ranking.postings_reader.compared", never)
    engine = engine_of(large)
    engine.holder.note_fit()
    engine.close()
    engine = engine_of(large, stays=True)
    engine.holder.note_fit()  # nothing could use the note
    engine.close()


@pytest.mark.parametrize("name", ["slots", "bounds", "places"])
def test_the_tables_answer_where_a_number_leads_out_of_an_array(large, name):
    def of_all(arrays, _):
        for each in list(arrays):
            if each.rpartition("_")[0] == name:
                arrays[each] = changed(arrays[each], "high")

    expected = answers(large, ASKED, stays=True)
    forge(large, of_all)
    assert answers(large, ASKED) == expected


@pytest.mark.parametrize("parts", [0, -1, 3, 1 << 40, "8", None])
def test_parts_of_another_number_are_not_used(large, monkeypatch, parts):
    forge(large, lambda arrays, note: note | {"parts": parts})
    assert not is_used(large, monkeypatch)


def test_where_nothing_was_compiled_the_tables_answer(large, monkeypatch):
    monkeypatch.setattr(mapped_postings, "CompiledPostings", None)
    assert not is_used(large, monkeypatch)


def test_positions_beyond_two_bytes_are_found(library, monkeypatch):
    as_commands(monkeypatch)
    words = "river bridge window garden letter summer station island morning bottle".split()
    filler = " ".join(words[number % 10] for number in range(66_000))
    library.write("long.md", f"{filler} first second {filler[:2000]} third")
    library.write("other.md", f"{filler} second first")
    library.update()
    note(library)
    assert is_used(library, monkeypatch, ['"first second"', '"second first"', '"third first"'])
