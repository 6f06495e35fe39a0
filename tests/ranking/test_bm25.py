"""Scores are exact after any history, and those of a plain reading of the formula."""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qmd.ingest import inversion
from qmd.operations.index import Index
from qmd.operations.search import search
from qmd.ranking import bm25, postings, query
from qmd.ranking.postings import COMMON
from qmd.ranking.query_terms import ACCENTED, PREFIX_WEIGHT
from qmd.storage import extensions
from qmd.text import tokenizer as words
from qmd.text.hashes import accented_id
from qmd.text.stems import terms
from tests.library import Library

VOCABULARY = (
    "error errors handling handle handler config configuration parse_json parseJson tea "
    "Zürich zurich 日本語 日本 1.2 the of Running"
).split()
QUERIES = ("error handling", "config", "the parse", "zurich tea tea", "日本", "running of json")

texts = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=12).map(" ".join)
paths = st.sampled_from([f"{folder}{name}.md" for folder in ("", "sub/") for name in "abcd"])
steps = st.one_of(
    st.tuples(st.just("write"), paths, texts),
    st.tuples(st.just("delete"), paths, st.just("")),
    st.tuples(st.just("rename"), paths, paths),
)


def terms_in(text: str) -> list[int]:
    """Terms of a text, as often as they occur."""
    folded = [piece for raw in words.split(text) for piece, _ in words.pieces(raw)[1]]
    distinct = list(dict.fromkeys(folded))
    number = dict(zip(distinct, (term for term, _ in terms(distinct)), strict=True))
    return [number[word] for word in folded]


def reference(files: dict[str, str], text: str) -> dict[str, float]:
    """The share that each file has of all BM25 that a query of plain words can have."""
    title = {path: Path(path).stem for path in files}
    counted = {
        path: [Counter(terms_in(field)) for field in (title[path], path, body)]
        for path, body in files.items()
    }
    weights = (4, 1.5, 1)
    length = {
        path: sum(w * sum(c.values()) for w, c in zip(weights, fields, strict=True))
        for path, fields in counted.items()
    }
    average = sum(length.values()) / len(files)
    holders = Counter(term for fields in counted.values() for term in set().union(*fields))
    asked = query.parse(text)
    wanted = Counter[int]()
    for word in asked.words:
        wanted[terms_in(word)[0]] += 1
    met = {
        piece
        for path, body in files.items()
        for field in (title[path], path, body)
        for raw in words.split(field)
        for piece, _ in words.pieces(raw)[1]
    }
    # Each word of the query, and the longer words that start with a rare one as one more.
    clauses = [({term}, float(times)) for term, times in wanted.items()]
    for word in dict.fromkeys(asked.words):
        if word in asked.grams or len(word) < 3 or holders[terms_in(word)[0]] >= COMMON:
            continue
        longer = {terms_in(other)[0] for other in met if other.startswith(word)} - wanted.keys()
        clauses.append((longer, PREFIX_WEIGHT))
    scores = Counter[str]()
    most = 0.0
    for number, (clause, weight) in enumerate(clauses):
        frequencies = {
            path: sum(
                4 * fields[0][term] + 1.5 * fields[1][term] + fields[2][term] for term in clause
            )
            for path, fields in counted.items()
        }
        having = sum(frequency > 0 for frequency in frequencies.values())
        idf = math.log(1 + (len(files) - having + 0.5) / (having + 0.5))
        for path, frequency in frequencies.items():
            norm = 1.5 * (0.25 + 0.75 * length[path] / average)
            if frequency:
                scores[path] += weight * idf * frequency * 2.5 / (frequency + norm)
            if number < len(wanted):  # spellings with accents are not what was asked for
                [term] = clause
                counts = [field[accented_id(term)] for field in counted[path]]
                spelt = sum(w * count for w, count in zip(weights, counts, strict=True))
                if spelt:
                    scores[path] -= ACCENTED * weight * idf * spelt * 2.5 / (spelt + norm)
        if number < len(wanted):  # longer words are beyond what is asked for
            most += weight * idf * 2.5
    return {path: min(score / most, 1) for path, score in scores.items()}


def answers(library: Library, text: str) -> dict[str, float]:
    """What the index answers."""
    results = search(library.engine, text, limit=100)
    return {result.file.removeprefix("notes/"): result.score for result in results}


def carry_out(library: Library, step: tuple[str, str, str]) -> None:
    kind, path, value = step
    file = library.root / path
    if kind == "write":
        library.write(path, value)
    elif kind == "delete":
        file.unlink(missing_ok=True)
    elif file.exists():
        (library.root / value).parent.mkdir(exist_ok=True)
        file.rename(library.root / value)


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.lists(steps, min_size=1, max_size=4), min_size=1, max_size=4))
def test_scores_are_those_of_the_formula_after_any_history(history):
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as other:
        library = Library(Path(name))
        stays = Index(library.engine.place, warm=True)
        for batch in history:
            for step in batch:
                carry_out(library, step)
            with pytest.MonkeyPatch.context() as patch:
                if len(batch) % 2:
                    patch.setattr(inversion, "Words", None)
                library.update(removes=True)
            for text in QUERIES:  # what was found before is not remembered too long
                assert search(stays, text) == search(library.engine, text)
        stays.close()
        files = {
            str(file.relative_to(library.root)): file.read_text(encoding="utf-8")
            for file in library.root.rglob("*.md")
        }
        fresh = Library(Path(other))
        for path, text in files.items():
            fresh.write(path, text)
        fresh.update()
        for text in QUERIES if files else ():
            expected = reference(files, text)
            found = answers(library, text)
            assert found.keys() == expected.keys()
            assert all(math.isclose(found[p], expected[p], rel_tol=1e-6) for p in expected)
            assert list(search(library.engine, text, limit=5)) == list(
                search(fresh.engine, text, limit=5)
            )


