"""Maps of documents by what they mean."""

from __future__ import annotations

import json
import math
import re
import xml.etree.ElementTree as ET

import pytest

from qmd.analytics import document_map as maps
from qmd.analytics import map_svg
from qmd.analytics.rows import Rows
from qmd.errors import NotEmbedded, UsageError
from qmd.text.display_width import columns_of
from tests.library import turned

SVG = "{http://www.w3.org/2000/svg}"


def test_documents_are_near_to_each_other_if_their_vectors_are(turning):
    turning.embed()
    made = maps.make(turning.engine)
    place = {each.title: (each.x, each.y) for each in made.points}
    assert len(place) == 5
    for a, b in ((0, 10), (10, 80), (0, 90)):
        chord = 2 * math.sin(math.radians(b - a) / 2)  # of two vectors of length 1
        assert math.dist(place[f"At {a}"], place[f"At {b}"]) == pytest.approx(chord, abs=1e-5)
    assert made.share == pytest.approx(1)
    assert (made.documents, made.lacking) == (5, 0)


def test_a_document_lies_where_the_mean_of_its_passages_does(turning, fake):
    fake.limit = 24
    text = "\n\n".join(" ".join(["word"] * 15 + [str(degrees)]) + "." for degrees in (0, 90))
    turning.write("both.md", text)
    turning.update()
    turning.embed()
    assert turning.ask("select max(seq) from chunks") == [(1,)]
    place = {each.file: (each.x, each.y) for each in maps.make(turning.engine).points}
    middle = 2 * math.sin(math.radians(45) / 2)
    assert math.dist(place["notes/both.md"], place["notes/00.md"]) == pytest.approx(
        middle, abs=1e-5
    )


def test_a_map_has_only_what_has_vectors_and_tells_what_lacks_them(turning):
    turning.embed("notes")
    made = maps.make(turning.engine)
    assert {each.collection for each in made.points} == {"notes"}
    assert made.lacking == 2


def test_a_map_of_some_collections_has_no_others(turning):
    turning.embed()
    assert {each.collection for each in maps.make(turning.engine, ["others"]).points} == {"others"}


def test_a_map_of_collections_without_vectors_says_how_to_make_them(turning):
    with pytest.raises(NotEmbedded, match="Run 'qmd embed' first"):
        maps.make(turning.engine, ["others"])
    turning.embed("notes")
    with pytest.raises(UsageError, match="No document of others has vectors yet") as refused:
        maps.make(turning.engine, ["others"])
    assert str(refused.value).endswith("\n\nRun 'qmd embed -c others' first.")


def test_too_many_documents_are_a_sample_that_stays_the_same(turning, monkeypatch):
    turning.embed()
    monkeypatch.setattr(maps, "MAX_DOCUMENTS", 3)
    made = maps.make(turning.engine)
    assert (len(made.points), made.documents) == (3, 5)
    hashes = sorted(row for (row,) in turning.ask("select hash[:6] from documents"))
    assert sorted(each.docid for each in made.points) == [f"#{each}" for each in hashes[:3]]
    assert "3 of 5 documents" in made.svg()


def test_too_few_documents_for_tsne_are_refused(turning):
    pytest.importorskip("sklearn")
    turning.embed("notes")
    with pytest.raises(UsageError, match=r"t-SNE needs 5 documents with vectors; there are 3\."):
        maps.make(turning.engine, method="tsne")


def test_groups_are_called_by_terms_that_others_rarely_have(faked, fake):
    fake.vector = turned
    fake.dimensions = 2
    for at in range(12):
        faked.write(f"tea{at}.md", f"# Tea\n\nOolong every day, cup {at}\n")
        faked.write(f"car{at}.md", f"# Car\n\nBrakes every day, test {at + 70}\n")
    faked.update()
    faked.embed()
    made = maps.make(faked.engine)
    assert len(made.labels) == 2
    assert {frozenset(each.text.split(" · ")) for each in made.labels} <= {
        frozenset(pair)
        for terms in ({"tea", "oolong", "cup"}, {"car", "brakes", "test"})
        for pair in ([a, b] for a in terms for b in terms)
    }
    groups = {
        each.title: {p.group for p in made.points if p.title == each.title} for each in made.points
    }
    assert groups["Tea"].isdisjoint(groups["Car"])


def test_a_picture_is_whole_xml_with_a_title_for_each_document(turning):
    turning.write("evil.md", "# <script>alert(1)</script> & \x01 水 5\n")
    turning.update()
    turning.embed()
    made = maps.make(turning.engine)
    root = ET.fromstring(made.svg())
    titles = [
        mark.findtext(f"{SVG}title")
        for group in root.findall(f"{SVG}g[@class='of']")
        for mark in group
    ]
    assert len(titles) == 6
    assert any(
        "<script>alert(1)</script> & \ufffd 水 5\nnotes/evil.md #" in each for each in titles
    )
    assert "<script>alert" not in made.html()


