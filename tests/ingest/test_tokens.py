"""Postings of a batch: the rules of text/tokenizer.py, at full speed."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from hashlib import blake2b

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from qmd.ingest import inversion as rules
from qmd.ingest import merging
from qmd.ingest.inversion import FIELDS, plainly_tokenised, tokenise
from qmd.ingest.vocabulary import Vocabulary
from qmd.text import tokenizer

LETTERS = 'abABZ019_ .-+#*@$"`\n\t\0éÉßǅжЖ\u0301\ufe0f日本語のカﾃ한국\u1112\u1161ภาษा🙂\u3000_'
FIELD = st.one_of(
    st.text(max_size=30),
    st.text(LETTERS, max_size=60),
    st.text("aé日_", min_size=15, max_size=90),
    st.lists(
        st.sampled_from(
            [
                *("test_test", "Tea", "parseHTTP", "_", "日本", "v2", "\0"),
                *("C++", "c#", "A*", "e-mail", ".NET", "--dry-run", "@user", "🍵", "2-3", "a--b"),
            ]
        )
    ).map(" ".join),
)
IDENTIFIERS = st.text("aAbBZ09_é", max_size=12)
MARKED = st.text("aB1é+#*.@$-` 🍵", max_size=16)
DOCUMENTS = st.lists(st.tuples(FIELD, FIELD, FIELD), min_size=1, max_size=5)


def numbering(key):
    """An injective function: 56 bits of a keyed hash, some of them negative."""

    def number(word):
        digest = blake2b(word.encode(), key=key, digest_size=7).digest()
        return int.from_bytes(digest, "big") - 2**55

    return number


def vocabulary(number):
    return Vocabulary(lambda folded: [(number(word), word) for word in folded])


def reference(documents, number):
    """The same postings, a Python object per word."""
    found = defaultdict(list)
    starts, lengths = ([[0] * len(documents) for _ in FIELDS] for _ in range(2))
    for document, fields in enumerate(documents):
        place = 0
        for field, text in enumerate(fields):
            starts[field][document] = place
            for raw in tokenizer.split(text):
                width, parts = tokenizer.pieces(raw)
                for folded, shift in parts:
                    found[number(folded), document].append((place + shift, field))
                    lengths[field][document] += 1
                place += width
            place += 1
    postings = [
        (term_id, document, [[f for _, f in at].count(f) for f in range(3)], [p for p, _ in at])
        for (term_id, document), at in sorted((key, sorted(at)) for key, at in found.items())
    ]
    return postings, starts, lengths


def listed(postings):
    """`Postings` in the form of the reference."""
    offsets, positions = postings.offsets.tolist(), postings.positions.tolist()
    frequencies = zip(
        postings.title_frequency, postings.path_frequency, postings.body_frequency, strict=True
    )
    rows = [
        (term_id, number, list(counts), positions[offsets[at] : offsets[at + 1]])
        for at, (term_id, number, counts) in enumerate(
            zip(postings.term_id, postings.number, frequencies, strict=True)
        )
    ]
    by_field = [
        [column[field::3].tolist() for field in range(len(FIELDS))]
        for column in (postings.starts, postings.lengths)
    ]
    return rows, *by_field


@pytest.fixture(params=["compiled", "plain"])
def _both_ways(request, monkeypatch):
    """The test runs with what was compiled, and without."""
    if request.param == "plain":
        monkeypatch.setattr(rules, "Words", None)
    assert (rules.Words is None) == (request.param == "plain")


def tokens(*documents):
    """Postings by word, where a term's number is the order in which it was met."""
    met = {}
    made = tokenise(documents, vocabulary(lambda word: met.setdefault(word, len(met))))
    names = {number: word for word, number in met.items()}
    rows, starts, lengths = listed(made)
    return {(names[row[0]], row[1]): (row[2], row[3]) for row in rows}, starts, lengths


@given(DOCUMENTS, st.binary(min_size=1, max_size=8))
@example([("", "", ""), ("_", "__", "_ _"), ("", "a", "")], b"k")
@example([("test_test", "test/test_test.md", "test_test test")], b"k")
@example([("é" * 31 + "aaé", "é" * 31 + "aaè", "x" * 64 + "y")], b"k")
@example([("日本語", "日本/語.md", "日本 語")] * 2, b"k")
@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow])
def test_the_postings_are_those_of_the_words_one_by_one(documents, key):
    number = numbering(key)
    assert listed(tokenise(documents, vocabulary(number))) == reference(documents, number)
    plain = plainly_tokenised(documents, vocabulary(number))
    assert listed(plain) == reference(documents, number)


