"""Reader of LaTeX.

A scanner of its own: pylatexenc expands macros of a preamble and fails on those it does not know,
and its text cannot be traced back to the lines of the file.
"""

from __future__ import annotations

import re
import unicodedata

from qmd.ingest.readers.building import single_spaced
from qmd.ingest.readers.by_lines import lines_of, reading
from qmd.ingest.readers.dates import iso
from qmd.ingest.readers.reading import Reading

_TOKEN = re.compile(
    r"\\(?P<command>[A-Za-z@]+)\*?[ \t]*|\\(?P<symbol>[^A-Za-z@])|(?P<special>[{}\[\]&~\n])"
    r"|%[^\n]*|(?P<math>\$\$?)|(?P<text>[^\\{}\[\]&~%$\n]+)|\\$"
)
_MATH = re.compile(r"(?:[^$\\]|\\.){0,5000}", re.S)
_BEGIN = re.compile(r"\\begin\{document\}")
_LINE_END = re.compile(r"[ \t]*(?:%[^\n]*)?\n[ \t]*")
_BARS = re.compile(r"[ \t]*(?<!\\)\|[ \t]+")
_LANGUAGE = re.compile(r"language\s*=\s*\{?\s*([\w+#]+)")
_SECTIONS = "part chapter section subsection subsubsection paragraph".split()
_VERBATIM = frozenset("verbatim Verbatim lstlisting minted alltt code".split())
_FORMULAS = frozenset(
    "equation align gather multline eqnarray displaymath math alignat flalign".split()
)
_TABLES = frozenset("tabular tabularx longtable tabu array supertabular".split())
_DROPPED = {
    **dict.fromkeys(
        "label vspace hspace bibliographystyle usepackage documentclass pagestyle thispagestyle"
        " newcounter pagenumbering hypersetup graphicspath"
        " color definecolor cline cmidrule phantom vphantom hphantom selectlanguage"
        " theoremstyle geometry index glossary hyphenation RequirePackage allowbreak linespread"
        " input include includegraphics bibliography addbibresource subfile title author"
        " date raisebox hypertarget tag raggedright".split(),
        1,
    ),
    **dict.fromkeys(
        "setlength setcounter addtocounter newcommand renewcommand providecommand newtheorem def"
        " let DeclareMathOperator fontsize rule addtolength newcolumntype".split(),
        2,
    ),
    "definecolor": 3,
    "addcontentsline": 3,
    "newenvironment": 3,
    "renewenvironment": 3,
}
_DEEPEST = 100
_DEFINING = frozenset(
    "newcommand renewcommand providecommand def let DeclareMathOperator newcolumntype".split()
)
_FIRST_DROPPED = frozenset(
    "textcolor colorbox multirow multicolumn parbox resizebox scalebox".split()
)
_LINKING = frozenset("input include includegraphics bibliography addbibresource subfile".split())
_REFERRING = frozenset(
    "cite citep citet citeauthor parencite textcite autocite ref eqref autoref".split()
)
_WORDS = {
    **{"ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ"},
    **{"OE": "Œ", "aa": "å", "AA": "Å", "i": "ı", "j": "ȷ", "ldots": "…", "dots": "…"},
    **{"LaTeX": "LaTeX", "TeX": "TeX", "textbackslash": "\\", "textasciitilde": "~"},
    **{"textless": "<", "textgreater": ">", "textbar": "|", "S": "§", "P": "¶", "pounds": "£"},
    **{"copyright": "©", "euro": "€", "texteuro": "€", "textdegree": "°", "quad": " "},
    **{"qquad": " ", "newline": " ", "item": "- ", "par": "", "textasciicircum": "^"},
    **{"textendash": "–", "textemdash": "—", "textquotesingle": "'", "slash": "/"},
}
_ACCENTS = {
    **{"'": "\u0301", "`": "\u0300", '"': "\u0308", "^": "\u0302", "~": "\u0303", "=": "\u0304"},
    **{".": "\u0307", "c": "\u0327", "v": "\u030c", "u": "\u0306", "H": "\u030b", "k": "\u0328"},
    **{"r": "\u030a", "b": "\u0331", "d": "\u0323"},
}
_LETTER = re.compile(
    r"\s*(?:\{\s*(?:\\([ij])(?![A-Za-z])|([^\W\d_]))\s*\}|\\([ij])(?![A-Za-z])|([^\W\d_]))"
)


