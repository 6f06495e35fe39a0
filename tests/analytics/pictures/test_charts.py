"""Charts of facts about all documents."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from importlib.util import find_spec

import pytest

from qmd.analytics import charts
from qmd.analytics.report import gather
from qmd.errors import extras

SVG = "{http://www.w3.org/2000/svg}"


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

    monkeypatch.setattr("qmd.errors.extras.find_spec", found)
    code, _, err = drawn(*arguments)
    assert code == 1
    assert f"{package} is not installed" in err
    assert err.endswith(f"Install it with: {extras.command('plots')}\n")
