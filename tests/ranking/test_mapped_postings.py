"""Postings of a sidecar, as a command that ends after one search uses them."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qmd import processes
from qmd.operations.index import Index
from qmd.ranking import (
    mapped_postings,
    postings,
    postings_loader,
    segment_check,
    sidecar_file,
)
from qmd.ranking.inverted_index import Inverted
from qmd.storage import file_version
from tests.library import Library, examples, staying_attached
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
    fill(library)
    note(library)
    return library


def fill(library):
    """Index two notes."""
    library.write("tea.md", "# Green tea\n\nIn a teaPot, with water.")
    library.write("cup.md", "A cup of milk, and of green tea.")
    library.update()


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
        with staying_attached(engine.database) if stays else nullcontext():
            return [answer(engine, text, **options) for text in questions]
    finally:
        engine.close()


def is_used(library, patch, questions=ASKED, expected=None, **options):
    """Check that a command answers as the tables do; return whether it used the sidecar.

    Args:
        expected: answers of the tables, where they are known.
    """
    maps = []
    real = mapped_postings._mapped

    def mapped(*given):
        maps.append(real(*given))
        return maps[-1]

    with patch.context() as patched:
        patched.setattr(mapped_postings, "_mapped", mapped)
        if expected is None:
            expected = answers(library, questions, stays=True, **options)
        assert maps == []
        assert answers(library, questions, **options) == expected
    return any(each is not None for each in maps)


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
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


def test_a_sidecar_that_was_found_whole_is_not_read_again_after_a_change(large, monkeypatch):
    def never(*_, **__):
        raise AssertionError

    large.write("new.md", "More milk in a cup.")
    large.update()
    large.engine.close()
    with monkeypatch.context() as patch:
        patch.setattr(sidecar_file, "_checksum", never)
        patch.setattr(segment_check, "is_whole", never)
        note(large)
    assert is_used(large, monkeypatch, ["milk cup"])


def test_another_sidecar_is_read_after_a_change(large, monkeypatch):
    large.write("new.md", "More milk in a cup.")
    large.update()
    large.engine.close()
    content = bytearray(sidecar(large).read_bytes())
    content[100] ^= 1
    sidecar(large).write_bytes(content)
    note(large)
    assert sidecar(large).read_bytes() != content
    assert is_used(large, monkeypatch, ["milk cup"])


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
