"""The tools that say what is indexed, update it and embed it."""

from __future__ import annotations

from functools import partial

import anyio

from qmd.models.registry import MINILM
from qmd.storage.file_lock import errand
from qmd.surfaces.tools.dispatch import Toolbox
from qmd.surfaces.tools.reply import Code
from qmd.surfaces.tools.server_tools import ServerTools
from tests.surfaces.tools.calling import LONG, call, text


def test_status_says_what_is_indexed(faked, toolbox):
    reply = call(toolbox, "status")
    [collection] = reply.structured["collections"]
    assert collection["lastUpdated"].endswith("Z")
    assert reply.structured == {
        "totalDocuments": 3,
        "needsEmbedding": 3,
        "hasVectorIndex": False,
        "collections": [
            {
                "name": "notes",
                "path": str(faked.root),
                "pattern": "**/*.md",
                "documents": 3,
                "lastUpdated": collection["lastUpdated"],
            }
        ],
    }
    assert text(reply) == (
        "QMD Index Status:\n  Total documents: 3\n  Needs embedding: 3\n  Vector index: no\n"
        f"  Collections: 1\n    - {faked.root} (3 docs) [notes]"
    )
    faked.embed()
    assert "Needs embedding: 0\n  Vector index: yes" in text(call(toolbox, "status"))


def test_updating_and_embedding_tell_how_far_they_are(faked):
    faked.write("tea.md", "# Tea\n\nGreen.")
    toolbox = Toolbox(faked.engine, ServerTools(allow_write=True))
    told = []

    async def progress(done, total, doing):
        told.append((done, total, doing))

    async def work():
        with anyio.fail_after(LONG):
            return (
                await toolbox.call("update", {}, progress=progress),
                await toolbox.call("embed", {"maxSeconds": "60"}, progress=progress),
            )

    updated, embedded = anyio.run(work)
    assert updated.structured["collections"][0]["new"] == 1
    assert embedded.structured["chunks"] == 1
    assert (1, 1, "notes") in told
    assert "1 of 1 documents, 1 passages, notes/tea.md" in {doing for _, _, doing in told}


def test_what_cannot_be_updated_or_embedded_is_said_word_for_word(faked):
    toolbox = Toolbox(faked.engine, ServerTools(allow_write=True))

    async def progress(done, total, doing):
        raise AssertionError

    async def work(name, **arguments):
        with anyio.fail_after(LONG):
            return await toolbox.call(name, arguments, progress=progress)

    for name in ("update", "embed"):
        reply = anyio.run(partial(work, name, collections="nope"))
        assert reply.error is Code.UNKNOWN_COLLECTION
        assert text(reply) == "Collection not found: nope. Known: notes."
    faked.write("tea.md", "# Tea")
    faked.update()
    with errand(faked.engine.place.database, "embed"):
        reply = anyio.run(partial(work, "embed"))
    assert reply.error is Code.DATABASE_BUSY
    assert "Another embed of " in text(reply)


def test_texts_can_be_embedded(faked, toolbox):
    rows = anyio.run(toolbox.embed_texts, ["tea", "pool"])
    assert [len(row) for row in rows] == [16, 16]
    assert (
        MINILM.as_document("tea") in faked.engine.models.embedder(faked.engine.models.space()).made
    )
