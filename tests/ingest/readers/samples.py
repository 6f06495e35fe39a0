"""One file of each format, with what it says and what it hides."""

from __future__ import annotations

import base64
import json
from email.message import EmailMessage
from typing import NamedTuple

from tests.ingest.readers.packages import (
    ESCAPED,
    HIDDEN,
    SENTENCE,
    docx,
    epub,
    odf,
    paragraph,
    pptx,
    shape,
    xlsx,
)
from tests.ingest.readers.pdfs import pdf

TITLE = "Tea handbook"
STYLES = (
    '<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:style '
    'w:styleId="h"><w:name w:val="heading 1"/></w:style></w:styles>'
)


class Sample(NamedTuple):
    """A file.

    Attributes:
        reader: module that reads it.
        title, date: that it gives itself.
        place: kind and label of the part in which the sentence stands.
        link: a target in it.
        author, language: that it names.
    """

    reader: str
    name: str
    data: bytes
    title: str | None = TITLE
    date: str | None = "2024-05-17"
    place: tuple[str, str] | None = None
    link: str | None = None
    author: str | None = None
    language: str | None = None


def mail(*, html: bool = False, attached: bool = False) -> bytes:
    message = EmailMessage()
    message["Subject"] = TITLE
    message["From"] = "Ada Löve <ada@example.org>"
    message["To"] = "rikyu@example.org"
    message["Date"] = "Fri, 17 May 2024 09:31:00 +0200"
    page = f"<html><style>{HIDDEN}</style><p>{ESCAPED} <a href='https://example.org/pot'>ä</a></p>"
    if html:
        message.set_content(page, subtype="html", cte="base64")
    else:
        message.set_content(f"{SENTENCE} = Über allen\n", cte="quoted-printable")
        message.add_alternative(page.replace("kettle", HIDDEN), subtype="html")
    if attached:
        message.add_attachment(
            HIDDEN.encode() * 50, maintype="application", subtype="pdf", filename="../Rechnung.pdf"
        )
    message["Content-Language"] = "en-GB"
    return message.as_bytes()


