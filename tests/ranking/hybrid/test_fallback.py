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
from qmd.ranking.expansion import FIRST
from qmd.settings.environment import Machine
from tests.library import FakeEmbedder, Library, drawn
from tests.ranking.hybrid.asking import (
    RRF,
    ask,
    assert_adds_up,
    files,
    found,
    garage,
    searched,
    weights,
)
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


def test_a_question_in_a_script_that_the_model_does_not_know_is_answered_by_words(tmp_path, fake):
    library = Library(tmp_path, Machine(hub=tmp_path / "hub"))
    library.write("onsen.md", "# 温泉\n\n有馬温泉へ行きました。")
    library.write("hot.md", "# 温泉\n\n温泉。")
    library.write("tea.md", "# Tea\n\nIn English.")
    library.update()
    library.embed()
    assert library.engine.models.space().model.languages == "en"
    assert found(library, "有馬温泉")[0] == "onsen.md"
    for options, weight in (({}, 1), (RRF, FIRST)):
        answer = ask(library, "有馬温泉", **options)
        assert weights(answer) == [weight]
        assert answer.notice.startswith("Searched by words alone: minilm knows English only.")
    assert weights(ask(library, "tea")) == [0.45, 0.55]
    library.engine.close()


def test_who_asks_by_meaning_alone_in_such_a_script_is_told_that_it_is_chance(tmp_path, fake):
    library = Library(tmp_path, Machine(hub=tmp_path / "hub"))
    library.write("onsen.md", "# 温泉\n\n有馬温泉へ行きました。")
    library.update()
    library.embed()
    library.write("new.md", "# New\n\nWithout a vector.")
    library.update()
    by_meaning = vector_search(library.engine, "有馬温泉", min_score=-1)
    for answer in (ask(library, "vec: 有馬温泉"), by_meaning):
        assert files(answer) == ["onsen.md"]
        chance, lacking = answer.notice.splitlines()
        assert chance.startswith("What is found by meaning is chance: minilm knows English only.")
        assert lacking.startswith("Documents that lack vectors: 1 of 2.")
    assert "chance" not in vector_search(library.engine, "温 tea and coffee").notice
    library.engine.close()


def test_a_word_that_no_document_has_is_replaced_in_a_plain_question(helped):
    helped.write("wall.md", "The insulation of a wall.")
    helped.write("roof.md", "The slates of a roof.")
    helped.update()
    answer = ask(helped, "insulaton", mode="fast")
    assert files(answer) == ["wall.md"]
    assert found(helped, "insulaton", mode="fast", exact=True) == []


def test_a_document_without_a_vector_comes_first_if_its_words_answer_best(helped):
    helped.write("red.md", "A red car stands in the yard.")
    helped.write("blue.md", "The vehicle is blue.")
    helped.update()
    helped.embed()
    helped.write("new.md", "To wash a car.")
    helped.update()
    first = ask(helped, "wash the car")[0]
    assert first.file == "notes/new.md"
    # Its words stand for the meaning that is not known.
    words, meaning = first.explain["lists"]
    assert meaning["contribution"] / 0.55 == pytest.approx(words["contribution"] / 0.45)
    assert first.score == pytest.approx(words["contribution"] / 0.45)
