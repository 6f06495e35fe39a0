"""Columns of documents beside the index tell of all of them what the tables do."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qmd.operations.cleanup import cleanup
from qmd.ranking import bm25, copies
from qmd.ranking.lexicon import Strings, StringsBuilder
from qmd.storage.statements import data_folder
from tests.library import Library, examples
from tests.ranking.sidecars import another
from tests.ranking.test_holder import held, hold

WORDS = [f"word{number}" for number in range(80)]
TEXTS = {
    "first": "# Tea\n\n" + " ".join(WORDS),
    "nearly": "# Tea\n\n" + " ".join(WORDS[:70]) + " and the end is another",
    "reversed": "# Cup\n\n" + " ".join(reversed(WORDS)),
    "german": "Der Tee ist nicht mehr so heiß, und das ist auch gut so, denn wir haben noch Zeit.",
    "dutch": "---\nlang: nl\n---\nDe thee is heet.",
    "list": "# Lists\n\n" + "".join(f"- [[{name}]]\n" for name in "abcdefghij"),
    "short": "tea",
}
"""Texts by what they are: near-duplicates, in several languages, a list of links."""


def told(cursor):
    return bm25.statistics(cursor), copies.load(cursor)


@settings(max_examples=examples(24), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from("abcdefghijklmnop"),
            st.sampled_from(sorted(TEXTS)) | st.none(),
            max_size=6,
        ),
        min_size=1,
        max_size=3,
    ),
    st.booleans(),
)
def test_statistics_and_near_duplicates_are_those_of_the_tables(history, cleans):
    with tempfile.TemporaryDirectory() as folder:
        library = Library(Path(folder))
        for number, text in enumerate([*TEXTS.values(), *TEXTS.values()]):
            library.write(f"{'abcdefghijklmn'[number]}.md", text)
        library.update()
        with another(library) as engine:
            assert hold(engine) is not None
            engine.holder._price = 1000  # no new one is made by the way
            for step in history:
                for name, text in step.items():
                    if text is not None:
                        library.write(f"{name}.md", TEXTS[text])
                    else:
                        (library.root / f"{name}.md").unlink(missing_ok=True)
                library.update()
                if cleans:
                    cleanup(library.engine)
                    assert hold(engine) is not None
                engine.read(bm25.mapped)
                assert held(engine) is not None
                assert engine.read(told) == library.engine.read(told)
                assert library.ask("select count(*) - count(distinct revision) from documents") == [
                    (0,)
                ]
        library.engine.close()


@pytest.mark.parametrize("size", [0, 3, 8, 9, 64])
def test_strings_are_found_among_others_of_any_length(size):
    same = [f"{number:0{size}}"[:size] for number in (3, 1, 2, 1)]
    for texts in (same, [*same, "", "é" * size, "longer than the others"]):
        builder = StringsBuilder()
        builder.add(["before", *texts])
        data, bounds = builder.arrays()
        strings = Strings(data, bounds[1:])  # as a part of a larger array
        wanted = {"", same[1], "é" * size, "not there", "no"}
        expected = {(at, text) for at, text in enumerate(texts) if text in wanted}
        found = list(strings.among(wanted))
        assert set(found) == expected
        assert len(found) == len(expected)
        assert list(strings.among(())) == []


OF_FILES = {"size", "mtime_ns", "ctime_ns", "inode", "checksum", "modified", "dated"}
"""Columns that neither postings nor columns beside the index depend on."""


CHANGE = (
    r"(?:update|merge into|insert or \w+ into)\s+(?:\w+\.)?documents\b(.*?)(?=\sfrom\s|\swhere\s|$)"
)


def test_each_statement_that_changes_documents_gives_them_another_revision():
    folder, found = data_folder("sql"), {}
    for path in folder.rglob("*.sql"):
        for change in re.findall(CHANGE, path.read_text(), re.DOTALL):
            name = path.relative_to(folder).as_posix()
            found[name] = set(re.findall(r"(\w+) = ", change))
    assert found.keys() == {
        "collections/rename_documents.sql",
        "documents/put_lengths.sql",
        "documents/touch.sql",
    }
    assert {name for name, columns in found.items() if not columns <= OF_FILES} == {
        name for name, columns in found.items() if "revision" in columns
    }
