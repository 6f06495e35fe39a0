"""Translation of errors of the hub, the network and the disk."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qmd.errors import HubFailure, QmdError
from qmd.models.hub.uri import HubFile

_FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def in_our_words(uri: str, wanted: HubFile, cache: Path) -> Iterator[None]:
    """Translate errors of a download into qmd errors with advice."""
    try:
        yield
    except QmdError:
        raise
    except Exception as error:
        words = _words(error, wanted, cache)
        if words is None:
            raise
        raise HubFailure(uri, *words) from error


def _words(error: Exception, wanted: HubFile, cache: Path) -> tuple[str, str] | None:
    """Describe an error and its remedy; None if it is none of the hub, network or disk."""
    import httpx2
    from huggingface_hub import errors

    repo, file, revision = wanted.repo, wanted.file, wanted.revision or "main"
    page = f"https://huggingface.co/{repo}"
    again = "run 'qmd models pull' again"
    mend = "mend the name under 'models' in index.yml"
    if isinstance(error, errors.GatedRepoError):
        return (
            "who made it asks for your consent.",
            f"Accept the licence at {page}, set HF_TOKEN to a token of yours, and {again}.",
        )
    if isinstance(error, errors.RepositoryNotFoundError | errors.HFValidationError):
        return (
            f"the hub has no repository {repo}, or it is private.",
            f"Look at {page}, and {mend}; or, if it is private, set HF_TOKEN to a token that "
            f"may read it, and {again}.",
        )
    if isinstance(error, errors.RevisionNotFoundError):
        return (
            f"{repo} has no branch, tag or commit {revision}.",
            f"See which there are at {page}/tree/main, and {mend}.",
        )
    if isinstance(error, errors.RemoteEntryNotFoundError):
        return (
            f"{repo} has no file {file}.",
            f"See which there are at {page}/tree/{revision}, and {mend}.",
        )
    if isinstance(error, errors.HfHubHTTPError | httpx2.HTTPStatusError):
        status = error.response.status_code
        problem = f"the hub answered {status} ({error.response.reason_phrase})."
        return problem, f"Check HF_TOKEN, and {again}." if status in (401, 403) else (
            f"Later, {again}. What has arrived is kept."
        )
    if isinstance(error, errors.FileMetadataError):
        return (
            "what answers in its place is not the hub.",
            f"Check HF_ENDPOINT, and whether this network wants a login; then {again}.",
        )
    if isinstance(error, httpx2.RequestError | errors.OfflineModeIsEnabled):
        return (
            f"the hub cannot be reached ({str(error) or type(error).__name__}).",
            f"Check the network, and {again}. What has arrived is kept.",
        )
    if isinstance(error, OSError):
        room = "Make room there" if error.errno in _FULL else "Check the permissions"
        return (
            f"{error.strerror or error} ({error.filename or cache}).",
            f"{room}, or set HF_HUB_CACHE to another folder, and {again}.",
        )
    return None
