"""Sheets, slides, OpenDocument, books and RTF: what is particular to each."""

from __future__ import annotations

from qmd.ingest.readers import epub, odf, pptx, rtf, xlsx
from tests.ingest.readers.packages import A, P, R, archive, relations, shape
from tests.ingest.readers.packages import epub as book
from tests.ingest.readers.packages import odf as document
from tests.ingest.readers.packages import pptx as slides
from tests.ingest.readers.packages import xlsx as sheets

FORMATS = (
    '<numFmts><numFmt numFmtId="164" formatCode="[Red]dd/mm/yyyy"/><numFmt numFmtId="165" '
    'formatCode="0.00&quot; days&quot;"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/>'
    '<xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="20"/><xf numFmtId="22"/></cellXfs>'
)


def row(*cells: str) -> str:
    return f"<row>{''.join(cells)}</row>"


def number(value: str, style: int = 0) -> str:
    return f'<c s="{style}"><v>{value}</v></c>'


def test_numbers_of_a_sheet_are_shown_as_days_times_and_figures():
    cells = (
        number("45429", 1),
        number("45429", 2),
        number("2.5", 3),
        number("0.396527777777778", 4),
        number("45429.5", 5),
        number("0.30000000000000004"),
        number("1e99", 1),
        '<c t="b"><v>1</v></c><c t="str"><f>A1</f><v>formula</v></c><c t="e"><v>#N/A</v></c>',
    )
    assert xlsx.read(sheets(styles=FORMATS, Tea=row(*cells)), "a").text.split("\n")[2] == (
        "| 2024-05-17 | 2024-05-17 | 2.5 | 09:31:00 | 2024-05-17 12:00:00 | 0.3 | 1e+99 | TRUE |"
        " formula | #N/A |"
    )


def test_gaps_between_cells_are_kept_and_empty_rows_end_a_table():
    rows = (
        '<row r="1"><c r="A1"><v>1</v></c><c r="C1"><v>3</v></c></row><row r="2"><c r="A2"/></row>'
        '<row r="5"><c r="B5"><v>2</v></c></row>'
    )
    assert xlsx.read(sheets(Tea=rows), "a").text == (
        "## Tea\n\n| 1 |  | 3 |\n| --- | --- | --- |\n\n|  | 2 |\n| --- | --- |\n"
    )


def test_a_slide_has_its_title_first_its_levels_and_its_notes():
    deep = shape("leaf").replace("<a:p>", '<a:p><a:pPr lvl="1"/>')
    found = pptx.read(slides(shape("pot\ncup") + deep + shape("Tea", "title"), notes="say it"), "a")
    assert found.text == "# Tea\n\n- pot\n- cup\n\n  - leaf\n\nsay it\n"


def test_slides_come_in_the_order_of_the_presentation_not_of_their_names():
    slide = "<p:sld {} {}><p:cSld><p:spTree>{}</p:spTree></p:cSld></p:sld>"
    parts = {
        "_rels/.rels": relations(a="officeDocument:p.xml"),
        "_rels/p.xml.rels": relations(x="slide:s9.xml", y="slide:s1.xml"),
        "p.xml": f"<p:presentation {P} {R}><p:sldIdLst><p:sldId r:id='x'/><p:sldId r:id='y'/>"
        "</p:sldIdLst></p:presentation>",
        "s1.xml": slide.format(A, P, shape("second")),
        "s9.xml": slide.format(A, P, shape("first")),
    }
    assert pptx.read(archive(parts), "a").text == "- first\n\n- second\n"


def test_lists_notes_boxes_and_code_of_a_text_document():
    styles = (
        '<text:list-style style:name="L1"><text:list-level-style-number/></text:list-style>'
        '<style:style style:name="P1" style:parent-style-name="Preformatted_20_Text"/>'
    )
    body = (
        '<text:list text:style-name="L1"><text:list-item><text:p>rinse</text:p><text:list>'
        "<text:list-item><text:p>warm</text:p></text:list-item></text:list></text:list-item>"
        "<text:list-item><text:p>steep</text:p></text:list-item></text:list>"
        "<text:p>Water<text:note><text:note-body><text:p>soft</text:p></text:note-body></text:note>"
        "<text:tab/>x<text:line-break/>y</text:p>"
        '<text:p text:style-name="P1">a<text:s text:c="2"/>b</text:p>'
        "<text:p><draw:frame><draw:text-box><text:p>box</text:p></draw:text-box></draw:frame></text:p>"
    )
    assert odf.read(document("text", body, styles=styles), "a").text == (
        "1. rinse\n  1. warm\n2. steep\n\nWater[^1]\tx\ny\n\n```\na  b\n```\n\nbox\n\n[^1]: soft\n"
    )


def test_a_book_is_read_in_the_order_of_its_spine():
    found = epub.read(book("<h1>One</h1>", "<h2>Two</h2><p>&copy; &eacute;</p>"), "a")
    assert found.text == "# One\n\n## Two\n\n© é\n"


def test_a_book_with_a_missing_chapter_says_so():
    whole = book("<p>One</p>", "<p>Two</p>")
    found = epub.read(whole.replace(b"c 1.xhtml", b"d 1.xhtml"), "a")
    assert (found.text, found.remark) == ("One\n", "damaged EPUB: only a part of it could be read")


def rtf_text(body: bytes) -> str:
    return rtf.read(b"{\\rtf1\\ansi" + body + b"}", "a").text


def test_characters_of_rtf_in_all_their_ways_of_writing():
    assert (
        rtf_text(b"\\'e4\\u228 ?\\uc2\\u-3913 ??x\\~y\\_z \\emdash\\{\\}\\\\") == "ää•x y-z —{}\\\n"
    )
    assert rtf_text(b"{\\uc0\\u55357 \\u56898 }") == "🙂\n"
    assert rtf_text(b"{\\fonttbl{\\f1\\fcharset238 x;}}\\f1 \\'e8") == "č\n"
    assert rtf_text(b"{\\fonttbl{\\f1\\fcharset128 x;}}\\f1 \\'93\\'fa") == "日\n"
    assert rtf_text(b"\\ansicpg1251 \\'d2") == "Т\n"


def test_groups_of_rtf_that_are_no_text_are_left_out():
    hidden = b"{\\*\\unknown zz}{\\header zz}{\\pict\\bin4 }}{{ zz}{\\stylesheet{\\s1 zz;}}{\\v zz}"
    assert rtf_text(hidden + b"tea") == "tea\n"


def test_tables_lists_and_notes_of_rtf():
    body = (
        b"\\trowd\\intbl a\\cell b\\par c\\cell\\row\\pard {\\pntext\\'b7\\tab}x\\par"
        b"\\bullet\\tab leaf\\par 1.\\tab rinse\\par Water{\\footnote soft\\par}.\\par"
    )
    assert rtf_text(body) == (
        "| a | b c |\n| --- | --- |\n\nx\n\n- leaf\n1. rinse\n\nWater (soft).\n"
    )
