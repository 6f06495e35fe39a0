"""Scores in scripts without spaces: pairs of characters overlap, so not all of them are words."""

from __future__ import annotations

import pytest

from qmd.ranking import bm25, query
from qmd.ranking.runs_of_pairs import share_of_pairs

NOTES = {
    "tea.md": "緑茶は八十度のお湯で二分間淹れる。",
    "rice.md": "新米は水を少なめにして炊く。",
    "river.md": "大雨の後に川の水位が上がった。",
    "mail.md": "サーバーの証明書が期限切れになった。",
    "thai.md": "ชาเขียวชงด้วยน้ำร้อนแปดสิบองศา",
    "korean.md": "녹차는 팔십 도의 물로 이 분간 우린다.",
}


def attained(library, text):
    """The share of the highest possible score, of the best document."""
    found = library.engine.read(lambda cursor: bm25.scored(cursor, query.parse(text), limit=9))
    return found.scores[0][1] / found.most if found.scores else 0.0


@pytest.fixture
def notes(library):
    for path, text in NOTES.items():
        library.write(path, f"{text}\n")
    library.update()
    return library


def test_pairs_between_the_words_of_a_question_cost_it_little(notes, monkeypatch):
    question = "緑茶を淹れるには何度のお湯がよいですか"
    found = attained(notes, question)
    monkeypatch.setattr("qmd.ranking.query_terms.share_of_pairs", lambda *_: {})
    assert found > 1.3 * attained(notes, question)


def test_a_pair_that_no_document_has_counts_if_nothing_else_can_be_the_word(notes):
    assert attained(notes, "緑茶") > 1.5 * attained(notes, "茶緑")


@pytest.mark.parametrize(
    ("text", "having", "expected"),
    [
        ("緑茶", ["緑茶"], {"緑茶": 1}),
        ("緑茶", [], {"緑茶": 1}),
        ("緑茶湯", ["緑茶", "茶湯"], {"緑茶": 1 / 2, "茶湯": 1 / 2}),
        ("緑茶湯", ["緑茶"], {"緑茶": 1, "茶湯": 0}),
        ("緑茶の湯", ["緑茶"], {"緑茶": 1, "茶の": 1 / 2, "の湯": 1 / 2}),
        ("緑茶 の湯", ["緑茶"], {"緑茶": 1, "の湯": 1}),
        ("緑茶の 緑茶", ["緑茶", "茶の"], {"緑茶": 3 / 4, "茶の": 1 / 2}),
        ("green e-mail", ["green"], {}),
    ],
)
def test_a_run_counts_as_many_pairs_as_fit_side_by_side(text, having, expected):
    asked = query.parse(text)
    term = {word: number for number, word in enumerate(dict.fromkeys(asked.words))}
    documents = {number: int(word in having) for word, number in term.items()}
    shares = share_of_pairs(asked, term, documents)
    assert shares == {term[word]: share for word, share in expected.items()}
