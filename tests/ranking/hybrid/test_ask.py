"""Answers that a model writes from passages, each sentence compared with what it cites."""

from __future__ import annotations

import io
import json

import anyio
import pytest
from starlette.testclient import TestClient

from qmd.errors import ModelError, TextTooLong, UsageError
from qmd.operations.ask import NOT_THERE, ask
from qmd.surfaces.http.rest import routes
from qmd.surfaces.tools.dispatch import Toolbox
from qmd.text.citations import CitedSentence, has_numbers, sentences, shared_words


def asked(library, question="how hot is the water for tea", **named):
    return anyio.run(lambda: ask(library.engine, question, **named))


@pytest.fixture
def notes(helped):
    helped.write("tea.md", "# Green tea\n\nThe water for green tea should have 80 degrees.\n")
    helped.write("coffee.md", "# Coffee\n\nBrewing coffee with hot water takes four minutes.\n")
    helped.update()
    helped.embed()
    return helped


def test_an_answer_has_its_sources(notes, writer):
    writer.says = "The water should have 80 degrees [1]."
    answer = asked(notes)
    assert answer.text == "The water should have 80 degrees. [1]"
    assert answer.passages[0].file == "notes/tea.md"
    [(prompt, grammar, _)] = writer.asked
    assert "[1] notes/tea.md:" in prompt
    assert prompt.endswith("Question: how hot is the water for tea\nAnswer:")
    assert grammar is None


@pytest.mark.parametrize(
    ("says", "text"),
    [
        ("The water should have 95 degrees [1].", "The water should have 95 degrees. [1] [?]"),
        ("The water should have 80 degrees.", "The water should have 80 degrees. [?]"),
        ("The water should have 80 degrees [9].", "The water should have 80 degrees. [9] [?]"),
        ("Elephants dream quietly sideways [1].", "Elephants dream quietly sideways. [1] [?]"),
        ("<think>Well [1].</think>The green tea water [1].", "The green tea water. [1]"),
    ],
)
def test_a_sentence_that_its_passage_does_not_say_is_marked(notes, writer, says, text):
    writer.says = says
    assert asked(notes).text == text


@pytest.mark.parametrize("says", ["NOT_FOUND", "Not_found.", "", "not found"])
def test_what_the_model_does_not_find_is_not_in_the_documents(notes, writer, says):
    writer.says = says
    answer = asked(notes)
    assert (answer.found, answer.text) == (False, NOT_THERE)


def test_without_evidence_no_model_is_asked(notes, writer):
    answer = asked(notes, "zanzibar xylophone quarks")
    assert (answer.text, answer.model, writer.asked) == (NOT_THERE, None, [])


def test_without_a_chosen_model_nothing_is_asked(notes, writer):
    machine = notes.engine.models.machine
    chosen = {role: name for role, name in machine.chosen.items() if role != "generate"}
    notes.engine.models.machine = machine._replace(chosen=chosen)
    with pytest.raises(ModelError, match="generate: openai:NAME"):
        asked(notes)
    assert writer.asked == []


def test_a_further_question_is_asked_with_those_before(notes, writer):
    writer.says = "Four minutes [1]."
    asked(notes, "and the coffee?", earlier=[("how hot is tea", "80 degrees [1]")])
    assert "Question: how hot is tea\nAnswer: 80 degrees [1]\n" in writer.asked[0][0]
    with pytest.raises(UsageError, match="pairs"):
        asked(notes, earlier=["tea"])


def test_a_model_with_little_room_reads_fewer_passages(notes, writer):
    writer.says = "The water should have 80 degrees [1]."

    def before(_):
        if len(writer.asked) == 0 and not writer.refused:
            writer.refused = True
            raise TextTooLong(5000, 4096)

    writer.refused = False
    writer.before = before
    answer = asked(notes)
    assert writer.refused
    assert [each.file for each in answer.passages] == ["notes/tea.md"]


def test_programs_ask_over_http(notes, writer):
    from starlette.applications import Starlette

    writer.says = "The water should have 80 degrees [1]."
    client = TestClient(Starlette(routes=routes(Toolbox(notes.engine))))
    told = client.post("/ask", json={"question": "how hot is the water for tea"}).json()
    assert told["answer"] == "The water should have 80 degrees. [1]"
    assert told["passages"][0]["file"] == "notes/tea.md"
    for body in (
        {},
        {"question": " "},
        {"question": "x", "more": 1},
        {"question": "x", "earlier": [1]},
    ):
        assert client.post("/ask", json=body).status_code in (400, 500)


def test_sentences_are_split_with_their_citations():
    found = sentences(
        "It has 80 °C [1]. Two minutes. [2, 3]\n- Never boil it [1][2].\n茶是绿的。[1]"
    )
    assert found == [
        CitedSentence("It has 80 °C.", (1,)),
        CitedSentence("Two minutes.", (2, 3)),
        CitedSentence("- Never boil it.", (1, 2)),
        CitedSentence("茶是绿的。", (1,)),
    ]
    assert has_numbers("80 of 2", "2 and 80")
    assert not has_numbers("80", "8")
    assert shared_words("brewing green", "brew the greens") == 1.0
    assert shared_words("nothing shared", "tea") == 0.0


def test_people_ask_on_the_command_line(qmd, tmp_path, monkeypatch, writer):
    root = tmp_path / "notes"
    root.mkdir()
    (root / "tea.md").write_text("# Green tea\n\nThe water for green tea should have 80 degrees.\n")
    for number in range(9):
        (root / f"{number}.md").write_text(f"# Note {number}\n\nSomething else.\n")
    assert qmd("collection", "add", root)[0] == 0
    code, _, err = qmd("ask", "how hot is the water for tea")
    assert (code, "No model is chosen" in err) == (1, True)
    model = tmp_path / "writer.gguf"
    model.write_bytes(b"GGUF")
    monkeypatch.setenv("QMD_GENERATE_MODEL", str(model))
    writer.says = "It should have 80 degrees [1]. It is blue [1]."
    code, out, err = qmd("ask", "how hot is the water for tea")
    assert (code, out) == (
        0,
        "It should have 80 degrees. [1]\nIt is blue. [1] [?]\n\n[1] notes/tea.md:1-3\n",
    )
    assert "[?] stands behind" in err
    told = json.loads(qmd("ask", "how hot is the water for tea", "--json")[1])
    assert [each["supported"] for each in told["sentences"]] == [True, False]
    monkeypatch.setattr("sys.stdin", io.StringIO("and how hot?\n\n"))
    assert qmd("ask", "water for tea", "--session")[1].count("80 degrees") == 2
