"""What hatchling calls while a wheel is made: it compiles `qmd/compiled`.

Without a compiler the wheel has none of it, and qmd does the same in plain Python.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("qmd/compiled")


class Compiling(BuildHookInterface[Any]):
    """Compile, and add to the wheel what came of it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before the wheel is made; an editable one finds it in the source tree."""
        root = Path(self.root)
        is_editable = version == "editable"
        into = root if is_editable else Path(tempfile.mkdtemp())
        made = compiled(root, into)
        if not made:
            self.app.display_warning("Nothing was compiled: to index takes several times as long.")
            return
        build_data["pure_python"], build_data["infer_tag"] = False, True
        if not is_editable:
            build_data["force_include"].update(
                {str(file): str(file.relative_to(into)) for file in made}
            )


def compiled(root: Path, into: Path) -> list[Path]:
    """Compile the modules of a checkout.

    Args:
        into: the folder below which they are put, as they lie below `root`.

    Returns:
        All of them; none, if there is no compiler or it failed.
    """
    import setuptools  # before Cython, which would load an older one of Python itself
    from Cython.Build import cythonize
    from setuptools.command.build_ext import build_ext

    with tempfile.TemporaryDirectory() as work:
        extensions = [
            setuptools.Extension(
                ".".join([*FOLDER.parts, file.stem]),
                [str(file)],
                language="c++",
                extra_compile_args=["-O2", "-g0", "-std=c++17"],
            )
            for file in sorted((root / FOLDER).glob("*.pyx"))
        ]
        modules = cythonize(extensions, build_dir=work, quiet=True)
        for module in modules:
            module.optional = True  # it may fail
        command = build_ext(setuptools.Distribution({"name": "qmd", "ext_modules": modules}))
        command.build_temp, command.build_lib = work, str(into)
        command.ensure_finalized()
        command.run()
        made = [Path(command.get_ext_fullpath(extension.name)) for extension in extensions]
    return made if all(file.exists() for file in made) else []
