"""Lock of a settings file between processes that change it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qmd import lock_signature as signature
from qmd import safe_open

LOCK_TIMEOUT_SECONDS = 30.0
"""Seconds to wait for another process that changes the same file, which takes milliseconds."""

EDIT_POLL_SECONDS = 0.005
"""Seconds between two looks at a lock."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait for other processes that change the same file.

    Args:
        path: of the lock file, which is not removed.

    Raises:
        OSError: it cannot be opened.
        FileBusy: another process has not released the lock in time.
    """
    descriptor = safe_open.opened(path, os.O_RDWR | os.O_CREAT, 0o666)
    signed, began = None, time.monotonic()
    try:
        while not safe_open.lock(descriptor):
            waited = time.monotonic() - began
            if waited > LOCK_TIMEOUT_SECONDS:
                from qmd.errors import FileBusy

                raise FileBusy(path, holder=signature.holders(path), waited=waited)
            time.sleep(EDIT_POLL_SECONDS)
        signed = signature.sign(descriptor, alone=True)
        yield
    finally:
        if signed is not None:
            signature.erase(descriptor, signed)
        safe_open.release(descriptor)
