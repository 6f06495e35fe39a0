"""`qmd skill …`: the text that teaches an assistant to use qmd."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from qmd.errors import UsageError
from qmd.settings import environment
from qmd.surfaces.cli.common import examples, here, notice, say, state
from qmd.surfaces.cli.framework import READ

app = typer.Typer(no_args_is_help=True, help="The skill that teaches an assistant to use qmd.")

SKILL = Path(__file__).parents[1] / "skill" / "SKILL.md"
FOLDERS = Path(".claude") / "skills"
NAME = Path("qmd") / "SKILL.md"


@app.command()
@examples(
    ("Print the skill", "qmd skill show"),
    ("Write it where you like", "qmd skill show > SKILL.md"),
)
def show() -> None:
    """Print the skill."""
    say(SKILL.read_text(encoding="utf-8"))


@app.command()
@examples(
    ("For this project", "qmd skill install"),
    ("For all projects", "qmd skill install --global"),
)
def install(
    context: typer.Context,
    everywhere: Annotated[
        bool, typer.Option("--global", help="For all projects, in ~/.claude/skills.")
    ] = False,
    folder: Annotated[
        Path | None, typer.Option("--dir", metavar="DIR", click_type=READ, help="Folder of skills.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a file that was changed.")
    ] = False,
) -> None:
    """Write the skill where assistants look: in this project's .claude/skills/qmd."""
    if everywhere and folder is not None:
        raise UsageError("Give either --global or --dir.")
    with _usable():
        root, path = _place(context, folder, everywhere=everywhere)
        text = SKILL.read_text(encoding="utf-8")
        target = root / path
        _check_folders(root, path)
        old = _existing(target)
        if old == text:
            say(f"The skill is there already: {target}")
            return
        if old is not None and not force:
            raise UsageError(
                f"{target} differs from the skill of this qmd.\n\n"
                "Compare it with 'qmd skill show', or replace it with --force."
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        _write(target, text)
    say(f"Wrote {target}")
    notice("Assistants that are running may have to be started again to see it.")


@contextmanager
def _usable() -> Iterator[None]:
    """Convert refusals of the system to errors, around uses of files.

    Raises:
        UsageError: something else is in the way, or it may not be read or written.
    """
    try:
        yield
    except OSError as error:
        raise UsageError(f"{error.filename2 or error.filename}: {error.strerror}.") from error


def _place(context: typer.Context, folder: Path | None, *, everywhere: bool) -> tuple[Path, Path]:
    """Choose the folder to show to the user, and the path of the skill in it.

    Raises:
        UsageError: there is no home of that name.
    """
    if folder is not None:
        try:
            return folder.expanduser().absolute(), NAME
        except RuntimeError as error:
            raise UsageError(f"There is no home {folder.parts[0]}.") from error
    if everywhere:
        return environment.home_of(state(context).environ), FOLDERS / NAME
    return here(), FOLDERS / NAME


def _check_folders(root: Path, path: Path) -> None:
    """Refuse folders below `root` that are links: they may lead anywhere.

    Raises:
        UsageError: one is a link, or is no folder.
    """
    for parent in reversed((root / path).parents[: len(path.parts) - 1]):
        if parent.is_symlink():
            raise UsageError(
                f"{parent} is a link to {parent.readlink()}, and is not followed.\n\n"
                "Name the folder of skills itself with --dir."
            )
        if parent.exists() and not parent.is_dir():
            raise UsageError(f"{parent} is not a folder.")


def _existing(target: Path) -> str | None:
    """Return the text of the file, or None.

    Raises:
        UsageError: it is not a plain file.
    """
    try:
        kind = target.lstat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(kind):
        what = f"a link to {target.readlink()}" if stat.S_ISLNK(kind) else "not a file"
        raise UsageError(f"{target} is {what}. Remove it first.")
    return target.read_bytes().decode(errors="replace")


def _write(target: Path, text: str) -> None:
    """Put a file in its place at once; a link there is replaced, not followed."""
    handle, name = tempfile.mkstemp(prefix=".SKILL", dir=target.parent)
    draft = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        draft.chmod(0o644)
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
