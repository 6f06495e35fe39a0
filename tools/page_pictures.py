"""Pictures of the page, docs/page-*.png: a server of the example notes in a Chromium.

python -m tools.page_pictures [CHROMIUM]
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.library import Library
from tests.surfaces.service import service

ROOT = Path(__file__).parents[1]

NOTE = "notes/howto/calibrate-a-pressure-sensor.md"

PICTURES = {
    "search": ("/?q=water+level", 1280, 800, "light"),
    "read": (
        "/doc/notes/howto/calibrate-a-pressure-sensor.md?q=water&line=13#hit",
        1440,
        1080,
        "light",
    ),
    "links": (f"/links/{NOTE}", 1280, 800, "light"),
    "look": ("/look", 1280, 1000, "light"),
    "map": ("/map?q=water+level&at=420,400", 1280, 860, "light"),
    "sql": (
        "/sql?run=1&query=select+date_part('year',+date)::text+as+year,+count(*)+as+documents"
        "%0Afrom+documents%0Agroup+by+year%0Aorder+by+year",
        1280,
        800,
        "light",
    ),
    "dark": ("/?q=how+hot+should+the+oven+be", 1280, 800, "dark"),
}
"""Address, width, height and colours of each."""


def main() -> None:
    """Draw all pictures."""
    from qmd.surfaces.tools.dispatch import Toolbox

    found = sys.argv[1:] or [shutil.which("chromium") or "chromium"]
    with tempfile.TemporaryDirectory() as folder:
        library = Library(Path(folder))
        shutil.copytree(ROOT / "examples" / "notes", library.root, dirs_exist_ok=True)
        library.update()
        library.embed()
        with service(Toolbox(library.engine)) as server, sync_playwright() as started:
            browser = started.chromium.launch(executable_path=found[0], args=["--no-sandbox"])
            for name, (path, width, height, colours) in PICTURES.items():
                page = browser.new_page(
                    viewport={"width": width, "height": height},
                    color_scheme=colours,  # type: ignore[arg-type]
                )
                page.goto(server.url + path)
                page.wait_for_load_state("networkidle")
                page.screenshot(path=ROOT / "docs" / f"page-{name}.png")
            browser.close()
        library.engine.close()


if __name__ == "__main__":
    main()
