"""Collections with the same files: each file is a result once."""

from __future__ import annotations

import json
from functools import partial

import anyio
import pytest

from qmd.errors import Ambiguous
from qmd.operations.documents import get
from qmd.operations.search import search
from qmd.operations.semantic_search import query
from qmd.storage.overlaps import overlaps
from qmd.surfaces.tools.dispatch import Toolbox
from qmd.types import Collection, Overlap
from tests.surfaces.tools.calling import call, text


def configure(library, **roots):
    """Write index.yml with collections over folders of the library."""
    lines = ["collections:"]
    for name, root in roots.items():
        (library.folder / root).mkdir(parents=True, exist_ok=True)
        lines += [f"  {name}:", f"    path: {library.folder / root}"]
    (library.folder / "index.yml").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def nested(faked):
    """Notes, a folder of them, a folder of that, and the folder once more."""
    configure(faked, notes="notes", work="notes/work", deep="notes/work/deep", again="notes/work")
    for path in ("tea.md", "work/plan.md", "work/deep/cup.md"):
        faked.write(path, f"# {path}\n\ntea cup\n")
    faked.update()
    return faked


EACH_ONCE = {
    "notes/tea.md": (),
    "again/plan.md": ("notes/work/plan.md", "work/plan.md"),
    "deep/cup.md": ("again/deep/cup.md", "notes/work/deep/cup.md", "work/deep/cup.md"),
}


def found(results):
    return {each.file: each.also_in for each in results}


def test_a_search_gives_each_file_once(nested):
    assert nested.ask("select count(*) from documents") == [(1 + 3 + 4,)]
    assert found(search(nested.engine, "tea")) == EACH_ONCE
    assert found(anyio.run(query, nested.engine, "tea")) == EACH_ONCE
    assert found(anyio.run(partial(query, nested.engine, "tea", mode="fast"))) == EACH_ONCE


def test_a_search_by_meaning_gives_each_file_once(nested):
    nested.embed()
    assert found(nested.nearest("tea")) == EACH_ONCE
    assert found(anyio.run(partial(query, nested.engine, "tea", per_file=3))) == EACH_ONCE


def test_copies_take_no_room_among_the_results(nested):
    for number in range(3):
        nested.write(f"work/deep/{number}.md", "tea tea tea")
    nested.update()
    results = search(nested.engine, "tea", limit=6)
    assert len(found(results)) == 6


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"collection": "notes"}, {"notes/tea.md": (), "notes/work/plan.md": ()}),
        ({"collection": ["notes", "work"]}, {"work/plan.md": ("notes/work/plan.md",)}),
        ({"path": "notes/work/*"}, {"notes/work/plan.md": ("again/plan.md", "work/plan.md")}),
    ],
)
def test_only_what_is_searched_counts(nested, options, expected):
    shown = found(search(nested.engine, "tea", **options))
    assert expected.items() <= shown.items()
    assert len({file.rpartition("/")[2] for file in shown}) == len(shown)


def test_what_one_collection_alone_has_stays(nested):
    text = (nested.folder / "index.yml").read_text()
    (nested.folder / "index.yml").write_text(
        text.replace("  deep:\n", "  deep:\n    pattern: '*.txt'\n")
    )
    nested.update()
    shown = found(search(nested.engine, "tea"))
    assert shown["again/deep/cup.md"] == ("notes/work/deep/cup.md", "work/deep/cup.md")


def test_a_name_of_one_file_is_not_ambiguous(nested):
    assert get(nested.engine, "plan.md").file == "again/plan.md"
    assert get(nested.engine, "cup.md").file == "deep/cup.md"
    nested.write("plan.md", "another")
    nested.update()
    assert get(nested.engine, "notes/plan.md").body == "another"
    with pytest.raises(Ambiguous):
        get(nested.engine, "plan.md")


def test_folders_that_begin_alike_are_not_nested():
    pairs = [("a", "/n"), ("b", "/notes"), ("c", "/no"), ("d", "/no/x"), ("e", "/"), ("f", "")]
    assert overlaps(Collection(*pair) for pair in pairs) == (
        Overlap("e", "a", "n/"),
        Overlap("e", "c", "no/"),
        Overlap("e", "d", "no/x/"),
        Overlap("e", "b", "notes/"),
        Overlap("c", "d", "x/"),
    )


def test_agents_are_told(nested):
    reply = call(Toolbox(nested.engine), "search", query="tea")
    also = {each["file"]: tuple(each.get("alsoIn", ())) for each in reply.structured["results"]}
    assert also == EACH_ONCE
    assert "(also in notes/work/plan.md, work/plan.md)" in text(reply)


def test_commands_say_it(qmd, tmp_path):
    notes = tmp_path / "notes"
    (notes / "work").mkdir(parents=True)
    (notes / "work" / "plan.md").write_text("tea\n", encoding="utf-8")
    assert qmd("collection", "add", notes)[2] == ""
    code, _, told = qmd("collection", "add", notes / "work")
    assert (code, told) == (
        0,
        f"The folder of 'work' is covered already by the collection 'notes' ({notes}). "
        "Searches give each file once.\n",
    )
    assert "also in notes/work/plan.md\n" in qmd("search", "tea")[1]
    [hit] = json.loads(qmd("search", "tea", "--json")[1])
    assert (hit["file"], hit["alsoIn"]) == ("work/plan.md", ["notes/work/plan.md"])
    assert (
        "is covered already by"
        in qmd("collection", "add", notes, "--name", "b", "--mask", "code")[2]
    )
    told = qmd("collection", "add", tmp_path, "--name", "all", "--mask", "**/*.md")[2]
    assert f"'all' covers the collection 'work' ({notes / 'work'})" in told
