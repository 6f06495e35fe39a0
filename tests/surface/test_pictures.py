"""Facts about all documents, and pictures of them, as a user meets them."""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ET
from importlib.util import find_spec

import numpy as np
import pytest

from qmd.errors import UsageError
from qmd.pictures import charts, layout, svg
from qmd.pictures import map as maps
from qmd.rows import Rows
from qmd.stats import gather
from tests.library import STEMMER, turned

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def _one_stemmer(monkeypatch):
    """To load it takes longer than all the rest."""
    monkeypatch.setattr("qmd.engine.Stemmer", lambda: STEMMER)


@pytest.fixture
def many(library):
    """A library with two collections; its notes are from two months."""
    library.configure("_$日記")
    library.write("tea.md", "---\ndate: 2025-03-14\n---\n# Tea\n\nGauges and gauge, the gauges.\n")
    library.write("pool.md", "---\ndate: 2025-03-20\n---\n# Pool\n\n" + "Gauge. " * 200)
    library.write("old.md", "---\ndate: 2024-01-02\n---\n# Old\n\nThe 2024 the.\n")
    library.write(
        "茶.md", "---\ndate: 2025-03-01\n---\n# 茶と水\n\n茶を飲む。\n", collection="_$日記"
    )
    library.update()
    return library


@pytest.fixture
def drawn(qmd, tmp_path, monkeypatch):
    """Runs a command in an empty folder, on an index of notes of two collections."""
    for name, day in (("tea", "2025-03-14"), ("pool", "2024-01-02")):
        root = tmp_path / f"${name}茶"
        root.mkdir()
        (root / f"{name}.md").write_text(f"---\ndate: {day}\n---\n# {name} & <水>\n\nWords.\n")
        assert qmd("collection", "add", root)[0] == 0
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return qmd


@pytest.fixture
def turning(faked, fake):
    """A library whose documents have vectors: from each to the next the angle grows by degrees."""
    fake.vector = turned
    fake.dimensions = 2
    faked.configure("others")
    for degrees in (0, 10, 20, 80, 90):
        name = "others" if degrees >= 80 else "notes"
        faked.write(f"{degrees:02}.md", f"# At {degrees}\n", collection=name)
    faked.update()
    return faked


# -- facts -----------------------------------------------------------------------


def test_documents_are_counted_by_the_month_of_their_date(many):
    found = gather(many.engine, ["notes"])
    assert [(f"{each.month:%Y-%m}", each.documents) for each in found.months] == [
        ("2024-01", 1), ("2025-03", 2),
    ]  # fmt: skip
    assert sum(each.documents for each in gather(many.engine).months) == 4


ODD = {"first.md": "0001-01-01", "last.md": "9999-12-31", "now.md": "2025-03-14"}


def test_years_have_four_digits(qmd, tmp_path):
    for name, day in ODD.items():
        (tmp_path / "notes" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "notes" / name).write_text(f"---\ndate: {day}\n---\n# {name}\n")
    qmd("collection", "add", tmp_path / "notes")
    report = qmd("stats")[1]
    assert "0001-01-01 to 9999-12-31" in report
    assert "0001-01 to 9999-12" in report
    assert "\n  0001  1  " in report
    months = json.loads(qmd("stats", "--json")[1])["months"]
    assert [each["month"] for each in months] == ["0001-01", "2025-03", "9999-12"]


def test_a_document_from_far_off_makes_no_chart_larger(library, tmp_path):
    def drawn():
        library.update()
        charts.draw(gather(library.engine), tmp_path / "x.svg", title="x")
        return (tmp_path / "x.svg").read_text()

    for number in range(3):
        library.write(f"{number}.md", f"---\ndate: 20{number}0-03-14\n---\n# Tea {number}\n")
    before = drawn()
    for name, day in ODD.items():
        library.write(name, f"---\ndate: {day}\n---\n# {name}\n")
    after = drawn()
    assert "(2 documents from far off left out)" in after
    assert "left out" not in before
    assert len(after) < 1.2 * len(before)


def test_sizes_go_in_steps_of_one_two_and_five(many):
    sizes = [file.stat().st_size for file in many.folder.glob("*/*.md")]
    for each in gather(many.engine).sizes:
        assert each.documents == sum(each.at_least <= size < each.below for size in sizes)
        assert str(each.at_least).rstrip("0") in ("1", "2", "5")
    assert sum(each.documents for each in gather(many.engine).sizes) == 4


@pytest.mark.parametrize(
    ("size", "step"),
    [(1, (1, 2)), (9, (5, 10)), (10, (10, 20)), (999, (500, 1000)),
     (1000, (1000, 2000)), (4999, (2000, 5000))],
)  # fmt: skip
def test_a_file_is_in_the_step_that_holds_its_size(library, size, step):
    library.write("x.md", "x" * size)
    library.update()
    [found] = gather(library.engine).sizes
    assert (found.at_least, found.below) == step


