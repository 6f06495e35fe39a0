"""Changes to index.yml: what somebody wrote there, and why, stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.errors import ConfigError
from qmd.settings import config
from qmd.settings.edit import edit, remove_collection, remove_context, set_context
from qmd.settings.environment import Place
from qmd.types import Context

WRITTEN = """\
# mine
collections:
  # my diary
  n:
    path: /a   # the old disk
    pattern: "**/*.md"
    context:
      # about x
      /x: X
      # about y
      y/: |
        Y
        # no comment
      # about z
      /z: "Z"
    # the end of n

  # work
  # since 2020
  m:
    path: /b
    ignore:
      - a
      # why b
      - b

  # third
  k: {path: /c}
# below
models:
  embed: x  # which
"""


@pytest.fixture
def place(tmp_path):
    file = tmp_path / "index.yml"
    file.write_text(WRITTEN)
    return Place("index", file, tmp_path / "i.duckdb", None, tmp_path / "trusted.json")


def without(*parts):
    """What is written but for some lines."""
    rest = WRITTEN
    for part in parts:
        assert part in rest
        rest = rest.replace(part, "")
    return rest


def between(first, last):
    """Lines from one text on to before another."""
    return WRITTEN[WRITTEN.index(first) : WRITTEN.index(last)]


@pytest.mark.parametrize(
    ("name", "gone"),
    [
        ("n", between("  # my diary", "\n  # work")),
        ("m", between("  # work", "\n  # third") + "\n"),
        ("k", between("  # third", "# below")),
    ],
)
def test_with_a_collection_go_the_comments_above_it_and_no_others(place, name, gone):
    edit(place, lambda document: remove_collection(document, name))
    assert place.config.read_text() == without(gone)


@pytest.mark.parametrize(
    ("prefix", "gone"),
    [
        ("x", between("      # about x", "      # about y")),
        ("y", between("      # about y", "      # about z")),
        ("z", between("      # about z", "    # the end")),
    ],
)
def test_with_a_context_go_the_comments_above_it_and_no_others(place, prefix, gone):
    edit(place, lambda document: remove_context(document, "n", prefix))
    assert place.config.read_text() == without(gone)


def test_a_context_that_is_set_anew_stays_where_it_is(place):
    edit(place, lambda document: set_context(document, Context("n", "x", "New")))
    assert place.config.read_text() == WRITTEN.replace("/x: X", "/x: New")


def test_of_two_keys_of_one_folder_one_is_left(place):
    place.config.write_text(WRITTEN.replace("/z:", "/x/:"))
    edit(place, lambda document: set_context(document, Context("n", "x", "New")))
    last = between("      # about z", "    # the end")
    assert place.config.read_text() == without(last).replace("/x: X", "/x: New")


def test_what_is_empty_in_the_end_can_be_read_and_filled_again(place):
    for name in "nmk":
        edit(place, lambda document, name=name: remove_collection(document, name))
    assert config.load(place).collections == ()
    assert config.load(place).models == {"embed": "x"}
    assert place.config.read_text().count("# below") == 1
    edit(place, lambda document: document.update(collections={"new": {"path": "/n"}}))
    assert [each.name for each in config.load(place).collections] == ["new"]


@pytest.mark.parametrize(
    "text",
    [
        "collections:\n  # one\n  a: &x\n    path: /a\n  b:\n    <<: *x\n    path: /b\n",
        "collections:\n  a:\n    path: /a\n    ignore: &i [x]\n"
        "  b:\n    path: /b\n    ignore: *i\n",
    ],
)
def test_what_others_refer_to_can_be_removed(place, text):
    place.config.write_text(text)
    before = config.load(place).collections[1]
    edit(place, lambda document: remove_collection(document, "a"))
    assert config.load(place).collections == (before,)


def test_a_change_that_cannot_be_read_again_is_not_written(place, monkeypatch):
    monkeypatch.setattr("qmd.settings.edit._dumped", lambda _: "collections:\n{}\nmodels: x\n")
    with pytest.raises(ConfigError):
        edit(place, lambda document: document["collections"].pop("k"))
    assert place.config.read_text() == WRITTEN


COMMENTS = st.lists(st.sampled_from(["", "  # one", "# two", "    # three"]), max_size=3)


@given(
    st.lists(st.tuples(COMMENTS, st.booleans(), COMMENTS), min_size=1, max_size=4),
    COMMENTS,
    st.data(),
)
def test_whatever_is_commented_the_others_stay_as_they_are(tmp_path_factory, parts, end, data):
    folder = tmp_path_factory.mktemp("editing")
    place = Place("index", folder / "index.yml", folder / "i", None, folder / "t")
    lines = ["collections:"]
    for number, (above, flat, inside) in enumerate(parts):
        lines += above
        if flat:
            lines.append(f"  c{number}: {{path: /p{number}}}")
        else:
            lines += [f"  c{number}:", *inside, f"    path: /p{number}"]
    lines += [*end, "editor_uri: x{path}", ""]
    place.config.write_text("\n".join(lines))
    before = config.load(place)
    gone = data.draw(st.sampled_from(before.collections)).name
    edit(place, lambda document: remove_collection(document, gone))
    kept = tuple(each for each in before.collections if each.name != gone)
    assert config.load(place) == before._replace(collections=kept)
    for line in place.config.read_text().splitlines():
        assert line in lines


def test_a_text_that_two_readers_of_yaml_read_differently_is_not_changed(place):
    written = "global_context: \n \u2028\ufeff\u2028\n"
    place.config.write_text(written, encoding="utf-8")
    with pytest.raises(ConfigError, match="cannot be changed as it is written"):
        edit(place, lambda _: None)
    assert place.config.read_text(encoding="utf-8") == written


def test_a_comment_that_cannot_be_kept_is_named_with_its_line(place):
    written = f"{WRITTEN}global_context: # of all\n  tea\n\neditor_uri: x\n"
    place.config.write_text(written)
    with pytest.raises(ConfigError, match="write the value behind its key") as raised:
        edit(place, lambda document: remove_collection(document, "n"))
    assert f"index.yml:{WRITTEN.count(chr(10)) + 1}:" in str(raised.value)
    assert place.config.read_text() == written
