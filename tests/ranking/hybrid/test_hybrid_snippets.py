"""What is shown of a document that was found, and how an intent steers it."""

from __future__ import annotations

import pytest

from tests.ranking.hybrid.asking import ask

LETTER = "\n".join(
    [
        "# Letter",
        *("" for _ in range(3)),
        "The car is in the garage.",
        *(f"Line {n} of no importance." for n in range(20)),
        "In winter the car needs other wheels.",
        *(f"Line {n} of no importance." for n in range(20, 40)),
    ]
)


def shown(result):
    """The lines of a snippet, each with its number."""
    return {int(line.split(": ")[0]): line.split(": ", 1)[1] for line in result.snippet.split("\n")}


def assert_lines_are_true(result, text):
    lines = text.split("\n")
    assert {number: lines[number - 1] for number in shown(result)} == shown(result)
    assert result.line in shown(result)


@pytest.mark.parametrize("by", ["option", "document", "both"])
def test_an_intent_steers_the_snippet_and_the_judge_but_not_the_lists(helped, judge, by):
    helped.write("letter.md", LETTER)
    helped.write("other.md", "# Other\n\nAnother car.")
    helped.update()
    helped.embed()
    typed = "lex: car\nintent: " + {"document": "winter", "both": "garage"}.get(by, "")
    document = "lex: car" if by == "option" else typed
    intent = None if by == "document" else "winter"
    without = ask(helped, "lex: car", rerank=True, length=60, meaning=False)
    answer = ask(helped, document, rerank=True, length=60, intent=intent, meaning=False)
    assert [result.explain["lists"] for result in answer] == [
        result.explain["lists"] for result in without
    ]
    assert [question for question, _ in judge.asked] == ["car", "car\nwinter"]
    before, after = (
        next(result for result in each if result.file == "notes/letter.md")
        for each in (without, answer)
    )
    assert (before.line, after.line) == (5, 26)
    for result in (before, after):
        assert_lines_are_true(result, LETTER)


@pytest.mark.parametrize("embeds", [False, True])
def test_the_judge_sees_the_passage_that_an_intent_is_about(helped, judge, embeds):
    lines = [f"Line {n} of no importance." for n in range(1, 120)]
    lines[2] = "The performance of athletes is measured in seconds."
    lines[64] = "The performance of web page load times is measured in milliseconds."
    helped.write("speed.md", "\n".join(lines))
    helped.update()
    if embeds:
        helped.embed()
    document = "lex: performance\nintent: web page load times"
    [result] = ask(helped, document, rerank=True)
    [(_, [passage])] = judge.asked
    assert result.line == 65
    assert lines[64] in passage
    assert lines[2] not in passage


def test_a_snippet_is_of_the_passage_that_means_it_with_its_own_lines(helped):
    helped.configure(more="chunk: {tokens: 24, overlap: 0.1}")
    text = LETTER.replace("In winter the car needs", "The physician needs")
    helped.write("letter.md", text)
    helped.update()
    helped.embed()
    for question in ("vec: doctor", "doctor"):
        [result] = ask(helped, question, length=120)
        assert "The physician needs other wheels." in shown(result).values()
        assert_lines_are_true(result, text)
        [whole] = ask(helped, question, full=True)
        assert whole.body == text


def test_of_several_passages_the_nearest_is_shown(helped):
    helped.configure(more="chunk: {tokens: 24, overlap: 0}")
    text = LETTER.replace("In winter the car needs", "The physician needs")
    helped.write("letter.md", text)
    helped.update()
    helped.embed()
    weak, strong = "vec: a garage", "vec: the doctor needs other wheels"
    for question in (f"{weak}\n{strong}", f"{strong}\n{weak}"):
        [result] = ask(helped, question, length=60)
        assert result.line == 26
        assert_lines_are_true(result, text)


def test_words_are_shown_where_they_stand(helped):
    helped.write("letter.md", LETTER)
    helped.update()
    [result] = ask(helped, "winter wheels")
    assert result.line == 26
    assert_lines_are_true(result, LETTER)


def test_the_words_of_an_answer_are_those_of_the_question(helped):
    helped.write("letter.md", "# Letter\n\nIntent: to vec and lex the car.")
    helped.update()
    helped.embed()
    answer = ask(helped, "vec: vehicle\nintent: driving")
    assert answer.words == {"vehicle": "vehicle"}
    assert set(ask(helped, "lex: car\nvec: vehicle").words) == {"car"}
