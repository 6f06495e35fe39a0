"""Dates of a document, and similar passages, on its page."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from html import unescape

import pytest

from qmd.operations.search import search
from qmd.surfaces.page.document_dates import MOST_DAYS
from qmd.surfaces.page.markdown_html import plain_text
from qmd.surfaces.tools.dispatch import Toolbox
from tests.library import Library
from tests.ranking.texts import EDITED, TEA
from tests.surfaces.page.test_pages import HTML, Tags
from tests.surfaces.service import service

LOG = """---
updated: 2024-05-03 10:15
created: 2024-02-28
review_by: 2025
---
# Log of the harbour

## 2024-04-01

Dredged, see https://a.example/2020-01-01/ file 2020-02-02.md and a-2020-03-03.

## 2024-03-05

Dredged 2024-03-06T12:00 and 2024-04-01, not on 2024-13-01.
"""
EVENT = re.compile(
    r'<li><time datetime="(?P<at>[^"]+)">[^<]*</time> <span dir="auto">(?P<label>[^<]+?)'
    r'(?P<main> <span class="tag"[^>]*>main</span>)?</span></li>'
)
DAY = re.compile(r'<a href="([^"]+)"><time datetime="([^"]+)">')


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    library = Library(tmp_path_factory.mktemp("reader"))
    library.write("log-2024-03-01.md", LOG)
    library.write("plain.md", "# Plain\n\nNothing of the kind.\n")
    library.write("teas/old.md", f"---\ndate: 2023-01-01\n---\n{TEA}")
    library.write("teas/new.md", f"---\ndate: 2024-01-01\n---\n{EDITED}")
    library.write("teas/copy-2022-01-01.md", f"---\ndate: 2023-01-01\n---\n{TEA}")
    library.update()
    yield library
    library.engine.close()


@pytest.fixture(scope="module")
def reader(library):
    with service(Toolbox(library.engine)) as made:
        yield made


def events(text):
    """(moment, label, whether it is the date of the document) of each date."""
    return [(m["at"], unescape(m["label"]), bool(m["main"])) for m in EVENT.finditer(text)]


def alike(server, file):
    return server.get(f"/links/{file}", headers={**HTML, "x-part": "alike"}).text


def part(text, title):
    return text.partition(f"<h2>{title}")[2].partition("<h2>")[0]


def test_dates_stand_in_the_order_of_time_with_what_they_say(reader):
    text = reader.get("/doc/notes/log-2024-03-01.md", headers=HTML).text
    found = events(text)
    assert [*found[:3]] == [
        ("2024-02-28", "created", True),
        ("2024-03-01", "in the name of the file", False),
        ("2024-05-03T10:15Z", "updated, 10:15", False),
    ]
    (_, label, _) = found[3]
    assert label.startswith("file changed, ")
    assert len(found) == 4
    # What is a date is not listed a second time, and what is not known as one stays.
    about = text.partition("<h2>About</h2>")[2].partition("<h2>Dates")[0]
    assert "review_by" in about
    assert "created" not in about


def test_days_in_the_text_lead_to_their_lines(reader):
    text = reader.get("/doc/notes/log-2024-03-01.md", headers=HTML).text
    assert [(day, unescape(url)) for url, day in DAY.findall(text)] == [
        ("2024-03-05", "/doc/notes/log-2024-03-01.md?line=12#hit"),
        ("2024-03-06", "/doc/notes/log-2024-03-01.md?line=14#hit"),
        ("2024-04-01", "/doc/notes/log-2024-03-01.md?line=8#hit"),
    ]
    assert "3 days in the text" in text
    assert "in the text" not in reader.get("/doc/notes/plain.md", headers=HTML).text


def test_many_days_are_counted_and_the_first_listed(tmp_path):
    library = Library(tmp_path)
    days = [f"2023-{month:02}-{day:02}" for month in range(1, 3) for day in range(1, 29)]
    library.write("many.md", "\n\n".join(days))
    library.update()
    with service(Toolbox(library.engine)) as server:
        text = server.get("/doc/notes/many.md", headers=HTML).text
    library.engine.close()
    assert [day for _, day in DAY.findall(text)] == days[:MOST_DAYS]
    assert f"{len(days)} days in the text" in text
    assert f"… {len(days) - MOST_DAYS} more" in text


def test_a_file_that_changed_or_went_after_the_update_says_so(tmp_path):
    library = Library(tmp_path)
    library.write("tea.md", "# Tea\n")
    library.update()
    with service(Toolbox(library.engine)) as server:
        path = library.root / "tea.md"
        path.write_text("# Tea\n\nBrewed again.\n")
        moment = datetime(2031, 1, 2, 3, 4, tzinfo=UTC).timestamp()
        os.utime(path, (moment, moment))
        changed = events(server.get("/doc/notes/tea.md", headers=HTML).text)
        assert changed[-1] == (
            "2031-01-02T03:04Z",
            "file changed since it was indexed, 03:04",
            False,
        )
        path.unlink()
        gone = server.get("/doc/notes/tea.md", headers=HTML).text
        assert len(events(gone)) == 1
        assert "The file has gone since it was indexed." in gone
    library.engine.close()


def test_properties_of_a_file_are_facts_and_dates(tmp_path):
    library = Library(tmp_path)
    settings = tmp_path / "index.yml"
    settings.write_text(f"{settings.read_text()}    pattern: all\n")
    library.write(
        "page.html",
        '<html><head><title>Page</title><meta name="author" content="Ada">'
        '<meta name="date" content="2021-02-03"></head><body><p>Words.</p></body></html>',
    )
    library.update()
    with service(Toolbox(library.engine)) as server:
        text = server.get("/doc/notes/page.html", headers=HTML).text
    library.engine.close()
    assert '<dt><bdi>author</bdi></dt><dd dir="auto">Ada</dd>' in text
    assert events(text)[0] == ("2021-02-03", "in the properties of the file", True)


def test_other_versions_of_a_text_are_listed_with_their_dates(reader):
    text = alike(reader, "notes/teas/old.md")
    same, near = part(text, "Same text"), part(text, "Nearly the same text")
    assert Tags(same).hrefs() == ["/doc/notes/teas/copy-2022-01-01.md"]
    assert Tags(near).hrefs() == ["/doc/notes/teas/new.md"]
    assert "2024-01-01 · notes/teas/new.md" in near
    assert "the same text" not in alike(reader, "notes/plain.md")


def test_searches_that_found_a_document_are_listed(reader, library):
    assert "Searches that found it" not in alike(reader, "notes/plain.md")
    for words in ("nothing <b>", "kind", "kind", "harbour"):
        search(library.engine, words)
    found = part(alike(reader, "notes/plain.md"), "Searches that found it")
    assert Tags(found).hrefs() == ["/?q=kind", "/?q=nothing+%3Cb%3E"]
    assert re.search(r"<small dir=\"auto\">\d{4}-\d\d-\d\d, 2 times</small>", found)


def test_without_vectors_words_decide_and_the_reason_is_given(reader):
    near = part(alike(reader, "notes/teas/old.md"), "Similar passages")
    assert "Compared by words alone: the document has no vectors." in near
    nothing = part(alike(reader, "notes/plain.md"), "Similar passages")
    assert "Nothing is alike." in nothing


def test_similar_passages_lead_to_their_lines(mapped):
    near = part(alike(mapped, "notes/n01.md"), "Similar passages")
    assert len(Tags(near).hrefs()) == 8
    for url in Tags(near).hrefs():
        assert re.fullmatch(r"/doc/notes/(n\d[13579]|hostile)\.md\?line=\d+#hit", url)
    # The title stands above, and not once more in the passage.
    assert re.search(r'<p class="passage" dir="auto">\s*kettle teapot brew \d+</p>', near)
    assert "no vectors" not in near
    without_script = mapped.get("/links/notes/n01.md", headers=HTML).text
    assert "<h2>Similar passages" in without_script
    assert 'class="passage"' in without_script


def test_marks_of_markdown_are_no_words_of_a_passage():
    text = "## A *b* `c`\n| **d** |e|\n|---|---|\n| [f](g) | <b>h</b> |\n\n```py\ni\n```\n<p>j</p>"
    assert plain_text(text) == "A b c d · e f · h i"