@given(st.lists(MARKED, min_size=1, max_size=5))
@example(["x" * 60 + "-abcd", "a" * 62 + "++"])
@example(
    ["+a", "a-", "-a-b", "a-b-c", "1-2", "1-b", "C++20", "#", "C#", "**a*", "\0-a", "--", "--a"]
)
@settings(deadline=None, max_examples=500)
def test_marks_make_the_same_words_either_way(texts):
    number = numbering(b"k")
    documents = [("", "", text) for text in texts]
    both = tokenise(documents, vocabulary(number)), plainly_tokenised(documents, vocabulary(number))
    assert listed(both[0]) == listed(both[1])


@given(st.lists(st.lists(IDENTIFIERS, max_size=8).map(" ".join), min_size=1, max_size=3))
@settings(deadline=None, max_examples=300)
def test_identifiers_have_the_same_parts_either_way(texts):
    number = numbering(b"k")
    documents = [("", "", text) for text in texts]
    both = tokenise(documents, vocabulary(number)), plainly_tokenised(documents, vocabulary(number))
    assert listed(both[0]) == listed(both[1])


@given(st.lists(DOCUMENTS, min_size=2, max_size=4), st.binary(min_size=1, max_size=8))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_batch_does_not_depend_on_those_before_it(batches, key):
    number = numbering(key)
    shared = vocabulary(number)
    for documents in batches:
        assert listed(tokenise(documents, shared)) == reference(documents, number)


@given(DOCUMENTS, st.integers(1, 4))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_words_that_share_a_term_share_a_posting(documents, terms):
    def number(word):
        return sum(word.encode()) % terms

    assert listed(tokenise(documents, vocabulary(number))) == reference(documents, number)


def test_one_position_is_left_out_between_title_path_and_body():
    found, starts, lengths = tokens(("green tea", "tea.md", "hot tea"))
    assert found["tea", 0] == ([1, 1, 1], [1, 3, 7])
    assert found["md", 0] == ([0, 1, 0], [4])
    assert starts == [[0], [3], [6]]
    assert lengths == [[2], [2], [2]]


def test_documents_are_counted_each_from_its_own_title():
    found, starts, _ = tokens(("tea", "a.md", "x"), ("tea", "b.md", "y"))
    assert found["tea", 0] == found["tea", 1] == ([1, 0, 0], [0])
    assert starts == [[0, 0], [2, 2], [5, 5]]


def test_a_repeated_part_is_one_posting_with_two_positions():
    found, _, lengths = tokens(("", "", "test_test end"))
    assert found["test", 0] == ([0, 0, 2], [2, 3])
    assert found["test_test", 0] == ([0, 0, 1], [2])
    assert found["end", 0] == ([0, 0, 1], [4])
    assert lengths == [[0], [0], [4]]


def test_a_word_of_underscores_is_no_posting_but_takes_a_position():
    found, _, lengths = tokens(("", "", "a ___ b"))
    assert {word: positions for (word, _), (_, positions) in found.items()} == {"a": [2], "b": [4]}
    assert lengths == [[0], [0], [2]]


def test_empty_documents_have_no_postings_but_starts():
    found, starts, lengths = tokens(("", "", ""), ("", "", ""))
    assert found == {}
    assert starts == [[0, 0], [1, 1], [2, 2]]
    assert lengths == [[0, 0]] * 3


def test_words_that_differ_after_64_bytes_are_one():
    found, _, _ = tokens(("x" * 64 + "a", "x" * 64 + "b", "x" * 64))
    assert found == {("x" * 64, 0): ([1, 1, 1], [0, 2, 4])}


def test_places_beyond_a_million_are_kept():
    found, _, lengths = tokens(("", "", "x " * 1_100_000 + "end"), ("", "", "end"))
    assert found["end", 0] == ([0, 0, 1], [1_100_002])
    assert found["end", 1] == ([0, 0, 1], [2])
    assert lengths[2] == [1_100_001, 1]


def test_a_folded_word_is_looked_up_once_and_told_as_new_once():
    asked = []

    def resolve(folded):
        asked.append(list(folded))
        return [(len(word), word.upper()) for word in folded]

    shared = Vocabulary(resolve)
    tokenise([("Tea tea TEA", "", "Éa")], shared)
    assert sorted(shared.take_new()) == [("ea", (2, "EA")), ("tea", (3, "TEA")), ("éa", (2, "ÉA"))]
    tokenise([("tea ÉA", "", "pot")], shared)
    assert shared.take_new() == [("pot", (3, "POT"))]
    assert shared.take_new() == []
    assert sorted(word for folded in asked for word in folded) == ["ea", "pot", "tea", "éa"]


