"""Zip archives as containers of documents, read within limits."""

from __future__ import annotations

import io
import zipfile
import zlib

from qmd.ingest.readers.reading import Unreadable

MOST_BYTES = 256_000_000
"""Uncompressed bytes that are read of one archive, whatever its headers say."""

MOST_MEMBERS = 100_000

_PIECE = 1 << 20
_COMPOUND = bytes.fromhex("d0cf11e0a1b11ae1")
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class Package:
    """Members of a zip archive.

    Attributes:
        names: paths of the members.
    """

    def __init__(self, data: bytes, kind: str) -> None:
        """Open an archive.

        Raises:
            Unreadable: it is encrypted, damaged or of another format.
        """
        self._kind = kind
        self._left = MOST_BYTES
        if data.startswith(_COMPOUND):
            # Office wraps an encrypted document into the container of its older formats.
            raise Unreadable(f"encrypted {kind}" if _ENCRYPTED in data else f"no {kind} file")
        if not data.startswith(b"PK"):
            raise Unreadable(f"no {kind} file" if data else "empty file")
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except Exception as error:  # a directory that lies leads to errors of many types
            raise Unreadable(f"damaged {kind}: no directory of the zip archive") from error
        members = self._archive.infolist()
        if len(members) > MOST_MEMBERS:
            raise Unreadable(f"{kind} with more than {MOST_MEMBERS} members")
        self.names = frozenset(member.filename for member in members)

    def read(self, name: str) -> bytes:
        """Read a member.

        Raises:
            Unreadable: it is missing, encrypted or damaged, or the archive is a bomb.
        """
        data = self.get(name)
        if data is None:
            raise Unreadable(f"no {self._kind} file: it has no {name}")
        return data

    def get(self, name: str) -> bytes | None:
        """Read a member, or give None if there is none."""
        if name not in self.names:
            return None
        member = self._archive.getinfo(name)
        if member.flag_bits & 1:
            raise Unreadable(f"encrypted {self._kind}")
        if member.compress_type not in _METHODS:
            raise Unreadable(f"{self._kind} with an unknown compression")
        pieces = []
        try:
            with self._archive.open(member) as stream:
                while piece := stream.read(_PIECE):
                    self._left -= len(piece)
                    if self._left < 0:
                        raise Unreadable(
                            f"{self._kind} of more than {MOST_BYTES // 1_000_000} MB uncompressed"
                        )
                    pieces.append(piece)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
            raise Unreadable(f"damaged {self._kind}: {name} is broken") from error
        return b"".join(pieces)
