"""Pages of a server beside its plain JSON route: time, weight, first paint, typing, and memory.

python -m bench.pages [--rounds 20] [--views 1000] [--no-map] [--chromium /usr/bin/chromium]

The index is that of the environment (`INDEX_PATH`). Pages and `POST /search` take turns, so that
both meet the same load of the machine; times are ratios of medians.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import shutil
import statistics
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote

from bench.serving import running
from bench.usage import pss

QUERY = "memory"
"""Word that many documents have."""

JSON = "POST /search"

HEADERS = {"Accept": "text/html"}


def pages(file: str) -> dict[str, str]:
    """Name each page with its address.

    Args:
        file: document that is read.
    """
    return {
        "search": f"/?q={QUERY}&mode=words",
        "newest": "/",
        "document": f"/doc/{file}",
        "links": f"/links/{file}",
        "look": "/look",
        "loose ends": "/lists",
        "map": "/map",
        "points of the map": "/map/points.svg",
        "SQL": "/sql",
    }


WORDS = (
    "memory class window error function template string file thread pointer array list exception "
    "message object control object server client build project debug compile link library"
).split()
"""Words that are searched for while the memory of the server is looked at."""

STEPS = 8
"""Looks at the memory."""


def varied(files: Sequence[str], at: int) -> str:
    """Return the address of a view: each kind of page in turn, of another search or document."""
    turn = at // len(KINDS)
    file = quote(files[turn % len(files)])
    words = quote(f"{WORDS[turn % len(WORDS)]} {WORDS[(7 * turn + 3) % len(WORDS)]}")
    return KINDS[at % len(KINDS)].format(file=file, words=words)


KINDS = (
    "/",
    "/?q={words}&mode=words",
    "/doc/{file}?q={words}",
    "/links/{file}",
    "/look",
    "/lists",
    "/sql?run=1&query=select+file+from+documents+limit+5",
    "/?q={words}&mode=words&page=2",
)


def get(port: int, path: str, body: str | None = None) -> tuple[float, bytes]:
    """Send a request; return the seconds to the last byte, and the answer."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    started = time.perf_counter()
    if body is None:
        link.request("GET", path, headers=HEADERS)
    else:
        link.request("POST", path, body, {"Content-Type": "application/json"})
    data = link.getresponse().read()
    link.close()
    return time.perf_counter() - started, data


def named(port: int) -> list[str]:
    """Return the documents that the words find, each once."""
    found: dict[str, None] = {}
    for word in WORDS:
        asked = json.dumps({"searches": [{"type": "lex", "query": word}], "limit": 50})
        results = json.loads(get(port, "/search", asked)[1])["results"]
        found.update(dict.fromkeys(each["file"] for each in results))
    return list(found)


def paint(port: int, path: str, chromium: str) -> float | None:
    """Return the milliseconds to the first paint of a page; None: the browser tells none."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{port}{path}")
        page.wait_for_timeout(500)
        found = page.evaluate(
            "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
        )
        browser.close()
    return None if found is None else float(found)


SHOWN = """
document.addEventListener("DOMContentLoaded", () => {
  window.shown = [];
  new MutationObserver(() => {
    const all = performance.getEntriesByType("resource");
    const answered = all.filter((each) => each.initiatorType === "fetch").at(-1)?.responseEnd;
    requestAnimationFrame(() => setTimeout(() => window.shown.push(performance.now() - answered)));
  }).observe(document.getElementById("results"), { childList: true });
});
"""
"""Notes the milliseconds from the end of an answer to the frame with its results."""


class Typed(NamedTuple):
    """Times of typing a query.

    Attributes:
        waits: milliseconds from each answer to the frame with its results, in order.
        busy: milliseconds of processor time of the page's main thread, for each answer.
    """

    waits: list[float]
    busy: float


def typing(port: int, chromium: str, words: str) -> Typed:
    """Type into the box, each letter after the results of the one before."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.add_init_script(SHOWN)
        page.goto(f"http://127.0.0.1:{port}/?mode=words")
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})

        def busy() -> float:
            found = session.send("Performance.getMetrics")["metrics"]
            return next(each["value"] for each in found if each["name"] == "TaskDuration")

        before = busy()
        for letter in words:
            count = page.evaluate("window.shown.length")
            page.locator("#q").press_sequentially(letter)
            page.wait_for_function("count => window.shown.length > count", arg=count)
        found: list[float] = page.evaluate("window.shown")
        taken = 1000 * (busy() - before) / max(1, len(found))
        browser.close()
    return Typed(sorted(found), taken)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench.pages")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--views", type=int, default=1000)
    parser.add_argument("--map", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--chromium", default=shutil.which("chromium"))
    given = parser.parse_args()
    command = [sys.executable, "-m", "qmd"]
    asked = json.dumps({"searches": [{"type": "lex", "query": QUERY}], "limit": 20})
    with running(command, dict(os.environ)) as server:
        port = server.port
        found = json.loads(get(port, "/search", asked)[1])
        of = pages(found["results"][0]["file"])
        of = {name: path for name, path in of.items() if given.map or "map" not in name}
        times: dict[str, list[float]] = {name: [] for name in (*of, JSON)}
        weights = {}
        for path in of.values():  # what the first of each loads
            get(port, path)
        for _ in range(given.rounds):
            for name, path in of.items():
                seconds, data = get(port, path)
                times[name].append(seconds)
                weights[name] = len(data)
                times[JSON].append(get(port, "/search", asked)[0])
        least = statistics.median(times[JSON])
        print(f"{JSON}: {1000 * least:.1f} ms", flush=True)
        for name, path in of.items():
            line = (
                f"{name}: {statistics.median(times[name]) / least:.1f} x, {weights[name]:,} bytes"
            )
            if given.chromium:
                first = paint(port, path, given.chromium)
                line += f", first paint {first / 1000 / least:.1f} x" if first else ""
            print(line, flush=True)
        if given.chromium:
            typed = typing(port, given.chromium, f"{QUERY} allocation")
            wait = statistics.median(typed.waits)
            print(
                f"typing: results {wait:.0f} ms after the answer ({wait / 1000 / least:.1f} x), "
                f"{typed.waits[-1]:.0f} at most, of {len(typed.waits)} answers; "
                f"{typed.busy:.1f} ms CPU of the page each",
                flush=True,
            )
        files = named(port)
        sizes = [pss(server.process.pid)]
        for at in range(given.views):
            get(port, varied(files, at))
            if (at + 1) % max(1, given.views // STEPS) == 0:
                sizes.append(pss(server.process.pid))
        shown = ", ".join(f"{size:.0f}" for size in sizes)
        print(f"memory: {shown} MB before and in the course of {given.views} varied views (PSS)")


if __name__ == "__main__":
    main()
