"""The page that shows the index at a glance, as it comes over HTTP."""

from __future__ import annotations

import re
from html import unescape

import pytest

from qmd.surfaces.http.app import Options
from qmd.surfaces.page.look_page import MOST_PERIODS
from qmd.surfaces.tools.dispatch import Toolbox
from tests.library import Library
from tests.surfaces.page.test_pages import HTML, Tags
from tests.surfaces.service import service

BAR = re.compile(
    r'<tr><th scope="row"><a href="([^"]*)"><bdi>(.*?)</bdi></a></th>'
    r'.*?<td class="number">([\d,]+)</td></tr>'
)
PERIOD = re.compile(r'<a href="([^"]*)" aria-label="([\d-]+): (\d+) document')
COUNT = re.compile(r"<p><strong>([\d,]+)</strong> document")


def shares(text, group):
    """(name, documents, address) of each bar of a group."""
    part = text.partition(f"<h2>{group}</h2>")[2].partition("</section>")[0]
    return [(unescape(name), int(n), unescape(url)) for url, name, n in BAR.findall(part)]


def periods(text):
    return {label: (int(n), unescape(url)) for url, label, n in PERIOD.findall(text)}


def part(text, title):
    return text.partition(f"<h2>{title}")[2].partition("<h2>")[0]


@pytest.fixture(scope="module")
def dated(tmp_path_factory):
    """A server of documents from 1999 to 2003, and of one with hostile names."""
    library = Library(tmp_path_factory.mktemp("look"))
    for year, count in ((1999, 1), (2001, 4), (2003, 2)):
        for number in range(count):
            library.write(
                f"y{year}/n{number}.md",
                f"---\ndate: {year}-0{number + 1}-15\ntags: [t{number % 2}]\n---\n# N{number}\n",
            )
    library.write(
        "<b>/x.md",
        '---\ndate: 2003-12-31\ntags: ["<i>\'"]\n---\n# <u>X</u>\n\n'
        "[gone <s>](absent.md) [[y1999/n0]]\n",
    )
    library.update()
    with service(Toolbox(library.engine)) as made:
        yield made
    library.engine.close()


def test_bars_count_documents_and_lead_to_them(dated):
    text = dated.get("/look", headers=HTML).text
    found = {label: n for label, (n, _) in periods(text).items()}
    assert found == {"2001-01": 1, "2001-02": 1, "2001-03": 1, "2001-04": 1, "1999-01": 1} | {
        "2003-01": 1,
        "2003-02": 1,
        "2003-12": 1,
    }
    assert [each[:2] for each in shares(text, "Collections")] == [("notes", 8)]
    assert [each[:2] for each in shares(text, "Folders")] == [
        ("notes/y2001", 4),
        ("notes/y2003", 2),
        ("notes/<b>", 1),
        ("notes/y1999", 1),
    ]
    assert [each[:2] for each in shares(text, "Tags")] == [("t0", 4), ("t1", 3), ("<i>'", 1)]
    assert [each[:2] for each in shares(text, "Kinds of file")] == [("md", 8)]
    groups = ("Collections", "Folders", "Tags", "Kinds of file")
    led = [(n, url) for each in groups for _, n, url in shares(text, each)]
    for documents, url in [*periods(text).values(), *led]:
        assert COUNT.search(dated.get(url, headers=HTML).text)[1] == str(documents), url


def test_bars_stand_where_their_time_is(dated):
    text = dated.get("/look", headers=HTML).text
    at = [int(x) for x in re.findall(r'class="room" x="(\d+)"', text)]
    months = [(1999, 1), *((2001, m) for m in (1, 2, 3, 4)), (2003, 1), (2003, 2), (2003, 12)]
    assert at == [10 * (12 * (year - 1999) + month - 1) for year, month in months]


def test_a_long_time_is_shown_by_years_and_its_end_alone(tmp_path):
    library = Library(tmp_path)
    for year in (1066, 1850, 1990, 2020):
        library.write(f"{year}.md", f"---\ndate: {year}-06-01\n---\n# Y\n")
    library.update()
    with service(Toolbox(library.engine)) as made:
        text = made.get("/look", headers=HTML).text
    assert {label: n for label, (n, _) in periods(text).items()} == {"1990": 1, "2020": 1}
    assert f'viewBox="0 0 {10 * MOST_PERIODS} 118"' in text
    library.engine.close()


def test_loose_ends_lead_to_their_documents(dated):
    text = dated.get("/lists", headers=HTML).text
    broken = part(text, "Broken links")
    assert '<span class="n">1</span>' in broken
    assert Tags(broken).hrefs() == ["/doc/notes/%3Cb%3E/x.md?line=7#hit"]
    assert "notes/&lt;b&gt;/x.md → absent.md" in broken
    orphans = part(text, "No document links here")
    assert '<span class="n">7</span>' in orphans
    assert "/doc/notes/y1999/n0.md" not in Tags(orphans).hrefs()
    assert "Every search in the log has found something." in text


def test_the_part_is_the_lists_alone(dated):
    text = dated.get("/lists", headers={**HTML, "x-part": "links"}).text
    assert "<html" not in text
    assert "absent.md" in text


@pytest.mark.parametrize("path", ["/look", "/lists"])
def test_names_are_text(dated, path):
    text = dated.get(path, headers=HTML).text
    assert not {tag for tag, _ in Tags(text).found} & {"b", "i", "u", "s"}
    assert " style=" not in text


def test_an_empty_index_says_so(tmp_path):
    library = Library(tmp_path)
    library.update()
    with service(Toolbox(library.engine)) as made:
        answer = made.get("/look", headers=HTML)
        assert answer.status_code == 200
        assert "There are no documents yet." in answer.text
        assert made.get("/lists", headers=HTML).status_code == 200
    library.engine.close()


def test_the_pages_need_a_login(kept):
    with service(Toolbox(kept.engine), Options(token="secret")) as made:
        for path in ("/look", "/lists"):
            answer = made.get(path, headers=HTML, follow_redirects=False)
            assert (answer.status_code, answer.headers["location"]) == (
                303,
                f"/login?next=%2F{path[1:]}",
            )
