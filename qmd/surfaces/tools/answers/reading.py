"""Answers of the tools that read documents and list them."""

from __future__ import annotations

from functools import partial

from qmd.errors import NotFound, QmdError
from qmd.operations.documents import folder_named, get, multi_get, outline_of_document
from qmd.operations.facets import facets
from qmd.operations.listing import documents, listing
from qmd.operations.status import status
from qmd.surfaces.tools import build_reply, finding_reply, reply_text
from qmd.surfaces.tools.arguments import InvalidArguments, read
from qmd.surfaces.tools.paging import page_of
from qmd.surfaces.tools.reply import Code, Reply, Resource, refusal
from qmd.surfaces.tools.run_operation import OperationRunner, ToolCall
from qmd.surfaces.tools.schemas.reading import LS
from qmd.text import globs, paths

MOST_NAMES = 500
"""Documents that can be asked for at once by name."""


async def answer_get(runner: OperationRunner, call: ToolCall) -> Reply:
    """Answer `get`: a document, or the listing of a folder."""
    asked = read(call.tool, call.given)
    if asked.get("fromLine") is not None:
        asked["fromLine"] = max(1, asked["fromLine"])
    try:
        passage = await runner.run(get, asked)
    except NotFound:
        reply = await _folder(runner, asked["file"])
        if reply is None:
            raise
        return reply
    is_part = asked.get("fromLine") is not None or asked.get("maxLines") is not None
    if is_part or asked["full"] or not reply_text.is_long(passage):
        return Reply((reply_text.document(passage, numbered=asked["lineNumbers"]),))
    with runner.during(get):
        outline = await runner.read(outline_of_document, runner.engine, passage.file)
    return build_reply.first_part(passage, outline, numbered=asked["lineNumbers"])


async def _folder(runner: OperationRunner, name: str) -> Reply | None:
    """List a folder that is asked for like a document; None: there is none of this name."""
    try:
        reply = await answer_ls(runner, ToolCall(LS, {"path": name}))
    except QmdError:
        return None
    return reply if reply.error is None else None


async def answer_ls(runner: OperationRunner, call: ToolCall) -> Reply:
    """Answer `ls`."""
    asked = read(call.tool, call.given)
    page = page_of(call, asked)
    by = asked.pop("by", None)
    if asked.get("path") is None and asked.get("since") is None and by is None:
        found = await runner.read(page.found, runner.engine, runner.engine.overview)
        return finding_reply.collections(found, page)
    folder = ("", "")
    if asked.get("path") is not None:
        folder = await runner.read(folder_named, runner.engine, asked["path"])
        asked["path"] = "/".join(folder)
    if by is not None:
        count = partial(facets, runner.engine, asked.get("path"), by=by, since=asked.get("since"))
        return finding_reply.counted(by, await runner.read(page.found, runner.engine, count), page)
    found = await runner.run(documents, asked, through=page.found)
    if asked.get("since") is not None:
        return finding_reply.listed((), found, page)
    if not found:
        return refusal(Code.NOT_FOUND, f"No documents below {asked['path']}.")
    return finding_reply.listed(*listing(found, *folder), page)


async def answer_multi_get(runner: OperationRunner, call: ToolCall) -> Reply:
    """Answer `multi_get`."""
    asked = read(call.tool, call.given)
    given_as = asked["pattern"]
    patterns = [given_as] if isinstance(given_as, str) else given_as
    if sum(len(globs.split_mask(each)) for each in patterns) > MOST_NAMES:
        raise InvalidArguments(f'"pattern" may name at most {MOST_NAMES} documents.')
    passages = await runner.run(multi_get, asked)
    told = ", ".join(patterns)
    return build_reply.documents(told, passages, numbered=asked["lineNumbers"])


async def answer_status(runner: OperationRunner, call: ToolCall) -> Reply:
    """Answer `status`."""
    facts = build_reply.facts(await runner.run(status, read(call.tool, call.given)))
    return Reply((reply_text.status(facts),), facts)


async def read_resource(runner: OperationRunner, name: str) -> Resource:
    """Read a document by the part of its URI after `qmd://`, with line numbers.

    Raises:
        QmdError: there is none, or several, or the index cannot be read.
    """
    with runner.during(get):
        passage = await runner.read(get, runner.engine, paths.decoded(name))
    return reply_text.document(passage, numbered=True)
