"""Changes to index.yml in the encoding, the line ends and the layout that the file has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.errors import ConfigError
from qmd.settings import config
from qmd.settings.edit import edit, entry, remove_collection, rename_collection, set_context
from qmd.settings.environment import Place
from qmd.settings.schema import Settings
from qmd.types import Context

NOTEPAD = (
    "# Einstellungen für qmd\r\n"
    "collections:\r\n"
    "    notes:\r\n"
    "        path:   ~/Notizen    # Größe egal\r\n"
    "        ignore:\r\n"
    "        - 'a b'\r\n"
    "        -   b\r\n"
    "    work:\r\n"
    "        path: ~/Arbeit\r\n"
    "query_log:   true"
)
"""As Windows Notepad saves it: CRLF, no end of the last line; the layout is of a person."""


@pytest.fixture
def place(tmp_path):
    return Place("index", tmp_path / "index.yml", tmp_path / "i", None, tmp_path / "trusted.json")


def changed(place, data, change):
    """The bytes of a file after a change."""
    place.config.write_bytes(data)
    edit(place, change)
    return place.config.read_bytes()


def rename(document):
    rename_collection(document, "work", "job")


def add(document):
    document["collections"]["new"] = {"path": "/x", "ignore": ["c"]}


def describe(document):
    set_context(document, Context("notes", "x", "Über x"))


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        (rename, "    work:\n", "    job:\n"),
        (
            add,
            "~/Arbeit\n",
            "~/Arbeit\n    new:\n        path: /x\n        ignore:\n        - c\n",
        ),
        (
            describe,
            "        -   b\n",
            "        -   b\n        context:\n            /x: Über x\n",
        ),
        (
            lambda document: remove_collection(document, "work"),
            "    work:\n        path: ~/Arbeit\n",
            "",
        ),
        (
            lambda document: document.update(query_log=False),
            "query_log:   true",
            "query_log: false",
        ),
    ],
)
def test_a_change_leaves_all_other_bytes_as_they_are(place, mark, end, last, change, old, new):
    text = NOTEPAD.replace("\r\n", "\n") + ("\n" if last else "")
    assert old in text
    before = mark + text.replace("\n", end).encode()
    after = mark + text.replace(old, new).replace("\n", end).encode()
    assert changed(place, before, change) == after


def test_mixed_line_ends_stay_and_a_new_line_ends_as_most_do(place):
    before = "collections:\r\n  a:\n    path: /a\r\nquery_log: true\r\n"
    after = "collections:\r\n  a:\n    path: /a\r\n  new:\r\n    path: /x\r\nquery_log: true\r\n"

    def change(document):
        document["collections"]["new"] = {"path": "/x"}

    assert changed(place, before.encode(), change) == after.encode()


def test_a_file_that_is_only_comments_keeps_its_encoding_and_line_ends(place):
    before = b"\xef\xbb\xbf# mine\r\n\r\n"
    after = before + b"collections:\r\n  new:\r\n    path: /x\r\n"
    assert changed(place, before, lambda d: d.update(collections={"new": {"path": "/x"}})) == after


def test_what_follows_a_removed_last_line_is_not_joined_to_the_one_before(place):
    before = b"collections:\n  a:\n    path: /a\n  b:\n    path: /b"
    assert changed(place, before, lambda d: remove_collection(d, "b")) == before[:30]
    block = b"collections:\n  a:\n    path: /a\n    context:\n      /: |+\n        text\n\n"
    after = block + b"  b:\n    path: /b\n"
    assert changed(place, block, lambda d: d["collections"].update(b={"path": "/b"})) == after


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (NOTEPAD.encode("utf-16"), "this is UTF-16. Save the file as UTF-8"),
        (b"\xfe\xff" + NOTEPAD.encode("utf-16-be"), "this is UTF-16. Save the file as UTF-8"),
        (NOTEPAD.encode("utf-16-le"), "this is not UTF-8 text. Save the file as UTF-8"),
        (NOTEPAD.encode("cp1252"), "this is not UTF-8 text. Save the file as UTF-8"),
    ],
)
def test_another_encoding_is_refused_and_the_file_is_as_it_was(place, data, problem):
    place.config.write_bytes(data)
    with pytest.raises(ConfigError, match=problem):
        edit(place, add)
    with pytest.raises(ConfigError, match=problem):
        config.load(place)
    assert place.config.read_bytes() == data


def test_a_file_with_nothing_but_a_byte_order_mark_is_blank(place):
    place.config.write_bytes(b"\xef\xbb\xbf\r\n")
    assert config.is_blank(place)
    assert config.load(place) == Settings()


@given(
    st.sampled_from([1, 2, 3, 4, 8]),
    st.sampled_from([0, 1, 2, 4]),
    st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=12, max_size=12),
    st.booleans(),
)
def test_any_layout_survives_a_change(tmp_path_factory, mapping, offset, ends, is_closed):
    folder = tmp_path_factory.mktemp("layout")
    place = Place("index", folder / "index.yml", folder / "i", None, folder / "t")
    one, two, three = (" " * mapping * level for level in (1, 2, 3))
    lines = [
        "collections: # all",
        f"{one}a:",
        f"{two}path:  '/a'",
        f"{two}ignore:",
        f"{two}{' ' * offset}- x",
        f"{two}context:",
        f"{three}/: >-",
        f"{three}{one}text",
        f"{one}b: {{path: /b}}",
        "# end",
    ]
    data = "".join(line + end for line, end in zip(lines, ends, strict=False))
    data = data if is_closed else data.rstrip("\r\n")
    place.config.write_text(data, newline="")
    before = config.load(place)
    edit(place, lambda document: entry(document, "b").update(update="ls"))
    after = config.load(place)
    assert after.collections[1] == before.collections[1]._replace(update_command="ls")
    assert place.config.read_bytes() == data.replace("/b}", "/b, update: ls}").encode()
