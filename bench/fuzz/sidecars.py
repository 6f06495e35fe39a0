"""Readers of the files of postings and of vectors beside an index."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import xxhash

from bench.fuzz.library import library
from bench.fuzz.sources import Bytes, Input, Target
from qmd.ranking.sidecar_format import END, SidecarKind

_DTYPES = "|u1 <u2 <u4 <u8 <i8 <f4 <f8 |S3 |O >i8 <i4 <M8[s] |b1 x (2,)<f4".split()
_DTYPES.append("1" * 5000)
_HUGE = (0, 1, 255, 65_535, 65_536, 2**31, 2**32 - 1, 2**53, 2**63 - 1, 2**64 - 1)


def sidecar() -> Iterator[Target]:
    """Fuzz postings under a right checksum: they are refused, or no search leaves their bounds."""
    from qmd.ranking import postings_reader
    from qmd.ranking.inverted_index import Inverted
    from qmd.ranking.postings import Term, Wanted
    from qmd.ranking.sidecar_file import Packer, SidecarFile
    from qmd.ranking.sidecar_format import POSTINGS

    with library(lines=60) as engine, tempfile.TemporaryDirectory() as place:
        path = Path(place) / "index.duckdb.postings"
        with path.open("w+b") as file:
            packer = Packer(file, POSTINGS)
            engine.read(lambda cursor: postings_reader.pack(cursor, packer, goes_on=lambda: None))
        forged = Forged(path, POSTINGS)
        terms = _terms(forged.whole, forged.contents)
        words = ["tea", "te", "gre", "日本", "boil", "odd", "never"]

        def check(data: bytes, table: bytes) -> None:
            forged.write(data, table)
            packed = SidecarFile(Path(place) / "index.duckdb", POSTINGS).mapped()
            known = packed and postings_reader.unpacked(packed)
            if not known:
                return
            found = Inverted([known.segment], np.empty(0, np.intp))
            near = found.near(words)
            assert near.keys() == set(words)
            chosen = [*terms, *(term for each in near.values() for _, term in each)][:20]
            assert all(count >= 0 for count in found.documents(chosen).values())
            found.any_of([chosen[:3], chosen[3:]])
            found.phrases([[(one, 0), (other, 1)] for one, other in pairwise(chosen)])
            wanted = Wanted([Term(term, 1.0) for term in chosen], {}, 9.0, None, frozenset())
            ranked = found.ranked(wanted, 5)
            found.shelf.named([number for number, _ in ranked])
            found.shelf.places([number for number, _ in ranked])

        yield Target(forged.made, check, examples=(b"\0\1\2\3", b"\5\6\7\1\1\2"), linear=False)


def vector_sidecar() -> Iterator[Target]:
    """Fuzz vectors under a right checksum: they are refused, or no search leaves their bounds."""
    from bench.vectors import unit
    from qmd.ranking import vector_sidecar
    from qmd.ranking.sidecar_file import Packer, SidecarFile
    from qmd.ranking.sidecar_format import VECTORS
    from qmd.ranking.vector_codes import Codes
    from qmd.ranking.vector_matrix import Compared

    count, width = 40, 8
    vectors = unit(np.random.default_rng(1).standard_normal((count, width)))
    codes = Codes.of(vectors)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "index.duckdb.vectors"
        with path.open("w+b") as file:
            packer = Packer(file, VECTORS)
            for block in range(2):
                part = slice(20 * block, 20 * block + 20)
                arrays = {
                    "ids": np.arange(count, dtype=np.uint32)[part],
                    "signs": np.arange(count, dtype=np.uint64)[part],
                    "vectors": vectors[part].reshape(-1),
                    "codes": codes.numbers[part].reshape(-1),
                    "scales": codes.scales[part],
                    "errors": codes.errors[part],
                }
                packer.add(**{f"{name}_{block}": array for name, array in arrays.items()})
            packer.finish({"state": ["print", "now", width, count, "0"], "blocks": 2})
        forged = Forged(path, VECTORS)

        def check(data: bytes, table: bytes) -> None:
            forged.write(data, table)
            packed = SidecarFile(Path(place) / "index.duckdb", VECTORS).mapped()
            known = packed and vector_sidecar.unpacked_vectors(packed)
            if not known or known.state.dimensions != width:
                return
            for chunks in (None, "[1, 5, 30, 99]"):
                with np.errstate(all="ignore"):
                    found = Compared(known.blocks, vectors[3], chunks).first(5)
                assert len(found) <= known.state.vectors

        yield Target(forged.made, check, examples=(b"\0\1\2\3", b"\5\6\7\1\1\2"), linear=False)


class Forged:
    """Sidecar whose arrays and contents are changed, under a checksum that fits.

    Args:
        path: of one that is whole.
    """

    def __init__(self, path: Path, kind: SidecarKind) -> None:
        self._path, self._kind = path, kind
        self.whole = path.read_bytes()
        length = int.from_bytes(self.whole[-END:][8:16], "little")
        self._end = len(self.whole) - END - length
        self.contents = json.loads(self.whole[self._end : self._end + length])
        self._names = sorted(self.contents["arrays"])

    def write(self, data: bytes, table: bytes) -> None:
        """Write a file of these arrays and contents."""
        text = data + table + self._kind.mark + len(table).to_bytes(8, "little")
        self._path.write_bytes(text + xxhash.xxh3_128(text).digest())

    def made(self, source: Bytes) -> Input:
        """Change some arrays or their places."""
        data, table = bytearray(self.whole[: self._end]), json.loads(json.dumps(self.contents))
        for _ in range(source.number(1, 3)):
            kind, start, count = self.contents["arrays"][name := source.pick(self._names)]
            change = source.number(0, 6)
            if change < 3 and count:
                width = np.dtype(kind).itemsize
                at = start + width * source.number(0, 999) % (width * count)
                value = source.pick(_HUGE) if change else source.number(0, 300)
                data[at : at + width] = (value % (1 << 8 * width)).to_bytes(width, "little")
            elif change == 3:
                count = source.pick([count - 1, count + 1, -1, 0, 10**12, 1 << 70, "1", 1.5])
            elif change == 4:
                start = source.pick([start + 1, start - 64, -1, 10**12, None])
            elif change == 5:
                kind = source.pick(_DTYPES)
            else:
                table["note"] = source.json(["state", "parts", "arrays"])
            table["arrays"][name] = [kind, start, count]
        return (bytes(data), json.dumps(table).encode())


def _terms(whole: bytes, contents: Any) -> list[int]:
    kind, start, count = contents["arrays"]["word_terms"]
    return [int(term) for term in np.frombuffer(whole, kind, count, start)[:8]]
