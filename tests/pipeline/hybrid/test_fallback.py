"""What cannot be searched by meaning is searched by words, or refused in words."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import partial

import pytest
from anyio import from_thread
from hypothesis import given, settings
from hypothesis import strategies as st

from qmd.errors import ModelMissing, NotEmbedded, QmdError, QueryError, RuntimeMissing
from qmd.pipeline.hybrid import Recipe
from qmd.types import Filter
from tests.library import drawn
from tests.pipeline.hybrid.asking import ask, assert_adds_up, files, found, searched
from tests.text.test_questions import documents


@pytest.mark.parametrize("question", ["-tea", '-"green tea" -cup', "lex: -tea", "- -tea ?"])
def test_a_question_that_only_excludes_is_refused(town, question):
    for meaning in (True, False):
        with pytest.raises(QueryError, match="only says what to leave out"):
            ask(town, question, recipe=Recipe(meaning=meaning), expand=True)


def test_a_question_without_a_word_still_has_a_meaning(town):
    assert found(town, "?!")
    with pytest.raises(QueryError, match="no words to look for"):
        ask(town, "?!", recipe=Recipe(meaning=False))


def test_a_query_by_meaning_alone_is_refused_where_meaning_is_not_searched(town):
    with pytest.raises(QueryError, match="only asks by meaning"):
        ask(town, "vec: tea\nhyde: A cup.", recipe=Recipe(meaning=False))
    assert found(town, "vec: tea\nlex: cup", recipe=Recipe(meaning=False)) == ["tea.md"]


def no_vectors(library):
    pass


def no_model(library):
    library.embed()
    library.folder.joinpath("fake.gguf").unlink()


def no_runtime(library):
    library.embed()
    library.write("new.md", "# New\n\nNot embedded.")
    library.update()

    def missing(batch, between):
        raise RuntimeMissing("fake")

    library.engine.models._loaded["embed"][1].before = missing


def another_width(library):
    library.embed()
    fake = library.engine.models._loaded["embed"][1]
    fake.dimensions, fake.vector = 8, lambda text: drawn(text, 8)


@pytest.mark.parametrize(
    ("break_it", "error"),
    [
        (no_vectors, NotEmbedded),
        (no_model, ModelMissing),
        (no_runtime, RuntimeMissing),
        (another_width, NotEmbedded),
    ],
)
def test_where_meaning_cannot_be_searched_words_are_with_one_notice(helped, break_it, error):
    helped.write("tea.md", "# Tea\n\nA cup of tea.")
    helped.write("car.md", "# Car\n\nA car.")
    helped.update()
    break_it(helped)
    for question in ("tea", "vec: drink\nlex: tea"):
        answer = ask(helped, question)
        assert files(answer) == ["tea.md"]
        assert answer.notice.startswith("Searched by words alone. ")
        assert "\n" not in answer.notice
        [part] = answer.results[0].explain["lists"]
        assert part["kind"] == "lex"
        assert part["weight"] == 1
    with pytest.raises(error):
        ask(helped, "vec: drink\nhyde: A cup.")
    assert files(ask(helped, "tea", recipe=Recipe(meaning=False))) == ["tea.md"]


def test_documents_without_vectors_are_found_by_words_and_told_of(helped):
    helped.write("car.md", "# Car\n\nA car.")
    helped.update()
    helped.embed()
    helped.write("new.md", "# New car\n\nA new car.")
    helped.update()
    answer = ask(helped, "new car")
    assert set(files(answer)) == {"car.md", "new.md"}
    assert answer.notice == "Documents that lack vectors: 1 of 2. Run 'qmd embed'."


@pytest.mark.parametrize(
    "question", ["roasted beans", "lex: roasted\nvec: drink\nlex: zebra\nhyde: A cup."]
)
def test_what_is_found_by_words_alone_adds_up_where_nothing_chosen_has_a_vector(helped, question):
    helped.configure("new")
    helped.write("tea.md", "# Tea\n\nRoasted leaves.")
    helped.write("coffee.md", "# Coffee\n\nBeans that were roasted.", collection="new")
    helped.update()
    helped.embed("notes")
    for chosen in (("new",), ("notes",), ("new", "notes")):
        answer = ask(helped, question, among=Filter(chosen))
        assert answer.results
        for result in answer.results:
            assert_adds_up(result, reranked=False)
        assert len(searched(answer)) == question.count(":") or 2


@pytest.fixture(scope="module")
def asked(town):
    """Asks a question; many of them in one loop of events."""
    with from_thread.start_blocking_portal() as portal:
        yield lambda document, **options: portal.call(
            partial(town.engine.query, document, **options)
        )


@settings(max_examples=1000)
@given(documents, st.booleans())
def test_any_document_is_answered_or_refused_in_words(asked, document, meaning):
    with suppress(QmdError):
        answer = asked(document, recipe=Recipe(meaning=meaning))
        assert all(math.isfinite(result.score) for result in answer.results)
