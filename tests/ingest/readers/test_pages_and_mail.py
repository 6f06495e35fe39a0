"""HTML, mail, mailboxes, bookmarks and PDF: what is particular to each."""

from __future__ import annotations

import pytest

from qmd.ingest.readers import bookmarks, html, mail, mbox, pdf
from qmd.ingest.readers.reading import Unreadable
from tests.ingest.readers.pdfs import pdf as pdf_of


def page(body: str) -> str:
    return html.read(f"<!doctype html><body>{body}".encode(), "a").text


def test_blocks_of_html_become_markdown():
    body = (
        "<h2>Tea <small>x</small></h2><p>a<br>b</p><ul><li>c<ul><li>d</ul><li><p>e<p>f</ul>"
        "<ol start=3><li>g<li>h</ol><blockquote><p>i<p>j</blockquote>"
        '<pre><code class="language-py">k()\n  l</code></pre><dl><dt>m<dd>n</dl>'
    )
    assert page(body) == (
        "## Tea x\n\na\nb\n\n- c\n  - d\n- e\n\n  f\n3. g\n4. h\n\n> i\n\n> j\n\n"
        "```py\nk()\n  l\n```\n\nm\n\n- n\n"
    )


def test_tables_of_data_become_rows_and_tables_of_layout_do_not():
    data = "<table><caption>T</caption><tr><th>a<th>b<tr><td>c|d<td><p>e<p>f</table>"
    assert page(data) == "T\n\n| a | b |\n| --- | --- |\n| c\\|d | e f |\n"
    layout = "<table><tr><td><h1>T</h1><td><table><tr><td>a<td>b</table></table>"
    assert page(layout) == "# T\n\n| a | b |\n| --- | --- |\n"
    assert page("<table role=presentation><tr><td>a<td>b</table>") == "a\n\nb\n"


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>zz</script>",
        "<style>zz</style>",
        "<noscript>zz</noscript>",
        "<svg><title>zz</title></svg>",
        "<nav>zz</nav>",
        "<div role=navigation>zz</div>",
        "<p hidden>zz</p>",
        "<p aria-hidden=true>zz</p>",
        '<p style="DISPLAY:none">zz</p>',
        '<span class="x sr-only">zz</span>',
        "<select><option>zz</select>",
        "<!-- zz -->",
        "<a href='#t' class=headerlink>zz</a>",
    ],
)
def test_hidden_text_and_furniture_are_left_out_and_their_neighbours_kept(hidden):
    assert page(f"<p>a {hidden}b</p><p>c</p>").split() == ["a", "b", "c"]


def test_links_are_kept_but_for_scripts_and_jumps():
    body = (
        '<a href="b c.html">x</a> <a href="javascript:zz()">y</a> <a href="#n">1</a> '
        '<a href="https://e.org">https://e.org</a> <img src=p.png alt=pot><img src="data:zz">'
    )
    found = html.read(body.encode(), "a")
    assert found.text == "[x](b%20c.html) y [1] https://e.org pot\n"
    assert found.links == ("b c.html", "https://e.org", "p.png")


def test_a_page_without_a_head_is_read_whole():
    found = html.read(
        b"<title>T</title><meta name=author content=Ada><section><p>tea</section>", "a"
    )
    assert (found.title, found.author, found.text) == ("T", "Ada", "tea\n")


def test_encodings_are_declared_or_guessed():
    declared = '<meta charset="windows-1251"><p>Чай с лимоном'.encode("cp1251")
    assert html.read(declared, "a").text == "Чай с лимоном\n"
    guessed = ("<p>" + "Чай с лимоном и сахаром стоит на столе. " * 5).encode("cp1251")
    assert "Чай с лимоном" in html.read(guessed, "a").text
    assert html.read("<p>Grün".encode("cp1252"), "a").text.startswith("Gr")


def test_a_rule_at_the_top_opens_no_front_matter_and_a_hash_no_heading():
    assert page("<p>---<p># x<p>y") == "\\# x\n\ny\n"


def message(headers: str, body: str = "tea") -> mail.Reading:
    return mail.read(f"{headers}\n\n{body}\n".encode(), "a")


def test_headers_are_decoded_in_all_their_ways_of_writing():
    assert message("Subject: =?iso-8859-1?q?Caf=E9?=\n =?utf-8?b?IOKYlQ==?=").title == "Café ☕"
    assert message("Subject: Grüße aus Köln").title == "Grüße aus Köln"
    assert (
        message("Subject: a\nFrom: =?utf-8?q?L=C3=B6ve=2C_Ada?= <a@b.c>").author
        == "Löve, Ada <a@b.c>"
    )
    assert message("Subject: =?x-unknown?q?tea?=\nDate: gestern").date is None


def test_a_file_without_headers_is_no_mail():
    for data in (b"Dear Ada,\n\ntea", b"note: tea\n\npot"):
        with pytest.raises(Unreadable, match=r"^no mail"):
            mail.read(data, "a")


def test_of_alternatives_the_plain_one_is_read_unless_it_is_empty():
    parts = (
        "--x\nContent-Type: text/plain\n\n{}\n--x\nContent-Type: text/html\n\n<p>rich</p>\n--x--"
    )
    head = "Subject: a\nContent-Type: multipart/alternative; boundary=x"
    assert message(head, parts.format("plain")).text == "plain\n"
    assert message(head, parts.format(" ")).text == "rich\n"


def test_a_forwarded_message_is_an_attachment_with_its_subject_for_a_name():
    body = "--x\n\nsee\n--x\nContent-Type: message/rfc822\n\nSubject: Tea/pot\n\ninner\n--x--"
    found = message("Subject: Fwd\nContent-Type: multipart/mixed; boundary=x", body)
    assert found.text == "see\n"
    (inner,) = found.attachments
    assert inner.name == "Tea_pot.eml"
    assert mail.read(inner.data, inner.name).text == "inner\n"


def test_messages_of_a_mailbox_begin_at_dated_lines_only():
    data = (
        b"From a@b Fri May 17 09:31:00 2024\nSubject: One\n\nFrom here on\n>From there\n\n"
        b"From c@d Fri May 17 09:31:00 2024\nSubject: Two\n\npot\n"
    )
    assert mbox.read(data, "a").text == "## One\n\nFrom here on\nFrom there\n\n## Two\n\npot\n"


def test_folders_of_bookmarks_are_headings_and_tags_stay():
    data = (
        b"<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><H3>A</H3><DL><DT><H3>B</H3><DL>"
        b'<DT><A HREF="https://e.org" TAGS="x,y">E</A></DL></DL></DL>'
    )
    assert bookmarks.read(data, "a").text == "## A\n\n### B\n- [E](https://e.org) (x, y)\n"


def test_entries_of_the_outline_of_a_pdf_are_headings():
    found = pdf.read(pdf_of(["Brewing", "tea"], outline="Brewing", info=""), "a")
    assert (found.text, found.title, found.language) == ("# Brewing\n\ntea\n", "Brewing", "en-GB")


def test_a_word_that_a_line_of_a_pdf_breaks_is_whole():
    found = pdf.read(pdf_of(["infor\\255", "mation"]), "a")
    assert found.text == "information\n"
