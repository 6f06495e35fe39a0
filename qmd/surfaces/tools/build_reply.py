"""Replies of the tools, made of what the engine gives."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from qmd.errors import (
    AlreadyExists,
    Ambiguous,
    CannotUpdate,
    CollectionNotFound,
    ConfigError,
    IndexBusy,
    IndexFailure,
    IndexUnreadable,
    JobRunning,
    MigrationEdited,
    ModelError,
    NotEmbedded,
    NotFound,
    QmdError,
    TextTooLong,
    UsageError,
    VectorsRemoved,
    WriteConflict,
)
from qmd.operations import left_out
from qmd.operations.document_changes import change_in_words
from qmd.surfaces.tools import reply_text
from qmd.surfaces.tools.reply import Code, Reply, Resource, refusal
from qmd.surfaces.tools.schemas.experiences import OF_RECORDS
from qmd.surfaces.tools.schemas.tool import Tool
from qmd.text import paths
from qmd.text.headings import SectionHeading
from qmd.types import Kept, Passage
from qmd.wording import on_one_line

if TYPE_CHECKING:
    from qmd.operations.document_changes import DocumentChange
    from qmd.operations.put import Put
    from qmd.operations.status import Status
    from qmd.reports import Embedded, Report
    from qmd.storage.catalog import Overview

_OF_CONTRACT = {"DATABASE_ERROR": Code.DATABASE_BUSY, "TIMEOUT": Code.TIMEOUT}


class TimedOut(QmdError):
    """A tool that took longer than its time limit."""

    def __init__(self, seconds: float, message: str | None = None) -> None:
        super().__init__(message or f"Timed out after {seconds:.0f} s.")


class NotReady(TimedOut):
    """A tool whose answer needs what is still being prepared; that goes on after the call."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            seconds,
            f"Not ready after {seconds:.0f} s: documents have changed, and where all links lead is "
            "being found anew. That goes on. Call again in a few seconds.",
        )


