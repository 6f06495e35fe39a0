"""Work in a process of its own, so that what it takes is its own."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import ParamSpec, TypeVar

from bench.usage import peak

Given = ParamSpec("Given")
Found = TypeVar("Found")


def alone(
    work: Callable[Given, Found], *given: Given.args, **named: Given.kwargs
) -> tuple[Found, float]:
    """Run `work` in its own process; return its result and the megabytes that it took at most.

    The memory of a command that is started counts from the moment before its program is loaded,
    when it has that of its parent: so the measuring process has to stay small.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as process:
        return process.submit(_weighed, work, given, named).result()


def _weighed(work: Callable[..., Found], given: tuple, named: dict) -> tuple[Found, float]:
    return work(*given, **named), peak()
