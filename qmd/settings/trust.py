"""User approval of a project's commands, folders, models and links.

A clone brings its own index.yml. Its update commands, folders outside the project, models and the
targets of its links take effect only after the user has approved exactly that set, with the
scripts that its commands run; any change needs a new approval.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from qmd import edit_lock, safe_open
from qmd.errors import CommandRefused, ConfigError
from qmd.named_tuple import NamedTuple
from qmd.settings.environment import Place
from qmd.settings.schema import Settings
from qmd.text import hashes
from qmd.types import Collection
from qmd.visible import hidden

if TYPE_CHECKING:
    from qmd.settings.scripts import Script


class Demand(NamedTuple):
    """A setting that needs approval.

    Attributes:
        act: a verb and its object: "run for 'docs'".
        value: a command, a folder, a model or a link.
        scripts: files of the project that a command runs.
    """

    act: str
    value: str
    scripts: tuple[Script, ...] = ()

    @property
    def text(self) -> str:
        """Text of the setting, without its scripts."""
        return f"{self.act}: {self.value}"


def demands(place: Place, settings: Settings) -> list[Demand]:
    """List the settings that need approval, in order; none for the user's own settings."""
    if place.project is None:
        return []
    wanted = []
    for collection in settings.collections:
        command = collection.update_command
        if command:
            from qmd.settings.scripts import scripts  # it takes time to load

            run = scripts(command, Path(collection.root), place.project)
            wanted.append(Demand(f"run for '{collection.name}'", command, run))
        if is_outside(place, collection):
            folder = str(Path(collection.root).resolve())
            wanted.append(Demand(f"read for '{collection.name}'", folder))
    roots = {collection.name: Path(collection.root) for collection in settings.collections}
    for name, commands in settings.readers.items():
        from qmd.settings.scripts import scripts

        whose = f" of '{name}'" if name else ""
        for glob, command in commands.items():
            run = scripts(command, roots.get(name, place.project), place.project)
            wanted.append(Demand(f"run for files {glob}{whose}", command, run))
    if settings.ocr:
        wanted.append(Demand("read pages without text", f"tesseract -l {settings.ocr}"))
    wanted += [Demand(f"use for {role}", model) for role, model in settings.models.items()]
    if settings.editor_uri:
        wanted.append(Demand("open with a click", settings.editor_uri))
    return sorted(wanted, key=lambda demand: demand.text)


def needs_approval(place: Place, settings: Settings) -> list[str]:
    """List the texts of the settings that need approval, in order."""
    return [demand.text for demand in demands(place, settings)]


def check_command(collection: str, command: str, config: Path) -> None:
    """Refuse a command with invisible characters, since it cannot be reviewed.

    Raises:
        CommandRefused: it has a control or an invisible character besides line breaks and tabs.
    """
    if hidden(command, but="\n\t"):
        raise CommandRefused(collection, command, config)


def is_outside(place: Place, collection: Collection) -> bool:
    """Check that a collection of a project lies outside of it."""
    if place.project is None:
        return False
    root = Path(collection.root).resolve()
    project = place.project.resolve()
    return root != project and project not in root.parents


def is_trusted(place: Place, settings: Settings) -> bool:
    """Check that all settings that need approval are approved."""
    wanted = demands(place, settings)
    if not wanted or place.trust_all:
        return True
    return approvals(place).get(str(place.project)) == _digest(wanted)


def may_read(place: Place, settings: Settings, collection: Collection) -> bool:
    """Check that the folder of a collection may be read: outside of a project only if approved.

    Args:
        settings: that have the collection.
    """
    return not is_outside(place, collection) or is_trusted(place, settings)


def approved(place: Place, settings: Settings) -> Settings:
    """Return the settings without models that are not approved."""
    if settings.models and not is_trusted(place, settings):
        return settings._replace(models={})
    return settings


def left_out(place: Place, settings: Settings) -> list[str]:
    """List the texts of settings that need approval, unless all are approved."""
    return [] if is_trusted(place, settings) else needs_approval(place, settings)


def approvals(place: Place) -> dict[str, str]:
    """Read the digest of the approved settings of each project, by its folder."""
    try:
        value = json.loads(place.trusted.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(place.trusted, f"this cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise ConfigError(place.trusted, "this is not a list of approvals")
    return {str(project): str(digest) for project, digest in value.items()}


def approve(place: Place, settings: Settings, *, seen: Sequence[Demand] | None = None) -> None:
    """Approve all settings that need it.

    Args:
        seen: the demands that the user was shown; a script changed since then is not approved.
    """
    wanted = demands(place, settings) if seen is None else seen
    with _changing(place) as known:
        if wanted:
            known[str(place.project)] = _digest(wanted)
        else:
            known.pop(str(place.project), None)


def revoke(place: Place, project: Path) -> bool:
    """Revoke an approval.

    Returns:
        True if there was one.
    """
    with _changing(place) as known:
        return known.pop(str(project), None) is not None


@contextmanager
def _changing(place: Place) -> Iterator[dict[str, str]]:
    """Yield the approvals and save them if they changed."""
    file = place.trusted.resolve()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with edit_lock.locked(file.with_name(f"{file.name}.lock")):
            known = approvals(place)
            before = dict(known)
            yield known
            if known != before:
                text = json.dumps(known, indent=2, sort_keys=True) + "\n"
                safe_open.atomic_replace(file, lambda new: new.write(text))
    except OSError as error:
        raise ConfigError(place.trusted, error.strerror or str(error)) from error


def _digest(wanted: Sequence[Demand]) -> str:
    """Hash a set of demands; without scripts, their texts alone."""
    lines = [demand.text for demand in wanted]
    lines += sorted(
        f"script: {script.digest} {json.dumps([demand.act, script.name, script.target])}"
        for demand in wanted
        for script in demand.scripts
    )
    return hashes.short_digest(json.dumps(lines).encode())
