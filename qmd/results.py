"""Documents as results: the lines that answer, what describes them, their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from qmd.store import collections
from qmd.text import paths, snippet
from qmd.text.snippet import Matcher, Snippet
from qmd.types import Context, Nearest, Result, Text

CHOICE = 300
"""Characters of the lines that answer best. The shortest snippets have so many: a result has the
same line in all forms."""


class Form(NamedTuple):
    """How results are to look.

    Attributes:
        words: that were looked for, each with the word of the query it answers.
        length: characters of a snippet.
        full: whole bodies, no snippets.
    """

    words: Mapping[str, str]
    length: int
    full: bool


class Presenter:
    """Makes results of documents, one after the other.

    Args:
        described: all contexts.
    """

    def __init__(self, form: Form, described: Sequence[Context]) -> None:
        self._form = form
        self._described = described
        self._match = Matcher(form.words)
        self._distinct = len(set(form.words.values()))

    def result(
        self,
        document: Text,
        score: float,
        *,
        near: Nearest | None = None,
        by_words: bool = True,
        explain: Mapping[str, object] | None = None,
    ) -> Result:
        """A document with the lines of it that answer. See `passage_of`."""
        passage = passage_of(document, near, self._match, by_words=by_words)
        shown = self._snippet(document.body, passage)
        return Result(
            docid=document.docid,
            score=score,
            file=document.name,
            line=shown.line,
            title=document.title,
            context=collections.matching(self._described, document.collection, document.path),
            snippet=shown.text,
            uri=paths.uri(document.collection, document.path),
            body=document.body if self._form.full else None,
            explain=explain,
        )

    def _snippet(self, body: str, passage: Nearest | None) -> Snippet:
        before = 0
        if passage is not None:
            body = snippet.whole_lines(body, passage.position, passage.position + passage.length)
            before = passage.line - 1
        form = self._form
        shown = snippet.snippet(
            body, self._match, length=form.length, choice=CHOICE, distinct=self._distinct
        )
        return shown.shifted(before)


def passage_of(
    document: Text, near: Nearest | None, match: Matcher, *, by_words: bool
) -> Nearest | None:
    """The passage of a document that answers a question; None: where its words stand.

    Args:
        near: the nearest in meaning, if meaning was searched.
        by_words: whether the document was found by words, too: then its nearest passage answers
            only if it has one of them.
    """
    if near is None or not by_words:
        return near
    part = document.body[near.position : near.position + near.length]
    return near if match.found_in(part) else None
