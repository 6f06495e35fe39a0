"""A reader that stays gives what it has shown before only where nothing differs."""

from __future__ import annotations

import pytest

from qmd.engine import Engine

TEXT = "# Tea\n\n" + "\n".join(f"Green tea {number} in the pot" for number in range(40))


@pytest.fixture
def warm(library):
    """A library whose index stays attached."""
    library.engine.close()
    library.engine = Engine(library.engine.place, library.engine.models.machine, warm=True)
    library.write("tea.md", TEXT)
    library.update()
    yield library
    library.engine.close()


def shown(library, text="tea", **form):
    [result] = library.engine.search(text, **form).results
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


def test_what_describes_it_is_always_the_latest(warm):
    assert shown(warm).context is None
    for told in ("what we drink", "what we pour"):
        warm.configure(more=f"global_context: {told}")
        assert [shown(warm).context for _ in range(2)] == [told, told]
