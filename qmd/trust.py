"""Approval of what a project-local index.yml would make qmd do.

Such a file comes with a clone. Its update commands, its folders outside the project, its
models and where its links lead are used only after the user has approved exactly that set; a
change asks again.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

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


def left_out(place: Place, settings: Settings) -> list[str]:
    """What needs approval, in words, if not all of it has it."""
    return [] if is_trusted(place, settings) else gated(place, settings)


def approvals(place: Place) -> dict[str, str]:
    """Digest of the approved set of each project, by its folder."""
    try:
        value = json.loads(place.trusted.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(place.trusted, f"this cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise ConfigError(place.trusted, "this is not a list of approvals")
    return {str(project): str(digest) for project, digest in value.items()}


def approve(place: Place, settings: Settings) -> None:
    """Approve all that the settings want now."""
    known = approvals(place)
    wanted = gated(place, settings)
    if wanted:
        known[str(place.project)] = _digest(wanted)
    else:
        known.pop(str(place.project), None)
    _save(place, known)


def revoke(place: Place, project: Path) -> bool:
    """Take an approval back.

    Returns:
        Whether there was one.
    """
    known = approvals(place)
    found = known.pop(str(project), None) is not None
    if found:
        _save(place, known)
    return found


def _save(place: Place, known: dict[str, str]) -> None:
    place.trusted.parent.mkdir(parents=True, exist_ok=True)
    temporary = place.trusted.with_suffix(".new")
    temporary.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    temporary.replace(place.trusted)


def _digest(wanted: list[str]) -> str:
    return hashlib.sha256(json.dumps(wanted).encode()).hexdigest()
