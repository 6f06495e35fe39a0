"""Terms of the words of a query in an index: the words, their stems and their other forms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from qmd.named_tuple import NamedTuple
from qmd.ranking.postings import Postings
from qmd.ranking.query import Query
from qmd.ranking.query_parts import Phrase, Prefix
from qmd.text import tokenizer
from qmd.text.hashes import joined_id
from qmd.types import Clause

FORM = 0.3
"""Weight of another form of a word, relative to the word: `email` finds `e-mail`, and `C++` finds
`C`, below the form that was asked for."""

STEM = 0.7
"""Weight of the stem of a word in another language than English, relative to the word."""

LONGEST_SUFFIX = 4
"""Letters that a stem lacks at most, nearly always."""


Inflected = Callable[[str, str], Sequence[str]]
"""Gives the words of the index that have a stem in a language."""


class WordForm(NamedTuple):
    """Another form of a word of a query.

    Attributes:
        words: gives it as texts may have it, which takes time and is of use where a text does.
        share: weight, relative to the word.
    """

    term_id: int
    asked: str
    words: Callable[[], Iterable[str]]
    share: float


class WordTerms:
    """Terms of all words of a query, and the longer words of the index that start with them.

    Args:
        languages: codes of the languages of documents, besides English.
        inflected: see `inflected_words`; None: nothing of it is cached.

    Attributes:
        ids: of each word of the query, and of those of its other forms that the index may have.
    """

    def __init__(
        self,
        postings: Postings,
        query: Query,
        languages: Sequence[str],
        inflected: Inflected | None = None,
    ) -> None:
        self._inflected = inflected or partial(inflected_words, postings)
        self._query = query
        self._languages = languages
        phrases = (*query.phrases, *query.excluded)
        begins = dict.fromkeys(query.prefixes)
        words = dict.fromkeys(query.words)
        for leaf in _leaves(query.tests):
            if isinstance(leaf, Prefix):
                begins[leaf.begin] = None
            else:
                words |= dict.fromkeys(word for word, _ in leaf.elements)
        words |= begins
        for phrase in phrases:
            words |= dict.fromkeys(word for word, _ in phrase.elements)
            words |= dict.fromkeys(phrase.spare or ())
        self._stems = {word: self._stems_of(word) for word in query.words}
        forms = {other for _, other in query.forms}
        forms |= {stem for stems in self._stems.values() for stem in stems}
        forms |= {form for phrase in phrases for form in phrase.forms}
        forms |= {form.replace("-", "") for form in forms if tokenizer.is_joined(form)}
        forms -= words.keys()
        self._begins = {form: form[: max(3, len(form) - LONGEST_SUFFIX)] for form in forms}
        known = postings.near([*words, *sorted(forms)], list(begins), self._begins)
        self.ids: dict[str, int] = {
            asked: term_id
            for asked, near in known.items()
            for word, term_id in near
            if word == asked
        }
        self._near = known
        asked = [*words, *(form for form in forms if self._may_have_stem(form))]
        unknown = [word for word in asked if word not in self.ids]
        if unknown:
            from qmd.text.stems import terms  # of no use where the index knows all words

            found = (term_id for term_id, _ in terms(unknown))
            self.ids.update(zip(unknown, found, strict=True))

    def _stems_of(self, word: str) -> dict[str, str]:
        """Return the stems of a word in the languages of documents, each with its language."""
        found = {stemmed: code for code, stemmed in self._stem_by_language(word).items()}
        found.pop(word, None)
        return found

    def _stem_by_language(self, word: str) -> dict[str, str]:
        """Return the stem of a word in each language of documents that has a stemmer."""
        if not self._languages or word in self._query.grams or not tokenizer.is_alphabetic(word):
            return {}
        from qmd.text.stems import stem  # of no use where all is English

        spelt = dict(self._query.accented).get(word, word)
        found = ((code, stem(spelt, code)) for code in self._languages)
        return {code: stemmed for code, stemmed in found if stemmed}

    def _may_have_stem(self, form: str) -> bool:
        """Return whether the index can have the stem of a form that it does not have.

        Most forms end here, before PyStemmer is loaded.
        """
        return any(other.startswith(self._begins[form]) for other, _ in self._near[form])

    def same(self, asked: str) -> set[str]:
        """Return the word and all words with its stem."""
        term = self.ids[asked]
        return {asked, *(word for word, term_id in self._near[asked] if term_id == term)}

    def starting_with(self, begin: str) -> list[str]:
        """Return the words of the index that start with a word, or a beginning, of the query."""
        return [word for word, _ in self._near[begin] if word.startswith(begin)]

    def longer(self, word: str) -> dict[int, str]:
        """Return longer words that may stand for a rare one, by their terms."""
        return {
            term_id: other
            for other, term_id in sorted(self._near[word])
            if other.startswith(word)
            and tokenizer.is_run(other[len(word) :])
            and tokenizer.is_folded(other)
        }

    def inflections(self, word: str, among: Sequence[str]) -> set[str]:
        """Choose the words that have the stem of a word in a language of documents."""
        stems = self._stem_by_language(word) if among else {}
        if not stems:
            return set()
        from qmd.text.stems import stems_of_all

        return {
            other
            for code, stemmed in stems.items()
            for other, own in zip(among, stems_of_all(list(among), code), strict=True)
            if own == stemmed
        }

    def beginning(self, begin: str) -> list[int]:
        """Return the terms of words that begin so."""
        return list({term: None for word, term in self._near[begin] if word.startswith(begin)})

    def forms_of(self, word: str) -> list[WordForm]:
        """Return other forms of a word: with a hyphen, without its marks."""
        forms = [
            WordForm(self.ids[other], word, partial(list, [other]), FORM)
            for of, other in self._query.forms
            if of == word and other in self.ids
        ]
        forms += [
            WordForm(self.ids[stemmed], word, partial(self._inflected, stemmed, code), STEM)
            for stemmed, code in self._stems.get(word, {}).items()
            if stemmed in self.ids
        ]
        if len(word) > 2 and tokenizer.is_run(word):
            forms.append(WordForm(joined_id(self.ids[word]), word, partial(_written, word), FORM))
        return forms

    def forms_of_name(self, phrase: Phrase) -> list[WordForm]:
        """Return other forms of a name that the index may have."""
        asked = phrase.elements[0][0]
        forms = []
        for each in phrase.forms:
            whole = each.replace("-", "") if tokenizer.is_joined(each) else each
            if whole in self.ids:
                forms.append(WordForm(self.ids[whole], asked, partial(list, [whole]), FORM))
                if whole != each:
                    joined = joined_id(self.ids[whole])
                    forms.append(WordForm(joined, asked, partial(list, [each]), FORM))
            elif each in self.ids:
                forms.append(WordForm(self.ids[each], asked, partial(list, [each]), FORM))
        return forms


def inflected_words(postings: Postings, stemmed: str, code: str) -> Sequence[str]:
    """Return the words of the index that have a stem in a language."""
    from qmd.text.stems import stems_of_all

    near = postings.near([stemmed], [stemmed])[stemmed]
    words = [word for word, _ in near if tokenizer.is_alphabetic(word)]
    found = zip(words, stems_of_all(words, code), strict=True)
    return [word for word, found_stem in found if found_stem == stemmed]


def _written(word: str) -> list[str]:
    """Return the ways to write a word as two that a hyphen joins."""
    return [f"{word[:at]}-{word[at:]}" for at in range(1, len(word))]


def _leaves(tests: Iterable[object]) -> Iterator[Phrase | Prefix]:
    """Yield the phrases and prefixes of tests."""
    for test in tests:
        if isinstance(test, Clause):
            yield from _leaves(test.parts)
        elif isinstance(test, Phrase | Prefix):
            yield test
