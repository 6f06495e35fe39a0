"""`qmd status`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qmd.operations import left_out
from qmd.operations.status import status as operation
from qmd.surfaces import formats, wording
from qmd.surfaces.cli.common import AsJson, say
from qmd.surfaces.cli.derive import Call, command
from qmd.visible import shown

if TYPE_CHECKING:
    from qmd.operations.status import Status, Vectors


@command(operation, options=AsJson, warm=True)
def status(call: Call, now: Status) -> None:
    """Write what is indexed."""
    if call.options.as_json:
        say(formats.as_json(_record(now)))
        return
    facts = [
        ("Index", f"{now.index} ({wording.size(now.bytes)})"),
        ("Settings", str(now.config)),
        ("Documents", f"{now.documents} ({wording.amount(now.contents, 'different text')})"),
        ("Words", f"{now.words} in {now.postings} postings"),
        ("Vectors", _told(now.vectors)),
    ]
    if now.left_out:
        wanted = ", ".join(map(shown, now.left_out))
        facts.insert(2, ("Left out", f"{shown(wanted)}; approve with 'qmd trust'"))
    say(formats.table(facts))
    if not now.collections:
        say("\nNo collections yet. Add one with 'qmd collection add PATH'.")
        return
    say("\nCollections")
    rows = [
        (
            f"  {c.name}",
            wording.amount(c.documents, "file"),
            wording.size(c.bytes),
            wording.minute(c.modified) if c.modified else "",
            c.mask,
            wording.folder(c.root) + ("" if c.included else " (excluded)"),
        )
        for c in now.collections
    ]
    say(formats.table(rows, right=frozenset({1, 2})))
    for name, files in now.not_indexed.items():
        if files:
            say(f"  {shown(name)}: not indexed: {shown(left_out.reasons_in_words(files))}")
    for each in now.collections:
        if each.data_bytes:
            data = left_out.data_in_words(each.data_documents, each.data_bytes)
            say(f"  {shown(each.name)}: {data}")
    for name, folders in now.kept.items():
        for line in left_out.kept_in_words(name, folders):
            say(f"  {shown(name)}: {shown(line)}")


def _record(now: Status) -> dict[str, object]:
    """Return the status for programs."""
    return {
        "index": str(now.index),
        "config": str(now.config),
        "project": str(now.project) if now.project else None,
        "leftOut": now.left_out,
        "bytes": now.bytes,
        "totalDocuments": now.documents,
        "contents": now.contents,
        "words": now.words,
        "postings": now.postings,
        "modified": now.modified.isoformat() if now.modified else None,
        "vectors": now.vectors._asdict(),
        "collections": [
            {
                "name": c.name,
                "path": c.root,
                "pattern": c.mask,
                "documents": c.documents,
                "bytes": c.bytes,
                "included": c.included,
                "notIndexed": left_out.as_records(now.not_indexed.get(c.name, ())),
                "dataDocuments": c.data_documents,
                "dataBytes": c.data_bytes,
                "kept": [each._asdict() for each in now.kept.get(c.name, ())],
                "lastUpdated": c.modified.isoformat() if c.modified else None,
            }
            for c in now.collections
        ],
    }


def _told(vectors: Vectors) -> str:
    if vectors.problem:
        return vectors.problem
    lines = f"{vectors.vectors} of {vectors.model}"
    if vectors.lacking:
        lines += f"; lacking for {wording.amount(vectors.lacking, 'document')}: qmd embed"
    if vectors.stale:
        lines += f"; {vectors.stale} of other models or settings"
    return lines
