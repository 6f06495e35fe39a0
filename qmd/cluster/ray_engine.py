"""Engine `ray`: actors of a Ray cluster hold the shards. `ray_build` imports ray, too."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Mapping
from typing import Any

from qmd.cluster.manifest import BuildManifest, ShardFile
from qmd.cluster.shard import Shard, ShardRequest
from qmd.cluster.store import ShardStore
from qmd.errors import ClusterFailure, IndexFailure, ShardFailed, ShardsMissing, UsageError, extras
from qmd.settings.schema import Engine
from qmd.storage import cancellation
from qmd.text import hashes

LOCAL = "local"
"""Address that starts Ray on this machine."""

NAMESPACE = "qmd"
"""Of the names of actors in a cluster."""

CPUS = 0.2
"""Part of a processor that an actor reserves: it waits most of the time."""

THREADS = 4
"""Requests that an actor answers at the same time."""

OBJECTS = 100_000_000
"""Bytes of the object store that `local` makes; answers of shards are small."""

CONNECT_SECONDS = 5.0
"""Seconds in which the address has to accept a connection: Ray itself waits for minutes."""

SLICE_SECONDS = 0.2
"""Seconds between two looks whether the caller still wants an answer."""


class _Holder:
    """Actor with one shard.

    Args:
        source: folder of the manifest, which each machine has under this path, or URL.
    """

    def __init__(self, source: str, shard: ShardFile) -> None:
        self._store = ShardStore(source)
        self._file = ShardFile(*shard)
        self._shard: Shard | None = None
        self._opening = threading.Lock()

    def answer(self, request: tuple[str, tuple[Any, ...], float]) -> tuple[bool, Any]:
        """Answer one request; an error of qmd comes back as its message.

        An exception with arguments of its own could not be rebuilt at the coordinator.
        """
        try:
            with self._opening:  # two engines must not have one file open
                if self._shard is None:
                    self._shard = Shard(self._store.local(self._file, compared=True))
                shard = self._shard
            return True, shard.answer(ShardRequest(*request))
        except IndexFailure as error:
            return False, str(error)

    def process(self) -> int:
        """Return the number of the process."""
        return os.getpid()


class ShardsOfRay:
    """Shards of one build in actors, which outlive the command; see `rules.Shards`.

    Args:
        source: folder of the manifest, on this machine and on those of the cluster; or URL.

    Raises:
        UsageError: Ray is not installed, or no address is given, or none answers there.
    """

    def __init__(self, source: str, manifest: BuildManifest, engine: Engine) -> None:
        extras.require_extra("Ray", "ray", "holds the shards on a cluster", extra="ray")
        import ray

        self._ray = ray
        self._deadline = engine.deadline
        self._is_mine = not ray.is_initialized()
        address = _address(engine)
        if self._is_mine:
            join(address)
        place = hashes.short_digest(os.fsencode(source))[:8]
        holder = ray.remote(
            num_cpus=CPUS, max_restarts=-1, max_task_retries=-1, max_concurrency=THREADS
        )(_Holder)
        self._actors = [
            holder.options(
                name=f"qmd-{manifest.build}-{place}-{shard.number}",
                namespace=NAMESPACE,
                get_if_exists=True,
                lifetime=None if address == LOCAL else "detached",
                scheduling_strategy="SPREAD",
            ).remote(source, shard)
            for shard in manifest.shards
        ]

    @property
    def count(self) -> int:
        """Shards of the index."""
        return len(self._actors)

    def ask(self, requests: Mapping[int, ShardRequest]) -> Mapping[int, Any]:
        """Ask shards all at once. An actor that died is started again, and asked again.

        Raises:
            ShardsMissing: one did not answer before the deadline.
            ShardFailed: the file of one cannot be used.
        """
        actors = self._actors
        asked = {number: actors[number].answer.remote(each) for number, each in requests.items()}
        seconds = self._deadline + max((each.seconds for each in requests.values()), default=0)
        late = self._awaited(list(asked.values()), seconds)
        missing = [number for number, reference in asked.items() if reference in late]
        if missing:
            reason = f"{seconds:g} seconds are over."
            raise ShardsMissing(missing, self.count, reason)
        found = {}
        for number, reference in asked.items():
            try:
                is_answer, value = self._ray.get(reference)
            except self._ray.exceptions.RayError as error:
                reason = str(error).strip().split("\n")[-1]
                raise ShardsMissing([number], self.count, reason) from error
            if not is_answer:
                raise ShardFailed(number, value)
            found[number] = value
        return found

    def _awaited(self, references: list[Any], seconds: float) -> set[Any]:
        """Wait until all answers are there, or the time is over; return the late ones."""
        end = time.monotonic() + seconds
        late = references
        while late:
            cancellation.check()
            left = end - time.monotonic()
            if left <= 0:
                break
            wait = min(SLICE_SECONDS, left)
            _, late = self._ray.wait(late, num_returns=len(late), timeout=wait)
        return set(late)

    def processes(self) -> list[int]:
        """Return the process of each actor."""
        found: list[int] = self._ray.get(
            [actor.process.remote() for actor in self._actors], timeout=self._deadline
        )
        return found

    def close(self) -> None:
        """Leave the cluster; actors stay, unless Ray was started for this process alone."""
        self._actors = []
        if self._is_mine:
            self._ray.shutdown()


def _address(engine: Engine) -> str:
    """Return the address of the cluster.

    Raises:
        UsageError: none is given.
    """
    found = engine.address or os.environ.get("RAY_ADDRESS")
    if not found:
        raise UsageError(
            "The engine 'ray' has no address of a cluster.\n\n"
            "Say it in index.yml (engine: ray: address: HOST:PORT) or in RAY_ADDRESS; 'local' "
            "starts Ray on this machine."
        )
    return found


def join(address: str) -> None:
    """Join a cluster, or start one for this process.

    Raises:
        UsageError: no cluster answers at the address.
        ClusterFailure: Ray cannot start.
    """
    import ray

    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address == LOCAL:
        options |= {"include_dashboard": False, "object_store_memory": OBJECTS}
    else:
        _check_reach(address)
    if address == LOCAL or address.startswith("127."):
        options["_node_ip_address"] = "127.0.0.1"
    try:
        ray.init(address=address, namespace=NAMESPACE, **options)
    except (OSError, RuntimeError, ValueError, TimeoutError) as error:
        reason = str(error).strip().split("\n")[0]
        raise ClusterFailure(
            f"Ray cannot be joined at {address}: {reason}\n\n"
            "If the cluster asks for a token, set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN. Its "
            "version of Ray and of Python has to be that of this machine."
        ) from error


def _check_reach(address: str) -> None:
    """Check that a port answers.

    Raises:
        UsageError: none does.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    problem = "it is no HOST:PORT"
    if host and port.isdigit() and int(port) < 1 << 16:
        try:
            socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
            return
        except OSError as error:
            problem = error.strerror or str(error)
    raise UsageError(
        f"There is no Ray cluster at {address}: {problem}.\n\n"
        "Check the address in index.yml or RAY_ADDRESS; 'ray status' on its head shows it."
    )
