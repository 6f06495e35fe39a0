"""Resolution of a keyword query to weighted terms and counted phrases."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from math import log
from typing import TYPE_CHECKING

from qmd.ranking.postings import COMMON, Postings, Tally, Term
from qmd.ranking.query import Query
from qmd.ranking.query_parts import Phrase, Prefix
from qmd.ranking.runs_of_pairs import share_of_pairs
from qmd.ranking.word_terms import Inflected, WordForm, WordTerms
from qmd.storage.statements import K1
from qmd.text.hashes import accented_id

if TYPE_CHECKING:
    from qmd.ranking.spelling import Alike, Respell

PREFIX_WEIGHT = 0.3
"""Weight of all longer words with the same beginning together, relative to the word.

Measured: docs/relevance.md.
"""

ACCENTED = 0.2
"""Factor of a word with accents: more, if it was typed with accents, or less, if without: the
spelling that was asked for comes first."""

SYLLABLE = 0.2
"""What one syllable of Hangul counts next to a word: two together say what a text is about.
Measured: docs/relevance.md."""


NONE = Tally((), ())

Containing = Callable[[Sequence[str]], Mapping[int, Tally]]
"""Counts the documents with each of some texts, by its number; none is empty."""


def worth(total: float, documents: int) -> float:
    """Compute the highest contribution of a term to a score: idf × (k1 + 1).

    The idf is Lucene's, which is never negative.

    Args:
        total: documents in all.
        documents: that have the term.
    """
    return (K1 + 1) * log(1 + (total - documents + 0.5) / (documents + 0.5))


def _is_syllable(gram: str) -> bool:
    """Return whether an n-gram is one syllable of Hangul."""
    return len(gram) == 1 and "\uac00" <= gram <= "\ud7a3"


def _wholes(query: Query) -> set[str]:
    """Return the words of a query that are made of several, such as `parse_json`."""
    made = {"".join(each.spare) for each in query.phrases if each.spare}
    return {word for word in query.words if word.replace("_", "") in made}


def _together(one: Tally, other: Tally, without: Sequence[int]) -> Tally:
    """Add up two counts; some documents are left out of the other."""
    if not other.documents:
        return one
    left_out = set(without)
    frequencies = dict(zip(*one, strict=True))
    for document, frequency in zip(*other, strict=True):
        if document not in left_out:
            frequencies[document] = frequencies.get(document, 0.0) + frequency
    return (
        Tally(*map(list, zip(*sorted(frequencies.items()), strict=True))) if frequencies else NONE
    )


class ResolvedQuery:
    """A keyword query in term numbers of the index.

    Args:
        total: documents in all.
        respell: gives words that stand for one that no document has; None: none do.
        languages: codes of the languages of documents, besides English.
        inflected: see `WordTerms`.
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
        inflected: Inflected | None = None,
    ) -> None:
        self._postings = postings
        self._respell = respell
        self._total = total
        self.most = 0.0
        self.counted: dict[int, Tally] = {}
        self.required: list[Sequence[int]] = []
        self.banned: set[int] = set()
        self.words: dict[str, str] = {}
        self.respelled: dict[str, tuple[str, ...]] = {}
        self._standing_for: dict[str, list[int]] = {}
        self._divided: dict[str, Tally] = {}
        self._words = WordTerms(postings, query, languages, inflected)
        self._term = self._words.ids
        self.terms: list[Term] = []
        self._used: set[int] = set()
        self._weigh([*query.words, *self._count_phrases(query)], query, _wholes(query))
        if query.texts and containing is not None:
            self._count_texts(query.texts, containing(query.texts))
        self._count_prefixes(query.prefixes)
        self.can_answer = bool(self.terms) and all(self.required)

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
            self._note(word, self._words.same(word))
        self._used.update(weights)
        forms = {
            self._term[word]: self._words.forms_of(word)
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
            self._note(form.asked, form.words())
            added = max(added, weight)
        return added

    def _count_texts(self, texts: Sequence[str], found: Mapping[int, Tally]) -> None:
        """Add texts to look for as they stand."""
        for number, tally in found.items():
            self.most += self._add_counted(tally, 1.0)
            self._note(texts[number], [texts[number]])

    def _count_prefixes(self, prefixes: Sequence[str]) -> None:
        """Count the words with each beginning, together as one word."""
        clauses = [self._words.beginning(begin) for begin in prefixes]
        for tally in self._postings.any_of(clauses).values():
            self.most += self._add_counted(tally, 1.0)
        for begin in prefixes:
            self._note(begin, self._words.starting_with(begin))

    def documents_with(self, leaf: Phrase | Prefix) -> Sequence[int]:
        """Return the documents that have a phrase, a word or a beginning of words.

        A word has its longer words with it where it is rare, and those that stand for it.
        """
        if isinstance(leaf, Prefix):
            terms = self._words.beginning(leaf.begin)
        elif len(leaf.elements) > 1:
            found = self._find([leaf]).get(0)
            return found.documents if found else ()
        else:
            [(word, _)] = leaf.elements
            if word in self._divided:
                return self._divided[word].documents
            terms = [self._term[word]]
            if leaf.spare is not None and self._postings.documents(terms)[terms[0]] < COMMON:
                terms += self._words.beginning(word)
            terms += self._standing_for.get(word, ())
        tally = self._postings.any_of([list(dict.fromkeys(terms))]).get(0)
        return tally.documents if tally else ()

    def _replace(self, missing: Sequence[str], weights: dict[int, float]) -> dict[int, int]:
        """Weigh, in place of words that no document has, the words that are written like them.

        Several that are about as near are counted like longer words: one has the full weight. Two
        words without the blank or the apostrophe between them are counted as a phrase.

        Returns:
            The documents of each term that is new.
        """
        if self._respell is None:
            return {}
        clauses = []
        for word in missing:
            term = self._term[word]
            if term not in weights:  # another word with its stem has been replaced
                continue
            near = self._respell(word)
            if self._divide(word, near):
                del weights[term]
                continue
            if not near or near[0].term_id in weights:
                continue
            weights[near[0].term_id] = weights.pop(term)
            clauses.append([each.term_id for each in near[1:] if each.term_id not in weights])
            self._standing_for[word] += [each.term_id for each in near]
            self.respelled[word] = tuple(each.word for each in near)
            self._note(word, self.respelled[word])
        for tally in self._postings.any_of(clauses).values():
            self._add_counted(tally, PREFIX_WEIGHT)
        return dict(self._postings.documents(list(weights))) if clauses else {}

    def _divide(self, word: str, near: Sequence[Alike]) -> bool:
        """Count two words in place of one that no document has, if that is the likelier error.

        Args:
            near: words that are written like it, the nearest first.
        """
        from qmd.ranking.spelling import CONTRACTED, divisions
        from qmd.text.stems import terms

        pairs = list(divisions(word))
        parts = list(dict.fromkeys(part for pair in pairs for part in pair))
        ids = {part: term_id for part, (term_id, _) in zip(parts, terms(parts), strict=True)}
        documents = self._postings.documents([*ids.values(), *(each.term_id for each in near[:1])])
        met = [pair for pair in pairs if all(documents[ids[part]] for part in pair)]
        found = self._postings.phrases([[(ids[one], 0), (ids[two], 1)] for one, two in met])
        of_nearest = documents[near[0].term_id] if near else 0
        counts = [
            (met[number][1] in CONTRACTED, len(tally.documents), number)
            for number, tally in found.items()
            if met[number][1] in CONTRACTED or len(tally.documents) >= of_nearest
        ]
        if not counts:
            return False
        is_contracted, _, number = max(counts)
        self._divided[word] = found[number]
        self.most += self._add_counted(found[number], 1.0)
        self.respelled[word] = (("'" if is_contracted else " ").join(met[number]),)
        self._note(word, met[number])
        return True

    def _count_longer(self, rare: Sequence[str], asked: Container[int]) -> set[str]:
        """Count the longer words that start with a rare one, together as one more word.

        A document whose language has one of them as a form of the word counted it as the word.

        Returns:
            The words for which there are any.
        """
        clauses: list[list[int]] = []
        for word in rare:
            longer = {
                other: term_id
                for term_id, other in self._words.longer(word).items()
                if term_id not in asked
            }
            self._note(word, longer)
            forms = self._words.inflections(word, list(longer))
            clauses.append([term_id for other, term_id in longer.items() if other not in forms])
            clauses.append([longer[other] for other in longer if other in forms])
            clauses.append([self._term[word]] if forms else [])
        found = self._postings.any_of(clauses)
        met = set()
        for number, word in enumerate(rare):
            others, forms_of, same = (found.get(3 * number + at, NONE) for at in range(3))
            if (tally := _together(others, forms_of, same.documents)).documents:
                self._add_counted(tally, PREFIX_WEIGHT)
                met.add(word)
        return met

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
            forms = self._words.forms_of_name(phrase)
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
                self._note(word, self._words.same(word))
        return instead

    def _find(self, phrases: Sequence[Phrase]) -> Mapping[int, Tally]:
        """Count the documents with each phrase; a phrase begins with its first word."""
        return self._postings.phrases(
            [
                [(self._term[word], place - each.elements[0][1]) for word, place in each.elements]
                for each in phrases
            ]
        )
