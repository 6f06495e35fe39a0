"""Data in texts, which is neither indexed nor embedded, and what only looks like it."""

from __future__ import annotations

import base64
import binascii
import json
import random
import uuid

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qmd.ingest import searched_text
from qmd.text import machine_data

RANDOM = random.Random(7)
BYTES = RANDOM.randbytes(6000)
BASE64 = base64.b64encode(BYTES).decode()
WRAPPED = base64.encodebytes(BYTES).decode()
PEM = f"-----BEGIN PRIVATE KEY-----\n{BASE64[:64]}\n-----END PRIVATE KEY-----\n"
HASHES = [RANDOM.randbytes(20).hex() for _ in range(40)]
NUMBERS = [[RANDOM.randrange(100) for _ in range(12)] for _ in range(60)]
DUMP = "".join(
    f"{at:08x}: {BYTES[at : at + 16].hex(' ', 2)}  ..ELF...words\n" for at in range(0, 256, 16)
)
POINTS = [{"id": n, "lat": RANDOM.random(), "lon": RANDOM.random()} for n in range(60)]
SCRIPT = (
    "!function(e,t){var n=e.document,r=[],i={};function o(e){return null==e?e+'':i[e]||'object'}"
    "for(var a=0;a<t.length;a++){r.push(t[a]);if(!(a%2)){i[t[a]]=o(n)}}e.exports=r}(this,{});"
)
STYLE = ".btn{color:#fff;margin:0 auto;padding:.5rem}.btn:hover{color:#0d6efd;border:1px solid}"
PATH = (
    "M12.5 3.2C6.48 2 2 6.48 2 12s4.48 10 10 10 10-4.48 10-10S17.52 2 12 2zm0 18c-4.41 0-8-3.59-8-8"
)

DATA = {
    "data URI": f"![tea](data:image/png;base64,{BASE64})",
    "short data URI": "<img src='data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAA'>",
    "base64 in one line": BASE64,
    "base64 in lines": WRAPPED,
    "base64 in quoted lines": "\n".join(f'    "{line}"' for line in WRAPPED.split()),
    "base64 with escaped breaks": json.dumps(WRAPPED),
    "base64 of zeros": base64.b64encode(bytes(3000)).decode(),
    "base64url": base64.urlsafe_b64encode(BYTES).decode(),
    "hexadecimal": BYTES.hex(),
    "hexadecimal in lines": "\n".join(BYTES[at : at + 30].hex() for at in range(0, 3000, 30)),
    "bytes of C": ", ".join(f"0x{byte:02x}" for byte in BYTES[:900]),
    "bytes of Python": "".join(f"\\x{byte:02x}" for byte in BYTES[:900]),
    "PEM": PEM,
    "uuencoded": "begin 644 tea.bin\n"
    + "".join(binascii.b2a_uu(BYTES[at : at + 45]).decode() for at in range(0, 900, 45))
    + "`\nend",
    "source map": json.dumps({"version": 3, "mappings": "AAAA,SAASA,MAAMC;AACb,IAAIC" * 9}),
    "hashes": "\n".join(HASHES),
    "digits": "".join(str(RANDOM.randrange(10)) for _ in range(2000)),
    "digits in groups": "\n".join(
        " ".join(f"{RANDOM.randrange(10**10):010}" for _ in range(6)) for _ in range(60)
    ),
    "table of digits": "\n".join("  ".join(map(str, row)) for row in NUMBERS),
    "array of numbers": json.dumps(NUMBERS),
    "numbers in lines": "\n".join(f"  {RANDOM.random()}," for _ in range(200)),
    "dump": DUMP,
    "minified JSON": json.dumps(POINTS, separators=(",", ":")),
    "minified JavaScript": SCRIPT * 12,
    "minified CSS": STYLE * 24,
    "path of SVG": PATH * 6,
    "DNA": "".join(RANDOM.choice("ACGT") for _ in range(900)),
}

