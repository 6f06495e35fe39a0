"""Shards in processes of their own, one each, as machines of a cluster hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from qmd.cluster.shard import Shard, ShardRequest


class Held(NamedTuple):
    """Memory of a process in MB, of 2**20 bytes.

    Attributes:
        now: resident.
        most: resident at any time.
    """

    now: int
    most: int


class ShardsApart:
    """Shards whose processes answer at the same time; see `rules.Shards`.

    Args:
        paths: of the index files.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        context = get_context("spawn")
        self._ends = []
        self._processes = []
        for path in paths:
            end, other = context.Pipe()
            process = context.Process(target=serve, args=(path, other))
            process.start()
            self._ends.append(end)
            self._processes.append(process)
        for end in self._ends:
            end.recv()  # its postings are in memory

    @property
    def count(self) -> int:
        """Shards of the index."""
        return len(self._ends)

    def ask(self, requests: Mapping[int, ShardRequest]) -> Mapping[int, Any]:
        """Ask shards all at once."""
        for number, request in requests.items():
            self._ends[number].send(request)
        return {number: self._ends[number].recv() for number in requests}

    def held(self) -> list[Held]:
        """Return the memory of each process."""
        found = []
        for process in self._processes:
            lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
            sizes = {line.split(":")[0]: line.split()[1] for line in lines if "kB" in line}
            found.append(Held(int(sizes["VmRSS"]) >> 10, int(sizes["VmHWM"]) >> 10))
        return found

    def close(self) -> None:
        """End the processes."""
        for end, process in zip(self._ends, self._processes, strict=True):
            end.send(None)
            process.join()


def serve(path: Path, end: Connection) -> None:
    """Hold one shard, and answer requests until there are no more."""
    shard = Shard(path)
    shard.load()
    end.send(None)
    while (request := end.recv()) is not None:
        end.send(shard.answer(request))
    shard.close()
