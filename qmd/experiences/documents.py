"""Experience records as a batch of documents."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from qmd.experiences import contract
from qmd.experiences.table import Record
from qmd.ingest.batch_tables import batch, texts_of
from qmd.ingest.commit import Batch
from qmd.ingest.folder_changes import Change
from qmd.ingest.reader import EPOCH, File, Parsed
from qmd.ingest.vocabulary import Vocabulary
from qmd.text import markdown
from qmd.text.hashes import checksum, content_hash
from qmd.text.stems import terms
from qmd.types import EXPERIENCES


def prepared(records: Sequence[Record]) -> Batch:
    """Build the batch of some records.

    All of their words are in `learnt`; those that the index knows are found at the commit.

    The words of a path are not indexed: it is a number.
    """
    parsed = [_parsed(record) for record in records]
    return batch(EXPERIENCES, texts_of(parsed, named=False), Vocabulary(terms))


def _parsed(record: Record) -> Parsed:
    submitted = record.submission
    text = contract.record_markdown(submitted).text
    data = text.encode()
    file = File(
        Change(None, None, record.path, None, None),
        record.path,
        len(data),
        (record.created_at - EPOCH) // timedelta(microseconds=1) * 1000,
        0,
        checksum(data),
        content_hash(data),
        text,
        data,
    )
    metadata: dict[str, object] = {}
    if submitted.keywords:
        metadata["keywords"] = submitted.keywords
    title = contract.heading(submitted.title)
    moment = record.created_at
    return Parsed(file, title, markdown.metadata_json(metadata), moment, moment, None)
