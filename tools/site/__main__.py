"""Builder of the site: write its pages, run the generator, check each link.

python -m tools.site [ZENSICAL]

Without the path of the generator, only its input is written.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tools.site import check, pages

SOURCE = pages.ROOT / "build" / "site-source"
SITE = pages.ROOT / "build" / "site"
WORKER = Path(__file__).with_name("worker.js")

FETCHED = "https://unpkg.com/iframe-worker/shim"
"""Script that the generator would take from another host, and that `worker.js` stands for."""


def main() -> int:
    """Build the site; 1 if a link leads nowhere."""
    staged = pages.stage(SOURCE)
    if len(sys.argv) < 2:
        return 0
    build = [sys.argv[1], "build", "--strict", "--clean", "--config-file", "zensical.toml"]
    subprocess.run(build, check=True, cwd=pages.ROOT)
    own_worker(SITE)
    found = list(check.broken(SITE))
    for each in found:
        print(f"{each.page}: {each.address} {each.why}")
    print(f"{SITE / 'index.html'}: {len(staged)} pages, {len(found)} broken links")
    return 1 if found else 0


def own_worker(site: Path) -> None:
    """Let pages take the script for searches without a server from the site itself."""
    shutil.copyfile(WORKER, site / WORKER.name)
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        own = os.path.relpath(site / WORKER.name, page.parent).replace(os.sep, "/")
        page.write_text(text.replace(FETCHED, own), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
