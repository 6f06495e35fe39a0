"""Files with the texts that their readers give them, and the files that are inside of these.

What a reader has made of the same bytes before is taken from the index.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from qmd.ingest import commit
from qmd.ingest.commit import Made
from qmd.ingest.extractor import Extractor
from qmd.ingest.folder_changes import Change
from qmd.ingest.reader import File, understood
from qmd.ingest.readers.reading import Reading, Unreadable, restored
from qmd.ingest.readers.tasks import Job
from qmd.storage.arrow import Relation
from qmd.storage.arrow import texts as column
from qmd.storage.database import Database
from qmd.text import kinds, markdown, paths
from qmd.text.hashes import checksum, content_hash
from qmd.text.kinds import DOCUMENT
from qmd.text.places import Places

if TYPE_CHECKING:
    from qmd.ingest.converters import Converters

DEEPEST = 3
"""Files within files that are looked into."""


def extracted(
    files: Sequence[File],
    extractor: Extractor,
    database: Database,
    converters: Converters | None = None,
) -> list[File]:
    """Give files their texts that readers have to read.

    Returns:
        The files, followed by those inside of them.
    """
    found: list[File] = []
    waiting, depth = list(files), 0
    while waiting:
        done = _read(waiting, extractor, database)
        found += done
        waiting = []
        if depth < DEEPEST:
            waiting = [part for file in done for part in _parts(file, converters)]
        depth += 1
    return found


def _read(files: list[File], extractor: Extractor, database: Database) -> list[File]:
    waiting = {n: (_digest(file), file.task.tag) for n, file in enumerate(files) if file.task}
    if not waiting:
        return files
    asked = [f"{digest} {tag}" for digest, tag in waiting.values()]
    known = database.read(partial(commit.readings, asked=asked))
    jobs = {
        number: Job(file.task, file.data, file.path.rpartition("/")[2])
        for number, key in waiting.items()
        if (file := files[number]).task and key not in known
    }
    results = dict(zip(jobs, extractor.read(list(jobs.values())), strict=True))
    done = list(files)
    for number, (digest, tag) in waiting.items():
        if number not in results:
            done[number] = _with(files[number], _restored(known[digest, tag]))
            continue
        file = _with(files[number], results[number])
        made = _kept(digest, tag, file.hash or None, results[number])
        done[number] = file._replace(made=made)
    return done


def _digest(file: File) -> str:
    """Hash the input of a reader: the bytes of a file, and the suffixes of its name."""
    suffixes = "".join(PurePosixPath(file.path).suffixes).lower()
    return content_hash(file.data + b"\0" + suffixes.encode(errors="replace"))


def _with(file: File, result: Reading | Unreadable) -> File:
    """Add the result of its reader to a file."""
    task, bare = file.task, file._replace(data=b"", task=None)
    assert task is not None
    if isinstance(result, Unreadable):
        return bare._replace(problem=str(result) or "cannot be read", empty=True)
    text = result.text
    if not text or text.isspace():
        if not result.attachments:
            return bare._replace(problem=result.remark or kinds.EMPTY, empty=True)
        text = f"{result.title or file.path.rpartition('/')[2]}\n"
    data = text.encode()
    return bare._replace(
        hash=content_hash(data),
        text=text,
        data=data,
        reader=task.tag,
        reading=None if task.says_itself else replace(result, text=""),
        remark="; ".join(filter(None, (file.remark, result.remark))) or None,
    )


def _parts(file: File, converters: Converters | None) -> list[File]:
    """List the documents inside of a file."""
    parts, names = [], set[str]()
    for each in file.reading.attachments if file.reading else ():
        name = _free(each.name, names)
        kind = kinds.kind_of(name or "")
        if name is None or not each.data or kind is None or kind.group != DOCUMENT:
            continue
        names.add(name)
        part = File(
            Change(None, None, f"{file.path}/{name}", None, None),
            f"{file.path}/{name}",
            len(each.data),
            file.mtime_ns,
            file.inode,
            checksum(each.data),
            data=each.data,
            container=file.container or file.path,
            ctime_ns=file.ctime_ns,
        )
        parts.append(understood(part, converters))
    return parts


def _free(name: str, taken: set[str]) -> str | None:
    """Choose an unused name below a file; None if it cannot be a name."""
    clean = "/".join(part for part in name.replace("\\", "/").split("/") if part.strip(". "))
    if not paths.is_below(clean) or not clean.isprintable():
        return None
    stem, dot, suffix = clean.rpartition(".")
    free, number = clean, 1
    while free in taken:
        number += 1
        free = f"{stem}-{number}{dot}{suffix}" if dot else f"{clean}-{number}"
    return free


def _kept(digest: str, tag: str, hash_: str | None, result: Reading | Unreadable) -> Made | None:
    """Convert a result to what is stored; nothing for a file with documents inside."""
    if isinstance(result, Unreadable):
        return Made(digest, tag, None, json.dumps({"problem": str(result)}))
    if result.attachments:
        return None
    said = asdict(replace(result, text=""))
    return Made(digest, tag, hash_, markdown.metadata_json(said) or "{}")


def _restored(known: commit.Known) -> Reading | Unreadable:
    """Restore the stored result of a reader."""
    said = json.loads(known.said)
    if "problem" in said:
        return Unreadable(said["problem"])
    return restored(said, known.body or "")


def of_places(files: Sequence[File]) -> Relation | None:
    """Convert the places of documents to rows; None without places."""
    found = {}
    for file in files:
        if file.reading is not None and file.reading.places:
            places = Places.of([(each.kind, each.label, each.line) for each in file.reading.places])
            found[places.id] = places.packed()
    if not found:
        return None
    packed = list(found.values())
    return Relation(
        id=column(list(found)),
        kinds=column([kinds for kinds, _, _ in packed]),
        labels=column([labels for _, labels, _ in packed]),
        lines=column([lines for _, _, lines in packed]),
    )
