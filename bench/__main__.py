"""Benchmarks beside tobi/qmd, and as the index grows; the source of docs/performance.md.

    python -m bench [--quick] [--million] [--corpus FOLDER]... [--peer COMMAND] [--out FOLDER]

On two slow hardware threads that others use as well it took 17 minutes with one corpus of 480 files
and one of 9,750, four with --quick. --quick only prints, unless there is --out. --page does nothing
but write the page and the chart again, from performance.json.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

from bench import beside, growth, peer, performance


def main() -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="little of everything")
    parser.add_argument("--million", action="store_true", help="growth up to a million documents")
    parser.add_argument("--corpus", type=Path, action="append", default=[])
    parser.add_argument("--peer", help="command of tobi/qmd; none: installed from npm")
    parser.add_argument("--no-install", action="store_true", help="install nothing")
    parser.add_argument("--out", type=Path, help="folder of the page (docs)")
    parser.add_argument("--page", action="store_true", help="write the page again")
    options = parser.parse_args()
    out = options.out or (None if options.quick else performance.DOCS)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)  # now, and not after some minutes of measuring
    if options.page:
        folder = out or performance.DOCS
        text = (folder / "performance.json").read_text(encoding="utf-8")
        performance.write(performance.from_json(text), folder)
        return
    began, load = time.monotonic(), os.getloadavg()[0]
    found = peer.find(options.peer, install=not options.no_install)
    print(f"Beside: {found.version}", flush=True)
    tables = beside.measured_on(
        options.corpus, found.command, beside.QUICK if options.quick else beside.Effort()
    )
    sizes = growth.QUICK if options.quick else growth.SIZES
    grown = growth.measured([*sizes, *([growth.MILLION] if options.million else [])])
    measured = performance.Measured(
        day=performance.today(),
        seconds=time.monotonic() - began,
        machine=performance.machine(),
        versions=performance.versions(),
        peer=found.version,
        load=load,
        tables=tuple(tables),
        growth=grown,
    )
    if out:
        performance.write(measured, out)
        print(f"Written: {out / 'performance.md'}")
    else:
        print("\n".join(line for part in performance.parts(measured).values() for line in part))


if __name__ == "__main__":
    main()
