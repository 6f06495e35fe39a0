"""Cache of what takes pages long to compute, for as long as the index does not change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import anyio

from qmd.named_tuple import NamedTuple
from qmd.storage.file_version import is_settled

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.surfaces.tools.dispatch import Toolbox

Result = TypeVar("Result")


MOST = 64
"""Results about single documents that are kept, beside those of the whole index."""

Key = tuple[str, str]
"""Kind of a result, and the document that it is about, or nothing."""


class KeptResult(NamedTuple, Generic[Result]):
    """A result and the state of the files that it was computed from."""

    state: str
    result: Result


class KeptResults:
    """The last result of each kind. Requests for one that is being computed wait for it.

    Of those about single documents, the ones that were asked for last are kept.
    """

    def __init__(self) -> None:
        self._locks: defaultdict[Key, anyio.Lock] = defaultdict(anyio.Lock)
        self._kept: dict[Key, KeptResult[Any]] = {}

    async def get(
        self,
        toolbox: Toolbox,
        kind: str,
        work: Callable[[], Awaitable[Result]],
        *,
        document: str = "",
        with_log: bool = False,
    ) -> KeptResult[Result]:
        """Return the result for the index as it is now.

        Args:
            document: that it is about; none: it is about the whole index.
            with_log: it also depends on the search log.

        Raises:
            QmdError: what `work` raises; then nothing is kept.
        """
        key = kind, document
        async with self._locks[key]:
            state, settled = await toolbox.look(_state, with_log=with_log)
            known: KeptResult[Result] | None = self._kept.pop(key, None)
            if known is not None and known.state == state:
                self._kept[key] = known  # the last again
                return known
            known = KeptResult(state, await work())
            if settled:
                self._kept[key] = known
            self._drop()
            return known

    def _drop(self) -> None:
        of_documents = [key for key in self._kept if key[1]]
        for key in of_documents[:-MOST]:
            del self._kept[key]
        for key, lock in list(self._locks.items()):
            if key not in self._kept and not lock.locked():
                del self._locks[key]


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
