"""Resolution of a keyword query to term numbers and counted phrases."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from math import log
from typing import TYPE_CHECKING, NamedTuple

from qmd.ranking.postings import Postings, Tally, Term
from qmd.ranking.query import Query
from qmd.ranking.query_parts import Phrase, Prefix
from qmd.ranking.runs_of_pairs import share_of_pairs
from qmd.text import tokenizer
from qmd.text.hashes import accented_id, joined_id
from qmd.text.stems import terms
from qmd.types import Clause

if TYPE_CHECKING:
    from qmd.ranking.spelling import Respell

PREFIX_WEIGHT = 0.3
"""Weight of all longer words with the same beginning together, relative to the word.

Measured: docs/relevance.md.
"""

FORM = 0.3
"""Weight of another form of a word, relative to the word: `email` finds `e-mail`, and `C++` finds
`C`, below the form that was asked for."""

STEM = 0.7
"""Weight of the stem of a word in another language than English, relative to the word."""

ACCENTED = 0.2
"""Factor of a word with accents: more, if it was typed with accents, or less, if without: the
spelling that was asked for comes first."""

SYLLABLE = 0.2
"""What one syllable of Hangul counts next to a word: two together say what a text is about.
Measured: docs/relevance.md."""

LONGEST_SUFFIX = 4
"""Letters that a stem lacks at most, nearly always."""

COMMON = 20
"""Documents with a word from which on longer words no longer match it: `config` finds
`configuration` where it is rare, and a common word is not lost among its compounds."""


_MARK = re.compile(r"[^\w]")

Containing = Callable[[Sequence[str]], Mapping[int, Tally]]
"""Counts the documents with each of some texts, by its number; none is empty."""


class WordForm(NamedTuple):
    """Another form of a word of a query.

    Attributes:
        words: as texts may have it.
        share: weight, relative to the word.
    """

    term_id: int
    asked: str
    words: Sequence[str]
    share: float = FORM


def worth(total: float, documents: int) -> float:
    """Compute the highest contribution of a term to a score: idf × (k1 + 1).

    The idf is Lucene's, which is never negative.

    Args:
        total: documents in all.
        documents: that have the term.
    """
    return 2.5 * log(1 + (total - documents + 0.5) / (documents + 0.5))


def _is_syllable(gram: str) -> bool:
    """Return whether an n-gram is one syllable of Hangul."""
    return len(gram) == 1 and "\uac00" <= gram <= "\ud7a3"


def _wholes(query: Query) -> set[str]:
    """Return the words of a query that are made of several, such as `parse_json`."""
    made = {"".join(each.spare) for each in query.phrases if each.spare}
    return {word for word in query.words if word.replace("_", "") in made}


def _leaves(tests: Iterable[object]) -> Iterator[Phrase | Prefix]:
    """Yield the phrases and prefixes of tests."""
    for test in tests:
        if isinstance(test, Clause):
            yield from _leaves(test.parts)
        elif isinstance(test, Phrase | Prefix):
            yield test


class ResolvedQuery:
    """A keyword query in term numbers of the index.

    Args:
        total: documents in all.
        respell: gives words that stand for one that no document has; None: none do.
        languages: codes of the languages of documents, besides English.
        containing: of the index; None: queries without words find nothing.

    Attributes:
        terms: to be looked for, and those that stand for what has been counted.
        counted: of phrases, and of longer words, by the terms that stand for them.
        required: for each phrase in quotes, the documents that have it.
        banned: documents with something excluded.
        words: of the index, that the query asked for, each with the word of the query.
        respelled: words of the query that no document has, each with those that stand for it.
        rarest: word, of those that any document has.
        most: the score of a document that has nothing but what is asked for; longer words that
            stand for one of its words may add to that.
        can_answer: whether any document could.
    """

    rarest: str | None

    def __init__(
        self,
        postings: Postings,
        query: Query,
        *,
        total: float,
        respell: Respell | None = None,
        containing: Containing | None = None,
        languages: Sequence[str] = (),
    ) -> None:
        self._postings = postings
        self._languages = languages
        self._respell = respell
        self._total = total
        self.most = 0.0
        self.counted: dict[int, Tally] = {}
        self.required: list[Sequence[int]] = []
        self.banned: set[int] = set()
        self.words: dict[str, str] = {}
        self.respelled: dict[str, tuple[str, ...]] = {}
        self._standing_for: dict[str, list[int]] = {}
        self._learn(query)
        self.terms: list[Term] = []
        self._used: set[int] = set()
        self._weigh([*query.words, *self._count_phrases(query)], query, _wholes(query))
        if query.texts and containing is not None:
            self._count_texts(query.texts, containing(query.texts))
        self._count_prefixes(query.prefixes)
        self.can_answer = bool(self.terms) and all(self.required)

    def _learn(self, query: Query) -> None:
        """Find the terms of all words, and the longer words that start with them."""
        phrases = (*query.phrases, *query.excluded)
        words = dict.fromkeys(query.words)
        words |= dict.fromkeys(query.prefixes)
        for leaf in _leaves(query.tests):
            if isinstance(leaf, Prefix):
                words |= dict.fromkeys([leaf.begin])
            else:
                words |= dict.fromkeys(word for word, _ in leaf.elements)
        for phrase in phrases:
            words |= dict.fromkeys(word for word, _ in phrase.elements)
            words |= dict.fromkeys(phrase.spare or ())
        self._stems = {word: self._stems_of(word, query) for word in query.words}
        forms = {other for _, other in query.forms}
        forms |= {stem for stems in self._stems.values() for stem in stems}
        forms |= {form for phrase in phrases for form in phrase.forms}
        forms |= {form.replace("-", "") for form in forms if tokenizer.is_joined(form)}
        forms -= words.keys()
        known = self._postings.near([*words, *sorted(forms)])
        self._term = {
            asked: term_id
            for asked, near in known.items()
            for word, term_id in near
            if word == asked
        }
        self._near = known
        asked = [*words, *(form for form in forms if self._may_have_stem(form))]
        unknown = [word for word in asked if word not in self._term]
        stems = terms(unknown)
        self._term.update(zip(unknown, (term_id for term_id, _ in stems), strict=True))

    def _stems_of(self, word: str, query: Query) -> dict[str, str]:
        """Return the stems of a word in the languages of documents, each with its language."""
        if not self._languages or word in query.grams or not word.isalpha():
            return {}
        from qmd.text.stems import stem  # of no use where all is English

        spelt = dict(query.accented).get(word, word)
        found = {stem(spelt, code): code for code in self._languages}
        return {stemmed: code for stemmed, code in found.items() if stemmed and stemmed != word}

    def _inflected(self, stemmed: str, code: str) -> list[str]:
        """Return words of the index that have a stem."""
        from qmd.text.stems import stem

        near = (word for word, _ in self._near.get(stemmed, ()))
        return [word for word in near if word.isalpha() and stem(word, code) == stemmed]

    def _may_have_stem(self, form: str) -> bool:
        """Return whether the index can have the stem of a form that it does not have.

        Most forms end here, before PyStemmer is loaded.
        """
        start = form[: max(3, len(form) - LONGEST_SUFFIX)]
        return any(other.startswith(start) for other, _ in self._near[form])

    def _same(self, asked: str) -> set[str]:
        """Return the word and all words with its stem."""
        term = self._term[asked]
        return {asked, *(word for word, term_id in self._near[asked] if term_id == term)}

    def _note(self, asked: str, found: Iterable[str]) -> None:
        """Record the indexed words that match a word of the query."""
        for word in found:
            self.words.setdefault(word, asked)

    def _weigh(self, words: Sequence[str], query: Query, wholes: Container[str]) -> None:
        """Add terms, each counted as often as it is asked for; rare words stand for longer ones.

        Args:
            wholes: words for which their parts stand, if no document has them.
        """
        weights: dict[int, float] = {}
        for word in words:
            term = self._term[word]
            weights[term] = weights.get(term, 0) + (SYLLABLE if _is_syllable(word) else 1)
            self._note(word, self._same(word))
        self._used.update(weights)
        forms = {
            self._term[word]: self._forms_of(word, query)
            for word in dict.fromkeys(words)
            if word not in query.grams
        }
        others = [form.term_id for each in forms.values() for form in each]
        for word in dict.fromkeys(words):
            self._standing_for[word] = [f.term_id for f in forms.get(self._term[word], ())]
        others += [accented_id(term) for term in forms]
        documents = dict(self._postings.documents(list(dict.fromkeys([*weights, *others]))))
        met = [word for word in words if documents[self._term[word]]]
        self.rarest = min(met, key=lambda word: documents[self._term[word]], default=None)
        rare = [
            word
            for word in dict.fromkeys(words)
            if word not in query.grams and documents[self._term[word]] < COMMON
        ]
        matched = self._count_longer(rare, weights)
        for each in forms.values():
            matched |= {form.asked for form in each if documents[form.term_id]}
        missing = [w for w in rare if not documents[self._term[w]] and w not in matched]
        documents |= self._replace([w for w in missing if w not in wholes], weights)
        paired = share_of_pairs(query, self._term, documents)
        for term, weight in weights.items():
            most = weight * worth(self._total, documents[term])
            if documents[term]:
                self.terms.append(Term(term, most))
            has_any = most if documents[term] else 0.0
            instead = self._add_forms(forms.get(term, ()), documents, has_any)
            reached = most if documents[term] else instead or most
            self.most += reached * paired.get(term, 1.0)
            if documents.get(accented_id(term)):
                is_asked = any(self._term.get(word) == term for word, _ in query.accented)
                share = ACCENTED if is_asked else -ACCENTED
                self.terms.append(Term(accented_id(term), share * most))
                self.most += max(0.0, share * most)

    def _forms_of(self, word: str, query: Query) -> list[WordForm]:
        """Return other forms of a word: with a hyphen, without its marks."""
        forms = [
            WordForm(self._term[other], word, [other])
            for of, other in query.forms
            if of == word and other in self._term
        ]
        forms += [
            WordForm(self._term[stemmed], word, self._inflected(stemmed, code), STEM)
            for stemmed, code in self._stems.get(word, {}).items()
            if stemmed in self._term
        ]
        if len(word) > 2 and not _MARK.search(word):
            written = [f"{word[:at]}-{word[at:]}" for at in range(1, len(word))]
            forms.append(WordForm(joined_id(self._term[word]), word, written))
        return forms

    def _forms_of_name(self, phrase: Phrase) -> list[WordForm]:
        """Return other forms of a name that the index may have."""
        asked = phrase.elements[0][0]
        forms = []
        for each in phrase.forms:
            whole = each.replace("-", "") if tokenizer.is_joined(each) else each
            if whole in self._term:
                forms.append(WordForm(self._term[whole], asked, [whole]))
                if whole != each:
                    forms.append(WordForm(joined_id(self._term[whole]), asked, [each]))
            elif each in self._term:
                forms.append(WordForm(self._term[each], asked, [each]))
        return forms

    def _add_forms(
        self, forms: Iterable[WordForm], documents: Mapping[int, int], most: float
    ) -> float:
        """Add other forms of a word or a name, below it; in its place, if no document has it.

        Args:
            documents: with each of them.
            most: that the word adds to a score.

        Returns:
            The most that one of them adds.
        """
        added = 0.0
        for form in forms:
            if not documents[form.term_id] or form.term_id in self._used:
                continue
            self._used.add(form.term_id)
            weight = worth(self._total, documents[form.term_id])
            if most:
                weight = form.share * min(weight, most)
            self.terms.append(Term(form.term_id, weight))
            self._note(form.asked, form.words)
            added = max(added, weight)
        return added

    def _count_texts(self, texts: Sequence[str], found: Mapping[int, Tally]) -> None:
        """Add texts to look for as they stand."""
        for number, tally in found.items():
            self.most += self._add_counted(tally, 1.0)
            self._note(texts[number], [texts[number]])

    def _count_prefixes(self, prefixes: Sequence[str]) -> None:
        """Count the words with each beginning, together as one word."""
        clauses = [self._beginning(begin) for begin in prefixes]
        for tally in self._postings.any_of(clauses).values():
            self.most += self._add_counted(tally, 1.0)
        for begin in prefixes:
            self._note(begin, [w for w, _ in self._near[begin] if w.startswith(begin)])

    def _beginning(self, begin: str) -> list[int]:
        """Return the terms of words that begin so."""
        return list({term: None for word, term in self._near[begin] if word.startswith(begin)})

    def documents_with(self, leaf: Phrase | Prefix) -> Sequence[int]:
        """Return the documents that have a phrase, a word or a beginning of words.

        A word has its longer words with it where it is rare, and those that stand for it.
        """
        if isinstance(leaf, Prefix):
            terms = self._beginning(leaf.begin)
        elif len(leaf.elements) > 1:
            found = self._find([leaf]).get(0)
            return found.documents if found else ()
        else:
            [(word, _)] = leaf.elements
            terms = [self._term[word]]
            if leaf.spare is not None and self._postings.documents(terms)[terms[0]] < COMMON:
                terms += self._beginning(word)
            terms += self._standing_for.get(word, ())
        tally = self._postings.any_of([list(dict.fromkeys(terms))]).get(0)
        return tally.documents if tally else ()

    def _replace(self, missing: Sequence[str], weights: dict[int, float]) -> dict[int, int]:
        """Weigh, in place of words that no document has, the words that are written like them.

        Several that are about as near are counted like longer words: one has the full weight.

        Returns:
            The documents of each term that is new.
        """
        clauses = []
        for word in missing if self._respell else ():
            near = self._respell(word) if self._respell else ()
            if not near or near[0].term_id in weights:
                continue
            weights[near[0].term_id] = weights.pop(self._term[word])
            clauses.append([each.term_id for each in near[1:] if each.term_id not in weights])
            self._standing_for[word] += [each.term_id for each in near]
            self.respelled[word] = tuple(each.word for each in near)
            self._note(word, self.respelled[word])
        for tally in self._postings.any_of(clauses).values():
            self._add_counted(tally, PREFIX_WEIGHT)
        return dict(self._postings.documents(list(weights))) if clauses else {}

    def _count_longer(self, rare: Sequence[str], asked: Container[int]) -> set[str]:
        """Count the longer words that start with a rare one, together as one more word.

        Returns:
            The words for which there are any.
        """
        clauses = []
        for word in rare:
            longer = {
                term_id: other
                for other, term_id in sorted(self._near[word])
                if other.startswith(word)
                and term_id not in asked
                and not _MARK.search(other, len(word))
                and tokenizer.is_folded(other)
            }
            self._note(word, longer.values())
            clauses.append(list(longer))
        found = self._postings.any_of(clauses)
        for tally in found.values():
            self._add_counted(tally, PREFIX_WEIGHT)
        return {rare[number] for number in found}

    def _add_counted(self, tally: Tally, weight: float) -> float:
        """Score what has been counted already, as one term; give the most that it adds."""
        term_id = -1 - len(self.terms)
        most = weight * worth(self._total, len(tally.documents))
        self.terms.append(Term(term_id, most))
        self.counted[term_id] = tally
        return most

    def _count_phrases(self, query: Query) -> list[str]:
        """Count the phrases.

        Returns:
            Words to look for instead of names that the index does not have.
        """
        instead: list[str] = []
        phrases = [*query.phrases, *query.excluded]
        found = self._find(phrases) if phrases else {}
        for number, phrase in enumerate(phrases):
            tally = found.get(number)
            if number >= len(query.phrases):
                self.banned.update(tally.documents if tally else ())
                continue
            if phrase.spare is None:
                self.required.append(tally.documents if tally else ())
            most = self._add_counted(tally, 1.0) if tally is not None else 0.0
            forms = self._forms_of_name(phrase)
            others = 0.0
            if forms:
                documents = self._postings.documents([form.term_id for form in forms])
                others = self._add_forms(forms, documents, most)
            self.most += most or others
            if tally is None and phrase.spare is not None:
                if not others:
                    instead += [word for word in phrase.spare if word not in query.words]
                continue
            for word, _ in phrase.elements:
                self._note(word, self._same(word))
        return instead

    def _find(self, phrases: Sequence[Phrase]) -> Mapping[int, Tally]:
        """Count the documents with each phrase; a phrase begins with its first word."""
        return self._postings.phrases(
            [
                [(self._term[word], place - each.elements[0][1]) for word, place in each.elements]
                for each in phrases
            ]
        )
