"""Approval of what a project-local index.yml would make qmd do.

Such a file comes with a clone. Its update commands, its folders outside the project, its
models and where its links lead are used only after the user has approved exactly that set; a
change asks again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qmd import guarded
from qmd.config import Settings
from qmd.environment import Place
from qmd.errors import ConfigError
from qmd.types import Collection


def gated(place: Place, settings: Settings) -> list[str]:
    """What needs approval, in words, in order. Nothing in the user's own settings does."""
    if place.project is None:
        return []
    wanted = []
    for collection in settings.collections:
        if collection.update_command:
            wanted.append(f"run for '{collection.name}': {collection.update_command}")
        if is_outside(place, collection):
            wanted.append(f"read for '{collection.name}': {Path(collection.root).resolve()}")
    wanted += [f"use for {role}: {model}" for role, model in settings.models.items()]
    if settings.editor_uri:
        wanted.append(f"open with a click: {settings.editor_uri}")
    return sorted(wanted)


def is_outside(place: Place, collection: Collection) -> bool:
    """Whether a collection of a project lies outside of it."""
    if place.project is None:
        return False
    root = Path(collection.root).resolve()
    project = place.project.resolve()
    return root != project and project not in root.parents


def is_trusted(place: Place, settings: Settings) -> bool:
    """Whether all that needs approval has it."""
    wanted = gated(place, settings)
    if not wanted or place.trust_all:
        return True
    return approvals(place).get(str(place.project)) == _digest(wanted)


def may_read(place: Place, settings: Settings, collection: Collection) -> bool:
    """Whether the folder of a collection may be read: one outside of a project has to be approved.

    Args:
        settings: that have the collection.
    """
    return not is_outside(place, collection) or is_trusted(place, settings)


def approved(place: Place, settings: Settings) -> Settings:
    """The settings, without models that a project wants and nobody approved."""
    if settings.models and not is_trusted(place, settings):
        return settings._replace(models={})
    return settings


def left_out(place: Place, settings: Settings) -> list[str]:
    """What needs approval, in words, if not all of it has it."""
    return [] if is_trusted(place, settings) else gated(place, settings)


def approvals(place: Place) -> dict[str, str]:
    """Digest of the approved set of each project, by its folder."""
    try:
        value = json.loads(place.trusted.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(place.trusted, f"this cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise ConfigError(place.trusted, "this is not a list of approvals")
    return {str(project): str(digest) for project, digest in value.items()}


def approve(place: Place, settings: Settings) -> None:
    """Approve all that some settings want."""
    wanted = gated(place, settings)
    with _changing(place) as known:
        if wanted:
            known[str(place.project)] = _digest(wanted)
        else:
            known.pop(str(place.project), None)


def revoke(place: Place, project: Path) -> bool:
    """Take an approval back.

    Returns:
        Whether there was one.
    """
    with _changing(place) as known:
        return known.pop(str(project), None) is not None


@contextmanager
def _changing(place: Place) -> Iterator[dict[str, str]]:
    """The approvals, written anew in the end if they have changed."""
    file = place.trusted.resolve()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with guarded.locked(file.with_name(f"{file.name}.lock")):
            known = approvals(place)
            before = dict(known)
            yield known
            if known != before:
                text = json.dumps(known, indent=2, sort_keys=True) + "\n"
                guarded.replace(file, lambda new: new.write(text))
    except OSError as error:
        raise ConfigError(place.trusted, error.strerror or str(error)) from error


def _digest(wanted: list[str]) -> str:
    return hashlib.sha256(json.dumps(wanted).encode()).hexdigest()