WORDS = {
    "UUIDs": "\n".join(str(uuid.UUID(int=RANDOM.getrandbits(128))) for _ in range(100)),
    "hashes in prose": "\n".join(f"- {each[:40]} Brew green tea" for each in HASHES),
    "some hashes": "\n".join(HASHES[:8]),
    "SHA-512": RANDOM.randbytes(64).hex(),
    "telephones": "\n".join(f"+49 30 {RANDOM.randrange(10**6, 10**7)}" for _ in range(200)),
    "ISBN": "\n".join(f"978-3-16-{RANDOM.randrange(10**6):06}-0" for _ in range(200)),
    "orders": "\n".join(str(RANDOM.randrange(10**7, 10**8)) for _ in range(200)),
    "serial numbers": "\n".join(f"SN-{RANDOM.randrange(10**8):08}-A{n}" for n in range(100)),
    "codes": ", ".join(f'"C{number}"' for number in range(1000, 1400)),
    "addresses of machines": "\n".join(f"10.0.{n % 256}.{n * 7 % 256}" for n in range(300)),
    "dates": "\n".join(f"2024-{n % 12 + 1:02}-{n % 28 + 1:02}" for n in range(300)),
    "table": "\n".join(f"| 20{n:02} | Berlin | {n * 1234.5} | {n}.7 % |" for n in range(80)),
    "small table of numbers": "\n".join(" ".join(map(str, row)) for row in NUMBERS[:12]),
    "log": "\n".join(
        f"2026-03-0{n % 9 + 1} 10:0{n % 10}:00.123 INFO [{n}] 0x7f3a request done in {n} ms"
        for n in range(100)
    ),
    "compact log": "\n".join(
        json.dumps({"ts": n * 1000, "level": "info", "msg": "request done", "ms": n})
        for n in range(100)
    ),
    "long address": "https://example.com/"
    + "/".join(["teas", "green-tea", "sencha"] * 12)
    + "?q=tea",
    "slug": "how-to-brew-a-cup-of-green-tea-" * 8 + "end",
    "identifier": "AbstractTeaKettleFactoryBeanPostProcessorConfiguration" * 3,
    "letters": "x" * 500,
    "path": "/home/anna/notes/teas/green/sencha" * 8,
    "compound": "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft "
    * 20,
    "Finnish": "lentokonesuihkuturbiinimoottoriapumekaanikkoaliupseerioppilas " * 20,
    "Chinese": "绿茶是中国的主要茶类之一，采取茶树的新叶或芽，未经发酵。" * 60,
    "Japanese": "緑茶は、チャノキの葉から作った茶のうち、摘み取った茶葉を加熱する。" * 60,
    "Thai": "ชาเขียวคือชาที่ไม่ผ่านการหมักซึ่งได้มาจากต้นชา" * 60,
    "chess": "\n".join(
        f"{n}. e4 e5 {n + 1}. Nf3 Nc6 {n + 2}. Bb5 a6 {n + 3}. O-O Be7" for n in range(1, 90, 4)
    ),
    "DNA in prose": "The primer ACGTACGTTAGCCATGCATCGATCG binds to CCATGGTTAACC at once.",
    "a program that begins": "begin 755 things\nPRINT 'TEA'\nPRINT 'SENCHA'\n",
    "shouting": "BEGIN 644 ROOMS\n"
    + "MAKE TEA FOR ALL 45 ROOMS, AND BE QUICK ABOUT IT: NO SUGAR!\n" * 9,
    "mappings in words": '{"mappings": "tea and sencha, kettle; a long list of names to brew"}',
    "formula": r"$$\int_{0}^{\infty} \frac{x^{2}}{e^{x} - 1} dx = \sum_{n=1}^{\infty} n^{-3}$$"
    * 20,
    "formula without blanks": r"\frac{\partial^{2}u}{\partial{t}^{2}}=c^{2}\nabla^{2}u" * 8,
    "code": "\n".join(
        f"    self.assertEqual(kettle.boil({n}, degrees=80)[{n}], 0x{n:04x})" for n in range(99)
    ),
    "list of names in one line": "f1: ["
    + ", ".join(f'"std::tea_{n}::begin"' for n in range(80))
    + "]",
    "list of words without blanks": ",".join(["sencha", "matcha", "oolong", "assam"] * 80),
    "links in one line": "<br/>".join(f"[GREEN_TEA](../teas-{n}.md#green-tea)" for n in range(80)),
    "rules of tables": f"| {'-' * 200} | {'-' * 300} |\n" * 4 + "=" * 300,
    "HTML in one line": "<p class='a'>Green tea</p><td align='left'>Sencha</td>" * 40,
    "lines without blanks": "\n".join(
        f"src/main/java/com/example/tea/kettle/Kettle{n}" for n in range(20)
    ),
}