def test_terms_are_counted_without_words_that_say_nothing(many):
    terms = {each.term: each for each in gather(many.engine).terms}
    assert (terms["gauge"].documents, terms["gauge"].occurrences) == (2, 203)
    assert terms.keys().isdisjoint({"the", "and", "2024", "茶"})
    assert gather(many.engine).terms[0].term == "gauge"


def test_the_longest_documents_come_first(many):
    longest = gather(many.engine, longest=2).longest
    assert [each.file for each in longest] == ["notes/pool.md", "notes/tea.md"]


def test_stats_are_a_table_for_people_and_json_for_programs(drawn):
    code, out, err = drawn("stats")
    assert (code, err) == (0, "")
    assert "Documents  2 (" in out
    assert "From       2024-01-02 to 2025-03-14" in out
    assert "  2024-01  1  ██████████████████████████████\n" in out
    facts = json.loads(drawn("stats", "--json", "-c", "$tea茶")[1])
    assert list(facts) == [
        "documents", "bytes", "first", "last", "medianBytes", "largestBytes", "months", "sizes",
        "collections", "terms", "longest",
    ]  # fmt: skip
    assert facts["months"] == [
        {"month": "2025-03", "collection": "$tea茶", "documents": 1, "bytes": facts["bytes"]}
    ]


def test_stats_of_years_are_told_by_year(many, capsys):
    from qmd.surface.cli.picturing import _report

    many.write("older.md", "---\ndate: 1999-12-31\n---\n# Older\n")
    many.update()
    assert "By year\n  1999  1  ███" in _report(gather(many.engine))


def test_stats_of_nothing_say_how_to_begin(qmd):
    assert qmd("stats") == (0, "No documents yet. Add some with 'qmd collection add PATH'.\n", "")
    assert json.loads(qmd("stats", "--json")[1])["documents"] == 0


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["stats", "x.svg"], "x.svg would be a picture: qmd stats --plot x.svg"),
        (["stats", "--plot", "x.pdf"], "A picture is a file ending in .svg or .png, not x.pdf."),
        (["stats", "--plot", "no/x.svg"], "no/x.svg cannot be written: there is no folder no."),
        (["stats", "-c", "nots"], "Collection not found: nots. Known: $pool茶, $tea茶."),
        (["map", "x.png"], "A picture is a file ending in .html or .svg, not x.png."),
        (["map", "-c", "nots"], "Collection not found: nots. Known: $pool茶, $tea茶."),
        (["map"], "Vector index not found. Run 'qmd embed' first to create embeddings."),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_the_reason(drawn, arguments, problem):
    code, out, err = drawn(*arguments)
    assert (code, out) == (1, "")
    assert problem in err


# -- charts ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["qmd-stats.svg", "x.SVG", "x.png"])
def test_a_chart_is_drawn_and_its_path_told(drawn, tmp_path, name):
    given = [] if name == "qmd-stats.svg" else [name]
    code, out, err = drawn("stats", "--plot", *given)
    assert (code, out) == (0, f"{name}\n")
    content = (tmp_path / "here" / name).read_bytes()
    if name.endswith("png"):
        assert content.startswith(b"\x89PNG")
        assert err == "" or "no font for some of the names" in err
    else:
        assert err == ""
        texts = "\n".join(each.text or "" for each in ET.fromstring(content).iter(f"{SVG}text"))
        assert "$tea茶" in texts
        assert "Documents over time, by month" in texts
    assert [file.name for file in (tmp_path / "here").iterdir()] == [name]


@pytest.mark.parametrize("name", ["x.svg", "x.png"])
def test_a_chart_replaces_charts_and_nothing_else(drawn, tmp_path, name):
    path = tmp_path / "here" / name
    path.write_text("A picture of mine.")
    code, out, err = drawn("stats", "--plot", name)
    assert (code, out) == (1, "")
    assert f"{name} is there already, and no picture of qmd." in err
    assert "--force" in err
    assert path.read_text() == "A picture of mine."
    assert drawn("stats", "--plot", name, "--force")[0] == 0
    assert drawn("stats", "--plot", name)[0] == 0
    path.write_text("")
    assert drawn("stats", "--plot", name)[0] == 0


def test_a_name_that_begins_with_an_underscore_is_in_the_legend(many, tmp_path):
    charts.draw(gather(many.engine), tmp_path / "x.svg", title="4 documents")
    root = ET.parse(tmp_path / "x.svg").getroot()
    texts = [(each.text or "").strip("\u200b") for each in root.iter(f"{SVG}text")]
    assert texts.count("_$日記") == 2  # in the legend, and beside its bar


def test_nothing_can_be_drawn_too(library, tmp_path):
    charts.draw(gather(library.engine), tmp_path / "x.svg", title="0 documents")
    assert "no documents" in (tmp_path / "x.svg").read_text()


def test_the_same_facts_make_the_same_picture(many, tmp_path):
    pictures = []
    for name in ("a.svg", "b.svg"):
        charts.draw(gather(many.engine), tmp_path / name, title="4 documents")
        pictures.append((tmp_path / name).read_bytes())
    assert pictures[0] == pictures[1]


