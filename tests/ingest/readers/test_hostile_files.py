"""Files made to hang, to fill memory or to reach outside: a reason of one line, or a part."""

from __future__ import annotations

import json
import struct
import zipfile

import pytest

from qmd.ingest.readers import (
    building,
    docx,
    epub,
    html,
    mail,
    mbox,
    notebook,
    odf,
    opml,
    packages,
    pdf,
    pptx,
    rtf,
    xlsx,
)
from qmd.ingest.readers.building import Builder
from qmd.ingest.readers.reading import Unreadable
from tests.ingest.readers import packages as made
from tests.ingest.readers.pdfs import ENCRYPTED
from tests.ingest.readers.pdfs import pdf as pdf_of
from tests.ingest.readers.test_readers import sound

MANY = 100_000
BILLION = (
    '<!DOCTYPE x [<!ENTITY a "tea tea tea tea">'
    + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 30}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + "]>"
)


def refused(read, data: bytes, name: str = "a") -> str:
    with pytest.raises(Unreadable) as error:
        read(data, name)
    return str(error.value)


# --- Archives


@pytest.mark.parametrize("read", [docx.read, xlsx.read, pptx.read, odf.read, epub.read])
def test_no_more_is_unpacked_than_the_limit(read, monkeypatch):
    monkeypatch.setattr(packages, "MOST_BYTES", 1_000_000)
    bomb = " " * 3_000_000
    data = made.archive(
        {
            "_rels/.rels": bomb,
            "META-INF/manifest.xml": bomb,
            "META-INF/container.xml": bomb,
            "content.xml": "",
        }
    )
    assert len(data) < 20_000
    assert refused(read, data).endswith("of more than 1 MB uncompressed")


def test_the_limit_holds_for_all_members_together(monkeypatch):
    monkeypatch.setattr(packages, "MOST_BYTES", 1_000_000)
    slide = made.shape("Tea") + " " * 300_000
    found = pptx.read(made.pptx(*[slide] * 9), "a")
    assert 0 < len(found.places) < 4
    assert found.remark == "PPTX of more than 1 MB uncompressed: only a part of it could be read"


def test_a_size_that_the_archive_states_is_not_believed(monkeypatch):
    monkeypatch.setattr(packages, "MOST_BYTES", 1_000_000)
    data = made.archive({"_rels/.rels": " " * 3_000_000})
    lied = data.replace(struct.pack("<I", 3_000_000), struct.pack("<I", 10))
    assert lied != data
    assert refused(docx.read, lied) in (
        "damaged DOCX: _rels/.rels is broken",
        "DOCX of more than 1 MB uncompressed",
    )


def test_members_of_an_unknown_compression_are_refused():
    data = made.archive({"_rels/.rels": made.core()}, compression=zipfile.ZIP_LZMA)
    assert refused(docx.read, data) == "DOCX with an unknown compression"


def test_an_encrypted_member_says_so():
    data = bytearray(made.docx(made.paragraph("Tea")))
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := data.find(mark, at + 1)) >= 0:
            data[at + flags] |= 1
    assert refused(docx.read, bytes(data)) == "encrypted DOCX"


def test_an_office_file_in_the_container_of_an_encrypted_one_says_so():
    container = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(500)
    assert (
        refused(xlsx.read, container + "EncryptedPackage".encode("utf-16-le")) == "encrypted XLSX"
    )
    assert refused(xlsx.read, container) == "no XLSX file"


def test_encrypted_open_documents_and_books_say_so():
    manifest = "<manifest><file-entry><encryption-data/></file-entry></manifest>"
    data = made.odf("text", "<text:p>x</text:p>", manifest=manifest)
    assert refused(odf.read, data) == "encrypted OpenDocument"
    listed = "<encryption><CipherReference URI='OEBPS/c 0.xhtml'/></encryption>"
    data = made.epub("<p>Tea</p>", more={"META-INF/encryption.xml": listed})
    assert refused(epub.read, data) == "encrypted EPUB"
    fonts = "<encryption><CipherReference URI='OEBPS/font.otf'/></encryption>"
    data = made.epub("<p>Tea</p>", more={"META-INF/encryption.xml": fonts})
    assert epub.read(data, "a").text == "Tea\n"


# --- XML and HTML


