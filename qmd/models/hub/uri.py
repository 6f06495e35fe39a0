"""Name of a file on the hub: 'hf:org/repo/folder/file.gguf@revision'."""

from __future__ import annotations

import re

from qmd.errors import UsageError
from qmd.models.registry import HUB
from qmd.named_tuple import NamedTuple

_PART = r"[A-Za-z0-9_](?:[\w.-]*\w)?"
_URI = re.compile(
    rf"{HUB}(?P<repo>{_PART}/{_PART})/(?P<file>[^@\\]+\.gguf)(?:@(?P<revision>[\w./-]+))?",
    re.ASCII | re.IGNORECASE,
)


class HubFile(NamedTuple):
    """A file on the hub.

    Attributes:
        repo: 'org/name'.
        file: its path there.
        revision: a branch, tag or commit; None is 'main'.
    """

    repo: str
    file: str
    revision: str | None


def parse_uri(uri: str) -> HubFile:
    """Parse a URI such as 'hf:org/repo/folder/file.gguf@revision'.

    Raises:
        UsageError: it cannot be read.
    """
    found = _URI.fullmatch(uri)
    parts = uri.removeprefix(HUB).replace("@", "/").split("/")
    if found is None or not all(parts) or any(".." in part or "--" in part for part in parts[:2]):
        problem = "it does not name a GGUF file on the hub"
    elif {".", ".."} & set(parts):
        problem = "a path cannot go up"
    else:
        return HubFile(found["repo"], found["file"], found["revision"])
    raise UsageError(
        f"'{uri}' cannot be read: {problem}.\n\n"
        "An example: hf:ggml-org/embeddinggemma-300M-GGUF/embeddinggemma-300M-Q8_0.gguf "
        "(and @REVISION after it, if you like)"
    )
