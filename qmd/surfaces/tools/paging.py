"""Pages of long answers, and the cursors that lead from one to the next.

A cursor has the number of what was given before, and digests of the call and of the documents. So
the pages of one call never overlap: once a document has changed, a cursor is refused.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from qmd.named_tuple import NamedTuple
from qmd.surfaces.tools.arguments import InvalidArguments
from qmd.surfaces.tools.run_operation import OperationRunner, ToolCall
from qmd.surfaces.tools.schemas import PREFIX
from qmd.surfaces.tools.schemas.derive import CURSOR

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.storage.cursor import Cursor

DIGEST, OFFSET = 6, 4
"""Bytes of a digest and of a number in a cursor."""

NO_CURSOR = '"cursor" is none that this server has given. Leave it out to begin anew.'
FOREIGN = (
    '"cursor" belongs to another call. Repeat the arguments of that call, or leave the cursor out '
    "to begin anew."
)
STALE = "Documents have changed since this cursor was given. Leave it out to begin anew."


class AnswerPage(NamedTuple):
    """A part of a long answer.

    Attributes:
        offset: what comes before it.
        limit: results of it at most.
        digests: of the call and of the documents.
    """

    offset: int
    limit: int
    digests: bytes

    @property
    def end(self) -> int:
        """Number of results up to its end."""
        return self.offset + self.limit

    def after(self, given: int) -> str:
        """Return the cursor of the page behind so many results of this one."""
        data = (self.offset + given).to_bytes(OFFSET) + self.digests
        return base64.urlsafe_b64encode(data).decode().rstrip("=")


async def page_of(runner: OperationRunner, call: ToolCall, asked: Mapping[str, Any]) -> AnswerPage:
    """Return the page that a call asks for.

    Args:
        asked: the arguments, with defaults.

    Raises:
        InvalidArguments: the cursor is none, belongs to another call, or documents have changed.
    """
    name = call.tool.name.removeprefix(PREFIX)
    same = {key: each for key, each in asked.items() if key not in (CURSOR, "limit", "offset")}
    call_digest = _digest(json.dumps([name, same], sort_keys=True))
    state_digest = _digest(await runner.read(_state, runner.engine))
    given = asked.get(CURSOR)
    if given is None:
        return AnswerPage(asked.get("offset", 0), asked["limit"], call_digest + state_digest)
    try:
        data = base64.b64decode(given + "==", altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidArguments(NO_CURSOR) from error
    if len(data) != OFFSET + 2 * DIGEST:
        raise InvalidArguments(NO_CURSOR)
    if data[OFFSET : OFFSET + DIGEST] != call_digest:
        raise InvalidArguments(FOREIGN)
    if data[OFFSET + DIGEST :] != state_digest:
        raise InvalidArguments(STALE)
    return AnswerPage(int.from_bytes(data[:OFFSET]), asked["limit"], data[OFFSET:])


def _state(index: Index) -> str:
    """Return the state of the documents, which is computed once for each state of the index."""

    def look(cursor: Cursor) -> str:
        [(state, _)] = cursor.run("documents/state")
        return str(state)

    return index.read(look, key="documents/state")


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=DIGEST).digest()
