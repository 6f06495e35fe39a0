"""Benchmarks beside tobi/qmd and libraries, and as an index grows, for docs/performance.md.

    python -m bench [--quick] [--million] [--corpus FOLDER]... [--peer COMMAND] [--out FOLDER]

On two slow hardware threads that others use as well it took 17 minutes with one corpus of 480 files
and one of 9,750, four with --quick. --quick only prints, unless there is --out. --page does nothing
but write the page and the chart again, from performance.json; --anchors measures beside libraries
of search, and writes that into the same page.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace
from pathlib import Path

from bench import anchors, beside, growth, peer, performance
from bench.corpora import given_or_generated


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
    parser.add_argument(
        "--anchors", action="store_true", help="measure only beside libraries of search"
    )
    options = parser.parse_args()
    out = options.out or (None if options.quick else performance.DOCS)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)  # now, and not after some minutes of measuring
    if options.page or options.anchors:
        measured = again(out or performance.DOCS, options)
    else:
        measured = whole(options)
    if out:
        performance.write(measured, out)
        print(f"Written: {out / 'performance.md'}")
    else:
        print("\n".join(line for part in performance.parts(measured).values() for line in part))


def again(folder: Path, options: argparse.Namespace) -> performance.Measured:
    """Read what a folder has; with --anchors, measure beside libraries of search anew."""
    text = (folder / "performance.json").read_text(encoding="utf-8")
    measured = performance.from_json(text)
    if not options.anchors:
        return measured
    with given_or_generated(options.corpus, effort_of(options).documents) as folders:
        tables = anchors.measured_on(folders, install=not options.no_install)
    return replace(measured, anchors=tuple(tables))


def whole(options: argparse.Namespace) -> performance.Measured:
    """Measure everything."""
    began, load = time.monotonic(), os.getloadavg()[0]
    found = peer.find(options.peer, install=not options.no_install)
    print(f"Beside: {found.version}", flush=True)
    effort = effort_of(options)
    with given_or_generated(options.corpus, effort.documents) as folders:
        tables = beside.measured_on(folders, found.command, effort)
        is_known = options.no_install or options.quick
        anchored = anchors.measured_on(folders, install=not is_known)
    sizes = growth.QUICK if options.quick else growth.SIZES
    grown = growth.measured([*sizes, *([growth.MILLION] if options.million else [])])
    return performance.Measured(
        day=performance.today(),
        seconds=time.monotonic() - began,
        machine=performance.machine(),
        versions=performance.versions(),
        peer=found.version,
        load=load,
        tables=tuple(tables),
        growth=grown,
        anchors=tuple(anchored),
    )


def effort_of(options: argparse.Namespace) -> beside.Effort:
    """Choose the amount of work."""
    return beside.QUICK if options.quick else beside.Effort()


if __name__ == "__main__":
    main()
