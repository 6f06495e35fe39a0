"""Examples of files of each kind that a reader takes, and words that mean something in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

RELATION = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}'
    "</Relationships>"
)
TYPE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'


class Kind(NamedTuple):
    """A kind of file.

    Attributes:
        module: of the reader.
        name: of a file.
        examples: small files, or small parts of packages.
        words: that mean something in them.
        part: path of the fuzzed part in a package; "" for what is no package.
        others: further parts of the package.
        linear: it has to take time in proportion to its size.
    """

    module: str
    name: str
    examples: tuple[bytes, ...]
    words: str = ""
    part: str = ""
    others: Mapping[str, str] = {}
    linear: bool = True


def relations(**targets: str) -> str:
    """Relations of a part, by kind."""
    made = (
        f'<Relationship Id="{kind}" Type="{TYPE}{kind}" Target="{target}"/>'
        for kind, target in targets.items()
    )
    return RELATION.format("".join(made))


PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>
endobj
4 0 obj<</Length 30>>stream
BT /F 12 Tf (Tea in a pot) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R/Info<</Title(Tea)/CreationDate(D:20240517093100Z)>>>>
"""
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
DOCX = (
    f'<w:document {W} {R}><w:body><w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>Tea</w:t>'
    "<w:lastRenderedPageBreak/></w:r></w:p><w:p><w:pPr><w:numPr><w:ilvl w:val='0'/><w:numId w:val="
    '"1"/></w:numPr></w:pPr><w:hyperlink r:id="x"><w:r><w:t>pot</w:t></w:r></w:hyperlink></w:p>'
    "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:body>"
    "</w:document>"
)
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
PPTX = (
    f'<p:sld {A} {P} {R}><p:cSld><p:spTree><p:sp><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr>'
    '</p:nvSpPr><p:txBody><a:p><a:pPr lvl="1"/><a:r><a:t>Tea</a:t></a:r></a:p></p:txBody></p:sp>'
    "<p:graphicFrame><a:tbl><a:tr><a:tc><a:p><a:r><a:t>a</a:t></a:r></a:p></a:tc></a:tr></a:tbl>"
    "</p:graphicFrame></p:spTree></p:cSld></p:sld>"
)
S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
XLSX = (
    f'<worksheet {S}><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" s="1"><v>45429</v>'
    '</c></row><row r="3"><c r="XFD3" t="inlineStr"><is><t>far</t></is></c><c t="b"><v>1</v></c>'
    "</row></sheetData></worksheet>"
)
OD = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"'
)
ODF = (
    f"<office:document-content {OD}><office:body><office:text><text:h text:outline-level='1'>Tea"
    "</text:h><text:p>pot<text:s text:c='3'/><text:note><text:note-body><text:p>n</text:p>"
    "</text:note-body></text:note></text:p><text:list><text:list-item><text:p>a</text:p>"
    "</text:list-item></text:list><table:table><table:table-row table:number-rows-repeated='3'>"
    "<table:table-cell table:number-columns-repeated='9'><text:p>c</text:p></table:table-cell>"
    "</table:table-row></table:table></office:text></office:body></office:document-content>"
)
OPF = (
    '<package><metadata><title>Tea</title><date>2024-05-17</date></metadata><manifest><item id="a"'
    ' href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/>'
    "</spine></package>"
)
HTML = (
    b"<html lang=en><title>Tea</title><body><h1>Pot</h1><p>a <a href='b'>c</a><br>d<ul><li>e<ol>"
    b"<li>f</ol></ul><table><tr><th>g<td>h</table><pre>i</pre><blockquote>j</blockquote><p hidden>k"
)
MAIL = (
    b"From: Ada <a@b.c>\nSubject: =?utf-8?q?T=C3=A9?=\nDate: Fri, 17 May 2024 09:31:00 +0200\n"
    b'Content-Type: multipart/mixed; boundary="x"\n\n--x\nContent-Type: text/plain\n'
    b"Content-Transfer-Encoding: quoted-printable\n\ntea =3D pot\n--x\nContent-Type: text/html\n\n"
    b'<p>a\n--x\nContent-Disposition: attachment; filename="a.pdf"\n\nx\n--x--\n'
)
CELLS = [
    {"cell_type": "markdown", "source": ["# Tea\n"]},
    {"cell_type": "code", "source": "x", "outputs": [{"output_type": "stream", "text": "y\r z"}]},
]
KINDS: dict[str, Kind] = {
    "pdf": Kind("pdf", "a.pdf", (PDF,), "/Count ¦ 0 R¦<<¦>>¦[¦(¦) Tj¦endobj\n", linear=False),
    "docx": Kind(
        "docx",
        "a.docx",
        (DOCX.encode(),),
        "<w:p>¦</w:p>¦<w:r>¦</w:r>¦<w:t>¦</w:t>¦<w:tbl>¦<w:tr>¦<w:tc>¦w:val¦<w:fldChar ¦HYPERLINK ",
        "word/document.xml",
        {"_rels/.rels": relations(officeDocument="word/document.xml")},
    ),
    "docx_styles": Kind(
        "docx",
        "a.docx",
        (
            f'<w:styles {W}><w:style w:styleId="a"><w:name w:val="heading 1"/>'
            '<w:basedOn w:val="b"/></w:style><w:style w:styleId="b"><w:basedOn w:val="a"/>'
            "</w:style></w:styles>".encode(),
        ),
        'w:styleId="¦w:val="¦<w:basedOn ¦<w:outlineLvl ¦heading ',
        "word/styles.xml",
        {
            "_rels/.rels": relations(officeDocument="word/document.xml"),
            "word/_rels/document.xml.rels": relations(styles="styles.xml"),
            "word/document.xml": f"<w:document {W}><w:body><w:p><w:pPr>"
            '<w:pStyle w:val="a"/></w:pPr>'
            "<w:r><w:t>x</w:t></w:r></w:p></w:body></w:document>",
        },
        linear=False,
    ),
    "pptx": Kind(
        "pptx",
        "a.pptx",
        (PPTX.encode(),),
        "<a:p>¦</a:p>¦<a:t>¦<p:sp>¦</p:sp>¦<a:tbl>¦<a:tr>¦<a:tc>¦lvl=¦type=",
        "ppt/slide.xml",
        {
            "_rels/.rels": relations(officeDocument="ppt/presentation.xml"),
            "ppt/_rels/presentation.xml.rels": relations(slide="slide.xml"),
            "ppt/presentation.xml": f'<p:presentation {P} {R}><p:sldIdLst><p:sldId r:id="slide"/>'
            "</p:sldIdLst></p:presentation>",
        },
    ),
    "xlsx": Kind(
        "xlsx",
        "a.xlsx",
        (XLSX.encode(),),
        '<row>¦</row>¦<c r="¦<v>¦t="s"¦s="¦<is><t>¦1e308¦45429',
        "xl/sheet.xml",
        {
            "_rels/.rels": relations(officeDocument="xl/workbook.xml"),
            "xl/_rels/workbook.xml.rels": relations(
                worksheet="sheet.xml", sharedStrings="shared.xml", styles="styles.xml"
            ),
            "xl/workbook.xml": f'<workbook {S} {R}><sheets><sheet name="Tea" r:id="worksheet"/>'
            "</sheets></workbook>",
            "xl/shared.xml": f"<sst {S}><si><t>tea</t></si></sst>",
            "xl/styles.xml": f'<styleSheet {S}><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/>'
            "</cellXfs></styleSheet>",
        },
    ),
    "odf": Kind(
        "odf",
        "a.odt",
        (ODF.encode(),),
        "<text:p>¦</text:p>¦<text:list>¦<text:list-item>¦<table:table>¦<table:table-row>¦"
        "table:number-columns-repeated=¦<text:note>¦<text:a ",
        "content.xml",
    ),
    "epub": Kind(
        "epub",
        "a.epub",
        (OPF.encode(),),
        'href="¦idref="¦<item ¦<itemref ¦../¦media-type=',
        "a.opf",
        {"a.xhtml": "<html><h1>Tea</h1><p>pot"},
        linear=False,
    ),
    "html": Kind(
        "html", "a.html", (HTML,), "<p>¦<div>¦<table>¦<tr>¦<td>¦<li>¦<ul>¦<a href=¦&amp;¦<pre>"
    ),
    "mail": Kind(
        "mail", "a.eml", (MAIL,), "--x\n¦\n\n¦Content-Type: ¦multipart/¦message/rfc822¦base64¦=?"
    ),
    "mbox": Kind(
        "mbox", "a.mbox", (b"From a 09:31\n" + MAIL[:200],), "\n\nFrom a 09:31\n¦Subject: ¦>From "
    ),
    "notebook": Kind(
        "notebook",
        "a.ipynb",
        (json.dumps({"nbformat": 4, "metadata": {}, "cells": CELLS}).encode(),),
        '{"cell_type": "code", "source": ¦"outputs": [¦"data": {¦![a](data:¦\\u001b[31m',
    ),
    "subtitles": Kind(
        "subtitles",
        "a.vtt",
        (
            b"WEBVTT - Tea\n\n00:00:01.000 --> 00:00:02.000\n<v Ada>tea &amp; pot\n",
            b"1\n00:00:01,000 --> 00:00:02,000\n<i>tea</i>\n\n",
        ),
        "\n\n00:00:01.000 --> 00:00:02.000\n¦<v ¦<i>¦{\\an8}¦NOTE ¦[Script Info]\n¦{1}{2}",
    ),
    "transcript": Kind(
        "transcript",
        "a.txt",
        (
            b"[17.05.24, 09:31:22] Ada: tea\npot\n",
            b"Ada  0:03\ntea\n",
            b"09:31:22 From A to B:\ntea",
        ),
        "5/17/24, 9:31 PM - ¦\n[Ada] 09:31:22 ¦: ¦\n\n¦Ada  1:02:03\n",
    ),
    "canvas": Kind(
        "canvas",
        "a.canvas",
        (b'{"nodes":[{"type":"text","text":"# Tea","x":1,"y":NaN},{"type":"file","file":"a"}]}',),
        '{"type":"group","label":¦"edges":[¦"url":',
    ),
    "csv": Kind("csv_rows", "a.csv", (b'a;b\n1;"2\n3"\n', b"a,b\n1,2\n"), '"¦""¦;¦,¦|¦\t¦\r\n¦\n'),
    "json": Kind("json_text", "a.json", (b'{"a": ["\\u00e9", 1]}',), "[¦]¦{¦}¦:¦,¦\\u00e9¦1e9"),
    "text": Kind("text", "a.txt", ("Grüner Tee".encode("cp1252"),), "\xe9¦\0¦\x81¦\xff\xfe"),
    "opml": Kind(
        "opml",
        "a.opml",
        (
            b"<opml><head><title>Tea</title></head><body>"
            b'<outline text="a" _note="b"/></body></opml>',
        ),
        "<outline text=¦</outline>¦<!DOCTYPE ¦<!ENTITY ¦&a;¦xmlUrl=",
    ),
    "bookmarks": Kind(
        "bookmarks",
        "a.html",
        (
            b"<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><H3>T</H3><DL>"
            b'<DT><A HREF="a">b</A><DD>c</DL>',
        ),
        '<DL><DT><H3>¦<DT><A HREF="¦<DD>¦</DL>¦ADD_DATE="',
    ),
    "rtf": Kind(
        "rtf",
        "a.rtf",
        (
            rb"{\rtf1\ansi{\info{\title Tea}{\creatim\yr2024\mo5\dy17\hr1\min2}}\outlinelevel0 Pot"
            rb'\par{\field{\*\fldinst HYPERLINK "a"}{\fldrslt b}}\u228 ?\'e4\par\intbl a\cell\row}',
        ),
        "\\par ¦\\pard ¦\\u-3913 ?¦\\'e4¦{\\*\\¦\\cell ¦\\row ¦\\bin5 ¦\\footnote ¦\\uc9 ¦\\v ",
    ),
    "org": Kind(
        "org",
        "a.org",
        (
            b"#+TITLE: Tea\n* TODO Pot :a:\n:PROPERTIES:\n:ID: x\n:END:\n[[a][b]] *c* =d=\n"
            b"#+begin_src py\n",
        ),
        "* ¦#+begin_src ¦#+end_src\n¦:END:\n¦[[¦][¦]]¦*¦/¦=¦| a |¦|---+\n¦<2024-05-17 >",
    ),
    "restructuredtext": Kind(
        "restructuredtext",
        "a.rst",
        (
            b"===\nTea\n===\n\n.. note:: a\n   b\n\n.. code:: py\n\n   x\n\n"
            b"`a <b>`_ :c:`d` |e| *f*::\n\n  g\n",
        ),
        "\n===\n¦\n---\n¦.. ¦:: ¦`¦`_¦|¦*¦\n   ¦====  ===\n¦+--+--+\n¦.. _a: b\n",
    ),
    "asciidoc": Kind(
        "asciidoc",
        "a.adoc",
        (
            b"= Tea\nAda <a@b>\nv1, 2024-05-17\n:a: b\n\n== Pot\n{a} link:b[c] *d* `e`\n"
            b"----\nf\n----\n|===\n|g\n",
        ),
        "== ¦----\n¦|===\n¦|¦link:¦[¦]¦<<¦>>¦*¦_¦`¦+¦{a}¦:a: {a}{a}\n¦::",
    ),
    "mediawiki": Kind(
        "mediawiki",
        "a.mediawiki",
        (
            b"= Tea =\n{{a|b=c}} [[d|e]] [f:g h] ''i''<ref>j</ref>\n{| k\n! l\n|-\n| m || n\n|}\n"
            b"<!-- o -->\n<pre>\np\n</pre>\n",
        ),
        "== ¦{{¦}}¦[[¦]]¦|¦||¦\n{|\n¦\n|}\n¦\n| a=b |¦<!--¦-->¦<ref>¦</ref>¦''¦<pre>\n¦</pre>¦=",
    ),
    "latex": Kind(
        "latex",
        "a.tex",
        (
            rb"\title{Tea}\begin{document}\section{Pot} \textbf{a} \href{b}{c} $d$ \'e "
            rb"\begin{tabular}{l} a & b \\",
        ),
        '\\begin{¦\\end{¦{¦}¦\\item ¦$¦\\(¦[¦]¦\\verb|¦\\newcommand{¦%¦\\\\¦\\"',
    ),
}
