"""A model adds searches to a question, and what its failure costs."""

from __future__ import annotations

import re

import pytest

from qmd.ranking import expansion_prompt
from tests.ranking.hybrid.asking import (
    RRF,
    ask,
    assert_adds_up,
    files,
    found,
    searched,
    shelf,
    weights,
)
from tests.ranking.hybrid.fakes import SHORT, fail, never


def expanding(question):
    """What a model is asked that has no prompt of its own."""
    return expansion_prompt.EXPAND.replace("{text}", question)


def test_a_question_is_searched_in_the_words_of_a_model_too(helped, writer):
    shelf(helped)
    writer.says = "lex: tea leaves\nvec: what to brew tea from\nhyde: Tea is brewed from leaves.\n"
    answer = ask(helped, "tea", expand=True)
    assert searched(answer) == [
        ("lex", "tea"),
        ("vec", "tea"),
        ("lex", "tea leaves"),
        ("vec", "what to brew tea from"),
        ("hyde", "Tea is brewed from leaves."),
    ]
    assert weights(answer) == [0.3, 0.275, 0.15, 0.1375, 0.1375]
    lists = ask(helped, "tea", expand=True, **RRF)[0].explain["lists"]
    assert {(part["query"] == "tea", part["weight"]) for part in lists} == {(True, 2), (False, 1)}
    assert writer.asked == [
        (expanding("tea"), expansion_prompt.GRAMMAR, expansion_prompt.EXPANSION_TOKENS)
    ]
    assert "mate.md" in files(answer)
    for result in answer:
        assert_adds_up(result, reranked=False)


def test_an_expansion_is_made_once_for_each_question_and_intent(helped, writer):
    shelf(helped)
    writer.says = "lex: tea leaves\n"
    first = ask(helped, "tea", expand=True)
    assert ask(helped, "tea", expand=True) == first
    assert len(writer.asked) == 1
    ask(helped, "tea", expand=True, intent="cooking")
    ask(helped, "warm tea", expand=True)
    assert [prompt for prompt, _, _ in writer.asked] == [
        expanding(text) for text in ("tea", "tea\nContext: cooking", "warm tea")
    ]
    assert helped.ask("select kind, count(*) from cache group by kind") == [("expansion", 3)]


def test_nothing_is_expanded_unless_it_is_asked_for_or_if_the_searches_are_typed(helped, writer):
    shelf(helped)
    ask(helped, "tea")
    ask(helped, "lex: tea\nvec: drink", expand=True)
    assert writer.asked == []


BAD_LINES = """
lex: warm TEA
vec: Warm  tea?
lex: warm drink
vec: something hot
lex: tea leaves
vec: Tea  leaves.
lex:
lex: "tea
lex: -tea
intent: tea
tea
"""
"""Of an expansion of "warm tea"; one of them is good."""


def test_a_line_that_says_nothing_new_or_has_lost_the_rarest_word_is_dropped(helped, writer):
    shelf(helped)
    for number in range(6):
        helped.write(f"warm{number}.md", f"# Warm {number}\n\nSomething warm, and a drink.")
    helped.update()
    writer.says = BAD_LINES + "vec: why tea\n"
    answer = ask(helped, "warm tea", expand=True)
    assert searched(answer)[2:] == [("lex", "tea leaves"), ("vec", "why tea")]


def test_what_a_model_excludes_is_excluded_from_its_own_list_alone(helped, writer):
    shelf(helped)
    writer.says = "lex: tea -warm\nvec: what tea is\n"
    assert "tea0.md" in found(helped, "tea", expand=True)


def test_what_a_question_excludes_is_not_found_by_its_expansion_either(helped, writer):
    shelf(helped)
    writer.says = "lex: leaves of tea\nvec: leaves of tea, a warm drink\n"
    assert set(found(helped, "leaves -warm", expand=True)) == {"mate.md", "coffee.md"}


def test_a_question_without_words_is_expanded_and_still_answered(helped, writer):
    shelf(helped)
    writer.says = "lex: tea\nvec: warm drink\n"
    assert found(helped, "?", expand=True)[0].startswith("tea")


def test_words_that_have_one_clear_answer_need_no_expansion(helped, writer):
    for number in range(40):
        helped.write(f"{number}.md", f"# Note {number}\n\nOf this and that.")
    helped.write("samovar.md", "# Russian samovar\n\nThe Russian samovar.")
    helped.update()
    helped.embed()
    writer.says = "lex: samovar tea\n"
    answer = ask(helped, "Russian samovar", expand=True)
    assert (answer[0].file, writer.asked) == ("notes/samovar.md", [])
    ask(helped, "Russian samovar", expand=True, intent="cooking")
    assert len(writer.asked) == 1
    helped.write("copy.md", "# Russian samovar\n\nThe Russian samovar.")
    helped.update()
    ask(helped, "Russian samovar", expand=True)
    assert len(writer.asked) == 2


@pytest.mark.parametrize(
    ("before", "reason"), [(fail, "It broke."), (never, "The model took longer than 0.05 s.")]
)
def test_a_model_that_does_not_expand_leaves_the_plain_search(helped, writer, before, reason):
    shelf(helped)
    plain = ask(helped, "tea", timeout=SHORT)
    writer.before = before
    answer = ask(helped, "tea", expand=True, timeout=SHORT)
    assert answer == plain
    assert answer.notice == f"The question was not expanded. {reason}"
    assert helped.ask("select count(*) from cache") == [(0,)]
    writer.before = lambda between: None
    assert ask(helped, "tea", expand=True).notice is None


def test_a_missing_model_is_told_of_once_for_each_that_was_wanted(helped, writer):
    shelf(helped)
    file = str(helped.folder / "absent.gguf")
    chosen = {**helped.engine.models.machine.chosen, "generate": file, "rerank": file}
    helped.engine.models.machine = helped.engine.models.machine._replace(chosen=chosen)
    answer = ask(helped, "tea", expand=True, rerank=True)
    assert answer == ask(helped, "tea")
    expanding, reranking = answer.notice.split("\n")
    assert expanding.startswith("The question was not expanded. The model absent.gguf is not here")
    assert reranking.startswith("The results were not reranked. The model absent.gguf is not here")


def test_a_tiny_model_expands_by_the_grammar(meaning, tiny_generator):
    chosen = {**meaning.engine.models.machine.chosen, "generate": str(tiny_generator)}
    meaning.engine.models.machine = meaning.engine.models.machine._replace(chosen=chosen)
    for number in range(3):
        meaning.write(f"{number}.md", f"# River {number}\n\nThe river is high today.")
    meaning.update()
    meaning.embed()
    answer = ask(meaning, "river", expand=True)
    assert answer.notice is None
    kinds = [kind for kind, _ in searched(answer)]
    assert kinds[:2] == ["lex", "vec"]
    assert len(kinds) > 2
    assert {"lex", "vec"} >= set(kinds) - {"hyde"}
    [(text,)] = meaning.ask("select value ->> '$' from cache where kind = 'expansion'")
    lines = text.splitlines()
    assert re.fullmatch(
        "(lex ){1,3}(vec ){1,2}(hyde )?", "".join(x.split(":")[0] + " " for x in lines)
    )
    assert ask(meaning, "river", expand=True) == answer
