"""What a batch of texts points at, and how each is divided, in numpy: the rules of
`text/outline.py` at full speed.

    texts ─▸ lines ─▸ headings, links and tags in columns (`marks`) ─▸ outlines
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from qmd.pipeline import marks
from qmd.pipeline.lines import Batch, Numbers
from qmd.text.outline import BETWEEN, Mark


class Outlines(NamedTuple):
    """The outlines of some texts: four texts for each, which say one thing of each mark.

    Attributes:
        kinds: a letter each. See `text/outline.py`.
        lines: numbers from 1, a blank between two.
        texts: of headings, links and tags, `BETWEEN` between two.
        targets: of links, and nothing of others, `BETWEEN` between two.
    """

    kinds: list[str]
    lines: list[str]
    texts: list[str]
    targets: list[str]


def outlines(texts: Sequence[bytes], starts: Sequence[int]) -> Outlines:
    """The outlines of texts.

    Args:
        texts: in UTF-8.
        starts: where the frontmatter of each ends.
    """
    batch = Batch(texts, starts)
    headings, read = marks.headings(batch)
    links, more = marks.links(batch)
    read += more
    columns = np.array(read, np.int64).reshape(-1, len(Mark._fields))
    # A heading comes before the link with which it begins.
    kinds = columns[:, 0].astype(np.uint8)
    at = [2 * headings.at, 2 * links.at + 1, 2 * columns[:, 1] + (kinds > ord("6"))]
    order = np.argsort(np.concatenate(at), kind="stable")

    def ordered(*parts: Numbers) -> Numbers:
        return np.concatenate(parts)[order]

    line = ordered(headings.line, links.line, batch.line_of(columns[:, 1]))
    text = batch.text_of(line)
    numbers = (line - batch.first_line[text] + 1).tolist()
    kind = ordered(headings.kind, links.kind, kinds).tobytes().decode("ascii")
    bounds = np.searchsorted(text, np.arange(len(batch.first_line) + 1)).tolist()
    parts = list(pairwise(bounds))
    texts = _cut(
        batch,
        ordered(headings.text, links.text, columns[:, 2]),
        ordered(headings.text_end, links.text_end, columns[:, 3]),
    )
    targets = _cut(
        batch,
        ordered(headings.target, links.target, columns[:, 4]),
        ordered(headings.target_end, links.target_end, columns[:, 5]),
    )
    return Outlines(
        [kind[first:last] for first, last in parts],
        [" ".join(map(str, numbers[first:last])) for first, last in parts],
        [BETWEEN.join(texts[first:last]).decode() for first, last in parts],
        [BETWEEN.join(targets[first:last]).decode() for first, last in parts],
    )


def _cut(batch: Batch, first: Numbers, last: Numbers) -> list[bytes]:
    """Parts of the buffer."""
    raw = batch.raw
    return [raw[a:b] for a, b in zip(first.tolist(), last.tolist(), strict=True)]