def read(data: bytes, name: str) -> Reading:
    """Read a LaTeX file; each line stays in its place."""
    lines = lines_of(data)
    source = "\n".join(lines)
    told = {key: _argument(source, key) for key in ("title", "author", "date")}
    begin = _BEGIN.search(source)
    scan = _Scan(source, begin.end() if begin else 0)
    text = "\n" * source.count("\n", 0, begin.end() if begin else 0) + scan.text()
    author = re.sub(r"\s*\\and\s*", ", ", told["author"])
    return reading(
        [_tidied(line) for line in text.split("\n")],
        title=_plain(told["title"]),
        date=iso(_plain(told["date"])),
        author=_plain(author),
        links=scan.links,
    )


def _tidied(line: str) -> str:
    line = line.rstrip()
    if line.endswith(" |"):
        return "| " + _BARS.sub(" | ", f"{line} ").strip(" |") + " |"
    return line if line.startswith("    ") else line.lstrip()


class _Group:
    """Braces that are open.

    Attributes:
        start: number of parts before it.
        close: what becomes of its text: `keep`, `drop`, or a name of the scanner's own.
    """

    __slots__ = ("close", "following", "start", "target")

    def __init__(
        self, start: int, close: str, target: str = "", following: list[str] | None = None
    ) -> None:
        self.start = start
        self.close = close
        self.target = target
        self.following = following or []  # arguments that come after it


