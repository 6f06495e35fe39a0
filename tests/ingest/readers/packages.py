"""Documents in zip archives, made part by part."""

from __future__ import annotations

import io
import zipfile

SENTENCE = "The kettle sings at four & the leaves wait."
ESCAPED = SENTENCE.replace("&", "&amp;")
HIDDEN = "zzhidden"
"""Word that stands where no reader may look."""

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_CORE = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"
R = f'xmlns:r="{_OFFICE}"'
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
ODF = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{space}:1.0"'
    for name, space in {
        "office": "office",
        "text": "text",
        "table": "table",
        "draw": "drawing",
        "style": "style",
        "presentation": "presentation",
        "meta": "meta",
    }.items()
)
DC = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
XLINK = 'xmlns:xlink="http://www.w3.org/1999/xlink"'


def archive(members: dict[str, str | bytes], *, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", compression) as out:
        for path, content in members.items():
            out.writestr(path, content)
    return made.getvalue()


def relations(**targets: str) -> str:
    """Relations by id; `kind:target`, or `kind!target` for one outside of the package."""
    made = []
    for key, value in targets.items():
        external = "!" in value.partition(":")[0]
        kind, _, target = value.partition("!" if external else ":")
        space = _CORE if kind == "core-properties" else f"{_OFFICE}/{kind}"
        mode = ' TargetMode="External"' if external else ""
        made.append(f'<Relationship Id="{key}" Type="{space}" Target="{target}"{mode}/>')
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{space}">{"".join(made)}</Relationships>'


def core(title: str = "Tea handbook") -> str:
    return (
        '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/'
        f'core-properties" {DC} xmlns:dcterms="http://purl.org/dc/terms/"><dc:title>{title}'
        "</dc:title><dc:creator>Ada Lovelace</dc:creator><dc:language>en-GB</dc:language>"
        "<dcterms:created>2024-05-17T09:31:00Z</dcterms:created></cp:coreProperties>"
    )


def docx(body: str, *, title: str = "Tea handbook", **others: str | bytes) -> bytes:
    """A Word document; `others` are further parts of `word/`, by their kinds."""
    targets = {kind: f"{kind}:{kind}.xml" for kind in others}
    members: dict[str, str | bytes] = {
        "_rels/.rels": relations(
            a="officeDocument:word/document.xml", b="core-properties:core.xml"
        ),
        "core.xml": core(title),
        "word/_rels/document.xml.rels": relations(x="hyperlink!https://example.org/pot", **targets),
        "word/document.xml": f"<w:document {W} {R}><w:body>{body}</w:body></w:document>",
    }
    members |= {f"word/{kind}.xml": content for kind, content in others.items()}
    return archive(members)


def paragraph(text: str, style: str = "", properties: str = "") -> str:
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    run = f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'
    return f"<w:p><w:pPr>{named}{properties}</w:pPr>{run}</w:p>"


def pptx(*slides: str, notes: str = "") -> bytes:
    members: dict[str, str | bytes] = {
        "_rels/.rels": relations(a="officeDocument:ppt/p.xml", b="core-properties:core.xml"),
        "core.xml": core(),
        "ppt/_rels/p.xml.rels": relations(
            **{f"s{at}": f"slide:slides/s{at}.xml" for at in range(len(slides))}
        ),
        "ppt/p.xml": f"<p:presentation {P} {R}><p:sldIdLst>"
        + "".join(f'<p:sldId r:id="s{at}"/>' for at in range(len(slides)))
        + "</p:sldIdLst></p:presentation>",
    }
    for at, shapes in enumerate(slides):
        members[f"ppt/slides/s{at}.xml"] = (
            f"<p:sld {A} {P} {R}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
        )
    if notes:
        members["ppt/slides/_rels/s0.xml.rels"] = relations(n="notesSlide:n.xml")
        members["ppt/slides/n.xml"] = f"<p:notes {A} {P}>{shape(notes, 'body')}</p:notes>"
    return archive(members)


def shape(text: str, role: str = "body") -> str:
    lines = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
    return (
        f'<p:sp><p:nvSpPr><p:nvPr><p:ph type="{role}"/></p:nvPr></p:nvSpPr>'
        f"<p:txBody>{lines}</p:txBody></p:sp>"
    )


def xlsx(*, shared: str = "", styles: str = "", **sheets: str) -> bytes:
    """A workbook; `sheets` are rows by the names of their sheets."""
    members: dict[str, str | bytes] = {
        "_rels/.rels": relations(a="officeDocument:xl/w.xml", b="core-properties:core.xml"),
        "core.xml": core(),
        "xl/_rels/w.xml.rels": relations(
            shared="sharedStrings:shared.xml",
            styles="styles:styles.xml",
            **{f"s{at}": f"worksheet:s{at}.xml" for at in range(len(sheets))},
        ),
        "xl/w.xml": f"<workbook {S} {R}><sheets>"
        + "".join(f'<sheet name="{name}" r:id="s{at}"/>' for at, name in enumerate(sheets))
        + "</sheets></workbook>",
        "xl/shared.xml": f"<sst {S}>{shared}</sst>",
        "xl/styles.xml": f"<styleSheet {S}>{styles}</styleSheet>",
    }
    for at, rows in enumerate(sheets.values()):
        members[f"xl/s{at}.xml"] = f"<worksheet {S}><sheetData>{rows}</sheetData></worksheet>"
    return archive(members)


def odf(kind: str, body: str, *, styles: str = "", manifest: str = "<manifest/>") -> bytes:
    """An OpenDocument file of a kind: `text`, `spreadsheet` or `presentation`."""
    return archive(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "META-INF/manifest.xml": manifest,
            "meta.xml": f"<office:document-meta {ODF} {DC}><office:meta><dc:title>Tea handbook"
            "</dc:title><meta:initial-creator>Ada Lovelace</meta:initial-creator>"
            "<meta:creation-date>2024-05-17T09:31:00</meta:creation-date><dc:language>en-GB"
            "</dc:language></office:meta></office:document-meta>",
            "content.xml": f"<office:document-content {ODF} {XLINK}>"
            f"<office:automatic-styles>{styles}</office:automatic-styles><office:body><office:{kind}>{body}</office:{kind}>"
            "</office:body></office:document-content>",
        }
    )


def epub(*chapters: str, more: dict[str, str | bytes] | None = None) -> bytes:
    items = "".join(
        f'<item id="c{at}" href="c%20{at}.xhtml" media-type="application/xhtml+xml"/>'
        for at in range(len(chapters))
    )
    spine = "".join(f'<itemref idref="c{at}"/>' for at in range(len(chapters)))
    members: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": "<container><rootfiles><rootfile full-path='OEBPS/b.opf'/>"
        "</rootfiles></container>",
        "OEBPS/b.opf": f"<package xmlns='http://www.idpf.org/2007/opf'><metadata {DC}><dc:title>"
        "Tea handbook</dc:title><dc:creator>Ada Lovelace</dc:creator><dc:date>2024-05-17</dc:date>"
        f"<dc:language>en-GB</dc:language></metadata><manifest>{items}</manifest><spine>{spine}"
        "</spine></package>",
    }
    for at, chapter in enumerate(chapters):
        members[f"OEBPS/c {at}.xhtml"] = (
            '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html '
            'xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops">'
            f"<head><title>c</title><style>{HIDDEN}</style></head><body>{chapter}</body></html>"
        )
    return archive(members | (more or {}))