@pytest.mark.usefixtures("_both_ways")
def test_words_of_several_languages_are_looked_up_once_for_all():
    asked = []

    def resolve(folded):
        asked.extend(folded)
        return [(len(word), word.upper()) for word in folded]

    shared = Vocabulary(resolve)
    documents = [("tea", "", "pot"), ("tea", "", "kanne"), ("kanne", "", "pot cup")]
    found = tokenise(documents, shared, ["", "de", "de"])
    assert len(asked) == len(set(asked))
    assert {"tea", "pot", "kanne", "cup"} <= set(asked)
    assert sorted(word for word, _ in shared.take_new()) == sorted(asked)
    tokenise([("cup", "", "tea")], shared)
    assert len(asked) == len(set(asked))
    assert set(found.term_id) == set(map(len, asked))


def test_a_word_that_the_index_has_is_not_new():
    shared = Vocabulary(lambda folded: [(len(word), word) for word in folded], {"tea"})
    tokenise([("tea pot", "", "")], shared)
    assert [word for word, _ in shared.take_new()] == ["pot"]


@pytest.mark.usefixtures("_both_ways")
def test_the_columns_have_the_types_that_the_tables_are_made_from():
    made = tokenise([("a", "b", b"c d"), ("", "", "")], vocabulary(numbering(b"k")))
    kinds = [column.format for column in made]
    assert kinds == ["q", "I", "I", "I", "I", "i", "I", "I", "I"]
    assert len(made.lengths) == len(made.starts) == 6
    assert len(made.offsets) == len(made.term_id) + 1


@pytest.mark.usefixtures("_both_ways")
def test_nothing_has_no_postings():
    for documents in ([], [("", "", "")], [("", "", b"")]):
        made = tokenise(documents, vocabulary(numbering(b"k")))
        assert made.offsets.tolist() == [0]
        assert not len(made.term_id)


@pytest.mark.usefixtures("_both_ways")
@pytest.mark.parametrize("text", ["tea", "thé"])
def test_words_of_which_something_failed_have_no_postings(monkeypatch, text):
    fails = [True, True]

    def resolve(folded):
        if folded and fails.pop():
            raise OSError("gone")
        return [(len(word), word) for word in folded]

    known = Vocabulary(resolve)
    with pytest.raises(OSError, match="gone"):
        tokenise([(text, "", "")], known)
    with pytest.raises((OSError, RuntimeError)):
        tokenise([(text, "", "")], known)
    known = Vocabulary(lambda folded: [(len(word), word) for word in folded])
    with monkeypatch.context() as patch:
        patch.setattr(tokenizer, "pieces", lambda word: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            tokenise([("", "", "thé")], known)
    with suppress(RuntimeError):
        assert tokenise([("", "", "thé")], known).term_id.tolist() == [3]


@pytest.mark.skipif(rules.Words is None, reason="nothing was compiled")
def test_what_was_compiled_takes_nothing_out_of_turn():
    made = rules.Words()
    with pytest.raises(ValueError, match="three fields"):
        made.split([b"tea"])
    with pytest.raises(RuntimeError):
        made.resolve([])
    assert made.split(["thé".encode(), b"tea", b""]) == ["thé"]
    with pytest.raises(RuntimeError):
        made.postings()
    with pytest.raises(ValueError, match="more words"):
        made.define([])
    with pytest.raises(RuntimeError):
        made.split([b"", b"", b""])
    made = rules.Words()
    made.split([b"tea", b"", b""])
    with pytest.raises(ValueError, match="more definitions"):
        made.define([(1, [("tea", 0)])])


def test_very_many_words_are_told_apart():
    number = numbering(b"k")
    words_ = [f"w{n:x}" for n in range(150_000)]
    known = vocabulary(number)
    made = tokenise([("", "", " ".join(words_ * 2).encode())], known)
    assert len(made.term_id) == 150_000
    assert set(made.body_frequency) == {2}
    again = tokenise([("", "", " ".join(words_[::1000]))], known)
    assert sorted(again.term_id) == sorted(number(word) for word in words_[::1000])


@pytest.mark.skipif(merging._compiled is None, reason="nothing was compiled")
@given(DOCUMENTS, st.lists(st.sampled_from(["", "de", "fr"]), min_size=1, max_size=6))
@example([("a b", "b", "b a")] * 3, ["de", "", "de"])
@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])
def test_postings_of_languages_are_merged_in_the_same_order_either_way(documents, codes):
    number = numbering(b"k")
    codes = [codes[at % len(codes)] for at in range(len(documents))]
    compiled = tokenise(documents, vocabulary(number), codes)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(merging, "_compiled", None)
        plain = tokenise(documents, vocabulary(number), codes)
    assert listed(compiled) == listed(plain)
    assert compiled.number.tolist() == plain.number.tolist()
    assert compiled.offsets.tolist() == plain.offsets.tolist()
