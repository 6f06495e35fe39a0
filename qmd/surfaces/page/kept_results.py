"""Cache of what pages compute from the whole index, for as long as it does not change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import anyio

from qmd.storage.file_version import is_settled

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.surfaces.tools.dispatch import Toolbox

Result = TypeVar("Result")


class KeptResult(NamedTuple, Generic[Result]):
    """A result and the state of the files that it was computed from."""

    state: str
    result: Result


class KeptResults:
    """The last result of each kind. Requests for one that is being computed wait for it."""

    def __init__(self) -> None:
        self._locks: defaultdict[str, anyio.Lock] = defaultdict(anyio.Lock)
        self._kept: dict[str, KeptResult[Any]] = {}

    async def get(
        self,
        toolbox: Toolbox,
        kind: str,
        work: Callable[[], Awaitable[Result]],
        *,
        with_log: bool = False,
    ) -> KeptResult[Result]:
        """Return the result for the index as it is now.

        Args:
            with_log: it also depends on the search log.

        Raises:
            QmdError: what `work` raises; then nothing is kept.
        """
        async with self._locks[kind]:
            state, settled = await toolbox.look(_state, with_log=with_log)
            known: KeptResult[Result] | None = self._kept.get(kind)
            if known is None or known.state != state:
                self._kept.pop(kind, None)
                known = KeptResult(state, await work())
                if settled:
                    self._kept[kind] = known
            return known


_OF_SERVERS: WeakKeyDictionary[Toolbox, KeptResults] = WeakKeyDictionary()


def kept_results(toolbox: Toolbox) -> KeptResults:
    """Return the cache of a server."""
    return _OF_SERVERS.setdefault(toolbox, KeptResults())


def _state(index: Index, *, with_log: bool) -> tuple[str, bool]:
    """Describe the state of index and settings, and tell whether a next change will differ."""
    files = [index.place.database, index.place.config]
    if with_log and index.log is not None:
        files += index.log.files
    found, settled = [], True
    for file in files:
        try:
            facts = file.stat()
        except FileNotFoundError:
            found.append("")
            continue
        found.append(f"{facts.st_ino:x}-{facts.st_mtime_ns:x}-{facts.st_size:x}")
        settled = settled and is_settled(facts.st_mtime_ns)
    return ".".join(found), settled