@pytest.mark.parametrize("name", DATA)
def test_data_is_found_and_the_words_around_it_stay(name):
    text = f"# Green tea\n\nSencha from Uji.\n\n{DATA[name]}\n\nBrew it at 80 degrees.\n"
    words = machine_data.blanked(text)
    assert len(words) == len(text)
    assert [at for at, each in enumerate(words) if each == "\n"] == [
        at for at, each in enumerate(text) if each == "\n"
    ]
    left = words.removeprefix("# Green tea\n\nSencha from Uji.\n\n").removesuffix(
        "\n\nBrew it at 80 degrees.\n"
    )
    assert left != words
    assert sum(map(str.isalnum, left)) <= max(60, sum(map(str.isalnum, DATA[name])) / 10)


@pytest.mark.parametrize("name", WORDS)
def test_what_people_search_stays(name):
    assert machine_data.blanked(f"Text.\n\n{WORDS[name]}\n") == f"Text.\n\n{WORDS[name]}\n"


def test_an_ellipsis_stands_for_data_and_lines_keep_their_numbers():
    text = f"One\n{WRAPPED}\nlast"
    short = machine_data.elided(text)
    assert len(short) < 200
    assert short.count("\n") == text.count("\n")
    assert short.endswith("\nlast")
    assert "…" in short


def test_headers_of_a_key_stay():
    key = PEM.replace("-----\n", "-----\nProc-Type: encrypted\n", 1)
    assert "Proc-Type: encrypted" in machine_data.blanked(key)
    assert BASE64[:40] not in machine_data.blanked(key)


PARTS = st.one_of(
    st.sampled_from([*DATA.values(), *WORDS.values()]),
    st.text(max_size=300),
    st.text(alphabet="0123456789abcdefABC+/=- \n.,{}:;", max_size=2000),
    st.builds(str.__mul__, st.text(min_size=1, max_size=6), st.integers(1, 500)),
)


@pytest.mark.skipif(searched_text._kinds_of_data is None, reason="nothing was compiled")
@given(
    st.lists(st.tuples(PARTS, st.integers(0, 4000), st.integers(1, 4000)), max_size=4).map(
        lambda parts: "".join(text[first : first + size] for text, first, size in parts)
    )
)
@example("")
@example("a" * 128 + "1")
def test_the_compiled_test_misses_no_data(text):
    text = text.encode(errors="replace").decode()
    kinds = searched_text._kinds_of_data(text.encode())
    assert machine_data.spans(text) == machine_data.spans(text, kinds)


@given(
    st.lists(
        st.sampled_from(
            [
                *(
                    "data:image/png;base64,",
                    '"mappings": "',
                    '"mappings":"',
                    BASE64[:40],
                    BASE64[:64],
                ),
                *(
                    BASE64[100:230],
                    BASE64[:1000],
                    "0123456789 " * 12,
                    "a1.5,-7 " * 60,
                    "{a:1,b:(2)}" * 95,
                ),
                *(" ", "tea ", "\t", '"', "\u00a0", "deadbeef " * 20),
            ]
        ),
        max_size=7,
    ).map("".join)
)
@example("data:image/png;base64," + BASE64[:40])
@example('"mappings": "' + BASE64[:40])
@example(BASE64[100:230])
@example("0123456789 " * 50)
@example("{a:1,b:(2)}" * 95)
def test_a_line_that_cannot_have_data_has_none(line):
    if machine_data.elided(line) != line:
        assert machine_data.may_be_in(line)


def test_most_lines_cannot_have_data():
    assert not machine_data.may_be_in(
        "See [tea](https://a.example/" + "long-name/" * 9 + ") and 1,000 more."
    )
    assert not machine_data.may_be_in("word " * 150)
