"""Calls to helper models during a query: time limit, cache, cancellation.

A failed or late call is left out with a notice. Answers are cached in the index, by model, prompt
and input.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import anyio
import xxhash
from anyio import to_thread
from anyio.lowlevel import checkpoint_if_cancelled

from qmd.errors import IndexFailure, ModelError
from qmd.ranking import answer_cache

if TYPE_CHECKING:
    from qmd.storage.database import Database

Value = TypeVar("Value")


class Aid:
    """Helper-model calls of one query.

    Args:
        timeout: seconds for each of them; None: as long as it takes.

    Attributes:
        notices: what could not be done, and why.
    """

    def __init__(self, database: Database, timeout: float | None) -> None:
        self._database = database
        self._timeout = timeout
        self.notices: list[str] = []

    async def within(self, otherwise: str, work: Callable[[], Value]) -> Value | None:
        """Call a model within the time limit; None, with a notice, if it fails or is late."""
        try:
            with anyio.fail_after(self._timeout):
                value = await to_thread.run_sync(work)
                await checkpoint_if_cancelled()  # too late: it is kept for another time
                return value
        except ModelError as error:
            reason = str(error).split("\n")[0]
        except TimeoutError:
            reason = f"The model took longer than {self._timeout:g} s."
        self.notices.append(f"{otherwise}. {reason}")
        return None

    def kept(self, keys: list[str]) -> dict[str, object]:
        """Load cached answers, by key."""
        return self._database.read(partial(answer_cache.kept, keys=keys))

    def keep(self, kind: str, values: Mapping[str, object]) -> None:
        """Keep answers for the next time, where the index can be written."""
        with suppress(IndexFailure):
            self._database.write(partial(answer_cache.keep_answers, kind=kind, answers=values))


def key(*parts: str) -> str:
    """Compute the cache key of an answer that depends on these texts alone."""
    return xxhash.xxh3_128_hexdigest("\0".join(parts).encode("utf-8", "surrogatepass"))
