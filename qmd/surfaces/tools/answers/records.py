"""Answers of the tools for experience records, by their contract."""

from __future__ import annotations

import logging
import threading
from functools import partial
from typing import TYPE_CHECKING

from qmd.errors import QmdError
from qmd.operations.record_order import check_wanted
from qmd.storage.cancellation import CURRENT, Stop, Stopped
from qmd.surfaces.tools import build_reply, reply_text
from qmd.surfaces.tools.arguments import of_contract
from qmd.surfaces.tools.reply import Reply
from qmd.surfaces.tools.run_operation import OperationRunner, ToolCall

if TYPE_CHECKING:
    from qmd.operations.experiences import Experiences

log = logging.getLogger("qmd.tools")

LAST = 1.0
"""Seconds for counting at the very end."""

COUNTED = 0.5
"""Seconds after an answer when what was found of experience records is counted."""


class RecordAnswers:
    """Queries and submissions of experience records, and the count of what was found.

    Args:
        read_only: count nothing.
    """

    def __init__(self, runner: OperationRunner, *, read_only: bool) -> None:
        self._runner = runner
        self._read_only = read_only
        self._experiences: Experiences | None = None
        self._counting: threading.Timer | None = None

    async def query(self, runner: OperationRunner, call: ToolCall) -> Reply:
        """Answer `query_experiences`."""
        asked, misnamed = of_contract(call.tool, call.given)
        vector = None
        try:
            experiences = await self._records()
            if await runner.read(experiences.has_vectors):
                vector = await runner.ask_model(partial(experiences.vector, asked))
            found = await runner.read(experiences.found, asked, misnamed, vector=vector)
        except QmdError as error:
            return build_reply.failed(error)
        if experiences.uncounted and self._counting is None and not self._read_only:
            self._counting = threading.Timer(COUNTED, self._count)
            self._counting.daemon = True
            self._counting.start()
        return build_reply.outcome(*reply_text.fitting_page(found))

    async def submit(self, runner: OperationRunner, call: ToolCall) -> Reply:
        """Answer `submit_experience`."""
        try:
            experiences = await self._records()
        except QmdError as error:
            return build_reply.failed(error)
        asked = of_contract(call.tool, call.given)
        return build_reply.outcome(await runner.read(experiences.submit, *asked))

    async def _records(self) -> Experiences:
        from qmd.operations.experiences import Experiences

        await self._runner.read(check_wanted, self._runner.engine)
        if self._experiences is None:
            self._experiences = Experiences(self._runner.engine)
        return self._experiences

    def close(self) -> None:
        """Count what is left to be counted, if the index is free."""
        if self._counting is not None:
            self._counting.cancel()
            self._counting.join(LAST)
        stop = Stop()
        limit = threading.Timer(LAST, stop.ask)
        limit.start()
        token = CURRENT.set(stop)
        try:
            self._count()
        finally:
            CURRENT.reset(token)
            limit.cancel()

    def _count(self) -> None:
        """Count what was found of experience records; what fails is tried again later."""
        try:
            if self._experiences is not None and not self._read_only:
                self._experiences.count()
        except (QmdError, Stopped) as error:
            log.warning("Answers were not counted: %s", error or "the index is busy")
        finally:
            self._counting = None
