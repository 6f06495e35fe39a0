"""Build of shards on a Ray cluster: a task for each, several at the same time.

A task that dies with its machine runs again elsewhere, and goes on with what is in its folder. So
nothing that was committed there is read or embedded twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from qmd.cluster import ray_engine, shard_builder
from qmd.errors import QmdError, ShardFailed, extras
from qmd.storage import cancellation

if TYPE_CHECKING:
    from qmd.cluster.build import Carry, Progress
    from qmd.cluster.shard_builder import ShardTask


def on_cluster(address: str, *, gpus: float = 0.0) -> Carry:
    """Return what builds shards on the cluster at an address.

    Args:
        address: HOST:PORT, or 'local' for the processors of this machine.
        gpus: that one shard reserves while it is built; parts of one are shared.
    """
    extras.require_extra("Ray", "ray", "builds shards on a cluster", extra="ray")

    def carry(tasks: Sequence[ShardTask], progress: Progress) -> None:
        import ray

        is_mine = not ray.is_initialized()
        if is_mine:
            ray_engine.join(address)
        try:
            _build_all(tasks, progress, gpus)
        finally:
            if is_mine:
                ray.shutdown()

    return carry


def _build_all(tasks: Sequence[ShardTask], progress: Progress, gpus: float) -> None:
    """Build shards, as many at once as the cluster has processors.

    Raises:
        ShardFailed: one cannot be built. The others are stopped, and go on the next time.
    """
    import ray

    build = ray.remote(num_cpus=1, num_gpus=gpus, max_retries=-1)(_build_one)
    left = {build.remote(_sendable(task)): task.number for task in tasks}
    progress("shards", 0, len(tasks))
    try:
        while left:
            cancellation.check()
            done, _ = ray.wait(list(left), num_returns=1, timeout=ray_engine.SLICE_SECONDS)
            for reference in done:
                number = left.pop(reference)
                if problem := _problem(reference):
                    raise ShardFailed(number, problem)
                progress("shards", len(tasks) - len(left), len(tasks))
    finally:
        for reference in left:
            ray.cancel(reference, force=True)


def _problem(reference: Any) -> str | None:
    import ray

    try:
        found: str | None = ray.get(reference)
    except ray.exceptions.RayError as error:
        return str(error).strip().split("\n")[-1]
    return found


def _sendable(task: ShardTask) -> ShardTask:
    """Return a task that can be pickled, as a read-only mapping cannot."""
    return task._replace(machine=task.machine._replace(chosen=dict(task.machine.chosen)))


def _build_one(task: ShardTask) -> str | None:
    """Build a shard in a process of the cluster; an error of qmd comes back as its message."""
    if task.target.exists():
        return None  # it was ready when the machine that told so was lost
    try:
        shard_builder.build(task)
    except (QmdError, OSError) as error:
        return str(error)
    return None
