"""Subscriptions to resources: clients are told when a document of theirs has changed.

Another process may change the index at any time. While a client has a subscription, the state of
the index file is looked at once a second; only if that has changed, the documents are compared.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
)
from mcp.shared.exceptions import MCPError

from qmd.errors import QmdError
from qmd.operations.resources import WatchedState, watched_state
from qmd.storage.file_version import version_of
from qmd.text import paths

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession

    from qmd.surfaces.tools.dispatch import Toolbox

    Context = ServerRequestContext[Any, Any]

log = logging.getLogger("qmd.mcp")

INTERVAL = 1.0
"""Seconds between two looks at the index file."""

MOST_WATCHED = 1000
"""Documents that one client may watch."""


class Subscriptions:
    """Subscriptions of the client of one connection, and the task that watches for changes."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._bus = InMemorySubscriptionBus()
        self._listening = ListenHandler(self._bus)
        self._sessions: dict[str, ServerSession] = {}
        self._listened: list[tuple[str, ...]] = []
        self._wanted = anyio.Event()
        self._known: dict[str, str | None] = {}
        self._names: str | None = None

    @property
    def _uris(self) -> list[str]:
        return list(
            dict.fromkeys([*self._sessions, *(uri for part in self._listened for uri in part)])
        )

    async def subscribe(
        self, context: Context, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        """Watch a document for a client that is told by notifications."""
        uri = _checked(str(params.uri))
        if len(self._sessions) >= MOST_WATCHED and uri not in self._sessions:
            raise MCPError(types.INVALID_PARAMS, f"At most {MOST_WATCHED} subscriptions.")
        self._sessions[uri] = context.session
        await self._begin([uri])
        return types.EmptyResult()

    async def unsubscribe(
        self, context: Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        """Watch a document no more."""
        self._sessions.pop(str(params.uri), None)
        return types.EmptyResult()

    async def listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Watch documents for a client that listens to a stream, until it ends."""
        uris = tuple(map(_checked, params.notifications.resource_subscriptions or ()))
        if len(uris) > MOST_WATCHED:
            raise MCPError(types.INVALID_PARAMS, f"At most {MOST_WATCHED} subscriptions.")
        self._listened.append(uris)
        try:
            await self._begin(uris)
            return await self._listening(context, params)
        finally:
            self._listened.remove(uris)

    def close(self) -> None:
        """End all streams, which gives their requests an answer."""
        self._listening.close()

    async def _begin(self, uris: tuple[str, ...] | list[str]) -> None:
        """Note the state of documents, from which on changes are told."""
        state = await self._state(list(uris))
        if state is not None:
            self._known |= {uri: state.hashes[_name(uri)] for uri in uris}
            self._names = state.names if self._names is None else self._names
        self._wanted.set()

    async def watch(self) -> None:
        """Tell of changes, until it is cancelled."""
        while True:
            await self._wanted.wait()
            seen = None
            while self._sessions or self._listened:
                version = version_of(self._toolbox.engine.place.database)
                if version != seen and await self._compare():
                    seen = version
                await anyio.sleep(INTERVAL)
            self._wanted = anyio.Event()
            self._names = None

    async def _compare(self) -> bool:
        """Compare the documents with what was known of them; False: the index is busy."""
        uris = self._uris
        state = await self._state(uris)
        if state is None:
            return False
        if self._names not in (None, state.names):
            await self._bus.publish(ResourcesListChanged())
        self._names = state.names
        for uri in uris:
            digest = state.hashes[_name(uri)]
            if uri in self._known and self._known[uri] != digest:
                await self._tell(uri)
            self._known[uri] = digest
        return True

    async def _tell(self, uri: str) -> None:
        await self._bus.publish(ResourceUpdated(uri))
        if uri in self._sessions:
            await self._sessions[uri].send_resource_updated(uri)

    async def _state(self, uris: list[str]) -> WatchedState | None:
        try:
            found: WatchedState = await self._toolbox.look(watched_state, [*map(_name, uris)])
        except QmdError as error:
            log.debug("Subscriptions wait: %s", error)
            return None
        return found


def _name(uri: str) -> str:
    return uri.removeprefix(paths.SCHEME)


def _checked(uri: str) -> str:
    """Return the URI of a document.

    Raises:
        MCPError: it is none of this server.
    """
    if not uri.startswith(paths.SCHEME):
        raise MCPError(types.INVALID_PARAMS, f"No resource of this server: {uri}", {"uri": uri})
    return uri
