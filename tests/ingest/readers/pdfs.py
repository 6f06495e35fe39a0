"""PDF files, written object by object."""

from __future__ import annotations

from collections.abc import Sequence


def pdf(
    *pages: Sequence[str],
    info: str = "/Title(Tea handbook)/Author(Ada Lovelace)/CreationDate(D:20240517093100+02'00')",
    outline: str = "",
    link: str = "",
    trailer: str = "",
) -> bytes:
    """A document of pages, each of lines.

    Args:
        outline: title of the one entry, which leads to the first page.
        link: address of an annotation on the first page.
        trailer: further entries of the trailer.
    """
    kids = " ".join(f"{6 + 2 * at} 0 R" for at in range(len(pages)))
    objects = {
        1: f"<</Type/Catalog/Pages 2 0 R/Lang(en-GB){'/Outlines 4 0 R' if outline else ''}>>",
        2: f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>",
        3: "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        4: "<</Type/Outlines/First 5 0 R/Last 5 0 R/Count 1>>",
        5: f"<</Title({outline})/Parent 4 0 R/Dest[6 0 R/Fit]>>",
    }
    for at, lines in enumerate(pages):
        annotation = (
            f"/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI({link})>>>>]"
            if link and not at
            else ""
        )
        objects[6 + 2 * at] = (
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>>>"
            f"/Contents {7 + 2 * at} 0 R{annotation}>>"
        )
        shown = "".join(f"({line}) Tj 0 -14 Td " for line in lines)
        stream = f"BT /F 12 Tf 50 750 Td {shown}ET" if lines else ""
        objects[7 + 2 * at] = f"<</Length {len(stream)}>>stream\n{stream}\nendstream"
    number = 6 + 2 * len(pages)
    objects[number] = f"<<{info}>>"
    made, places = bytearray(b"%PDF-1.7\n"), []
    for key in sorted(objects):
        places.append(len(made))
        made += f"{key} 0 obj{objects[key]}endobj\n".encode("latin-1")
    start = len(made)
    made += f"xref\n0 {number + 1}\n0000000000 65535 f \n".encode()
    made += "".join(f"{place:010} 00000 n \n" for place in places).encode()
    made += f"trailer<</Size {number + 1}/Root 1 0 R/Info {number} 0 R{trailer}>>\n".encode(
        "latin-1"
    )
    return bytes(made + f"startxref\n{start}\n%%EOF\n".encode())


ENCRYPTED = "/Encrypt<</Filter/Standard/V 1/R 2/O<{0}>/U<{0}>/P -4>>/ID[<{1}><{1}>]".format(
    "ab" * 32, "cd" * 16
)
"""Entries of a trailer; a password is needed to read the file."""
