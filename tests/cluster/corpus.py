"""Documents of all kinds, as one index and in shards."""

from __future__ import annotations

import os
from pathlib import Path

from qmd.cluster.build import Built, Plan, build
from qmd.cluster.in_process import ShardsHere
from qmd.cluster.manifest import NAME
from qmd.cluster.open_index import ShardedIndex
from qmd.settings.environment import Machine
from qmd.types import Collection
from tests.library import Library

WORDS = (
    "tea water kettle leaf green black steam cup pot brew harvest garden mountain river "
    "configuration config configure running runs error errors index search"
).split()


def write(library: Library) -> None:
    """Write documents in several languages, with copies, dates, tags, links and ties."""
    for number in range(24):
        chosen = [WORDS[(number * 7 + at * (1 + number % 5)) % len(WORDS)] for at in range(60)]
        tags = "[tea, garden]" if number % 3 else "[water]"
        library.write(
            f"plain/page-{number:02}.md",
            f"---\ndate: 2024-{1 + number % 12:02}-03\ntags: {tags}\nstatus: "
            f"{'open' if number % 2 else 'done'}\nrank: {number}\n---\n"
            f"# Page {number} of {chosen[0]}\n\n{' '.join(chosen)}.\n\n"
            f"## {chosen[3]}\n\nSee [[page-{number + 1:02}]] and parse_json, e-mail, C++.\n",
        )
    text = " ".join(f"{word} {other}" for word in WORDS for other in WORDS[:6])
    for edition in ("first", "second", "third"):
        library.write(f"guide/{edition}/brewing.md", f"# Brewing\n\n{text} {edition}\n")
    for number in range(6):
        library.write(f"same/{number}.md", f"# Same\n\nidentical {text[:400]}\n")
        library.write(f"tie/{number}.md", f"# Tie {number}\n\nquartz and feldspar\n")
    library.write("cjk/zh.md", "# 茶\n\n绿茶和红茶在山上生长。水的温度很重要。\n")
    library.write("cjk/ja.md", "# お茶\n\n日本のお茶は美味しいです。京都で飲みました。\n")
    library.write("cjk/ko.md", "# 녹차\n\n한국의 녹차는 보성에서 자랍니다. 물이 중요합니다.\n")
    library.write(
        "de/tee.md",
        "# Häuser und Gärten\n\nDie Gärten der Häuser sind groß, und der Tee wächst in ihnen. "
        "Das Wasser für den Tee kommt aus den Bergen, und die Menschen trinken ihn jeden Tag.\n",
    )
    library.write(
        "fr/the.md",
        "# Les théières\n\nLes théières chinoises sont des objets précieux que les gens achètent "
        "dans les marchés, et l'eau doit être très chaude pour les feuilles.\n",
    )
    library.write("code/signs.md", "# Signs\n\na -> b, a != b, résumé and resume\n")
    for file in library.root.rglob("*.md"):
        os.utime(file, (1_700_000_000, 1_700_000_000))


def machine(library: Library) -> Machine:
    return library.engine.models.machine


def build_shards(library: Library, count: int, *, embeds: bool = False) -> Built:
    """Build the notes of a library in shards, in its folder `shards-N`."""
    collection = Collection("notes", str(library.root), "**/*.md")
    plan = Plan(folder_of(library, count), collection, count, embeds, machine(library))
    return build(plan, lambda step, done, total: None)


def folder_of(library: Library, count: int) -> Path:
    return library.folder / f"shards-{count}"


def opened(library: Library, built: Built, *, in_memory: bool = False) -> ShardedIndex:
    """Open shards in this process."""
    folder = folder_of(library, len(built.manifest.shards))
    shards = ShardsHere(folder, built.manifest, in_memory=in_memory)
    if in_memory:
        shards.load()
    return ShardedIndex(
        library.engine.place,
        machine(library),
        manifest=folder / NAME,
        shards=shards,
        close_shards=shards.close,
        size=built.manifest.bytes,
    )