def notebook(*, worksheets: bool = False) -> bytes:
    picture = base64.b64encode(HIDDEN.encode() * 40).decode()
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": ["\x1b[31mred tea\x1b[0m\n"]},
        {"output_type": "display_data", "data": {"image/png": picture, "text/plain": ["<Figure>"]}},
    ]
    code = {"cell_type": "code", "source": "print('pot')", "input": "print('pot')"}
    cells = [
        {
            "cell_type": "markdown",
            "source": [f"# {TITLE}\n", f"![pot](data:image/png;base64,{picture})"],
        },
        {**code, "outputs": outputs},
        {"cell_type": "markdown", "source": f"[{SENTENCE}](pot.md)"},
    ]
    body = {"worksheets": [{"cells": cells}]} if worksheets else {"cells": cells}
    about = {"language_info": {"name": "python"}, "date": "2024-05-17"}
    about["authors"] = [{"name": "Ada Lovelace"}]  # type: ignore[assignment]
    return json.dumps({"nbformat": 4, "metadata": about, **body}).encode()


_LOST = f"<w:del><w:r><w:delText>{HIDDEN}</w:delText></w:r></w:del>"
_DOCX = docx(
    paragraph("Tea", "h")
    + f"<w:p>{_LOST}<w:r><w:rPr><w:vanish/></w:rPr><w:t>{HIDDEN}</w:t></w:r></w:p>"
    + "<w:p><w:r><w:lastRenderedPageBreak/><w:t xml:space='preserve'>The kettle </w:t></w:r>"
    "<w:r><w:rPr><w:b/></w:rPr><w:t>sings at four &amp; the leaves wait.</w:t></w:r>"
    "<w:hyperlink r:id='x'><w:r><w:t>pot</w:t></w:r></w:hyperlink></w:p>",
    styles=STYLES,
)
_CUE = "00:12:31.500 --> 00:12:33.000"
_VTT = f"""WEBVTT - {TITLE}
Language: en-GB

STYLE
::cue {{ {HIDDEN} }}

NOTE {HIDDEN}

00:00:01.000 --> 00:00:02.000
Hello

{_CUE} align:start
<v Ada>The kettle <c.loud>sings</c> at four
&amp; the leaves wait.
"""
_SRT = f"""1
00:00:01,000 --> 00:00:02,000
Hello

2
{_CUE.replace(".", ",")}
{{\\an8}}<i>{SENTENCE}</i>
"""
_ASS = f"""[Script Info]
Title: {TITLE}
ScriptType: v4.00+

[V4+ Styles]
Format: Name, Fontname, Fontsize
Style: Default,{HIDDEN},20

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Comment: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,,{HIDDEN}
Dialogue: 0,0:12:31.50,0:12:33.00,Default,Ada,0,0,0,,{{\\i1}}{SENTENCE}{{\\i0}}
"""
_HTML = f"""<!doctype html><html lang=en-GB><head><title>Tea &#104;andbook</title>
<meta name=author content="Ada Lovelace">
<meta property="article:published_time" content="2024-05-17"><style>.{HIDDEN} {{}}</style>
<script>var a = "<p>{HIDDEN}</p>"</script></head><body><nav><a href=/>{HIDDEN}</a></nav><h1>Tea</h1>
<p hidden>{HIDDEN}</p><p style="color:red; display : none">{HIDDEN}</p><!-- {HIDDEN} -->
<p>The <b>kettle</b> sings&nbsp;at four &amp; the <a href="https://example.org/pot">leaves</a> wait.
<template>{HIDDEN}</template><img src="data:image/png;base64,{HIDDEN}"></body></html>"""
_RTF = (
    rb"{\rtf1\ansi\ansicpg1252\deflang2057{\fonttbl{\f0 zzhidden;}}{\info{\title Tea handbook}"
    rb"{\author Ada Lovelace}{\creatim\yr2024"
    rb"\mo5\dy17\hr9\min31}}{\*\generator zzhidden}\pard\outlinelevel0 Tea\par\pard The "
    rb"{\b kettle} sings at four & the leaves wait."
    rb"{\v zzhidden}{\pict 7a7a68}{\field{\*\fldinst HYPERLINK "
    rb'"https://example.org/pot"}{\fldrslt pot}}\par}'
)
_ORG = f"""#+TITLE: {TITLE}
#+DATE: <2024-05-17 Fri>
#+AUTHOR: Ada Lovelace
#+LANGUAGE: en-GB
#+FILETAGS: :tea:

* TODO [#A] Brewing :hot:
:PROPERTIES:
:ID: {HIDDEN}
:END:
# {HIDDEN}
The *kettle* sings at four & the [[https://example.org/pot][leaves]] /wait/.
"""
_RST = f"""{TITLE}
============

:Date: 2024-05-17
:Author: Ada Lovelace
:Language: en-GB

.. {HIDDEN}
.. raw:: html

   <p>{HIDDEN}</p>

The *kettle* sings at four & the `leaves
<https://example.org/pot>`_ **wait**.
"""
_ADOC = f"""= {TITLE}
Ada Lovelace <ada@example.org>
v1.0, 2024-05-17
:verb: sings
:lang: en-GB

// {HIDDEN}
[.{HIDDEN}]
The *kettle* {{verb}} at four & the https://example.org/pot[leaves] _wait_.
"""
_WIKI = f"""<!-- {HIDDEN} -->
= {TITLE} =
The ''kettle'' sings at four & the [https://example.org/pot leaves] <b>wait</b>.{{{{x|y}}}}
"""
_TEX = rf"""\documentclass{{article}} % {HIDDEN}
\usepackage{{{HIDDEN}}}
\title{{Tea \emph{{handbook}}}}
\date{{2024-05-17}}
\author{{Ada Lovelace}}
\begin{{document}}
\section{{Brewing}}\label{{{HIDDEN}}}
The \textbf{{kettle}} sings at four \& the \href{{https://example.org/pot}}{{leaves}} wait.
\end{{document}}
"""
_NODES = [
    {"type": "text", "text": f"# {TITLE}\n{SENTENCE}", "x": 0, "y": 1, "color": HIDDEN},
    {"type": "link", "url": "https://example.org/pot", "x": 0, "y": 2},
]
_OPML = f"""<?xml version="1.0"?><opml version="2.0"><head><title>{TITLE}</title>
<ownerName>Ada Lovelace</ownerName>
<dateCreated>Fri, 17 May 2024 00:00:00 GMT</dateCreated></head><body><outline text="Tea">
<outline text="{ESCAPED}" htmlUrl="https://example.org/pot" type="{HIDDEN}"/>
</outline></body></opml>"""
_BOOKMARKS = f"""<!DOCTYPE NETSCAPE-Bookmark-file-1>
<TITLE>{TITLE}</TITLE><H1>{TITLE}</H1><DL><p><DT><H3>Tea</H3><DL><p>
<DT><A HREF="https://example.org/pot" ADD_DATE="1715938260" ICON="data:x;base64,{HIDDEN}">Pot</A>
<DD>{ESCAPED}
<DT><A HREF="javascript:{HIDDEN}">x</A></DL><p></DL>"""
_FROM = b"From ada Fri May 17 09:31:00 2024\n"
_MBOX = _FROM + b"Subject: First\n\nHello\n\n" + _FROM

SAMPLES = {
    "pdf": Sample(
        "pdf",
        "a.pdf",
        pdf(["Tea", "Hello"], [SENTENCE], link="https://example.org/pot"),
        date="2024-05-17T09:31:00+02:00",
        place=("page", "2"),
        link="https://example.org/pot",
    ),
    "docx": Sample(
        "docx",
        "a.docx",
        _DOCX,
        date="2024-05-17T09:31:00Z",
        place=("page", "2"),
        link="https://example.org/pot",
    ),
    "pptx": Sample(
        "pptx",
        "a.pptx",
        pptx(
            shape("Tea", "title"),
            shape("Pot", "title") + shape(f"Hi\n{ESCAPED}") + shape(HIDDEN, "ftr"),
        ),
        date="2024-05-17T09:31:00Z",
        place=("slide", "2"),
    ),
    "xlsx": Sample(
        "xlsx",
        "a.xlsx",
        xlsx(
            shared=f"<si><r><t>The kettle </t></r><r><t>{ESCAPED[11:]}</t></r>"
            f"<rPh><t>{HIDDEN}</t></rPh></si>",
            Teas="<row><c><v>1</v></c></row>",
            Budget='<row r="1"><c r="A1" t="s"><v>0</v></c></row>',
        ),
        date="2024-05-17T09:31:00Z",
        place=("sheet", "Budget"),
    ),
    "odt": Sample(
        "odf",
        "a.odt",
        odf(
            "text",
            f"<text:tracked-changes><text:p>{HIDDEN}</text:p></text:tracked-changes><text:h>Tea</text:h>"
            "<text:p>The <text:span>kettle</text:span> sings at four &amp; the <text:a "
            "xlink:href='https://example.org/pot'>leaves</text:a> wait.</text:p>",
        ),
        date="2024-05-17T09:31:00",
        link="https://example.org/pot",
    ),
    "ods": Sample(
        "odf",
        "a.ods",
        odf(
            "spreadsheet",
            "<table:table table:name='Teas'/><table:table table:name='Budget'><table:table-row>"
            f"<table:table-cell><text:p>{ESCAPED}</text:p></table:table-cell></table:table-row>"
            "</table:table>",
        ),
        date="2024-05-17T09:31:00",
        place=("sheet", "Budget"),
    ),
    "odp": Sample(
        "odf",
        "a.odp",
        odf(
            "presentation",
            "<draw:page><draw:frame><draw:text-box><text:p>Hi</text:p></draw:text-box></draw:frame>"
            f"</draw:page><draw:page><draw:frame><draw:text-box><text:p>{ESCAPED}</text:p>"
            "</draw:text-box></draw:frame></draw:page>",
        ),
        date="2024-05-17T09:31:00",
        place=("slide", "2"),
    ),
    "epub": Sample(
        "epub",
        "a.epub",
        epub(
            "<h1>Tea</h1>",
            f'<p>Hi</p><span epub:type="pagebreak" title="12"/>'
            f'<p>{ESCAPED}&nbsp;<a href="pot.xhtml">x</a></p>',
        ),
        place=("page", "12"),
        link="pot.xhtml",
    ),
    "rtf": Sample("rtf", "a.rtf", _RTF, date="2024-05-17T09:31:00", link="https://example.org/pot"),
    "html": Sample("html", "a.html", _HTML.encode(), link="https://example.org/pot"),
    "html in UTF-16": Sample(
        "html", "a.htm", _HTML.encode("utf-16"), link="https://example.org/pot"
    ),
    "eml": Sample("mail", "a.eml", mail(attached=True), date="2024-05-17T09:31:00+02:00"),
    "eml in HTML": Sample(
        "mail",
        "a.eml",
        mail(html=True),
        date="2024-05-17T09:31:00+02:00",
        link="https://example.org/pot",
    ),
    "maildir": Sample("mail", "1715.M1P2.host:2,S", mail(), date="2024-05-17T09:31:00+02:00"),
    "mbox": Sample(
        "mbox",
        "a.mbox",
        _MBOX + mail(),
        title=None,
        date="2024-05-17T09:31:00+02:00",
        place=("message", "2"),
    ),
    "ipynb": Sample("notebook", "a.ipynb", notebook(), place=("cell", "3")),
    "ipynb of format 3": Sample(
        "notebook", "a.ipynb", notebook(worksheets=True), place=("cell", "3")
    ),
    "vtt": Sample("subtitles", "a.vtt", _VTT.encode(), date=None, place=("second", "00:12:31")),
    "srt": Sample(
        "subtitles", "a.srt", _SRT.encode(), title=None, date=None, place=("second", "00:12:31")
    ),
    "ass": Sample("subtitles", "a.ass", _ASS.encode(), date=None, place=("second", "00:12:31")),
    "WhatsApp on a telephone": Sample(
        "transcript",
        "_chat.txt",
        f"[17.05.24, 09:31:22] Ada: Hi\n[17.05.24, 09:32:00] Bob: {SENTENCE}\n".encode(),
        title=None,
        date="2024-05-17T09:31:22",
        place=("message", "2024-05-17T09:32"),
    ),
    "WhatsApp in America": Sample(
        "transcript",
        "chat.txt",
        f"5/17/24, 9:31 PM - Ada: Hi\n5/17/24, 9:32\u202fPM - Bob: {SENTENCE}\n".encode(),
        title=None,
        date="2024-05-17T21:31:00",
        place=("message", "2024-05-17T21:32"),
    ),
    "Teams": Sample(
        "transcript",
        "t.txt",
        f"Ada Lovelace   0:03\nHi\n\nBob Stone   1:02:07\n{SENTENCE}\n".encode(),
        title=None,
        date=None,
        place=("second", "01:02:07"),
    ),
    "Zoom chat": Sample(
        "transcript",
        "t.txt",
        f"09:31:22 From Ada to Everyone:\n\tHi\n09:32:00 From Bob to all:\n\t{SENTENCE}\n".encode(),
        title=None,
        date=None,
        place=("second", "09:32:00"),
    ),
    "Zoom captions": Sample(
        "transcript",
        "t.txt",
        f"[Ada] 09:31:22\nHi\n\n[Bob] 09:32:00\n{SENTENCE}\n".encode(),
        title=None,
        date=None,
        place=("second", "09:32:00"),
    ),
    "org": Sample("org", "a.org", _ORG.encode(), link="https://example.org/pot"),
    "rst": Sample("restructuredtext", "a.rst", _RST.encode(), link="https://example.org/pot"),
    "adoc": Sample("asciidoc", "a.adoc", _ADOC.encode(), link="https://example.org/pot"),
    "mediawiki": Sample(
        "mediawiki", "a.mediawiki", _WIKI.encode(), date=None, link="https://example.org/pot"
    ),
    "tex": Sample("latex", "a.tex", _TEX.encode(), link="https://example.org/pot"),
    "canvas": Sample(
        "canvas",
        "a.canvas",
        json.dumps({"nodes": _NODES}).encode(),
        date=None,
        link="https://example.org/pot",
    ),
    "csv": Sample(
        "csv_rows",
        "a.csv",
        f"drink;note\ntea;{SENTENCE}\n".encode(),
        title=None,
        date=None,
        place=("row", "1"),
    ),
    "json": Sample(
        "json_text",
        "a.json",
        json.dumps({"tée": SENTENCE}).encode(),
        title=None,
        date=None,
    ),
    "opml": Sample(
        "opml",
        "a.opml",
        _OPML.encode(),
        date="2024-05-17T00:00:00+00:00",
        link="https://example.org/pot",
    ),
    "bookmarks": Sample(
        "bookmarks",
        "bookmarks.html",
        _BOOKMARKS.encode(),
        date="2024-05-17T09:31:00+00:00",
        link="https://example.org/pot",
    ),
}

ADA = "Ada Lovelace"
_BOTH = "pdf docx pptx xlsx odt ods odp epub rtf org rst adoc".split()
_NAMES = {
    **dict.fromkeys((*_BOTH, "html", "html in UTF-16"), (ADA, "en-GB")),
    **dict.fromkeys(("ipynb", "ipynb of format 3", "tex", "opml"), (ADA, None)),
    **dict.fromkeys(("eml", "eml in HTML", "maildir"), ("Ada Löve <ada@example.org>", "en-GB")),
    "vtt": (None, "en-GB"),
}
"""Author and language of the samples that name them."""

SAMPLES |= {
    name: SAMPLES[name]._replace(author=author, language=language)
    for name, (author, language) in _NAMES.items()
}
