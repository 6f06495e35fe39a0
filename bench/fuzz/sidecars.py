"""Reader of the file of postings beside an index."""

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

_DTYPES = "|u1 <u2 <u4 <u8 <i8 <f4 <f8 |S3 |O >i8 <i4 <M8[s] |b1 x".split()
_HUGE = (0, 1, 255, 65_535, 65_536, 2**31, 2**32 - 1, 2**53, 2**63 - 1, 2**64 - 1)


def sidecar() -> Iterator[Target]:
    """Fuzz postings under a right checksum: they are refused, or no search leaves their bounds."""
    from qmd.ranking import postings_reader, sidecar_file
    from qmd.ranking.inverted_index import Inverted
    from qmd.ranking.postings import Term, Wanted
    from qmd.ranking.sidecar_file import POSTINGS, Packer, SidecarFile

    with library(lines=60) as engine, tempfile.TemporaryDirectory() as place:
        path = Path(place) / "index.duckdb.postings"
        with path.open("w+b") as file:
            packer = Packer(file, POSTINGS)
            engine.read(lambda cursor: postings_reader.pack(cursor, packer, goes_on=lambda: None))
        whole = path.read_bytes()
        length = int.from_bytes(whole[-sidecar_file.END :][8:16], "little")
        arrays_end = len(whole) - sidecar_file.END - length
        contents = json.loads(whole[arrays_end : arrays_end + length])
        names = sorted(contents["arrays"])
        terms = _terms(whole, contents)
        words = ["tea", "te", "gre", "日本", "boil", "odd", "never"]

        def made(source: Bytes) -> Input:
            data, table = bytearray(whole[:arrays_end]), json.loads(json.dumps(contents))
            for _ in range(source.number(1, 3)):
                kind, start, count = contents["arrays"][name := source.pick(names)]
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

        def check(data: bytes, table: bytes) -> None:
            end = POSTINGS.mark + len(table).to_bytes(8, "little")
            text = data + table + end
            path.write_bytes(text + xxhash.xxh3_128(text).digest())
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

        yield Target(made, check, examples=(b"\0\1\2\3", b"\5\6\7\1\1\2"), linear=False)


def _terms(whole: bytes, contents: Any) -> list[int]:
    kind, start, count = contents["arrays"]["word_terms"]
    return [int(term) for term in np.frombuffer(whole, kind, count, start)[:8]]