def test_entities_are_never_resolved(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("zzhidden")
    outer = f'<!DOCTYPE opml [<!ENTITY x SYSTEM "{secret.as_uri()}">]>'
    body = '<opml><body><outline text="Tea">&{};</outline></body></opml>'
    assert refused(opml.read, (outer + body.format("x")).encode()) == "XML that declares entities"
    assert refused(opml.read, (BILLION + body.format("i")).encode()) == "XML that declares entities"
    document = f"{BILLION}<w:document {made.W}><w:body/></w:document>"
    parts = {"_rels/.rels": made.relations(a="officeDocument:d.xml"), "d.xml": document}
    assert refused(docx.read, made.archive(parts)) == "XML that declares entities"


def test_entities_in_a_sheet_are_never_resolved():
    sheet = f"{BILLION}<worksheet {made.S}><sheetData/></worksheet>"
    parts = {
        "_rels/.rels": made.relations(a="officeDocument:w.xml"),
        "_rels/w.xml.rels": made.relations(s="worksheet:s.xml"),
        "w.xml": f"<workbook {made.S} {made.R}><sheets><sheet name='T' r:id='s'/></sheets>"
        "</workbook>",
        "s.xml": sheet,
    }
    assert xlsx.read(made.archive(parts), "a").remark == (
        "XML that declares entities: only a part of it could be read"
    )


def test_an_external_document_type_is_not_fetched():
    kind = '<!DOCTYPE opml SYSTEM "http://127.0.0.1:9/x.dtd">'
    page = f'{kind}<opml><body><outline text="Tea"/></body></opml>'
    assert opml.read(page.encode(), "a").text == "- Tea\n"


@pytest.mark.parametrize("tag", ["div", "ul><li", "table><tr><td", "blockquote", "b", "pre", "h1"])
def test_deeply_nested_html_is_read_in_part(tag):
    sound(html.read(f"<p>Tea</p>{f'<{tag}>' * MANY}pot".encode(), "a"))


def test_deeply_nested_packages_are_read_in_part_or_refused():
    deep = "<w:tbl><w:tr><w:tc>" * 3000
    assert refused(docx.read, made.docx(deep)) == "damaged DOCX"
    nested = made.docx(
        made.paragraph("Tea")
        + "<w:tbl><w:tr><w:tc>" * 70
        + made.paragraph("pot")
        + "</w:tc></w:tr></w:tbl>" * 70
    )
    assert "pot" in docx.read(nested, "a").text


@pytest.mark.parametrize(
    ("read", "data"),
    [
        (notebook.read, b'{"cells": ' + b"[" * MANY),
        (rtf.read, b"{\\rtf1 Tea\\par" + b"{" * MANY),
        (opml.read, b"<opml><body>" + b"<outline text='a'>" * MANY),
        (
            mail.read,
            b"Subject: Tea\n" + b'Content-Type: multipart/mixed; boundary="x"\n\n--x\n' * 5000,
        ),
        (mail.read, b"Subject: Tea\n" + b"Content-Type: message/rfc822\n\n" * 5000),
    ],
    ids=["notebook", "rtf", "opml", "multipart", "message"],
)
def test_deeply_nested_files_are_read_in_part_or_refused(read, data):
    try:
        sound(read(data, "a"))
    except Unreadable as reason:
        told = str(reason)
    else:
        return
    assert told.isprintable()


# --- Text that repeats itself


def test_a_text_ends_at_its_limit_with_a_remark():
    out = Builder("page", most=1_000_000)
    with out.filling():
        for _ in range(1000):
            out.block("tea " * 1000)
    reading = out.reading()
    assert len(reading.text) <= 1_001_000
    assert reading.remark == "only the first 1 million characters were read"


def test_a_string_that_many_cells_share_does_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(building, "MOST_CHARACTERS", 2_000_000)
    cell = '<c t="s"><v>0</v></c>'
    data = made.xlsx(shared=f"<si><t>{'tea ' * 8000}</t></si>", Tea=f"<row>{cell * 500}</row>" * 20)
    assert len(data) < 100_000
    found = xlsx.read(data, "a")
    assert len(found.text) < 2_100_000
    assert max(map(len, found.text.split("\n"))) < xlsx.LONGEST_ROW + xlsx.LONGEST_CELL + 1000
    assert found.remark


def test_cells_and_rows_that_are_repeated_are_few(monkeypatch):
    monkeypatch.setattr(building, "MOST_CHARACTERS", 2_000_000)
    row = (
        '<table:table-row table:number-rows-repeated="1048576"><table:table-cell '
        'table:number-columns-repeated="16384"><text:p>tea</text:p></table:table-cell></table:table-row>'
    )
    found = odf.read(
        made.odf("spreadsheet", f'<table:table table:name="T">{row}</table:table>'), "a"
    )
    assert found.text.count("tea") == 100 * 100


def test_a_cell_in_the_last_corner_costs_no_more_than_others():
    corner = '<row r="1048576"><c r="XFD1048576"><v>7</v></c></row>'
    found = xlsx.read(made.xlsx(Tea=f'<row r="1"><c r="A1"><v>1</v></c></row>{corner}'), "a")
    assert len(found.text) < 500
    assert "| 7 |" in found.text


def test_spaces_of_a_count_are_few():
    found = odf.read(made.odf("text", '<text:p>a<text:s text:c="999999999"/>b</text:p>'), "a")
    assert found.text == f"a{' ' * 100}b\n"


# --- PDF


def test_an_encrypted_pdf_says_so():
    assert refused(pdf.read, pdf_of(["Tea"], trailer=ENCRYPTED)) == "encrypted PDF"


def test_pages_without_text_are_told():
    assert refused(pdf.read, pdf_of(*[[]] * 12)) == "no text on pages 1-12"
    found = pdf.read(pdf_of(["Tea"], [], [], ["pot"], []), "a")
    assert found.remark == "no text on pages 2-3, 5"
    assert [place.label for place in found.places] == ["1", "4"]


def test_more_pages_than_the_limit_are_told(monkeypatch):
    monkeypatch.setattr(pdf, "MOST_PAGES", 2)
    found = pdf.read(pdf_of(["Tea"], ["pot"], ["leaf"]), "a")
    assert (found.text, found.remark) == ("Tea\n\npot\n", "only the first 2 of 3 pages were read")


def test_a_page_tree_that_claims_a_million_pages_or_leads_to_itself_ends():
    claimed = pdf_of(["Tea"]).replace(b"/Count 1>>", b"/Count 1000000>>")
    circle = pdf_of(["Tea"]).replace(b"/Kids[6 0 R]", b"/Kids[2 0 R]")
    for data in (claimed, circle):
        try:
            found = pdf.read(data, "a")
        except Unreadable as reason:
            told = str(reason)
        else:
            told = found.remark or ""
        assert told.isprintable()


# --- Mail


def test_names_of_attachments_stay_below_their_mail():
    part = b'--x\nContent-Disposition: attachment; filename="%s"\n\ntea\n'
    names = (b"../../etc/passwd", b"/abs", b"C:\\x\\y.txt", b"..", b"a\x00b", b"a.txt", b"a.txt")
    body = b"Subject: Tea\nContent-Type: multipart/mixed; boundary=x\n\n"
    data = body + b"".join(part % name for name in names) + b"--x--\n"
    found = [each.name for each in mail.read(data, "a").attachments]
    assert len(found) == len(set(found)) == len(names)
    assert not any("/" in name or "\\" in name or name.startswith(".") for name in found)
    assert found[-2:] == ["a.txt", "a (2).txt"]


def test_no_more_parts_than_the_limit_are_read(monkeypatch):
    monkeypatch.setattr(mail, "MOST_PARTS", 3)
    data = b"Subject: Tea\nContent-Type: multipart/mixed; boundary=x\n\n" + b"--x\n\ntea\n" * 9
    assert mail.read(data, "a").remark == "only the first 3 parts of the mail were read"


def test_an_encrypted_mail_keeps_its_header():
    data = (
        b"Subject: Tea\nFrom: a@b.c\nContent-Type: multipart/encrypted; boundary=x\n\n--x\n"
        b"Content-Type: application/pgp-encrypted\n\nVersion: 1\n--x--\n"
    )
    found = mail.read(data, "a")
    assert (found.title, found.remark) == ("Tea", "encrypted mail: only its header was read")


def test_a_mailbox_of_many_messages_stops_at_the_limit(monkeypatch):
    monkeypatch.setattr(mbox, "MOST_PLACES", 5)
    found = mbox.read(b"From a 09:31\nSubject: Tea\n\npot\n\n" * 9, "a")
    assert (len(found.places), found.remark) == (5, "only the first 5 messages were read")


# --- Notebooks


def test_an_output_without_end_is_cut():
    outputs = [{"output_type": "stream", "text": "tea " * 100_000}]
    cells = [{"cell_type": "code", "source": "x", "outputs": outputs}]
    found = notebook.read(json.dumps({"cells": cells}).encode(), "a")
    assert len(found.text) < notebook.LONGEST_OUTPUT + 100