@pytest.mark.parametrize(
    ("module", "arguments", "package"),
    [
        ("matplotlib", ["stats", "--plot"], "matplotlib"),
        ("sklearn", ["map", "--method", "tsne"], "scikit-learn"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(drawn, monkeypatch, module, arguments, package):
    def found(name):
        return None if name == module else find_spec(name)

    monkeypatch.setattr("qmd.pictures.find_spec", found)
    code, _, err = drawn(*arguments)
    assert code == 1
    assert f"{package} is not installed" in err
    assert "pip install 'qmd[plots]'" in err


# -- where points lie ------------------------------------------------------------


def test_the_axes_of_pca_are_those_along_which_points_differ_most():
    line = np.array([[3.0, 0, 0], [-3, 0, 0], [0, 1, 0], [0, -1, 0]], np.float32)
    found = layout.pca(line)
    assert np.allclose(found.points, line[:, :2])
    assert found.share == pytest.approx(1)


def test_an_axis_has_a_direction_that_does_not_change_with_the_order_of_points():
    points = np.random.default_rng(0).normal(size=(40, 7)).astype(np.float32)
    assert np.allclose(layout.pca(points).points, layout.pca(points[::-1]).points[::-1])


@pytest.mark.parametrize("shape", [(1, 5), (3, 1), (2, 2)])
def test_few_points_lie_somewhere(shape):
    found = layout.pca(np.ones(shape, np.float32))
    assert found.points.shape == (shape[0], 2)
    assert np.isfinite(found.points).all()
    assert found.share == 0


def test_groups_are_those_that_lie_together():
    corners = np.array([[0.0, 0], [10, 0], [0, 10]])
    points = np.repeat(corners, 5, axis=0) + np.tile(np.arange(5)[:, None] / 10, (3, 2))
    numbers = layout.groups(points, 3)
    assert len(set(numbers)) == 3
    assert all(len(set(numbers[at : at + 5])) == 1 for at in (0, 5, 10))


def test_fewer_places_than_groups_are_no_problem():
    assert set(layout.groups(np.zeros((4, 2)), 3)) == {0}


def test_neighbours_stay_neighbours_in_tsne():
    pytest.importorskip("sklearn")
    centres = np.eye(2, 8).repeat(10, axis=0) * 10
    vectors = (centres + np.random.default_rng(0).normal(size=(20, 8))).astype(np.float32)
    points = layout.tsne(vectors).points
    assert np.array_equal(points, layout.tsne(vectors).points)
    middles = points[:10].mean(axis=0), points[10:].mean(axis=0)
    apart = np.linalg.norm(middles[0] - middles[1])
    assert all(np.linalg.norm(point - middles[0]) < apart / 2 for point in points[:10])
    assert not layout.tsne(np.ones((6, 3), np.float32)).points.any()


# -- maps ------------------------------------------------------------------------


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


def test_too_many_documents_are_a_sample_that_stays_the_same(turning, monkeypatch):
    turning.embed()
    monkeypatch.setattr(maps, "MOST", 3)
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


@pytest.mark.parametrize("colour", [svg.INK, svg.PALE])
def test_letters_can_be_read_on_the_ground(colour):
    assert (_light(svg.GROUND) + 0.05) / (_light(colour) + 0.05) >= 4.5


def test_labels_have_halos_below_all_letters_and_no_letter_is_painted_over():
    points = [maps.Point("#123456", "a/x.md", "x", "a", x, 0, 0) for x in (0, 1)]
    labels = [maps.Label(0, 0, "oolong"), maps.Label(1, 0, "brakes")]
    made = maps.Map("pca", "fake", 2, 0, None, Rows(maps.Point, points), labels)
    root = ET.fromstring(made.svg())
    assert root.find(f"{SVG}rect").attrib["fill"] == svg.GROUND
    halos, *letters = root.find(f"{SVG}g[@class='labels']")
    assert halos.attrib == {"class": "halo", "aria-hidden": "true"}
    assert [each.text for each in letters] == [each.text for each in halos] == ["oolong", "brakes"]
    style = root.findtext(f"{SVG}style")
    assert f".halo text {{ stroke: {svg.GROUND};" in style
    assert "paint-order" not in style


def test_points_stay_inside_the_picture(turning):
    turning.embed()
    root = ET.fromstring(maps.make(turning.engine).svg())
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    marks = [mark for group in root.findall(f"{SVG}g[@class='of']") for mark in group]
    assert all(0 < float(mark.attrib["cx"]) < width for mark in marks)
    assert all(0 < float(mark.attrib["cy"]) < height for mark in marks)


def test_collections_beyond_the_colours_are_squares_and_then_grey():
    from qmd.pictures.svg import _keys

    points = [
        maps.Point("#123456", f"c{n}/x.md", "x", f"c{n:02}", 0, 0, 0)
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
    from qmd.surface.cli import run

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

    def full(self, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    with pytest.raises(UsageError, match=r"x\.svg cannot be written: No space left"):
        maps.make(turning.engine).save(tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_text() == "before"
