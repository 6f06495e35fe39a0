"""Pages of long answers, and the cursors that lead from one to the next.

A cursor has the number of what was given before, and digests of the call and of the documents. So
the pages of one call never overlap: once a document has changed, a cursor is refused.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from qmd.surfaces.tools.arguments import InvalidArguments
from qmd.surfaces.tools.run_operation import ToolCall
from qmd.surfaces.tools.schemas import PREFIX
from qmd.surfaces.tools.schemas.derive import CURSOR

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.storage.cursor import Cursor

Found = TypeVar("Found")

DIGEST, OFFSET = 6, 4
"""Bytes of a digest and of a number in a cursor."""

NO_CURSOR = '"cursor" is none that this server has given. Leave it out to begin anew.'
FOREIGN = (
    '"cursor" belongs to another call. Repeat the arguments of that call, or leave the cursor out '
    "to begin anew."
)
STALE = "Documents have changed since this cursor was given. Leave it out to begin anew."


class AnswerPage:
    """A part of a long answer.

    Attributes:
        offset: what comes before it.
        limit: results of it at most.
    """

    def __init__(self, offset: int, limit: int, call: bytes, state: bytes | None) -> None:
        """Note the digests of the call, and of the documents if a cursor has one."""
        self.offset = offset
        self.limit = limit
        self._call = call
        self._state = state
        self._has_cursor = state is not None

    def found(self, index: Index, work: Callable[[], Found]) -> Found:
        """Return what `work` finds in the documents that the page is of.

        Raises:
            InvalidArguments: documents have changed since the cursor was given.
        """
        self.check(index)
        found = work()
        if self._has_cursor:  # an update may have ended meanwhile
            self.check(index)
        return found

    def check(self, index: Index) -> None:
        """Note the state of the documents, before the answer is found in them.

        Raises:
            InvalidArguments: documents have changed since the cursor was given.
        """
        state = _digest(index.read(_state, key="documents/state"))
        if self._state not in (None, state):
            raise InvalidArguments(STALE)
        self._state = state

    @property
    def end(self) -> int:
        """Number of results up to its end."""
        return self.offset + self.limit

    def after(self, given: int) -> str:
        """Return the cursor of the page behind so many results of this one."""
        assert self._state is not None, "a page is checked first"
        data = (self.offset + given).to_bytes(OFFSET) + self._call + self._state
        return base64.urlsafe_b64encode(data).decode().rstrip("=")


def page_of(call: ToolCall, asked: Mapping[str, Any]) -> AnswerPage:
    """Return the page that a call asks for, to be checked before its answer is found.

    Args:
        asked: the arguments, with defaults.

    Raises:
        InvalidArguments: the cursor is none, or belongs to another call.
    """
    name = call.tool.name.removeprefix(PREFIX)
    same = {key: each for key, each in asked.items() if key not in (CURSOR, "limit", "offset")}
    call_digest = _digest(json.dumps([name, same], sort_keys=True))
    given = asked.get(CURSOR)
    if given is None:
        return AnswerPage(asked.get("offset", 0), asked["limit"], call_digest, None)
    try:
        data = base64.b64decode(given + "==", altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidArguments(NO_CURSOR) from error
    if len(data) != OFFSET + 2 * DIGEST:
        raise InvalidArguments(NO_CURSOR)
    if data[OFFSET : OFFSET + DIGEST] != call_digest:
        raise InvalidArguments(FOREIGN)
    return AnswerPage(
        int.from_bytes(data[:OFFSET]), asked["limit"], call_digest, data[OFFSET + DIGEST :]
    )


def _state(cursor: Cursor) -> str:
    """Return the state of the documents."""
    [(state, _)] = cursor.run("documents/state")
    return str(state)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=DIGEST).digest()
