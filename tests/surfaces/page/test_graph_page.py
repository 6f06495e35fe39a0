"""The links around a document, drawn and as lists."""

from __future__ import annotations

import re
from html import unescape

import pytest

from qmd.surfaces.page.link_graph import MOST, link_graph
from qmd.surfaces.tools.dispatch import Toolbox
from tests.library import Library
from tests.surfaces.page.test_pages import HTML, Tags
from tests.surfaces.service import service

NODE = re.compile(
    r'<g class="step(\d)">(.*?)<a href="([^"]*)" aria-label="([^"]*)">.*?<rect x="(\d+)"', re.S
)


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    """A server of notes that link to the next one each, n1 to n7; n4 and `both` to each other."""
    library = Library(tmp_path_factory.mktemp("graph"))
    for number in range(1, 8):
        more = " [[both]] [gone](absent.md) <https://elsewhere.example>" if number == 4 else ""
        library.write(f"n{number}.md", f"# N{number}\n\n[[n{number + 1}]]{more}\n")
    library.write("both.md", "# <script>Both\n\n[back](n4.md) [[n1]]\n")
    library.write("alone.md", "# Alone\n")
    for number in range(30):
        library.write(f"many/m{number:02}.md", f"# M{number:02}\n\n[[hub]]\n")
    library.write("hub.md", "# Hub\n")
    library.update()
    with service(Toolbox(library.engine)) as made:
        yield made
    library.engine.close()


def nodes(text):
    """Title of each document that is drawn: its step, column, lines and address."""
    return {
        unescape(title): (int(step), int(x) // 250, lines.count("<path"), url)
        for step, lines, url, title, x in NODE.findall(text)
    }


def lists(text):
    """Addresses of each list, by its head."""
    found = {}
    for part in text.split("<h2>")[1:]:
        found[part.partition(" <span")[0]] = Tags(part.partition("</section>")[0]).hrefs()
    return found


def test_documents_are_drawn_by_their_steps_and_lead_on(chain):
    text = chain.get("/links/notes/n4.md", headers=HTML).text
    assert nodes(text) == {
        "N2": (2, 0, 1, "/links/notes/n2.md"),
        "N3": (1, 1, 1, "/links/notes/n3.md"),
        "N4": (0, 2, 0, "/doc/notes/n4.md"),
        "<script>Both": (1, 3, 1, "/links/notes/both.md"),
        "N5": (1, 3, 1, "/links/notes/n5.md"),
        "N6": (2, 4, 1, "/links/notes/n6.md"),
        "N1": (2, 4, 1, "/links/notes/n1.md"),
    }
    assert text.count("marker-start") == 1
    assert "<script>Both" not in text


def test_lists_have_all_that_is_drawn(chain):
    text = chain.get("/links/notes/n4.md", headers=HTML).text
    found = lists(text)
    assert found.pop("Similar passages", None) is not None
    assert found == {
        "Links here": ["/doc/notes/n3.md"],
        "Linked both ways": ["/doc/notes/both.md"],
        "Linked from here": ["/doc/notes/n5.md"],
        "Leads to no document": [],
        "Two links before": ["/doc/notes/n2.md"],
        "Two links on": ["/doc/notes/n1.md", "/doc/notes/n6.md"],
    }
    assert "absent.md" in text
    assert "by N3" in text


def test_a_column_ends_where_the_list_tells_how_many_more(chain):
    text = chain.get("/links/notes/hub.md", headers=HTML).text
    drawn = nodes(text)
    assert len(drawn) == MOST + 1
    assert all(drawn[f"M{number:02}"][1] == 0 for number in range(MOST))
    assert drawn["Hub"][1] == 1
    assert "… 6 more" in text
    assert 'Links here <span class="n">30</span>' in text


def test_a_document_without_links_says_so(chain):
    text = chain.get("/links/notes/alone.md", headers=HTML).text
    assert "<figure" not in text
    assert "No document links here" in text


def test_the_part_beside_a_document_leads_to_the_drawing(chain):
    text = chain.get("/links/notes/n4.md", headers=HTML | {"X-Part": "links"}).text
    assert "<svg" not in text
    assert "/links/notes/n4.md" in Tags(text).hrefs()


def test_names_of_the_second_step_stand_beside_those_they_are_linked_with():
    def row(step, file, *via):
        return {"step": step, "file": file, "title": file, "via": list(via)}

    rows = [row(1, "a"), row(1, "b"), row(2, "to b", "b"), row(2, "to a", "a"), row(2, "x", "far")]
    graph = link_graph("me", "Me", rows)
    heights = {node.file: node.y for node in graph.nodes}
    assert heights["a"] < heights["b"]
    assert heights["to a"] < heights["to b"]
    assert "x" not in heights
    assert link_graph("me", "Me", []) is None
