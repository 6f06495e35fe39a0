"""The map of meaning, as it comes over HTTP."""

from __future__ import annotations

import re
import time
from html import unescape

import pytest

from qmd.storage.file_version import SETTLED_NS
from qmd.surfaces.http.app import Options
from qmd.surfaces.page import map_page
from qmd.surfaces.tools.dispatch import Toolbox
from tests.library import Library
from tests.surfaces.page.test_pages import HTML, Tags
from tests.surfaces.service import service

HIT = re.compile(
    r'<a class="lit-hit" href="([^"]*)" aria-label="(\d+): ([^"]*)">'
    r'.*?<circle cx="(\d+)" cy="(\d+)"',
    re.S,
)
STEP = re.compile(r"m(-?\d+) (-?\d+)h0")


def points(svg):
    """Places of a picture of points."""
    found = []
    for path in svg.split("<path")[1:]:
        x = y = 0
        for right, down in STEP.findall(path):
            x, y = x + int(right), y + int(down)
            found.append((x, y))
    return found


def near(server, at):
    """Documents that are listed around a place, the nearest first."""
    text = server.get(f"/map?at={at[0]},{at[1]}", headers=HTML | {"X-Part": "near"}).text
    return [each.removeprefix("/doc/") for each in Tags(text).hrefs()]


def test_each_document_is_a_point_of_one_picture(mapped):
    text = mapped.get("/map", headers=HTML).text
    address = re.search(r'<image href="([^"]*)"', text)[1]
    answer = mapped.get(unescape(address))
    assert answer.headers["content-type"] == "image/svg+xml"
    assert "sandbox" in answer.headers["content-security-policy"]
    found = points(answer.text)
    assert len(set(found)) == len(found)
    for place in found:
        assert 0 <= place[0] <= 1000
        assert 0 <= place[1] <= 640
    assert {near(mapped, place)[0] for place in found} <= {
        f"notes/{each}.md" for each in ("hostile", *(f"n{number:02}" for number in range(24)))
    }
    assert "25 documents by meaning" in text


def test_results_are_lit_up_where_their_documents_are(mapped):
    text = mapped.get("/map?q=kettle&mode=words", headers=HTML).text
    hits = HIT.findall(text)
    assert sorted(int(number) for _, number, *_ in hits) == list(range(1, 14))
    for url, _, _, x, y in hits:
        file = unescape(url).removeprefix("/doc/").partition("?")[0]
        assert file in near(mapped, (x, y))
    assert "<script>window" not in text
    assert "&lt;script&gt;" in text


def test_labels_lead_to_documents_of_their_group(mapped):
    text = mapped.get("/map?q=brake&mode=words", headers=HTML).text
    labels = re.findall(r'<a class="label" href="([^"]*)"', text)
    assert labels
    for url in labels:
        led = mapped.get(unescape(url), headers=HTML).text
        assert "<h2>Here</h2>" in led
        assert 'value="brake"' in led


@pytest.mark.parametrize("at", ["", "x", "1", "1,2,3", "-5,3", "99999,1", "1;2", "<b>"])
def test_what_is_no_place_is_left_out(mapped, at):
    answer = mapped.get("/map", params={"at": at}, headers=HTML)
    assert answer.status_code == 200
    assert "<h2>Here</h2>" not in answer.text


def test_the_map_follows_the_index_and_is_computed_once(tmp_path, monkeypatch):
    made = []
    real = map_page.map_drawing
    monkeypatch.setattr(map_page, "map_drawing", lambda found: made.append(1) or real(found))
    library = Library(tmp_path)
    library.write("a.md", "# A\n\ntea\n")
    library.update()
    with service(Toolbox(library.engine)) as server:
        text = server.get("/map", headers=HTML).text
        assert "qmd embed" in text
        assert 'role="alert"' in text
        assert server.get("/map/points.svg").status_code >= 400
        library.embed()
        time.sleep(2 * SETTLED_NS / 1e9)  # of a file that changed just now, nothing is remembered
        for _ in range(2):
            assert "1 document by meaning" in server.get("/map", headers=HTML).text
        assert len(made) == 1
        library.write("b.md", "# B\n\nmilk\n")
        library.update()
        library.embed()
        assert "2 documents by meaning" in server.get("/map", headers=HTML).text
        assert len(made) == 2
    library.engine.close()


def test_the_map_needs_a_login(kept):
    with service(Toolbox(kept.engine), Options(token="secret")) as made:
        for path in ("/map", "/map/points.svg"):
            assert made.get(path, headers=HTML, follow_redirects=False).status_code == 303
            assert made.get(path).status_code == 401
