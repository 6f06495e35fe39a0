"""What cannot be searched by meaning is searched by words, or refused in words."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import partial

import pytest
from anyio import from_thread
from hypothesis import given, settings
from hypothesis import strategies as st

from qmd.errors import (
    ModelMissing,
    NotEmbedded,
    QmdError,
    QueryError,
    RuntimeMissing,
    TextTooLong,
)
from qmd.models.protocols import nothing
from qmd.models.registry import ENDPOINT
from qmd.operations.semantic_search import query, vector_search
from tests.library import FakeEmbedder, drawn
from tests.ranking.hybrid.asking import ask, assert_adds_up, files, found, garage, searched
from tests.ranking.test_questions import documents


@pytest.mark.parametrize("question", ["-tea", '-"green tea" -cup', "lex: -tea", "- -tea ?"])
def test_a_question_that_only_excludes_is_refused(town, question):
    for meaning in (True, False):
        with pytest.raises(QueryError, match="only says what to leave out"):
            ask(town, question, meaning=meaning, expand=True)


def test_a_question_without_a_word_still_has_a_meaning(town):
    assert found(town, "?!")
    assert found(town, "?!", meaning=False) == []


def test_a_query_by_meaning_alone_is_refused_where_meaning_is_not_searched(town):
    with pytest.raises(QueryError, match="only asks by meaning"):
        ask(town, "vec: tea\nhyde: A cup.", meaning=False)
    assert found(town, "vec: tea\nlex: cup", meaning=False) == ["tea.md"]


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
        [part] = answer[0].explain["lists"]
        assert part["kind"] == "lex"
        assert part["weight"] == 1
    with pytest.raises(error):
        ask(helped, "vec: drink\nhyde: A cup.")
    assert files(ask(helped, "tea", meaning=False)) == ["tea.md"]


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
        answer = ask(helped, question, collection=chosen)
        assert answer
        for result in answer:
            assert_adds_up(result, reranked=False)
        assert len(searched(answer)) == question.count(":") or 2


@pytest.fixture(scope="module")
def asked(town):
    """Asks a question; many of them in one loop of events."""
    with from_thread.start_blocking_portal() as portal:
        yield lambda document, **options: portal.call(
            partial(query, town.engine, document, **options)
        )


@settings(max_examples=300)
@given(documents, st.booleans())
def test_any_document_is_answered_or_refused_in_words(asked, document, meaning):
    with suppress(QmdError):
        answer = asked(document, meaning=meaning)
        assert all(math.isfinite(result.score) for result in answer)


LONG_TEXT = " ".join(["A car is in the garage"] + ["and more"] * 200)


@pytest.mark.parametrize("kind", ["vec", "hyde"])
def test_of_a_text_that_is_too_long_the_beginning_is_searched_and_the_others_whole(
    helped, fake, kind
):
    garage(helped)
    fake.made.clear()
    question = f"lex: car\n{kind}: {LONG_TEXT}\nvec: door"
    for _ in range(2):  # the second time its vector is remembered
        answer = ask(helped, question)
        assert searched(answer) == [("lex", "car"), (kind, LONG_TEXT), ("vec", "door")]
        assert answer.notice == (
            f"Only the beginning of '{kind}: {LONG_TEXT[: 40 - len(kind) - 2]}…' "
            "was searched by meaning: fake.gguf takes 60 tokens."
        )
    assert sorted(map(len, map(str.split, fake.made))) == [1, 58]  # two tokens stand around it
    assert LONG_TEXT.startswith(max(fake.made, key=len))


def test_a_question_by_meaning_alone_that_is_too_long_is_answered_with_a_notice(helped):
    garage(helped)
    answer = vector_search(helped.engine, LONG_TEXT)
    assert answer
    assert answer.notice.startswith("Only the beginning of 'A car is in the garage")
    assert ask(helped, f"vec: {LONG_TEXT}")


def test_a_text_is_cut_further_where_an_endpoint_counts_more_tokens_than_we_do(town, monkeypatch):
    models = town.engine.models
    remote = models.space()
    remote = remote._replace(model=remote.model._replace(uri=f"{ENDPOINT}other"))

    class Strict(FakeEmbedder):
        def embed(self, texts, *, between=nothing):
            if max(len(text.split()) for text in texts) > 20:
                raise TextTooLong(500, 60)
            return super().embed(texts, between=between)

    other = Strict(dimensions=8)
    monkeypatch.setattr(models, "embedder", lambda space: other)
    told = {}
    assert models.vectors(remote, ["car", LONG_TEXT], cut=told.__setitem__).shape == (2, 8)
    assert told == {LONG_TEXT: 15}
    other.limit = 0
    with pytest.raises(TextTooLong):
        models.vectors(remote, [LONG_TEXT])