class UnknownTool(QmdError):
    """A tool was called by a name that no tool has."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"Unknown tool: {name}. Known: {', '.join(known)}.")
        self.name = name


def documents(pattern: str, passages: Sequence[Passage], *, numbered: bool) -> Reply:
    """Several documents: those that are missing, those left out, the others."""
    missing = [each.reason for each in passages if each.reason and not each.docid]
    if len(missing) == len(passages):
        return refusal(Code.NOT_FOUND, _none_matched(pattern, missing))
    told = reply_text.fitting_notices(missing, reply_text.MORE_MISSING)
    unsent = [
        reply_text.skipped(each.file, each.size) for each in passages if each.reason and each.docid
    ]
    found: list[Resource] = []
    most = room = (
        reply_text.MOST_BYTES - reply_text.NOTICES - sum(len(each.encode()) for each in told)
    )
    for passage in passages:
        if passage.reason:
            continue
        resource = reply_text.document(passage, numbered=numbered, of_several=True, most=most)
        if resource.size > room:
            unsent.append(reply_text.full(passage.file))
            continue
        found.append(resource)
        room -= resource.size
    return Reply((*told, *reply_text.fitting_notices(unsent, reply_text.MORE_LEFT_OUT), *found))


def first_part(passage: Passage, headings: Sequence[SectionHeading], *, numbered: bool) -> Reply:
    """Build the reply of `get` for a long document: its first part, then its outline."""
    part = reply_text.document(passage, numbered=numbered, most=reply_text.FIRST_PART)
    return Reply((part, reply_text.outline(passage, headings)))


def _none_matched(pattern: str, missing: Sequence[str]) -> str:
    """Report that nothing matched, with similar names where names were given."""
    shown = reply_text.cut_at(pattern, reply_text.NOTICES)
    hints = reply_text.fitting_notices(
        [each for each in missing if "\n" in each], reply_text.MORE_MISSING
    )
    return "\n\n".join([f"No files matched pattern: {shown}", *hints])


def updated(reports: Sequence[Report]) -> Reply:
    """Build the reply of an update, by collection."""
    rows = [
        {
            "name": report.collection,
            "new": report.new,
            "updated": report.updated,
            "unchanged": report.unchanged,
            "renamed": report.renamed,
            "removed": report.removed,
            "skipped": len(report.skipped),
            **_kept(report.kept),
            **({"failure": report.failure} if report.failure else {}),
        }
        for report in reports
    ]
    lines = [
        f"{row['name']}: "
        + (
            f"not updated: {row['failure']}"
            if "failure" in row
            else f"{row['new']} new, {row['updated']} updated, {row['unchanged']} unchanged, "
            f"{row['renamed']} renamed, {row['removed']} removed, {row['skipped']} skipped"
        )
        for row in rows
    ]
    for report in reports:
        kept = left_out.kept_in_words(report.collection, report.kept)
        lines += [f"{report.collection}: {line}" for line in kept]
    return Reply(("\n".join(lines) or "No collections yet.",), {"collections": rows})


def _kept(folders: Sequence[Kept]) -> dict[str, Any]:
    """Return folders that have lost their files, in JSON; nothing if there are none."""
    return {"kept": [each._asdict() for each in folders]} if folders else {}


def _data(collection: Overview) -> dict[str, int]:
    """Return how much of a collection is data, in JSON; nothing if none is."""
    if not collection.data_bytes:
        return {}
    return {"dataDocuments": collection.data_documents, "dataBytes": collection.data_bytes}


def stored(done: Put) -> Reply:
    """Build the reply about a document that was put."""
    verb = "Replaced" if done.replaced else "Stored"
    return Reply((f"{verb} {done.file} ({done.docid}).",), done._asdict())


def changed(done: DocumentChange) -> Reply:
    """Build the reply about a document that was changed."""
    facts = {"number": done.number, "file": done.file, "docid": done.docid, "also": [*done.also]}
    return Reply((f"{change_in_words(done)}.",), facts)


def like_others(name: str, alike: Sequence[str]) -> str:
    """Say that documents with the title of a new one are there."""
    listed = "\n".join(f"  - {on_one_line(each)}" for each in alike)
    return (
        f"There are documents with this title:\n\n{listed}\n\n"
        f"Nothing was written. Change one of them, or set expected to 'new' to make "
        f"{on_one_line(name)} as well."
    )


def embedded(done: Embedded) -> Reply:
    """Build the reply of an embedding, with the documents that still need vectors."""
    facts = {
        "chunks": done.chunks,
        "documents": done.documents,
        "lacking": done.lacking,
        "failed": len(done.failed),
        "stopped": done.stopped,
        "dataBytes": done.data_bytes,
    }
    text = f"{done.chunks} passages embedded; documents that lack vectors: {done.lacking}."
    if done.data_bytes:
        text += f" Data such as base64, not embedded: {done.data_bytes} bytes."
    return Reply((text, *([done.notice] if done.notice else ())), facts)


def outcome(told: dict[str, object], *notes: str) -> Reply:
    """Build a reply from the object of the contract for experience records."""
    error = told.get("error")
    code = None
    if isinstance(cause := getattr(told, "error", None), QmdError):
        code = code_of(cause)
    elif isinstance(error, Mapping):
        code = _OF_CONTRACT.get(str(error["code"]), Code.INVALID_PARAMS)
    return Reply((json.dumps(told, ensure_ascii=False), *notes), told, code)


def failed(error: QmdError) -> Reply:
    """Build the reply of a failed operation on experience records, by their contract."""
    from qmd.operations import experiences

    return outcome(experiences.failed(error))


def timed_out(tool: Tool, seconds: float, busy: IndexBusy | None) -> Reply:
    """Report that a tool took too long, or the process that held the index."""
    if tool.name in OF_RECORDS:
        from qmd.operations import experiences

        return outcome(experiences.failed(busy) if busy else experiences.timed_out(seconds))
    error = busy or TimedOut(seconds)
    return refusal(code_of(error), error.told("tool"))


def code_of(error: QmdError) -> Code:
    """Return the code of an error, for programs."""
    return next((code for kind, code in CODES if isinstance(error, kind)), Code.INTERNAL)


CODES: tuple[tuple[type[QmdError], Code], ...] = (
    (CollectionNotFound, Code.UNKNOWN_COLLECTION),
    (NotFound, Code.NOT_FOUND),
    (Ambiguous, Code.AMBIGUOUS_PATH),
    (NotEmbedded, Code.NO_VECTOR_INDEX),
    (VectorsRemoved, Code.NO_VECTOR_INDEX),
    (TextTooLong, Code.INVALID_PARAMS),
    (ModelError, Code.MODEL_ERROR),
    (TimedOut, Code.TIMEOUT),
    (ConfigError, Code.CONFIG_ERROR),
    (IndexBusy, Code.DATABASE_BUSY),
    (JobRunning, Code.DATABASE_BUSY),
    (IndexUnreadable, Code.DATABASE_BUSY),  # as the contract has it
    (IndexFailure, Code.DATABASE_UNUSABLE),  # read-only, permissions, a later schema
    (MigrationEdited, Code.DATABASE_UNUSABLE),
    (AlreadyExists, Code.INVALID_PARAMS),
    (CannotUpdate, Code.INVALID_PARAMS),
    (WriteConflict, Code.CONFLICT),
    (UsageError, Code.INVALID_PARAMS),
)
"""What programs are told of each error. The first that fits counts."""


def facts(now: Status) -> dict[str, Any]:
    """Return the structured content of `status`."""
    vectors = now.vectors
    return {
        "totalDocuments": now.documents,
        # Without the model, no document has vectors of it.
        "needsEmbedding": now.documents if vectors.problem else vectors.lacking,
        "hasVectorIndex": vectors.vectors > 0,
        "collections": [
            {
                "name": each.name,
                "path": each.root or f"{paths.SCHEME}{each.name}",
                "pattern": each.mask,
                "documents": each.documents,
                "lastUpdated": reply_text.moment(each.modified),
                **_data(each),
                **_kept(now.kept.get(each.name, ())),
            }
            for each in now.collections
        ],
    }
