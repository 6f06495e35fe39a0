"""A few files as what a commit takes, in plain Python: the rules of `text/words.py` and
`text/outline.py`, word by word and mark by mark.

`tables` does the same in numpy and Arrow, several times as fast; but to load those takes longer
than this takes for a few files, which is what most updates are. A property test holds both equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from qmd.pipeline.columns import documents
from qmd.store.cursor import as_json
from qmd.store.documents import Batch
from qmd.text import words
from qmd.text.outline import BETWEEN, outline

if TYPE_CHECKING:
    from qmd.pipeline.reading import Parsed
    from qmd.pipeline.vocabulary import Vocabulary


class Postings(NamedTuple):
    """Postings of a batch, sorted by (term, document), in columns.

    Attributes:
        number: of the document within the batch.
        length: occurrences of all terms in the document.
        positions: ascending within a posting.
        lengths: of each document, occurrences of all terms in title, path and body.
        starts: of each document, the positions at which these begin.
    """

    term_id: list[int]
    number: list[int]
    title_frequency: list[int]
    path_frequency: list[int]
    body_frequency: list[int]
    length: list[int]
    positions: list[list[int]]
    lengths: list[list[int]]
    starts: list[list[int]]


def batch(
    collection: str, parsed: Sequence[Parsed], vocabulary: Vocabulary, *, named: bool = True
) -> Batch[str]:
    """Documents, contents, postings and new words of a batch, as JSON. See `tables.batch`."""
    found = tokenised(
        [(item.title, item.file.path if named else "", item.file.text or "") for item in parsed],
        vocabulary,
    )
    columns = documents(collection, parsed)
    columns["title_length"], columns["path_length"], columns["body_length"] = (
        [lengths[field] for lengths in found.lengths] for field in range(3)
    )
    columns["path_start"] = [starts[1] for starts in found.starts]
    columns["body_start"] = [starts[2] for starts in found.starts]
    contents = {item.file.hash: item for item in parsed}
    learnt = vocabulary.take_new()
    return Batch(
        incoming=as_json(columns),
        texts=as_json(
            {
                "hash": list(contents),
                "body": [item.file.text for item in contents.values()],
                "outline": [outlined(item.file.data, item.body) for item in contents.values()],
            }
        ),
        postings=as_json(dict(zip(Postings._fields[:7], found, strict=False))),
        learnt=as_json(
            [{"word": word, "term": term, "term_id": number} for word, (number, term) in learnt]
        )
        if learnt
        else None,
        documents=len(parsed),
        replaces=any(item.file.change.document_id for item in parsed),
    )


def tokenised(given: Sequence[tuple[str, str, str]], vocabulary: Vocabulary) -> Postings:
    """Postings of (title, path, body) triples. See `tokens.tokenise`."""
    split = [[words.split(field) for field in fields] for fields in given]
    distinct = dict.fromkeys(chain.from_iterable(chain.from_iterable(split)))
    vocabulary.learn(distinct)
    pieces = {word: vocabulary.pieces(word) for word in distinct}
    rows: list[tuple[int, int, list[int], int, list[int]]] = []
    all_lengths, all_starts = [], []
    for number, fields in enumerate(split):
        found: dict[int, tuple[list[int], list[int]]] = {}
        lengths, starts = [0, 0, 0], []
        place = 0
        for field, raw_words in enumerate(fields):
            starts.append(place)
            for word in raw_words:
                width, parts = pieces[word]
                for term_id, shift in parts:
                    if term_id not in found:
                        found[term_id] = [0, 0, 0], []
                    frequencies, positions = found[term_id]
                    frequencies[field] += 1
                    positions.append(place + shift)
                lengths[field] += len(parts)
                place += width
            place += 1
        length = sum(lengths)
        rows += [
            (term_id, number, frequencies, length, sorted(positions))
            for term_id, (frequencies, positions) in found.items()
        ]
        all_lengths.append(lengths)
        all_starts.append(starts)
    rows.sort(key=lambda row: row[:2])
    titles, paths, bodies = ([row[2][field] for row in rows] for field in range(3))
    return Postings(
        [row[0] for row in rows],
        [row[1] for row in rows],
        titles,
        paths,
        bodies,
        [row[3] for row in rows],
        [row[4] for row in rows],
        all_lengths,
        all_starts,
    )


def outlined(data: bytes, start: int) -> dict[str, str]:
    """What a text points at, and how it is divided. See `outlines.Outlines`.

    Args:
        data: in UTF-8.
        start: where its frontmatter ends.
    """
    data = data.replace(BETWEEN, b" ")
    lines, line, seen = [], 1, 0
    marks = outline(data, start)
    for mark in marks:
        line += data.count(b"\n", seen, mark.at)
        seen = mark.at
        lines.append(line)

    def joined(parts: list[bytes]) -> str:
        return BETWEEN.join(parts).decode()

    return {
        "kinds": "".join(chr(mark.kind) for mark in marks),
        "lines": " ".join(map(str, lines)),
        "texts": joined([data[mark.text : mark.text_end] for mark in marks]),
        "targets": joined([data[mark.target : mark.target_end] for mark in marks]),
    }
