"""The tools that a server offers, as the options of its command line say."""

from __future__ import annotations

from typing import Annotated, Literal

from qmd.declaration.operation import Parameter
from qmd.errors import UsageError
from qmd.named_tuple import NamedTuple
from qmd.surfaces.tools import schemas
from qmd.surfaces.tools.schemas.experiences import OF_RECORDS
from qmd.surfaces.tools.schemas.tool import Tool

OF_INDEX = ("update", "embed")
"""Names of the tools that write the index, and no document."""

FRESH = "fresh"
"""Argument of searches that updates the index first."""


class ServerTools(NamedTuple):
    """The tools that a server offers. Each field is an option of its command line.

    Attributes:
        tool_names: under which they are listed; all names are always understood.
        compact: declare no data of answers, so that the protocol sends their text alone.
        confirm: write no document without the consent of the user.
    """

    tool_names: Annotated[
        Literal["plain", "prefixed", "both"],
        Parameter(help="List tools as search, qmd_search, or both."),
    ] = "plain"
    read_only: Annotated[bool, Parameter(help="Offer no tool that writes.")] = False
    allow_write: Annotated[
        bool, Parameter(help="Also offer tools that update, embed and write.")
    ] = False
    compact: Annotated[
        bool, Parameter(help="Answer in text alone, for models that are shown data as well.")
    ] = False
    confirm: Annotated[
        bool, Parameter(help="Have the client ask before documents are written.")
    ] = False

    def check(self) -> None:
        """Refuse options that contradict each other.

        Raises:
            UsageError: they do.
        """
        if self.read_only and self.allow_write:
            raise UsageError("--read-only and --allow-write contradict each other.")
        if self.confirm and not self.allow_write:
            raise UsageError("--confirm is about tools that write: add --allow-write.")

    @property
    def arguments(self) -> list[str]:
        """Options of a command line that offers the same tools."""
        words = []
        for name, value in self._asdict().items():
            if value != self._field_defaults[name]:
                words += [f"--{name.replace('_', '-')}", *([] if value is True else [value])]
        return words

    def offered(self, *, with_records: bool = True) -> tuple[Tool, ...]:
        """Choose the tools.

        Args:
            with_records: those of experience records as well.
        """
        return tuple(
            self._as_offered(tool)
            for tool in schemas.TOOLS
            if not (tool.writes and self.read_only)
            and (self.allow_write or not tool.optional)
            and (with_records or tool.name not in OF_RECORDS)
        )

    def needs_consent(self, tool: Tool) -> bool:
        """Check whether the user is to be asked before a tool is called."""
        return self.confirm and tool.optional and tool.name not in OF_INDEX

    def _as_offered(self, tool: Tool) -> Tool:
        if self.compact:
            tool = tool._replace(output=None)
        properties = tool.input["properties"]
        if self.allow_write or FRESH not in properties:
            return tool
        left = {name: each for name, each in properties.items() if name != FRESH}
        return tool._replace(input={**tool.input, "properties": left})


PLAIN = ServerTools()
"""The tools of a server without options."""