class _Scan:
    """One pass over a text; dropped parts keep their line breaks.

    Attributes:
        links: targets that have been met.
    """

    def __init__(self, source: str, at: int) -> None:
        self.links: list[str] = []
        self._source = source
        self._at = at
        self._parts: list[str] = []
        self._groups: list[_Group] = []
        self._next: list[str] = []  # what becomes of the arguments that follow
        self._target = ""
        self._defining = False  # the name of a macro follows
        self._tables: list[str] = []
        self._deepest = "chapter" if "\\chapter" in source else "section"

    def text(self) -> str:
        """Give the text up to the end of the document."""
        while self._at < len(self._source):
            found = _TOKEN.match(self._source, self._at)
            if found is None:
                self._at += 1
                continue
            self._at = found.end()
            if found["command"]:
                if found["command"] == "end" and self._source.startswith("{document}", self._at):
                    break
                self._command(found["command"])
            elif found["symbol"]:
                self._symbol(found["symbol"])
            elif found["special"]:
                self._special(found["special"])
            elif found["math"]:
                self._formula(found["math"])
            elif found["text"]:
                self._word(found["text"])
        while self._groups:
            self._close()
        return "".join(self._parts)

    def _word(self, text: str) -> None:
        if text.strip() and not text.lstrip().startswith("#"):  # `#1` of a definition
            self._next = []
        text = text.replace("---", "—").replace("--", "–").replace("``", '"').replace("''", '"')
        self._parts.append(text)

    def _special(self, mark: str) -> None:
        if mark == "{":
            close = self._next.pop(0) if self._next else "keep"
            if len(self._groups) >= _DEEPEST:  # what is joined at each end would be copied often
                close = "keep"
            self._groups.append(_Group(len(self._parts), close, self._target, self._next))
            self._next = []
        elif mark == "}":
            self._close()
        elif mark == "[":
            self._optional()
        elif mark == "&":
            self._parts.append(" | " if self._tables else "&")
        else:
            self._parts.append(" " if mark == "~" else mark)

    def _optional(self) -> None:
        """Leave out `[…]` where arguments are awaited; elsewhere it is text."""
        end = self._source.find("]", self._at, self._at + 500)
        if self._next and end >= 0:
            self._parts.append("\n" * self._source.count("\n", self._at, end))
            self._at = end + 1
        else:
            self._parts.append("[")

    def _close(self) -> None:
        if not self._groups:
            return
        group = self._groups.pop()
        self._next = group.following
        if group.close == "keep":
            return
        text = "".join(self._parts[group.start :])
        breaks = "\n" * text.count("\n")
        self._parts[group.start :] = [self._closed(group, text, breaks)]

    def _closed(self, group: _Group, text: str, breaks: str) -> str:
        kind = group.close
        if kind.startswith("#"):
            return f"{kind} {single_spaced(text)}{breaks}"
        if kind == "code":
            return f"`{text}`"
        if kind == "note":
            return f" ({text.strip()})"
        if kind == "refer":
            return f"[{text}]"
        if kind == "address":
            self._target = single_spaced(text)
            self.links.append(self._target)
            return breaks
        if kind == "label":
            return f"[{text}]({group.target})" if group.target else text
        if kind == "url":
            self.links.append(single_spaced(text))
            return f"<{single_spaced(text)}>{breaks}"
        if kind == "file":
            self.links.append(single_spaced(text))
        return breaks

    def _command(self, name: str) -> None:
        if self._defining:
            self._defining = False
            del self._next[:1]
            return
        self._next = []
        if name in _SECTIONS:
            self._next = [self._level(name)]
        elif name == "begin":
            self._environment()
        elif name == "end":
            self._end_environment()
        elif name == "item":
            if found := _LINE_END.match(self._source, self._at):
                self._parts.append("\n")
                self._at = found.end()
            self._parts.append("- ")
        elif name in _ACCENTS and len(name) == 1 and self._accented(name):
            return
        elif name in _WORDS:
            self._parts.append(_WORDS[name])
        elif name == "href":
            self._next = ["address", "label"]
        elif name in ("url", "nolinkurl"):
            self._raw("url")
        elif name in ("texttt", "lstinline", "mintinline", "verb"):
            self._inline_code(name)
        elif name in ("footnote", "footnotetext", "thanks", "marginpar"):
            self._next = ["note"]
        elif name in _REFERRING:
            self._next = ["refer"]
        elif name in _LINKING:
            self._next = ["file"]
        elif name in _FIRST_DROPPED:
            count = 2 if name in ("multirow", "multicolumn", "resizebox") else 1
            self._next = ["drop"] * count + ["keep"]
        elif name in _DROPPED:
            self._next = ["drop"] * _DROPPED[name]
        else:
            self._next = ["keep"]
        self._defining = name in _DEFINING and self._source.startswith("\\", self._at)

    def _level(self, name: str) -> str:
        top = _SECTIONS.index(self._deepest)
        return "#" * min(max(1, _SECTIONS.index(name) - top + 1), 6)

    def _inline_code(self, name: str) -> None:
        if name == "texttt":
            self._next = ["code"]
            return
        if name == "mintinline" and (end := self._source.find("}", self._at, self._at + 50)) > 0:
            self._at = end + 1
        mark = self._source[self._at : self._at + 1]
        close = "}" if mark == "{" else mark
        end = self._source.find(close, self._at + 1, self._at + 500) if mark.strip() else -1
        if end > 0 and "\n" not in self._source[self._at : end]:
            self._parts.append(f"`{self._source[self._at + 1 : end]}`")
            self._at = end + 1

    def _raw(self, kind: str) -> None:
        """Take an argument as it is written: `%` and `~` belong to an address."""
        end = self._source.find("}", self._at, self._at + 2000)
        if self._source.startswith("{", self._at) and end > 0:
            text = self._source[self._at + 1 : end]
            self._parts.append(self._closed(_Group(0, kind), text, "\n" * text.count("\n")))
            self._at = end + 1

    def _symbol(self, mark: str) -> None:
        if mark in _ACCENTS and self._accented(mark):
            return
        if mark == "\\":
            self._parts.append(" |" if self._tables else "")
            optional = re.compile(r"\*?\[[^\]\n]{0,20}\]").match(self._source, self._at)
            self._at = optional.end() if optional else self._at
        elif mark in "([":
            self._formula("\\)" if mark == "(" else "\\]")
        elif mark in "&%_#${}":
            self._parts.append(mark)
        else:
            self._parts.append("\n" if mark == "\n" else " " if mark in " ,;:" else "")

    def _accented(self, mark: str) -> bool:
        found = _LETTER.match(self._source, self._at)
        if found is None or (
            mark.isalpha() and self._source[self._at - 1 : self._at].isalpha() and found[4]
        ):
            return False
        letter = next(each for each in found.groups() if each)
        self._parts.append(unicodedata.normalize("NFC", letter + _ACCENTS[mark]))
        self._at = found.end()
        return True

    def _formula(self, mark: str) -> None:
        """Keep a formula as it is written."""
        if mark.startswith("$"):
            found = _MATH.match(self._source, self._at)
            end = found.end() if found else self._at
            if not self._source.startswith(mark, end):
                self._parts.append(mark)
                return
        else:
            end = self._source.find(mark, self._at, self._at + 5000)
            if end < 0:
                return
        around = mark if mark.startswith("$") else "$" if mark == "\\)" else "$$"
        self._parts.append(f"{around}{self._source[self._at : end].strip(' ')}{around}")
        self._at = end + len(mark)

    def _name(self) -> str:
        end = self._source.find("}", self._at, self._at + 100)
        if not self._source.startswith("{", self._at) or end < 0:
            return ""
        name = self._source[self._at + 1 : end]
        self._at = end + 1
        return name

    def _environment(self) -> None:
        written = self._name()
        name = written.rstrip("*")
        if name in _VERBATIM or name in _FORMULAS:
            end = self._source.find(f"\\end{{{written}}}", self._at)
            end = len(self._source) if end < 0 else end
            body = self._source[self._at : end]
            self._at = min(len(self._source), end + len(f"\\end{{{written}}}"))
            if name in _FORMULAS:
                self._parts.append(f"$${body.rstrip(' ')}$$")
                return
            head, _, code = body.partition("\n")
            language = _LANGUAGE.search(head) or re.fullmatch(r"(?:\[[^\]]*\])?\{(\w+)\}\s*", head)
            self._parts.append(
                f"```{language[1].lower() if language else ''}\n{code.rstrip(' ')}```"
            )
            if "\n" not in body:
                self._parts[-1] = f"`{body.strip()}`"
        elif name in _TABLES:
            self._tables.append(name)
            self._next = ["drop"] * (2 if name == "tabularx" else 1)
            self._parts.append("")
        else:
            self._next = ["drop"] if name in ("minipage", "thebibliography", "wrapfigure") else []
            if self._source.startswith("[", self._at):
                self._next = ["drop"]
                self._at += 1
                self._optional()
                self._next = []

    def _end_environment(self) -> None:
        if self._name().rstrip("*") in _TABLES and self._tables:
            self._tables.pop()


def _argument(source: str, name: str) -> str:
    """Give the argument of a command, or ""."""
    found = re.search(rf"\\{name}\s*(?:\[[^\]\n]*\])?\s*\{{", source)
    if found is None:
        return ""
    depth, at = 1, found.end()
    for at in range(found.end(), min(len(source), found.end() + 2000)):
        depth += {"{": 1, "}": -1}.get(source[at], 0)
        if depth == 0:
            break
    return source[found.end() : at]


def _plain(source: str) -> str:
    return single_spaced(_Scan(source, 0).text())
