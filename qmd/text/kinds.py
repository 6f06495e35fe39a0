"""Kinds of files by their names: one line for each, and the groups that a mask may name.

A reader of another package is an entry point of the group `qmd.readers`. Its name is the suffix
that it reads, without the dot; what it names is a function `read(data, name) -> Reading`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from qmd.named_tuple import NamedTuple

DOCUMENT, CODE, DATA = "document", "code", "data"

GROUPS = {
    "documents": (DOCUMENT,),
    "code": (CODE,),
    "data": (DATA,),
    "all": (DOCUMENT, CODE, DATA),
}
"""Words that stand in a mask for all kinds of a group."""

PLUGINS = "qmd.readers"
"""Group of entry points."""


class Kind(NamedTuple):
    """Files that are read in the same way.

    Attributes:
        name: as people are told.
        suffixes: with a blank between two, in lower case.
        reader: module below `qmd.ingest.readers` that reads them, or `package.module:function`;
            '' for text that is indexed as it stands.
        version: of the reader; a file that an earlier one has read is read again.
        package: that the reader comes from, if it is not one of qmd.
        scans: its pages may be pictures, whose text Tesseract reads.
    """

    name: str
    suffixes: str
    group: str = DOCUMENT
    reader: str = ""
    version: str = "1"
    package: str = ""
    scans: bool = False

    @property
    def tag(self) -> str:
        """Reader and version, as the index notes them; '' for plain text."""
        reader = f"{self.package}/{self.name}" if self.package else self.reader
        return f"{reader} {self.version}" if reader else ""


KINDS = (
    Kind("Markdown", ".md .markdown .mdx .mdown .mkd .qmd .rmd"),
    Kind("text", ".txt .text"),
    Kind("PDF", ".pdf", DOCUMENT, "pdf", scans=True),
    Kind("Word", ".docx .docm .dotx .dotm", DOCUMENT, "docx"),
    Kind("PowerPoint", ".pptx .pptm .ppsx .ppsm .potx", DOCUMENT, "pptx"),
    Kind("Excel", ".xlsx .xlsm .xltx .xltm", DOCUMENT, "xlsx"),
    Kind("OpenDocument", ".odt .ods .odp .ott .ots .otp", DOCUMENT, "odf"),
    Kind("EPUB", ".epub", DOCUMENT, "epub"),
    Kind("RTF", ".rtf", DOCUMENT, "rtf", "2"),
    Kind("HTML", ".html .htm .xhtml", DOCUMENT, "html", "2"),
    Kind("mail", ".eml", DOCUMENT, "mail", "2"),
    Kind("mailbox", ".mbox .mbx", DOCUMENT, "mbox", "2"),
    Kind("notebook", ".ipynb", DOCUMENT, "notebook", "3"),
    Kind("subtitles", ".vtt .srt .ass .ssa", DOCUMENT, "subtitles", "2"),
    Kind("Org", ".org", DOCUMENT, "org", "4"),
    Kind("reStructuredText", ".rst .rest", DOCUMENT, "restructuredtext", "2"),
    Kind("AsciiDoc", ".adoc .asciidoc .asc", DOCUMENT, "asciidoc", "2"),
    Kind("MediaWiki", ".mediawiki .wiki", DOCUMENT, "mediawiki", "2"),
    Kind("LaTeX", ".tex .latex .ltx", DOCUMENT, "latex", "2"),
    Kind("canvas", ".canvas", DOCUMENT, "canvas", "2"),
    Kind("outline", ".opml", DOCUMENT, "opml", "2"),
    Kind("log", ".log", DATA),
    Kind("CSV", ".csv .tsv", DATA, "csv_rows", "2"),
    Kind("JSON", ".json .jsonl .ndjson .geojson", DATA, "json_text", "3"),
    Kind("YAML", ".yaml .yml", DATA),
    Kind("TOML", ".toml", DATA),
    Kind("settings", ".ini .cfg .conf .properties .env", DATA),
    Kind("XML", ".xml", DATA),
    Kind("C", ".c .h .cpp .cc .cxx .hpp .hh .hxx .ipp .m .mm", CODE),
    Kind("C#", ".cs", CODE),
    Kind("Clojure", ".clj .cljs .cljc .edn", CODE),
    Kind("CSS", ".css .scss .sass .less", CODE),
    Kind("Dart", ".dart", CODE),
    Kind("Elixir", ".ex .exs .erl .hrl", CODE),
    Kind("Fortran", ".f .f90 .f95", CODE),
    Kind("Go", ".go", CODE),
    Kind("Haskell", ".hs .lhs .elm .purs", CODE),
    Kind("Java", ".java .kt .kts .scala .groovy .gradle", CODE),
    Kind("JavaScript", ".js .jsx .mjs .cjs .vue .svelte .astro", CODE),
    Kind("Julia", ".jl", CODE),
    Kind("Lisp", ".el .lisp .scm .rkt", CODE),
    Kind("Lua", ".lua", CODE),
    Kind("OCaml", ".ml .mli .fs .fsx", CODE),
    Kind("Perl", ".pl .pm", CODE),
    Kind("PHP", ".php", CODE),
    Kind("protocol", ".proto .graphql .thrift", CODE),
    Kind("Python", ".py .pyi .pyw .pyx .pxd .pxi", CODE),
    Kind("R", ".r", CODE),
    Kind("Ruby", ".rb .rake .gemspec", CODE),
    Kind("Rust", ".rs", CODE),
    Kind("shell", ".sh .bash .zsh .fish .ps1 .bat .cmd", CODE),
    Kind("SQL", ".sql", CODE),
    Kind("Swift", ".swift", CODE),
    Kind("Terraform", ".tf .hcl .nix", CODE),
    Kind("TypeScript", ".ts .mts .cts .tsx", CODE),
    Kind("Zig", ".zig .nim .d .v", CODE),
)
"""All that qmd brings."""

TEXT = Kind("text", "", DOCUMENT, "text", "2")
"""Text that is not UTF-8."""

MAIL = next(kind for kind in KINDS if kind.reader == "mail")
BOOKMARKS = Kind("bookmarks", "", DOCUMENT, "bookmarks", "2")
TRANSCRIPT = Kind("transcript", "", DOCUMENT, "transcript", "2")
UNNAMED = (TEXT, BOOKMARKS, TRANSCRIPT)
"""Kinds that no suffix says."""

_MAILDIR = r"(?:^|/)(?:cur|new)/\d{6,}\.[^/]+"
"""Message of a Maildir. Source: maildir(5), of the names of files."""

NO_READER = "no reader"
"""Why a file is left out whose suffix is none of these."""

EMPTY = "empty"
"""Why a file is left out in which nothing but blanks stands."""

NO_TEXT_ON = "no text on page"
"""Begins the reason why a file is left out whose pages are pictures."""

CONVERTED = "converter"
"""Reader of files that a command of the user converts."""


@cache
def by_suffix() -> dict[str, Kind]:
    """Return the kind for each suffix in lower case; that of another package comes first."""
    known = {suffix: kind for kind in KINDS for suffix in kind.suffixes.split()}
    return known | {kind.suffixes: kind for kind in plugins()}


def suffix_of(path: str) -> str:
    """Return the last suffix of a path in lower case, or ''."""
    name = path[path.rfind("/") + 1 :]
    at = name.rfind(".")
    return name[at:].lower() if at > 0 else ""


def kind_of(path: str) -> Kind | None:
    """Return the kind that the name of a file says, or None."""
    suffix = suffix_of(path)
    kind = _BUILT_IN.get(suffix)
    if kind is not None and not kind.reader:
        return kind
    kind = by_suffix().get(suffix)
    return MAIL if kind is None and re.search(_MAILDIR, path) else kind


_BUILT_IN = {suffix: kind for kind in KINDS for suffix in kind.suffixes.split()}


def named(path: str, tag: str | None) -> str:
    """Return what people call the kind of a file.

    Args:
        tag: of the reader that has read it, or None.
    """
    kind = kind_of(path)
    if tag and (kind is None or not tag.startswith(kind.tag)):
        every = (*by_suffix().values(), *UNNAMED)
        kind = next((each for each in every if each.tag == tag), kind)
    return kind.name if kind is not None else "text"


def current() -> list[str]:
    """Return the readers with their versions, as the index notes them."""
    return sorted({kind.tag for kind in (*by_suffix().values(), *UNNAMED) if kind.reader})


def why_left_out(path: str, mask: str) -> str:
    """Say why a mask does not take a file of that name.

    Of a mask of globs alone, readers of other packages are not looked for: that takes time.
    """
    is_grouped = any(part.strip() in GROUPS for part in mask.split(","))
    kind = (by_suffix() if is_grouped else _BUILT_IN).get(suffix_of(path))
    if kind is None:
        return NO_READER
    return "not in the mask" if kind.group == DOCUMENT else kind.group


def may_have_places(path: str) -> bool:
    """Tell whether a file of that name may have been read by a reader that knows places."""
    kind = _BUILT_IN.get(suffix_of(path))
    return kind is None or bool(kind.reader) or kind.suffixes.startswith(".txt")


def is_plain(path: str) -> bool:
    """Tell whether a file of that name is text that is indexed as it stands, but for few."""
    kind = _BUILT_IN.get(suffix_of(path))
    return kind is not None and not kind.reader


def is_group(part: str) -> bool:
    """Tell whether a part of a mask is a word that stands for a group of kinds."""
    return part in GROUPS


def taking(groups: Sequence[str]) -> Callable[[str], bool]:
    """Tell of a path whether its kind is of one of some groups.

    Args:
        groups: words of `GROUPS`.
    """
    among = {group for word in groups for group in GROUPS[word]}
    suffixes = suffixes_of(groups)

    def is_taken(path: str) -> bool:
        known = path[path.rfind(".") :].lower() in suffixes
        if not known and DOCUMENT in among:
            known = re.search(_MAILDIR, path) is not None
        return known and not path.startswith(".") and "/." not in path

    return is_taken


def suffixes_of(groups: Sequence[str]) -> frozenset[str]:
    """Return the suffixes of kinds of some groups, in lower case.

    Args:
        groups: words of `GROUPS`.
    """
    among = {group for word in groups for group in GROUPS[word]}
    return frozenset(suffix for suffix, kind in by_suffix().items() if kind.group in among)


def plugins() -> list[Kind]:
    """Find the readers of other packages. None of their code is loaded."""
    if not any(_mentions(folder) for folder in _folders()):
        return []
    from importlib.metadata import entry_points  # it takes time to load

    found = []
    for point in entry_points(group=PLUGINS):
        suffix = "." + point.name.lower().lstrip(".")
        package, version = (point.dist.name, point.dist.version) if point.dist else ("", "0")
        found.append(Kind(suffix[1:], suffix, DOCUMENT, point.value, version, package))
    return found


def stamp() -> list[int]:
    """Return what is another one after a package, or Tesseract, was installed or removed."""
    return [*(os.stat(folder).st_mtime_ns for folder in _folders()), int(has_tesseract())]


def has_tesseract() -> bool:
    """Tell whether the program that reads text in pictures is installed."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return any(os.access(f"{folder}/tesseract", os.X_OK) for folder in folders if folder)


def _folders() -> Iterator[str]:
    """Find the folders that packages are installed in."""
    for folder in sys.path:
        if folder.endswith(("site-packages", "dist-packages")) and os.path.isdir(folder):  # noqa: PTH112
            yield folder


def _mentions(folder: str) -> bool:
    """Tell whether a package in a folder has entry points of the group."""
    mark = f"[{PLUGINS}]".encode()
    with os.scandir(folder) as entries:
        packages = [entry.path for entry in entries if entry.name.endswith(".dist-info")]
    for package in packages:
        try:
            with open(f"{package}/entry_points.txt", "rb") as file:
                if mark in file.read():
                    return True
        except OSError:
            continue
    return False
