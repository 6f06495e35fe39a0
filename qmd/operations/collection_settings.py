"""Operations on the settings of a collection in index.yml."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from qmd.declaration.operation import Parameter, operation
from qmd.declaration.parameters import named
from qmd.operations.collections import OF_THE_USER, Name

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.settings.edit import Parsed
    from qmd.settings.schema import Settings

Globs = Annotated[
    str | Sequence[str],
    Parameter(
        help="Files to leave out, such as 'work/'.",
        metavar="GLOB",
        kind="names",
        several=frozenset({"command"}),
    ),
]

UpdateCommand = Annotated[
    str | None, Parameter(help="A shell command; none clears it.", metavar="[CMD]")
]


@operation(
    name="collection include",
    title="Search a collection by default",
    writes=True,
    absent={"tool": OF_THE_USER},
    examples=(
        ("Search it again without naming it", "qmd collection include work"),
        ("See which are searched", "qmd collection include work && qmd collection list"),
    ),
)
def include_collection(index: Index, name: Name) -> None:
    """Let searches that name no collection look into this one.

    Args:
        name: of the collection.

    Raises:
        CollectionNotFound: no collection has this name.
    """
    _set(index, name, "includeByDefault", None)


@operation(
    name="collection exclude",
    title="Search a collection only by name",
    writes=True,
    absent={"tool": OF_THE_USER},
    examples=(
        ("Leave a collection out, unless it is named", "qmd collection exclude work"),
        ("And search in it all the same", "qmd collection exclude work && qmd search plan -c work"),
    ),
)
def exclude_collection(index: Index, name: Name) -> None:
    """Let only searches that name this collection look into it.

    Args:
        name: of the collection.

    Raises:
        CollectionNotFound: no collection has this name.
    """
    _set(index, name, "includeByDefault", False)


@operation(
    name="collection ignore",
    title="Leave files out",
    writes=True,
    absent={"tool": OF_THE_USER},
    examples=(
        ("Leave a folder out", "qmd collection ignore notes drafts/"),
        ("Leave several kinds of files out", "qmd collection ignore notes '**/*.tmp' '**/*.bak'"),
    ),
)
def ignore_files(index: Index, name: Name, globs: Globs) -> None:
    """Leave files of a collection out.

    They are left out from the next update on, besides those that are.

    Args:
        name: of the collection.
        globs: of the files, relative to its folder.

    Raises:
        CollectionNotFound: no collection has this name.
        UsageError: a glob is invalid, or leaves nothing out.
    """
    from qmd.operations import curation
    from qmd.settings.edit import entry

    index.configured(name)
    added = dict.fromkeys(named(globs))
    curation.check_ignored(added)

    def edit(_: Settings, document: Parsed) -> None:
        lines = entry(document, name)
        known = lines.get("ignore") or []
        known = [known] if isinstance(known, str) else list(known)
        lines["ignore"] = [*known, *(glob for glob in added if glob not in known)]

    index.change(edit)


@operation(
    name="collection update-cmd",
    title="Set an update command",
    writes=True,
    absent={"tool": "What runs on this machine is for the user to decide."},
    examples=(
        (
            "Run a command before each update",
            "qmd collection update-cmd notes 'git pull --ff-only'",
        ),
        ("Run none any more", "qmd collection update-cmd notes"),
    ),
)
def set_update_command(index: Index, name: Name, command: UpdateCommand = None) -> bool:
    """Set the command that runs before a collection is indexed.

    Args:
        name: of the collection.
        command: for the shell; None or an empty text clears it.

    Returns:
        False if the project has to be approved before the command runs.

    Raises:
        CollectionNotFound: no collection has this name.
        UsageError: the command is invalid.
    """
    from qmd.settings import trust

    if command:
        trust.check_command(name, command, index.place.config)
    _set(index, name, "update", command or None)
    return trust.is_trusted(index.place, index.settings())


def _set(index: Index, name: str, key: str, value: object) -> None:
    """Set a key in the lines of a collection in index.yml; None removes it."""
    from qmd.settings.edit import entry

    index.configured(name)

    def edit(_: Settings, document: Parsed) -> None:
        lines = entry(document, name)
        if value is None:
            lines.pop(key, None)
        else:
            lines[key] = value

    index.change(edit)
