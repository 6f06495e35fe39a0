"""A reader that stays gives what it has shown before only where nothing differs."""

from __future__ import annotations

import pytest

from qmd.operations.index import Index
from qmd.operations.search import search
from qmd.ranking import bm25 as ranked

TEXT = "# Tea\n\n" + "\n".join(f"Green tea {number} in the pot" for number in range(40))


@pytest.fixture
def warm(library):
    """A library whose index stays attached."""
    library.engine.close()
    library.engine = Index(library.engine.place, library.engine.models.machine, warm=True)
    library.write("tea.md", TEXT)
    library.update()
    yield library
    library.engine.close()


def shown(library, text="tea", **form):
    [result] = search(library.engine, text, **form)
    return result


def test_each_form_has_its_own(warm):
    forms = [{}, {"length": 60}, {"full": True}, {"length": 60, "full": True}]
    first = [shown(warm, **form) for form in forms]
    assert len(set(first)) == len(forms)
    assert [bool(each.body) for each in first] == [False, False, True, True]
    assert [shown(warm, **form) for form in forms] == first


def test_each_question_has_its_own(warm):
    questions = ["tea", "pot", "17", "tea 17", "green tea"]
    first = [shown(warm, text) for text in questions]
    assert {each.line for each in first} > {1, 20}
    assert len({each.score for each in first}) > 1
    assert [shown(warm, text) for text in questions] == first


def test_each_filter_has_its_own(warm):
    for _ in range(2):
        found = [search(warm.engine, "tea", since=day) for day in ("2100-01-01", None)]
        assert [len(each) for each in found] == [0, 1]


def test_nothing_is_done_twice(warm, monkeypatch):
    first = shown(warm)

    def never(*_, **__):
        raise AssertionError

    monkeypatch.setattr(ranked, "_scored", never)
    monkeypatch.setattr(ranked, "documents", never)
    assert shown(warm) == first
    with pytest.raises(AssertionError):
        shown(warm, "pot")


def test_what_a_caller_does_to_an_answer_changes_no_other(warm):
    for _ in range(2):
        answer = search(warm.engine, "tea")
        assert answer.words == {"tea": "tea"}
        answer.words["cup"] = "cup"
    assert shown(warm)


def test_what_very_many_words_stand_for_is_not_remembered(warm):
    warm.write("words.md", " ".join(f"pro{number}x" for number in range(1500)))
    warm.update()
    for number in range(5):
        assert len(search(warm.engine, f"pro asked{number}")) == 1
    shown(warm)
    seen = warm.engine.database._seen
    assert (len(seen.of("rankings")), len(seen.of("results"))) == (1, 1)


def test_what_describes_it_is_always_the_latest(warm):
    assert shown(warm).context is None
    for told in ("what we drink", "what we pour"):
        warm.configure(more=f"global_context: {told}")
        assert [shown(warm).context for _ in range(2)] == [told, told]