@pytest.mark.skipif(extensions.binary("fts") is None, reason="it is not installed")
def test_scores_are_those_of_the_fts_extension_where_both_mean_the_same(library):
    """The extension is an oracle of its own: same words, one field, no stems, k1 and b equal."""
    import duckdb

    from qmd.storage.extensions import UNCHECKED, load

    bodies = {f"{n}.md": " ".join(["tea"] * n + ["water"] * (7 - n) + ["cup"]) for n in range(1, 7)}
    for path, body in bodies.items():
        library.write(path, body)
    library.update()
    connection = duckdb.connect(config=UNCHECKED)
    load(connection, "fts")
    connection.execute("create table documents (path text, body text)")
    rows = [(path, f"{Path(path).stem} {path} {body}") for path, body in bodies.items()]
    connection.executemany("insert into documents values (?, ?)", rows)
    connection.execute(
        "pragma create_fts_index('documents', 'path', 'body', stemmer='none', stopwords='none', "
        "ignore='(\\W)+')"
    )
    expected = connection.execute(
        "select path, fts_main_documents.match_bm25(path, 'tea', k := 1.5, b := 0.75) as bm25 "
        "from documents order by bm25 desc"
    ).fetchall()
    assert library.found("tea") == [path for path, _ in expected]


def test_a_term_twice_at_one_place_is_no_phrase_and_hides_none(library):
    """`teaS` is indexed as itself, whose stem is tea, and as its parts: tea, s."""
    library.write("parts.md", "a teaS and much water")
    library.write("phrase.md", "tea water")
    assert library.update().new == 2
    assert library.found('"tea water"') == ["phrase.md"]
    assert library.found('"tea s"') == ["parts.md"]


def test_a_phrase_of_very_many_words_is_found(library):
    words = " ".join(f"word{number}" for number in range(80))
    library.write("all.md", words)
    library.write("last.md", words.replace("word79", "word80"))
    library.write("first.md", words.replace("word0 ", "word80 "))
    library.update()
    assert library.found(f'"{words}"') == ["all.md"]


def test_what_was_found_before_is_found_until_something_is_written(library):
    """A reader that stays attached remembers rankings."""
    library.engine.close()
    library.engine = Index(library.engine.place, library.engine.models.machine, warm=True)
    library.write("green.md", "green tea")
    for path, counts in (("black.md", [1, 1, 0, 0]), ("last.md", [1, 2, 1, 1])):
        library.update()
        for _ in range(3):
            found = [library.found(text, limit=most) for text in ("tea", "cup") for most in (1, 5)]
            assert [len(each) for each in found] == counts
        library.write(path, "black tea, a cup of it")
    library.engine.close()


@pytest.mark.parametrize("ties", [1, 3, 8, 50])
@pytest.mark.parametrize("limit", range(1, 11))
def test_all_documents_that_tie_with_the_last_are_ranked(library, monkeypatch, ties, limit):
    for number, count in enumerate([3, 3, 2, 2, 2, 2, 1, 1]):
        library.write(f"{number}.md", f"# Note\n\n{'tea ' * count}{'cup ' * (9 - count)}")
    library.update()
    monkeypatch.setattr(postings, "TIES", ties)
    [(term, _)] = terms(["tea"])
    wanted = postings.Wanted([postings.Term(term, 1.0)], {}, 20.0, None, frozenset())
    runs = []

    def ranked(cursor):
        run = cursor.run
        monkeypatch.setattr(
            cursor, "run", lambda *given, **asked: runs.append(asked) or run(*given, **asked)
        )
        return postings.Filed(cursor).ranked(wanted, limit)

    found = library.engine.database.read(ranked)
    assert len(found) == {1: 2, 2: 2, 3: 6, 4: 6, 5: 6, 6: 6}.get(limit, 8)
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert len({number for number, _ in found}) == len(found)
    again = [asked for asked in runs if asked["least"] is not None]
    assert len(again) == (limit + ties <= len(found))


def test_a_search_of_all_collections_lists_no_documents(library, monkeypatch):
    library.configure("more")
    library.write("tea.md", "Green tea.")
    library.write("cup.md", "A cup of tea.", collection="more")
    library.update()
    expected = [each.file for each in search(library.engine, "tea")]
    listed = []
    real = bm25._chosen

    def chosen(cursor, among):
        listed.append(among)
        return real(cursor, among)

    monkeypatch.setattr(bm25, "_chosen", chosen)
    found = search(library.engine, "tea", collection=["more", "notes"])
    assert ([each.file for each in found], listed) == (expected, [])
    assert [each.file for each in search(library.engine, "tea", collection="more")] == [
        "more/cup.md"
    ]
    assert len(listed) == 1
