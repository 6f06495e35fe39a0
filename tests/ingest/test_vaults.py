"""Folders of note programs: titles, dates, tags and links as the program itself shows them."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import pytest

from qmd.ingest.verify import FACTS, prove
from qmd.operations.sql import sql
from tests.library import Library


class Shown(NamedTuple):
    """A document as its program shows it.

    Attributes:
        dated: None: the time of its file.
        links: documents that it leads to, in order.
    """

    title: str
    dated: datetime | None = None
    tags: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


MAY = datetime(2024, 5, 17)

VAULTS: dict[str, dict[str, tuple[str, Shown]]] = {
    "obsidian": {
        "Graph view.md": (
            "intro\n\n## Settings\n\n[[Tea]] #a/b\n",
            Shown("Graph view", None, ("a/b",), ("Tea.md",)),
        ),
        "Tea.md": (
            '---\ntags: [a, "#b"]\naliases: [Chai]\ncreated: May 17, 2024\n'
            'up: "[[Graph view]]"\n---\n'
            "%% [[gone]] %%\n\n## Pots\n",
            Shown("Tea", MAY, ("a", "b"), ("Graph view.md",)),
        ),
        "Daily/2024-05-17.md": ("- [ ] [[chai]]\n", Shown("2024-05-17", MAY, (), ("Tea.md",))),
        "README.md": ('<h1 align="center">X</h1>\n', Shown("X")),
    },
    "logseq": {
        "pages/A___B.md": (
            "tags:: green tea, hot\ncreated:: [[May 17th, 2024]]\n\n- #[[black tea]]\n",
            Shown("A/B", MAY, ("green tea", "hot", "black tea"), ("journals/2024_05_17.md",)),
        ),
        "journals/2024_05_17.md": (
            "- [[A/B]]\n",
            Shown("May 17th, 2024", MAY, (), ("pages/A___B.md",)),
        ),
        "pages/named.md": (
            "title:: Tea pots\n\n- [[Tea pots]]\n",
            Shown("Tea pots", None, (), ("pages/named.md",)),
        ),
    },
    "dendron": {
        "user.guide.md": (
            "---\nid: x1\ntitle: Guide\ndesc: ''\nupdated: 1715940000000\n"
            "created: 1715940000000\n---\n\n# Start\n",
            Shown("Guide", datetime(2024, 5, 17, 10)),
        ),
        "root.md": (
            "---\nid: r\ntitle: Root\n---\n[[The guide|user.guide#start]]\n",
            Shown("Root", None, (), ("user.guide.md",)),
        ),
    },
    "zettelkasten": {
        "202405171030 Tea.md": (
            "# Tea\n\n#green [[202405171031]]\n",
            Shown("Tea", MAY, ("green",), ("202405171031 Pots.md",)),
        ),
        "202405171031 Pots.md": ("Pots\n", Shown("202405171031 Pots", MAY)),
    },
    "joplin": {
        "Tea.md": (
            "---\ntitle: Tea: a story\nupdated: 2024-05-18 10:00:00Z\n"
            "created: 2024-05-17 10:00:00Z\ntags:\n  - green tea\n---\n\n"
            "[Pots](Pots.md) ![p](_resources/p.png)\n",
            Shown("Tea: a story", datetime(2024, 5, 17, 10), ("green tea",), ("Pots.md",)),
        ),
        "Pots.md": ("Text\n", Shown("Pots")),
    },
    "hugo": {
        "content/posts/tea.md": (
            '+++\ntitle = "Tea"\ndate = 2024-05-17\ntags = ["a"]\n+++\n'
            '[x](/posts/pots/) [y]({{< ref "pots" >}})\n',
            Shown("Tea", MAY, ("a",), ("content/posts/pots.md",)),
        ),
        "content/posts/pots.md": (
            '{\n "title": "Pots", "date": "2024-05-17"\n}\n\nText\n',
            Shown("Pots", MAY),
        ),
    },
    "docs": {  # MkDocs, Docusaurus, Astro
        "docs/index.md": (
            "# Start\n\n[b](./b)\n[c](c/)\n<a href='b.mdx#x'>x</a>\n",
            Shown("Start", None, (), ("docs/b.mdx", "docs/c.md", "docs/b.mdx")),
        ),
        "docs/b.mdx": ("---\ntitle: B\n---\nimport X from './x'\n\n# Other\n\n## X\n", Shown("B")),
        "docs/c.md": ("```sh\n# no title\n```\n\nC\n=\n", Shown("C")),
    },
    "org-roam": {
        "20240517103000-tea.org": (
            ":PROPERTIES:\n:ID: t-1\n:END:\n#+title: Tea\n#+filetags: :a:b:\n\n"
            "* Usage\n[[id:p-1][pots]]\n",
            Shown("Tea", MAY, ("a", "b"), ("pots.org",)),
        ),
        "pots.org": (
            ":PROPERTIES:\n:ID: p-1\n:END:\n#+title: Pots\n#+date: <2024-05-17 Fri>\n",
            Shown("Pots", MAY),
        ),
    },
    "notion": {
        "Tea 0123456789abcdef0123456789abcdef.md": (
            "# Tea\n\nCreated: May 17, 2024 10:30 AM\nTags: a, b\n\nText\n",
            Shown("Tea", datetime(2024, 5, 17, 10, 30), ("a", "b")),
        )
    },
}


@pytest.fixture(params=VAULTS)
def vault(request, library) -> tuple[Library, dict[str, tuple[str, Shown]]]:
    """A folder of a program, indexed."""
    settings = library.folder / "index.yml"
    settings.write_text(f"{settings.read_text()}    pattern: documents\n")
    written = VAULTS[request.param]
    for path, (text, _) in written.items():
        library.write(path, text)
    library.update()
    return library, written


def test_documents_are_what_their_program_shows(vault):
    library, written = vault
    rows = library.ask("select path, title, dated, modified, tags from documents")
    links: dict[str, list[str]] = {path: [] for path in written}
    told = sql(library.engine, "select file, to_file from links order by file, line")
    for row in told.arrow().to_pylist():
        if row["to_file"]:
            links[row["file"].partition("/")[2]].append(row["to_file"].partition("/")[2])
    found = {
        path: Shown(
            title, None if dated == modified else dated, tuple(tags or ()), tuple(links[path])
        )
        for path, title, dated, modified, tags in rows
    }
    assert found == {path: shown for path, (_, shown) in written.items()}


def test_an_index_of_a_vault_is_what_its_files_say(vault):
    library, _ = vault
    assert prove(library.engine.database) == dict.fromkeys(FACTS, 0)
