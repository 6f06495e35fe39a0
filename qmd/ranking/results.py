"""Search results: snippet, context and name of each ranked document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from qmd.named_tuple import NamedTuple
from qmd.ranking import bm25, large_texts, snippets
from qmd.ranking.large_texts import Encoded
from qmd.ranking.matcher import Matcher, matcher_of
from qmd.ranking.snippets import Snippet
from qmd.storage import catalog
from qmd.text import kinds, paths
from qmd.types import Context, FromFile, Nearest, Result, Text

if TYPE_CHECKING:
    from qmd.storage.cursor import Cursor

CHOICE = 300
"""Characters of the best lines.

The shortest snippets have so many: a result has the same line in all formats.
"""

SHOWN = 4_000_000
"""Characters of results, about, that are cached while the index stays attached."""


class Form(NamedTuple):
    """Options of results.

    Attributes:
        words: that were looked for, each with the word of the query it answers.
        length: characters of a snippet.
        full: whole bodies, no snippets.
    """

    words: Mapping[str, str]
    length: int
    full: bool


class Match(NamedTuple):
    """A matching document.

    Attributes:
        near: its passage nearest to the question, if meaning was searched.
        by_words: whether a keyword list has it, too.
    """

    document_id: int
    near: Nearest | None = None
    by_words: bool = True


def results(
    cursor: Cursor,
    form: Form,
    described: Sequence[Context],
    matches: Iterable[Match],
    from_file: FromFile | None = None,
) -> dict[Match, Result]:
    """Build results without scores, leaving out documents deleted in the meantime.

    Args:
        described: all contexts.
        from_file: see `bm25.Shelf`.
    """
    words = frozenset(form.words.items())

    def read(unknown: list[_Wanted]) -> dict[_Wanted, Result]:
        presenter = Presenter(form, described)
        shown = _of_large(cursor, presenter, unknown)
        others = [each for each in unknown if each not in shown]
        ids = [each.match.document_id for each in others]
        texts = bm25.documents(cursor, ids, from_file)
        there = [each for each in others if each.match.document_id in texts]
        shown |= {
            each: presenter.result(texts[each.match.document_id], each.match) for each in there
        }
        parted = [each for each in shown if kinds.may_have_places(shown[each].file)]
        if parted:
            from qmd.storage import document_lookup

            ids = [each.match.document_id for each in parted]
            places = document_lookup.places(cursor, ids)
            for each in parted:
                if found := places.get(each.match.document_id):
                    shown[each] = shown[each]._replace(place=found.at(shown[each].line))
        return shown

    def size(result: Result) -> int:
        return 1000 + 100 * len(words) + len(result.snippet) + len(result.body or "")

    asked = [_Wanted(match, words, form.length, bool(form.full)) for match in matches]
    shown = cursor.each("results", asked, read, most=SHOWN, size=size)
    return {each.match: result for each, result in shown.items()}


def _of_large(
    cursor: Cursor, presenter: Presenter, wanted: Iterable[_Wanted]
) -> dict[_Wanted, Result]:
    """Build results whose texts are large, one after the other.

    Not those with a whole body, or a passage that is near in meaning.
    """
    large = large_texts.large(cursor)
    shown = {}
    for each in wanted:
        document = large.get(each.match.document_id)
        if document is not None and not each.full and each.match.near is None:
            text = large_texts.encoded(cursor, document.hash)
            if text is not None:
                shown[each] = presenter.large_result(document, text)
    return shown


class _Wanted(NamedTuple):
    """Key of a cached result, besides the index."""

    match: Match
    words: frozenset[tuple[str, str]]
    length: int
    full: bool


class Presenter:
    """Builder of results.

    Args:
        described: all contexts.
    """

    def __init__(self, form: Form, described: Sequence[Context]) -> None:
        self._form = form
        self._described = described
        self._match = matcher_of(form.words)
        self._distinct = len(set(form.words.values()))

    def result(self, document: Text, match: Match) -> Result:
        """Build the result of a document without a score. See `passage_of`."""
        passage = passage_of(document, match.near, self._match, by_words=match.by_words)
        body = document.body
        size = len(body) if body.isascii() else len(body.encode())
        return self._result(document, self._snippet(document, passage), size)

    def large_result(self, document: Text, text: Encoded) -> Result:
        """Build the result of a document by its words.

        Args:
            document: without its text.
        """
        parts = large_texts.pieces(text.parts, document.matter)
        return self._result(document, self._chosen(parts, large_texts.large_snippet), text.size)

    def _result(self, document: Text, shown: Snippet, size: int) -> Result:
        return Result(
            docid=document.docid,
            score=0.0,
            file=document.name,
            line=shown.line,
            title=document.title,
            context=catalog.matching(self._described, document.collection, document.path),
            snippet=shown.text,
            uri=paths.uri(document.collection, document.path),
            body=document.body if self._form.full else None,
            size=size,
        )

    def _snippet(self, document: Text, passage: Nearest | None) -> Snippet:
        body, matter = document.body, document.matter
        if passage is not None:
            end = passage.position + passage.length
            body = snippets.whole_lines(body, passage.position, end, floor=matter)
            before = passage.line - 1
        else:
            before = body.count("\n", 0, matter)
            body = body[matter:]
        return self._chosen(body, snippets.snippet).shifted(before)

    def _chosen(self, text: object, choose: Callable[..., Snippet]) -> Snippet:
        length = self._form.length
        return choose(text, self._match, length=length, choice=CHOICE, distinct=self._distinct)


def passage_of(
    document: Text, near: Nearest | None, match: Matcher, *, by_words: bool
) -> Nearest | None:
    """Choose the passage of a document for its snippet; None means the lines with query words.

    Args:
        near: the nearest in meaning, if meaning was searched.
        by_words: whether the document was found by words, too: then its nearest passage answers
            only if it has one of them.
    """
    near = _after_matter(document, near)
    if near is None or not by_words:
        return near
    part = document.body[near.position : near.position + near.length]
    return near if match.found_in(part) else None


def _after_matter(document: Text, near: Nearest | None) -> Nearest | None:
    """Cut the front matter off a passage; None if nothing is left.

    Passages of an earlier version of qmd have it.
    """
    matter = document.matter
    if near is None or near.position >= matter:
        return near
    end = near.position + near.length
    if end <= matter:
        return None
    line = near.line + document.body.count("\n", near.position, matter)
    return near._replace(position=matter, length=end - matter, line=line)
