"""Reader of Rich Text Format.

A scanner of its own: striprtf gives text without headings, links and properties, and breaks the
rows of tables.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, replace
from datetime import datetime
from locale import windows_locale

from qmd.ingest.readers import charsets, wide
from qmd.ingest.readers.building import Builder, single_spaced
from qmd.ingest.readers.office import given_title
from qmd.ingest.readers.reading import Reading, Unreadable

_TOKEN = re.compile(
    rb"\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|[\r\n]+|([^\\{}\r\n]+)",
    re.I,
)
_HIDDEN = frozenset(
    "fonttbl colortbl stylesheet pict object objdata themedata colorschememapping latentstyles"
    " datastore list listlevel listtable listoverridetable rsidtbl generator xmlnstbl filetbl"
    " header headerl headerr headerf footer footerl footerr footerf revtbl fldinst nonshppict"
    " bkmkstart bkmkend mmathPr upr pntext pntxta pntxtb atnid atnauthor atndate template panose"
    " falt".split()
)
_LOOKED_INTO = ("fonttbl", "object", "fldinst", "upr")
_BRACE = re.compile(rb"\\bin(\d{1,9}) ?|\\.|[{}]", re.S)
_PROPERTIES = ("title", "author", "subject", "keywords", "doccomm", "company")
_SYMBOLS = {
    **{"tab": "\t", "line": "\n", "lquote": "‘", "rquote": "’", "ldblquote": "“"},
    **{"rdblquote": "”", "bullet": "•", "endash": "–", "emdash": "—", "emspace": " "},
    **{"enspace": " ", "qmspace": " ", "page": "\n", "softline": "\n", "column": "\n"},
}
_CHARSETS = {
    **{77: "mac_roman", 128: "cp932", 129: "cp949", 134: "gbk", 136: "cp950", 161: "cp1253"},
    **{162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257"},
    **{204: "cp1251", 222: "cp874", 238: "cp1250"},
}
_LANGUAGE = re.compile(rb"\\deflang(\d{1,5})")
_HEAD = 4096
"""Bytes in which the language stands."""

_ADDRESS = re.compile(r'HYPERLINK\s+"?([^"\s]+)')
_BULLET = re.compile(r"([•·▪◦–\-])\t\s*")
_NUMBER = re.compile(r"(\d{1,3}[.)])\t\s*")
_MOST_DEPTH = 10_000


@dataclass(slots=True, frozen=True)
class _State:
    r"""State that braces enclose.

    Attributes:
        goes: where text goes: `text`, `hidden`, `field` or the name of a property.
        skip: characters after `\u` that stand for it in old programs.
    """

    goes: str = "text"
    skip: int = 1
    hidden: bool = False
    charset: str = "cp1252"


def read(data: bytes, name: str) -> Reading:
    """Read a document: headings by outline level, lists, tables, links, footnotes."""
    out = Builder("RTF")
    if not data.strip():
        raise Unreadable("empty file")
    if wide.is_wide(data):
        data = _in_ascii(charsets.with_encoding(data).text)
    if not data.lstrip().startswith(b"{\\rtf"):
        raise Unreadable("no RTF file")
    scan = _Scan(out, data)
    with out.filling():
        scan.read()
    told = {key: "".join(parts) for key, parts in scan.told.items()}
    return out.reading(
        title=given_title(told.get("title")),
        date=scan.date,
        author=told.get("author"),
        language=_language(data),
        metadata={key: told.get(key) for key in ("subject", "keywords", "doccomm")},
    )


def _language(data: bytes) -> str | None:
    """Return the language of a document, which Windows numbers."""
    number = _LANGUAGE.search(data, 0, _HEAD)
    return windows_locale.get(int(number[1]), "").replace("_", "-") if number else None


def _in_ascii(text: str) -> bytes:
    """Write characters beyond ASCII as RTF has them: by their code units in UTF-16."""

    def escaped(found: re.Match[str]) -> str:
        units = found[0].encode("utf-16-le")
        return "".join(
            f"\\uc1\\u{int.from_bytes(units[at : at + 2], 'little', signed=True)}?"
            for at in range(0, len(units), 2)
        )

    return re.sub("[^\x00-\x7f]", escaped, text).encode()


class _Scan:
    """One pass over the file.

    Attributes:
        told: pieces of the properties.
        date: when the document was made.
    """

    def __init__(self, out: Builder, data: bytes) -> None:
        self.told: dict[str, list[str]] = {}
        self.date: str | None = None
        self._out = out
        self._data = data
        self._at = 0
        self._state = _State()
        self._states: list[_State] = []
        self._bytes = bytearray()
        self._line: list[str] = []
        self._cells: list[str] = []
        self._rows: list[list[str]] = []
        self._level = 0
        self._in_table = False
        self._skipped = 0  # characters still to be skipped after \u
        self._fonts: dict[int, str] = {}
        self._font = -1
        self._field: list[str] = []
        self._address: list[tuple[int, str, int]] = []  # depth, target, start
        self._notes: list[int] = []  # depths of footnotes and comments
        self._time: dict[str, int] = {}
        self._fresh = False  # a group has just begun
        self._ignorable = False
        self._tight = False

    def read(self) -> None:
        """Add all text."""
        while self._at < len(self._data):
            found = _TOKEN.match(self._data, self._at)
            if found is None:  # a backslash at the very end
                break
            self._at = found.end()
            word, number, code, symbol, brace, text = found.groups()
            if code:
                self._characters(bytes((int(code, 16),)))
            elif text:
                self._characters(text)
            elif word == b"bin":
                self._at += max(0, int(number or 0))
            elif word or symbol or brace:
                self._flush()
                self._control(word, number, symbol, brace)
                self._fresh = brace == b"{" or symbol == b"*"
        self._flush()
        self._state = _State()
        self._in_table = False
        self._row()
        self._paragraph()
        self._end_table()

    def _characters(self, data: bytes) -> None:
        kept = data[self._skipped :]
        self._skipped = max(0, self._skipped - len(data))
        self._bytes += kept

    def _control(self, word: bytes, number: bytes, symbol: bytes, brace: bytes) -> None:
        if brace:
            self._skipped = 0
            self._brace(brace)
        elif word:
            self._word(word.decode().lower(), int(number) if number else None)
        else:
            self._symbol(symbol)

    def _flush(self) -> None:
        """Decode the bytes that have gathered."""
        if not self._bytes:
            return
        text = self._bytes.decode(self._state.charset, "replace")
        self._bytes.clear()
        self._put(text)

    def _put(self, text: str) -> None:
        state = self._state
        if state.goes == "text":
            if not state.hidden:
                self._line.append(text)
        elif state.goes == "field":
            self._field.append(text)
        elif state.goes != "hidden":
            self.told.setdefault(state.goes, []).append(text)

    def _brace(self, brace: bytes) -> None:
        if brace == b"{":
            if len(self._states) >= _MOST_DEPTH:
                raise Unreadable("RTF with groups too deep to read")
            self._states.append(self._state)
            return
        if self._address and self._address[-1][0] == len(self._states):
            self._link(*self._address.pop()[1:])
        if self._notes and self._notes[-1] == len(self._states):
            self._notes.pop()
            self._line.append(")")
        if self._states:
            self._state = self._states.pop()

    def _symbol(self, symbol: bytes) -> None:
        if symbol == b"*":
            self._ignorable = self._fresh
            return
        text = {b"~": " ", b"_": "-", b"\n": "\n", b"\r": "\n", b"-": ""}.get(symbol)
        if text == "\n":
            self._paragraph()
        elif text is not None or symbol in (b"\\", b"{", b"}"):
            self._put(symbol.decode() if text is None else text)

    def _word(self, word: str, number: int | None) -> None:
        ignorable, self._ignorable = self._ignorable, False
        state = self._state
        if word == "u" and number is not None:
            self._unicode(number % 65536)
        elif word in _SYMBOLS:
            self._put(_SYMBOLS[word])
        elif word in ("par", "sect"):
            self._paragraph()
        elif word in ("cell", "nestcell"):
            self._cell()
        elif word in ("row", "nestrow"):
            self._row()
        elif word == "pard":
            self._level, self._in_table = 0, False
        elif word == "intbl":
            self._in_table = True
        elif word == "outlinelevel" and number is not None and number < 9:
            self._level = number + 1
        elif word == "plain":
            self._state = replace(state, hidden=False)
        elif word == "v":
            self._state = replace(state, hidden=number != 0)
        elif word == "uc" and number is not None:
            self._state = replace(state, skip=min(number, 10))
        elif word == "ansicpg" and number is not None:
            self._charset(f"cp{number}")
        elif word in ("f", "fcharset") and number is not None:
            self._font_word(word, number)
        elif word == "fldinst":
            self._field = []
            self._state = replace(state, goes="field")
        elif word == "fldrslt":
            address = _ADDRESS.search("".join(self._field))
            self._field = []
            if address:
                self._address.append((len(self._states), address[1], len(self._line)))
        elif word in ("footnote", "annotation") and state.goes == "text":
            self._notes.append(len(self._states))
            self._line.append(" (")
        elif word in _PROPERTIES and state.goes != "text":
            self.told[word] = []
            self._state = replace(state, goes=word)
        elif word == "result" and state.goes == "hidden":  # an object as it is shown
            self._state = replace(state, goes="text")
        elif word in ("info", "creatim"):
            self._state = replace(state, goes="hidden")
            self._time = {}
        elif word in ("yr", "mo", "dy", "hr", "min"):
            self._stamp(word, number or 0)
        elif word in _HIDDEN or (ignorable and word not in ("shppict", "shptxt", "shpinst")):
            self._state = replace(state, goes="hidden")
            if word not in _LOOKED_INTO:
                self._skip_group()

    def _skip_group(self) -> None:
        """Go to the end of the group."""
        depth = 1
        while found := _BRACE.search(self._data, self._at):
            self._at = found.end() + int(found[1] or 0)
            depth += {b"{": 1, b"}": -1}.get(found[0], 0)
            if depth == 0:
                self._at -= 1  # the brace is read by the caller
                return
        self._at = len(self._data)

    def _unicode(self, code: int) -> None:
        self._skipped = self._state.skip
        if 0xD800 <= code < 0xDC00:
            self._put(chr(code))
        elif 0xDC00 <= code < 0xE000 and self._line and self._line[-1][-1:] >= "\ud800":
            high = ord(self._line.pop()[-1])
            if 0xD800 <= high < 0xDC00:
                self._put(chr(0x10000 + ((high - 0xD800) << 10) + code - 0xDC00))
        elif 0xF000 <= code < 0xF100:  # a sign of the font Symbol
            self._put("•" if code in (0xF0A7, 0xF0B7) else "")
        else:
            self._put(chr(code))

    def _charset(self, name: str) -> None:
        try:
            codecs.lookup(name)
        except LookupError:
            return
        self._state = replace(self._state, charset=name)

    def _font_word(self, word: str, number: int) -> None:
        if word == "fcharset":
            self._fonts[self._font] = _CHARSETS.get(number, "")
        elif self._state.goes == "hidden":
            self._font = number
        elif charset := self._fonts.get(number):
            self._charset(charset)

    def _stamp(self, word: str, number: int) -> None:
        self._time[word] = number
        if word == "min" and self.date is None:
            try:
                year, month, day = (self._time.get(key, 1) for key in ("yr", "mo", "dy"))
                moment = datetime(year, month, day, self._time.get("hr", 0), number)
                self.date = moment.isoformat()
            except ValueError:
                self.date = None

    def _link(self, target: str, start: int) -> None:
        text = single_spaced("".join(self._line[start:]))
        self._out.link(target)
        if text and text != target:
            self._line[start:] = [f"[{text}]({target})"]

    def _taken(self) -> str:
        text = "".join(self._line).replace("( ", "(").replace(" )", ")").strip()
        self._line.clear()
        self._address = [(depth, target, 0) for depth, target, _ in self._address]
        return text

    def _paragraph(self) -> None:
        if self._state.goes != "text":
            return
        if self._in_table or self._notes:
            self._line.append(" ")
            return
        text = self._taken()
        if not text:
            return
        self._end_table()
        bullet, number = _BULLET.match(text), _NUMBER.match(text)
        if self._level:
            self._out.heading(self._level, text)
        elif bullet or number:
            found = bullet or number
            mark = "-" if bullet else number[1]  # type: ignore[index]
            self._out.item(text[found.end() :], mark=mark, tight=self._tight)  # type: ignore[union-attr]
        else:
            self._out.block(text)
        self._tight = bool(bullet or number)

    def _cell(self) -> None:
        self._cells.append(self._taken())

    def _row(self) -> None:
        if self._cells:
            self._rows.append(self._cells)
            self._cells = []
        self._in_table = False
        if len(self._rows) >= 1000:
            self._end_table()

    def _end_table(self) -> None:
        if self._rows:
            self._out.table(self._rows)
            self._rows = []
