"""The language of a document, and stems in it."""

from __future__ import annotations

import pytest

from qmd.ingest import inversion, retokenizer, verify
from qmd.ingest.inversion import tokenise
from qmd.ingest.vocabulary import Vocabulary
from qmd.text.languages import language, language_code
from qmd.text.stems import stem, terms

GERMAN = "Die Häuser der Stadt sind nicht für den Verkauf, und das Buch ist in einem Regal."
FRENCH = "Les maisons de la ville ne sont pas dans les jardins, et le cheval est sur une table."
ENGLISH = "The houses of the town are for sale, and this is what you get from that."


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (GERMAN, "de"),
        (FRENCH, "fr"),
        (ENGLISH, "en"),
        ("El perro no está en la casa de los vecinos y los gatos.", "es"),
        ("Книги лежат на столе", "ru"),
        ("Це українська мова, її їжа", "uk"),
        ("日本語の文章です。", "ja"),
        ("一個中文的句子", "zh"),
        ("한국어 문장입니다", "ko"),
        ("int main(void) { return 0; }", None),
        ("", None),
        ("1 2 3", None),
    ],
)
def test_a_text_tells_its_language(text, code):
    assert language(text) == code


@pytest.mark.parametrize(
    ("said", "code"),
    [("de", "de"), ("de-AT", "de"), ("German", "de"), ("deutsch", "de"), ("no such", None)],
)
def test_metadata_say_the_language(said, code):
    assert language_code(said) == code
    assert language(ENGLISH, f'{{"lang": "{said}"}}') == (code or "en")
    assert language(ENGLISH, f'{{"Language": "{said}"}}') == (code or "en")


def test_front_matter_tells_nothing():
    matter = f"---\nabstract: {GERMAN} {GERMAN}\n---\n"
    assert language(matter + ENGLISH, start=len(matter)) == "en"


def test_stems_are_folded():
    assert [stem(word, "de") for word in ("häuser", "haus", "bücher")] == ["haus", "haus", "buch"]
    assert stem("généralement", "fr") == "general"
    assert stem("houses", "xx") is None


@pytest.fixture
def notes(library):
    library.write("de.md", f"# Eins\n{GERMAN}\n")
    library.write("fr.md", f"# Un\n{FRENCH}\n")
    library.write("en.md", f"# One\n{ENGLISH}\n")
    library.write("said.md", "---\nlang: de\n---\nArbeiten, Bücher\n")
    library.update()
    return library


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("Haus", ["de.md"]),
        ("Hauses", ["de.md"]),
        ("Häuser", ["de.md"]),
        ("maison", ["fr.md"]),
        ("chevaux", ["fr.md"]),
        ("house", ["en.md"]),
        ("arbeitet", ["said.md"]),
        ("Buch", ["de.md", "said.md"]),
        ("Bücher", ["said.md", "de.md"]),
    ],
)
def test_a_word_finds_its_inflections_in_the_language_of_the_document(notes, asked, expected):
    assert sorted(notes.found(asked)) == sorted(expected)
    assert notes.problems() == []
    assert not any(verify.prove(notes.engine.database).values())


def test_the_line_with_an_inflection_is_shown(library):
    library.write("de.md", f"# Eins\n{GERMAN}\n\nViele Autos stehen auf den Straßen.\n")
    library.update()
    from qmd.operations.search import search

    [result] = search(library.engine, "Straße")
    assert result.line == 4


def test_documents_are_chosen_by_their_language(notes):
    assert sorted(notes.found("Buch", filter="lang = de")) == ["de.md", "said.md"]
    assert notes.found("Buch", filter="lang = en") == []
    assert sorted(notes.ask("select path, lang from documents")) == [
        ("de.md", "de"), ("en.md", "en"), ("fr.md", "fr"), ("said.md", "de"),
    ]  # fmt: skip


def test_an_index_of_before_gets_languages_and_stems(notes):
    def undo(cursor):
        run = cursor.connection.execute
        run("update documents set lang = null")
        run("update counters set value = 100 where name = 'stale_postings'")

    notes.engine.database.write(undo)
    assert retokenizer.retokenize(notes.engine.database) == 4
    assert dict(notes.ask("select path, lang from documents"))["de.md"] == "de"
    assert notes.found("Hauses") == ["de.md"]
    assert not any(verify.prove(notes.engine.database).values())


def test_a_batch_of_several_languages_is_that_of_each(monkeypatch):
    documents = [("Eins", "a.md", GERMAN), ("One", "b.md", ENGLISH), ("", "", "Häuser Haus")]
    codes = ["de", "", "de"]

    def rows(postings):
        offsets = postings.offsets.tolist()
        columns = (postings.term_id, postings.number, postings.body_frequency)
        return (
            [
                (*row, postings.positions[offsets[at] : offsets[at + 1]].tolist())
                for at, row in enumerate(zip(*columns, strict=True))
            ],
            postings.lengths.tolist(),
            postings.starts.tolist(),
        )

    made = rows(tokenise(documents, Vocabulary(terms), codes))
    assert made[0] == sorted(made[0])
    with monkeypatch.context() as patch:
        patch.setattr(inversion, "Words", None)
        assert rows(tokenise(documents, Vocabulary(terms), codes)) == made
    english = rows(tokenise(documents, Vocabulary(terms)))
    assert [row for row in english[0] if row[1] == 1] == [row for row in made[0] if row[1] == 1]
    assert len(made[0]) > len(english[0])
