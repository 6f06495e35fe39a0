"""Build hook of hatchling that compiles the modules in the folders `compiled`.

Without a compiler, or with QMD_PURE=1, the wheel has none of it, and qmd does the same in plain
Python.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDERS = (Path("qmd/ingest/compiled"), Path("qmd/ranking/compiled"))

ARGUMENTS = (
    ["/O2", "/std:c++17"]
    if sys.platform == "win32"
    else ["-O2", "-g0", "-std=c++17", "-ffp-contract=off"]
)
"""Arguments of the compiler. A product and a sum are rounded one after the other, as DuckDB and
numpy do: together, which ARM can do, they give other scores."""


class Compiling(BuildHookInterface[Any]):
    """Build hook that compiles, and adds the modules to the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the wheel is made; an editable one finds the modules in the source."""
        root = Path(self.root)
        self._made = tempfile.TemporaryDirectory()
        pure = os.environ.get("QMD_PURE") == "1"
        if version == "editable" and not pure and are_up_to_date(root):
            build_data["pure_python"], build_data["infer_tag"] = False, True
            return
        made = [] if pure else compiled(root, Path(self._made.name))
        if not made and not pure:
            self.app.display_warning("Nothing was compiled: to index takes five times as long.")
        if version == "editable":
            for folder in FOLDERS:
                put([file for file in made if file.parent.match(str(folder))], root / folder)
        else:
            build_data["force_include"] |= {
                str(file): str(file.relative_to(self._made.name)) for file in made
            }
        if made:
            build_data["pure_python"], build_data["infer_tag"] = False, True

    def finalize(self, *_: object) -> None:
        """Clean up after the wheel has been made."""
        self._made.cleanup()


def are_up_to_date(root: Path) -> bool:
    """Say whether a checkout has its modules, for this Python and newer than all they are made of.

    Each extra that is installed later builds the editable wheel again; compiling takes a minute.
    """
    made, sources = [], [root / "tools" / "compiling.py"]
    for folder in FOLDERS:
        sources += (root / folder).glob("*.p*")
        made += [file.with_suffix(EXTENSION_SUFFIXES[0]) for file in (root / folder).glob("*.pyx")]
    if not all(file.exists() for file in made):
        return False
    newest = max(file.stat().st_mtime_ns for file in sources)
    return newest < min(file.stat().st_mtime_ns for file in made)


def put(made: Sequence[Path], folder: Path) -> None:
    """Put what was compiled for this Python where it belongs; what was there before goes."""
    for name in {file.stem for file in folder.glob("*.pyx")}:
        for suffix in EXTENSION_SUFFIXES:
            (folder / f"{name}{suffix}").unlink(missing_ok=True)
    for file in made:  # never half of one, which would be up to date
        new = folder / f"new-{file.name}"
        shutil.copy(file, new)
        new.replace(folder / file.name)


def compiled(root: Path, into: Path) -> list[Path]:
    """Compile the modules of a checkout.

    Args:
        into: an empty folder, below which they lie as below `root`.

    Returns:
        All of them; none, if there is no compiler or it failed.
    """
    import setuptools  # before Cython, which would load an older one of Python itself
    from Cython.Build import cythonize
    from Cython.Compiler.Errors import CompileError
    from setuptools.command.build_ext import build_ext

    extensions = [
        setuptools.Extension(
            ".".join([*folder.parts, file.stem]),
            [str(file)],
            language="c++",
            extra_compile_args=ARGUMENTS,
        )
        for folder in FOLDERS
        for file in sorted((root / folder).glob("*.pyx"))
    ]
    with tempfile.TemporaryDirectory() as work:
        try:
            modules = cythonize(extensions, build_dir=work, quiet=True)
        except CompileError:
            return []
        for module in modules:
            module.optional = True  # it may fail
        command = build_ext(setuptools.Distribution({"name": "qmd", "ext_modules": modules}))
        command.build_temp, command.build_lib = work, str(into)
        command.parallel = os.cpu_count()
        command.ensure_finalized()
        command.run()
        made = [Path(command.get_ext_fullpath(module.name)) for module in modules]
    return made if all(file.exists() for file in made) else []
