"""Update commands that run before a collection is indexed: shell command, git pull."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from qmd.errors import HookFailed, NotApproved
from qmd.settings import trust
from qmd.settings.environment import Place
from qmd.settings.schema import Settings
from qmd.types import Collection
from qmd.visible import shown


class Hooks:
    """Runner of the update commands that the user has approved.

    Args:
        settings: gives what index.yml says now, which what runs may change.
        pull: run `git pull --ff-only` in collections that git follows.
        told: callback with notices for the user.
    """

    def __init__(
        self,
        place: Place,
        settings: Callable[[], Settings],
        *,
        pull: bool,
        told: Callable[[str], None],
    ) -> None:
        self._place = place
        self._settings = settings
        self._pull = pull
        self._told = told

    def wants(self, collection: Collection) -> bool:
        """Check for a command to run, or a message, before `collection` is indexed."""
        return self._pull or collection.update_command is not None

    async def run(self, collection: Collection) -> None:
        """Run the update command of `collection` before it is indexed.

        Raises:
            CommandRefused: its command has characters that cannot be seen.
            HookFailed: a command did not succeed.
            NotApproved: the collection may not be read.
        """
        settings = self._settings()
        now = {each.name: each for each in settings.collections}
        if collection.name not in now and self._place.project is not None:
            return  # it was approved for what is there no more
        if collection.name not in now and collection.update_command is not None:
            # An index that came from elsewhere brings commands that no user has written.
            self._told(
                f"The update command of '{collection.name}' is in the index alone and was left "
                f"out: {collection.update_command}\nTo run it, write it into {self._place.config}."
            )
            collection = collection._replace(update_command=None)
        collection = now.get(collection.name, collection)
        if collection.update_command is not None:
            trust.check_command(collection.name, collection.update_command, self._place.config)
        if not trust.may_read(self._place, settings, collection):
            raise NotApproved(collection.name, collection.root)
        if self._pull and _is_in_work_tree(Path(collection.root)):
            await self._shell(collection, "git pull --ff-only", pulls=True)
        if collection.update_command is None:
            return
        if trust.is_trusted(self._place, settings):
            await self._shell(collection, collection.update_command)
        else:
            self._told(
                f"The update command of '{shown(collection.name)}' is not approved and was left "
                f"out: {shown(collection.update_command)}\n"
                "Look at it with 'qmd trust', and approve it there."
            )

    async def _shell(self, collection: Collection, command: str, *, pulls: bool = False) -> None:
        """Run a command in the collection's folder; what it prints goes to stderr."""
        failed = partial(HookFailed, collection.name, command, pulls=pulls)
        import subprocess

        import anyio

        try:
            done = await anyio.run_process(
                command,
                cwd=collection.root,
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**os.environ, "GIT_TERMINAL_PROMPT": "0"},
            )
        except OSError as error:
            raise failed(error.strerror or str(error)) from error
        printed = done.stdout.decode("utf-8", "replace").strip()
        if printed:
            self._told(printed)
        if done.returncode:
            raise failed(f"exit code {done.returncode}")


def _is_in_work_tree(folder: Path) -> bool:
    """Check that a folder, or one above it, is a git work tree."""
    return any(os.path.lexists(each / ".git") for each in (folder, *folder.parents))
