"""The tools: their names, what they take and what they give, as JSON Schema."""

from __future__ import annotations

from qmd.surfaces.tools.schemas.experiences import QUERY_EXPERIENCES, SUBMIT_EXPERIENCE
from qmd.surfaces.tools.schemas.reading import GET, LS, MULTI_GET, STATUS
from qmd.surfaces.tools.schemas.searching import (
    CONTEXT,
    GREP,
    LINKS,
    QUERY,
    SEARCH,
    SIMILAR,
    VSEARCH,
)
from qmd.surfaces.tools.schemas.upkeep import (
    APPEND,
    EDIT,
    EMBED,
    MOVE,
    PUT,
    REMOVE,
    UNDO,
    UPDATE,
)

TOOLS = (
    SEARCH,
    VSEARCH,
    QUERY,
    GET,
    MULTI_GET,
    STATUS,
    QUERY_EXPERIENCES,
    SUBMIT_EXPERIENCE,
    GREP,
    SIMILAR,
    LINKS,
    CONTEXT,
    LS,
    UPDATE,
    EMBED,
    PUT,
    REMOVE,
    APPEND,
    EDIT,
    MOVE,
    UNDO,
)

PREFIX = "qmd_"
"""Before the name of a tool, for clients that put the tools of all servers in one list."""
