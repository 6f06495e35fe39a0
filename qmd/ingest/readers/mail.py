"""Reader of mail (EML, and each message of a Maildir)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.utils import collapse_rfc2231_value, getaddresses

from qmd.ingest.readers import charsets, trees, wide
from qmd.ingest.readers.building import Builder, single_spaced
from qmd.ingest.readers.dates import mailed
from qmd.ingest.readers.html_blocks import blocks
from qmd.ingest.readers.reading import EmbeddedFile, Reading, Unreadable

MOST_PARTS = 1000
_MOST_HEADER = 20_000
_SIGNATURES = ("application/pgp-signature", "application/pkcs7-signature")
_ENCRYPTED = ("application/pgp-encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime")
_HEADER = re.compile(rb"(?:>?From |[!-9;-~]+[ \t]*:)")
_BLANK = re.compile(rb"\r?\n\r?\n")
_UNSAFE = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]+')
_INLINE_PGP = "-----BEGIN PGP MESSAGE-----"


def read(data: bytes, name: str) -> Reading:
    """Read a message: sender, recipients, text; attached files are documents of their own."""
    out = Builder("mail")
    if not data.strip():
        raise Unreadable("empty file")
    data = trees.in_utf8(data)
    if not _HEADER.match(data.lstrip()):
        raise Unreadable("no mail: it does not begin with a header")
    subject = sender = date = language = None
    identity: dict[str, str | None] = {}
    with out.filling():
        message = parsed_message(data)
        subject, sender = header(message, "subject"), header(message, "from")
        date = mailed(header(message, "date") or "")
        language = (header(message, "content-language") or "").split(",")[0].strip()
        if subject is None and sender is None and date is None:
            raise Unreadable("no mail: it has neither subject, sender nor date")
        identity = {
            key: header(message, key)
            for key in ("message-id", "in-reply-to", "to", "cc", "list-id")
        }
        add(out, message)
    return out.reading(
        title=subject, date=date, author=sender, language=language, metadata=identity
    )


def parsed_message(data: bytes) -> Message:
    """Parse a message; headers in other encodings than UTF-8 are read by that of its text."""
    end = _BLANK.search(data)
    head = data[: end.start()] if end else data
    if not head.isascii() or wide.ESCAPES in head:
        encoding = charsets.with_encoding(data, declared=True).encoding
        data = head.decode(encoding, "replace").encode() + data[len(head) :]
    return message_from_bytes(data)


def add(out: Builder, message: Message, folder: str = "") -> None:
    """Add a message with its attachments.

    Args:
        folder: begins the names of the attachments.
    """
    addresses = [
        f"{key.title()}: {told}" for key in ("from", "to", "cc") if (told := header(message, key))
    ]
    if date := header(message, "date"):
        addresses.append(f"Date: {date}")
    out.block("\n".join(addresses))
    taken = {each.name for each in out.attachments}
    for number, part in enumerate(_parts(message)):
        if number >= MOST_PARTS:
            out.remark = f"only the first {MOST_PARTS} parts of the mail were read"
            return
        kind = part.get_content_type()
        if kind in _ENCRYPTED and "signed" not in str(part.get_param("smime-type")):
            out.remark = "encrypted mail: only its header was read"
            return
        if kind in _SIGNATURES:
            continue
        if _is_text(part):
            _text(out, part, kind)
            continue
        content = _attached(part)
        if content:
            name = _free(folder, _name(part, number), taken)
            taken.add(name)
            out.attachments.append(EmbeddedFile(name, content))


def _parts(message: Message) -> Iterator[Message]:
    """Give the parts that are shown or attached; of alternatives the one that is read best."""
    waiting = [message]
    while waiting:
        part = waiting.pop()
        inner = part.get_payload()
        attached = part.get_content_type() == "message/rfc822" and part is not message
        if attached or not isinstance(inner, list):
            yield part
        elif part.get_content_type() == "multipart/alternative":
            waiting.append(_best([each for each in inner if isinstance(each, Message)]))
        else:
            waiting += [each for each in reversed(inner) if isinstance(each, Message)]


def _best(parts: list[Message]) -> Message:
    """Choose an alternative: plain text with words in it, else HTML, else the last."""
    for part in parts:
        if part.get_content_type() == "text/plain" and _decoded(part).strip():
            return part
    for part in parts:
        if any(each.get_content_type() == "text/html" for each in part.walk()):
            return part
    return parts[-1] if parts else Message()


def _is_text(part: Message) -> bool:
    if part.get_content_disposition() == "attachment" or part.get_filename():
        return False
    return part.get_content_type() in ("text/plain", "text/html", "text/enriched", "text/markdown")


def _text(out: Builder, part: Message, kind: str) -> None:
    text = _decoded(part)
    if _INLINE_PGP in text:
        out.remark = "encrypted mail: only its header was read"
    elif kind == "text/html":
        root = trees.html(b"\xef\xbb\xbf" + text.encode("utf-8", "replace"))
        if root is not None:
            blocks(out, root, targets=False)
    else:
        out.block(text.strip("\r\n"))


def _decoded(part: Message) -> str:
    """Give the text of a part, by its encoding and its character set."""
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    charset = part.get_content_charset()
    if charset:
        try:
            return data.decode(charset)
        except (LookupError, ValueError):
            pass
    return charsets.with_encoding(data).text


def _attached(part: Message) -> bytes:
    if (inner := _forwarded(part)) is not None:
        return inner.as_bytes()
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _forwarded(part: Message) -> Message | None:
    """Give the message that is attached as a whole."""
    inner = part.get_payload() if part.get_content_type() == "message/rfc822" else None
    return inner[0] if isinstance(inner, list) and inner and isinstance(inner[0], Message) else None


def _name(part: Message, number: int) -> str:
    """Give a file name for an attachment: its own, without folders, or one by its number."""
    given = part.get_filename()
    name = single_spaced(_words(collapse_rfc2231_value(given))) if given else ""
    if not name and (message := _forwarded(part)) is not None:
        name = f"{header(message, 'subject') or 'message'}.eml"
    name = _UNSAFE.sub("_", name).strip(". ")
    if len(name.encode()) > 200:
        stem, dot, suffix = name.rpartition(".")
        name = f"{(stem or suffix)[:50]}{dot}{suffix[:10]}"
    return name or f"part-{number}.{part.get_content_subtype()[:20]}"


def _free(folder: str, name: str, taken: set[str]) -> str:
    stem, dot, suffix = name.rpartition(".")
    stem, dot = (stem, dot) if stem else (suffix, "")
    tail = f"{dot}{suffix}" if dot else ""
    found, number = f"{folder}{name}", 2
    while found in taken:
        found, number = f"{folder}{stem} ({number}){tail}", number + 1
    return found


def header(message: Message, name: str) -> str | None:
    """Give a header in one line, decoded; None if there is none."""
    value = next((text for key, text in message.raw_items() if key.lower() == name), None)
    if value is None:
        return None
    text = str(value)[:_MOST_HEADER]
    if name in ("from", "to", "cc"):
        people = [
            f"{_words(person)} <{address}>" if person else address
            for person, address in getaddresses([text])
            if person or address
        ]
        text = ", ".join(people) if people else _words(text)
    else:
        text = _words(text)
    return single_spaced(text) or None


def _words(text: str) -> str:
    """Decode encoded words (RFC 2047), and bytes that stand in a header as they are."""
    try:
        pieces = decode_header(text)
    except (HeaderParseError, ValueError):
        return text
    parts = []
    for piece, charset in pieces:
        if isinstance(piece, str):
            parts.append(piece)
            continue
        try:
            parts.append(piece.decode(charset or "ascii"))
        except (LookupError, ValueError):
            parts.append(charsets.with_encoding(piece).text)
    joined = "".join(parts)
    if not _raw(joined):
        return joined
    return charsets.with_encoding(joined.encode("ascii", "surrogateescape")).text


def _raw(text: str) -> bool:
    """Tell whether a text holds bytes that are no ASCII, as the parser keeps them."""
    return any("\udc80" <= letter <= "\udcff" for letter in text) and all(
        letter < "\x80" or "\udc80" <= letter <= "\udcff" for letter in text
    )
