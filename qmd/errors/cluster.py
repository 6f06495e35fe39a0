"""Exceptions of shards and of the cluster that holds them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from qmd.errors.index import IndexFailure
from qmd.visible import shown
from qmd.wording import amount


class ClusterFailure(IndexFailure):
    """The shards of an index cannot be used."""


class ShardsReadOnly(ClusterFailure):
    """The index is made of shards, which are not written to."""

    def __init__(self) -> None:
        super().__init__(
            "An index of shards is only read: nothing was changed.\n\n"
            "Change the files it is made from, and run 'qmd cluster build' with the same folders."
        )


class NotOverShards(ClusterFailure):
    """An operation needs all tables in one file."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"This cannot be done over the shards of an index ({shown(name)}): it needs all tables "
            "in one file.\n\n"
            "Without --engine it is done on the index of this machine."
        )
        self.name = name


class ShardsDisagree(ClusterFailure):
    """Shards that belong together have different facts."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The shards are not of one build: they differ in {shown(name)}.\n\n"
            "Check them with 'qmd cluster verify', and build them again."
        )
        self.name = name


class ShardsMissing(ClusterFailure):
    """Shards did not answer within the time limit."""

    def __init__(self, numbers: Sequence[int], count: int, reason: str) -> None:
        named = ", ".join(map(str, numbers[:10])) + (" …" if len(numbers) > 10 else "")
        super().__init__(
            f"{amount(len(numbers), 'shard')} of {count} did not answer ({named}): {reason}\n\n"
            "Try again when its machine is back. With --allow-partial, searches go on without it."
        )
        self.numbers = tuple(numbers)


class ShardFailed(ClusterFailure):
    """A shard on another machine cannot answer."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(f"Shard {number}: {message}")
        self.number = number


class NotAManifest(ClusterFailure):
    """A folder has no manifest of shards that this version can read."""

    def __init__(self, place: Path | str, problem: str) -> None:
        super().__init__(
            f"{shown(place)} has no index of shards that can be used: {problem}\n\n"
            "Make one with 'qmd cluster build FOLDER --to DEST --shards N'."
        )
        self.problem = problem


class ShardDamaged(ClusterFailure):
    """The file of a shard is missing, truncated, or of another build."""

    def __init__(self, path: Path | str, problem: str) -> None:
        super().__init__(
            f"{shown(path)} is not the shard that the manifest describes: {problem}\n\n"
            "Copy it here again, or run the same 'qmd cluster build' again."
        )


class BuildRunning(ClusterFailure):
    """Another build writes to the same destination."""

    def __init__(
        self, place: Path | str, *, holder: str | None, since: datetime | None = None
    ) -> None:
        when = f", since {since.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if since else ""
        super().__init__(
            f"Another build writes to {shown(place)}: {shown(holder or 'another process')}{when}."
            "\n\nWait for it, or stop it and try again. What a killed build leaves in an object "
            "store counts for ten minutes."
        )
        self.holder = holder
        self.since = since


class BuildTakenOver(ClusterFailure):
    """Another build has begun, since this one seemed to have ended."""

    def __init__(self, place: Path | str) -> None:
        super().__init__(
            f"This build of {shown(place)} was not heard of for ten minutes, and another one has "
            "begun: this one is not published.\n\nThe same command goes on, after the other one."
        )
