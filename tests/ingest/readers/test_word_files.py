"""Word documents: headings, lists, notes, code, boxes, pages."""

from __future__ import annotations

from qmd.ingest.readers import docx
from tests.ingest.readers.packages import W, paragraph
from tests.ingest.readers.packages import docx as made

STYLES = f"""<w:styles {W}>
<w:style w:styleId="b2"><w:name w:val="heading 2"/></w:style>
<w:style w:styleId="own"><w:name w:val="Kapitel"/><w:basedOn w:val="b2"/></w:style>
<w:style w:styleId="t"><w:name w:val="Title"/></w:style>
<w:style w:styleId="by"><w:name w:val="Author"/><w:basedOn w:val="t"/></w:style>
<w:style w:styleId="code"><w:name w:val="Source Code"/></w:style>
<w:style w:styleId="item"><w:name w:val="List"/><w:pPr><w:numPr><w:numId w:val="2"/></w:numPr>
</w:pPr></w:style></w:styles>"""
NUMBERING = f"""<w:numbering {W}>
<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl>
<w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="2"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl>
</w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="2"/></w:num></w:numbering>"""


def text(body: str, **parts: str) -> str:
    return docx.read(made(body, styles=STYLES, **parts), "a.docx").text


def numbered(words: str, level: int) -> str:
    mark = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="1"/></w:numPr>'
    return paragraph(words, properties=mark)


def test_headings_come_from_styles_their_parents_and_outline_levels():
    body = (
        paragraph("Tea", "t")
        + paragraph("Ada", "by")
        + paragraph("Pots", "own")
        + paragraph("Leaves", properties='<w:outlineLvl w:val="2"/>')
    )
    assert text(body) == "# Tea\n\nAda\n\n## Pots\n\n### Leaves\n"


def test_lists_are_numbered_by_level_and_marked_by_style():
    body = (
        numbered("rinse", 0)
        + numbered("warm", 1)
        + numbered("cold", 1)
        + numbered("steep", 0)
        + numbered("again", 1)
        + paragraph("leaf", "item")
    )
    assert text(body, numbering=NUMBERING) == (
        "1. rinse\n  1. warm\n  2. cold\n2. steep\n  1. again\n- leaf\n"
    )


def test_lines_of_code_are_one_block():
    body = paragraph("def f():", "code") + paragraph("    pass", "code") + paragraph("end")
    assert text(body) == "```\ndef f():\n    pass\n```\n\nend\n"


def test_notes_and_comments_stand_at_the_end():
    notes = (
        f"<w:footnotes {W}><w:footnote w:type='separator' w:id='0'>{paragraph('zz')}"
        f"</w:footnote><w:footnote w:id='1'>{paragraph('soft water')}</w:footnote></w:footnotes>"
    )
    remark = f"<w:comment w:id='1' w:author='Ada'>{paragraph('why?')}</w:comment>"
    comments = f"<w:comments {W}>{remark}</w:comments>"
    body = "<w:p><w:r><w:t>Water</w:t><w:footnoteReference w:id='1'/></w:r></w:p>"
    assert text(body, footnotes=notes, comments=comments) == (
        "Water[^1]\n\n[^1]: soft water\n\nAda: why?\n"
    )


def test_cells_text_boxes_and_content_controls_are_read_once():
    cells = f"<w:tc>{paragraph('a|b')}</w:tc><w:tc>{paragraph('c')}{paragraph('d')}</w:tc>"
    table = f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>"
    box = f"<w:txbxContent>{paragraph('box')}</w:txbxContent>"
    drawing = (
        "<w:p><w:r><mc:AlternateContent xmlns:mc='m'><mc:Choice><w:drawing>"
        f"{box}</w:drawing></mc:Choice><mc:Fallback><w:pict>{box}</w:pict></mc:Fallback>"
        "</mc:AlternateContent></w:r></w:p>"
    )
    control = f"<w:sdt><w:sdtContent>{paragraph('control')}</w:sdtContent></w:sdt>"
    assert text(table + drawing + control) == "| a\\|b | c d |\n| --- | --- |\n\nbox\n\ncontrol\n"


def test_links_of_fields_and_formulas_are_kept():
    field = (
        "<w:p><w:r><w:fldChar w:fldCharType='begin'/></w:r><w:r><w:instrText> HYPERLINK "
        '"https://example.org/f" </w:instrText></w:r><w:r>'
        "<w:fldChar w:fldCharType='separate'/></w:r><w:r><w:t>field</w:t></w:r>"
        "<w:r><w:fldChar w:fldCharType='end'/></w:r>"
        "<m:oMath xmlns:m='m'><m:r><m:t>x=1</m:t></m:r></m:oMath></w:p>"
    )
    found = docx.read(made(field), "a")
    assert (found.text, found.links) == ("fieldx=1\n", ("https://example.org/f",))


def test_a_page_that_begins_within_a_paragraph_has_its_place_at_the_next():
    cut = "<w:p><w:r><w:t>a</w:t><w:lastRenderedPageBreak/><w:t>b</w:t></w:r></w:p>"
    found = docx.read(made(paragraph("x") + cut + paragraph("c")), "a")
    assert [(place.label, place.line) for place in found.places] == [("1", 1), ("2", 5)]


def test_titles_that_programs_make_up_are_none():
    for title in ("Microsoft Word - Document1", "Untitled", "PowerPoint Presentation", ""):
        assert docx.read(made(paragraph("x"), title=title), "a").title is None
    assert docx.read(made(paragraph("x"), title="Microsoft Word - Tea.doc"), "a").title == "Tea.doc"


def test_a_broken_part_leaves_the_others():
    found = docx.read(made(paragraph("Tea"), footnotes="<w:footnotes"), "a")
    assert (found.text, found.remark) == ("Tea\n", "damaged DOCX: only a part of it could be read")
