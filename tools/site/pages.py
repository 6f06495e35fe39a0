"""Folder of Markdown that the site generator reads: pages of the project, with their links mended.

A page keeps the name that it has in `docs/`. Pages from elsewhere get a name of their own. A file
that a page links to and that is no page, such as a program, becomes a page that shows it.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from tools.site import api_page, tools_page

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
STYLE = Path(__file__).with_name("site.css")

ELSEWHERE: Mapping[str, str] = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    # On disks that ignore case, SECURITY.md would be docs/security.md.
    "SECURITY.md": "reporting.md",
    "bench/README.md": "benchmarks.md",
}
"""Pages outside of `docs/`, with their names on the site."""

PICTURES = (".svg", ".png")

_FENCE = re.compile(r"^(?P<fence>```|~~~).*?^(?P=fence)[ \t]*$", re.M | re.S)
_LINK = re.compile(
    r"\[(?P<text>[^\[\]]*)\]\((?P<target>(?!https?:|mailto:|#)[^)#\s]+)(?P<anchor>#[^)\s]*)?\)"
)
_NAME = re.compile(r"[\w/-]+\.md")
_TITLE = re.compile(r"^# (.+)$", re.M)
_LANGUAGES = {".py": "python", ".toml": "toml", ".yml": "yaml", ".json": "json", ".sql": "sql"}


class BrokenLink(Exception):
    """Link of a page to a file that is not there."""


def sources() -> dict[str, Path]:
    """Return the pages of the project by their names on the site."""
    found = {page.relative_to(DOCS).as_posix(): page for page in sorted(DOCS.rglob("*.md"))}
    # The generator takes the list of a folder for the folder itself if it has this name.
    found["decisions/index.md"] = found.pop("decisions/README.md")
    return found | {name: ROOT / path for path, name in ELSEWHERE.items()}


def written() -> dict[str, str]:
    """Return the text of each page of the site by its name.

    Raises:
        BrokenLink: a page links to a file that is not there.
    """
    pages = sources()
    names = {path.resolve(): name for name, path in pages.items()}
    made = {
        "api.md": api_page.page(),
        "tools.md": tools_page.page(),
    }
    shown: dict[str, Path] = {}
    for name, path in pages.items():
        text = path.read_text(encoding="utf-8")
        made[name] = _relinked(text, path, name, names, shown)
    for name, path in shown.items():
        made[name] = _shown(path)
    return made


def pictures() -> dict[str, Path]:
    """Return the pictures of the site by their names."""
    return {
        path.relative_to(DOCS).as_posix(): path
        for path in sorted(DOCS.rglob("*"))
        if path.suffix in PICTURES
    }


def stage(folder: Path) -> list[str]:
    """Write the folder anew.

    Returns:
        Names of its pages.

    Raises:
        BrokenLink: a page links to a file that is not there.
    """
    made = written()
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in made.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    for name, path in pictures().items():
        shutil.copyfile(path, folder / name)
    shutil.copyfile(STYLE, folder / STYLE.name)
    return list(made)


def _relinked(
    text: str, path: Path, name: str, names: Mapping[Path, str], shown: dict[str, Path]
) -> str:
    """Let the links of a page lead to pages of the site, and name these by their titles.

    Args:
        names: of pages of the site, by their files.
        shown: files that get a page, by its name; those that the links lead to are added.

    Raises:
        BrokenLink: a link leads to a file that is not there.
    """

    def mended(found: re.Match[str]) -> str:
        target = (path.parent / found["target"]).resolve()
        if target.is_dir():
            target /= "README.md"
        if not target.exists():
            raise BrokenLink(f"{path.relative_to(ROOT)}: {found['target']}")
        if target.suffix in PICTURES:
            place = target.relative_to(DOCS).as_posix()
        elif target in names:
            place = names[target]
        else:
            inside = target.relative_to(ROOT)
            place = f"files/{inside.as_posix().replace('/', '-')}.md"
            shown[place] = target
        told = found["text"]
        if target in names and _NAME.fullmatch(told):
            told = title(target)
        relative = os.path.relpath(place, Path(name).parent).replace(os.sep, "/")
        return f"[{told}]({relative}{found['anchor'] or ''})"

    return "".join(part if fenced else _LINK.sub(mended, part) for fenced, part in _parts(text))


def title(page: Path) -> str:
    """Return the first heading of a page."""
    found = _TITLE.search(page.read_text(encoding="utf-8"))
    assert found, f"{page} has no heading"
    return found[1]


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the parts of a page, each with True if it is a fenced block."""
    end = 0
    for found in _FENCE.finditer(text):
        yield False, text[end : found.start()]
        yield True, found[0]
        end = found.end()
    yield False, text[end:]


def _shown(path: Path) -> str:
    """Return a page that shows a file."""
    name = path.relative_to(ROOT).as_posix()
    language = _LANGUAGES.get(path.suffix, "text")
    text = path.read_text(encoding="utf-8").rstrip("\n")
    return f"---\nsearch:\n  exclude: true\n---\n\n# {name}\n\n````{language}\n{text}\n````\n"