def _light(colour: str) -> float:
    """How light a colour is, 0 to 1. Source: WCAG 2.2, relative luminance."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(a * b for a, b in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("colour", [map_svg.INK, map_svg.PALE])
def test_letters_can_be_read_on_the_ground(colour):
    assert (_light(map_svg.GROUND) + 0.05) / (_light(colour) + 0.05) >= 4.5


def test_labels_have_halos_below_all_letters_and_no_letter_is_painted_over():
    points = [maps.MapPoint("#123456", "a/x.md", "x", "a", x, 0, 0) for x in (0, 1)]
    labels = [maps.ClusterLabel(0, 0, "oolong"), maps.ClusterLabel(1, 0, "brakes")]
    made = maps.Map("pca", "fake", 2, 0, None, Rows(maps.MapPoint, points), labels)
    root = ET.fromstring(made.svg())
    assert root.find(f"{SVG}rect").attrib["fill"] == map_svg.GROUND
    halos, *letters = root.find(f"{SVG}g[@class='labels']")
    assert halos.attrib == {"class": "halo", "aria-hidden": "true"}
    assert [each.text for each in letters] == [each.text for each in halos] == ["oolong", "brakes"]
    style = root.findtext(f"{SVG}style")
    assert f".halo text {{ stroke: {map_svg.GROUND};" in style
    assert "paint-order" not in style


def test_points_stay_inside_the_picture(turning):
    turning.embed()
    root = ET.fromstring(maps.make(turning.engine).svg())
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    marks = [mark for group in root.findall(f"{SVG}g[@class='of']") for mark in group]
    assert all(0 < float(mark.attrib["cx"]) < width for mark in marks)
    assert all(0 < float(mark.attrib["cy"]) < height for mark in marks)


def test_collections_beyond_the_colours_are_squares_and_then_grey():
    from qmd.analytics.map_svg import _keys

    points = [
        maps.MapPoint("#123456", f"c{n}/x.md", "x", f"c{n:02}", 0, 0, 0)
        for n in range(14)
        for _ in range(20 - n)
    ]
    keys = _keys(points)
    assert [key.square for key in keys] == [False] * 6 + [True] * 5 + [False]
    assert (keys[-1].name, keys[-1].documents) == ("", 9 + 8 + 7)
    assert len({(key.colour, key.square) for key in keys}) == len(keys)


def test_a_page_asks_nothing_of_the_network(turning):
    turning.embed()
    page = maps.make(turning.engine).html()
    assert "default-src 'none'" in page
    without_names = page.replace("http://www.w3.org/2000/svg", "")
    assert "http" not in without_names.replace("http-equiv", "")
    assert "src=" not in page


def test_a_map_is_written_as_a_page_or_a_picture_and_its_path_told(turning, monkeypatch, capsys):
    from qmd.surfaces.cli import run

    turning.embed("notes")
    folder = turning.folder
    (folder / "here").mkdir()
    monkeypatch.chdir(folder / "here")
    monkeypatch.setenv("QMD_CONFIG_DIR", str(folder))
    monkeypatch.setenv("INDEX_PATH", str(folder / "index.duckdb"))
    monkeypatch.setenv("QMD_EMBED_MODEL", str(folder / "fake.gguf"))
    assert run(["map"]) == 0
    assert capsys.readouterr() == (
        "qmd-map.html\n", "Documents that lack vectors: 2. Run 'qmd embed'.\n",
    )  # fmt: skip
    assert run(["map", "x.svg", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["file"], facts["method"], facts["shown"]) == ("x.svg", "pca", 3)
    assert facts["lacking"] == 2
    assert (folder / "here" / "qmd-map.html").read_text().startswith("<!doctype html>")
    assert (folder / "here" / "x.svg").read_text().startswith("<svg")
    assert run(["map"]) == run(["map", "x.svg"]) == 0  # they are its own
    (folder / "here" / "qmd-map.html").write_text("<p>A page of mine.</p>")
    capsys.readouterr()
    assert run(["map"]) == 1
    assert "qmd-map.html is there already, and no picture of qmd." in capsys.readouterr().err
    assert (folder / "here" / "qmd-map.html").read_text() == "<p>A page of mine.</p>"
    assert run(["map", "--force"]) == 0


def test_what_was_there_stays_if_a_picture_cannot_be_written(turning, tmp_path, monkeypatch):
    turning.embed()
    (tmp_path / "x.svg").write_text("before")

    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(UsageError, match=r"x\.svg cannot be written: No space left"):
        maps.make(turning.engine).save(tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_text() == "before"
    assert list(tmp_path.glob(".*")) == []


@pytest.mark.parametrize("letter", ["a", "é", "界"])
def test_a_long_name_is_cut_in_the_legend(letter):
    [key] = map_svg._keys([map_svg.MapPoint("#a", "n/a.md", "A", letter * 100_000, 0, 0, 0)])
    [label] = re.findall(">([^<]+)</text>", "".join(map_svg._legend([key])))
    name = label.removesuffix(" (1)")
    assert name.rstrip("…").strip(letter) == ""
    assert map_svg.LEGEND_COLUMNS - 1 <= columns_of(name) <= map_svg.LEGEND_COLUMNS
