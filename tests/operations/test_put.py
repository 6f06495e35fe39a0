"""Documents without files: in the index, or as files in the folder of a collection."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import threading
from types import SimpleNamespace

import anyio
import pytest

import qmd as api
from qmd.errors import DocumentNotFound, UsageError
from qmd.operations.doctor import doctor
from qmd.operations.documents import get
from qmd.operations.put import put, remove
from qmd.surfaces.tools.dispatch import Toolbox
from qmd.surfaces.tools.server_tools import ServerTools
from qmd.text.composing import LARGEST, document_path, with_metadata
from qmd.text.front_matter import Frontmatter, frontmatter
from tests.library import Library
from tests.surfaces.service import service
from tests.surfaces.tools.calling import text


def stored(library, name="tea", text="# Tea\n\nGreen.\n", **options):
    return anyio.run(lambda: put(library.engine, name, text, **options))


def test_a_document_is_found_at_once_and_replaced(library):
    done = stored(library)
    assert (done.file, done.title, done.replaced) == ("inbox/tea.md", "Tea", False)
    assert library.found("green") == ["inbox/tea.md"]
    done = stored(library, text="# Coffee\n\nBlack.\n")
    assert (done.title, done.replaced) == ("Coffee", True)
    assert library.found("green") == []
    assert library.found("black") == ["inbox/tea.md"]
    assert get(library.engine, "inbox/tea.md").body == "# Coffee\n\nBlack.\n"
    assert library.problems() == []


def test_it_stays_whatever_becomes_of_folders(library):
    from qmd.storage import maintenance

    stored(library)
    library.write("note.md", "note")
    library.configure("more")
    library.update()
    library.configure()
    maintenance.clean(library.engine.database)
    assert library.found("green") == ["inbox/tea.md"]
    (library.folder / "index.yml").write_text("collections: {}\n")
    assert library.found("green") == ["inbox/tea.md"]
    assert library.problems() == []
    findings = {each.check: each for each in doctor(library.engine, deep=True)}
    assert findings["collection inbox"].detail == "1 document, in the index alone"
    assert findings["texts"].status == "ok"


def test_a_removed_document_is_gone_and_its_collection_with_the_last(library):
    stored(library, "a")
    stored(library, "b/c.txt", collection="cellar")
    assert remove(library.engine, "cellar/b/c.txt") == "cellar/b/c.txt"
    assert [each.name for each in library.engine.collections()] == ["inbox", "notes"]
    assert remove(library.engine, "a.md") == "inbox/a.md"
    assert [each.name for each in library.engine.collections()] == ["notes"]
    assert library.found("green") == []
    with pytest.raises(DocumentNotFound):
        remove(library.engine, "a.md")
    assert library.problems() == []


def test_title_and_tags_go_into_the_front_matter(library):
    done = stored(library, "a", "Hot.\n", title='Tea: "green"', tags=["x", "a: b"])
    assert done.title == 'Tea: "green"'
    assert library.found("hot", filter='tags = "a: b"') == ["inbox/a.md"]
    kept = "---\ntitle: Old\nstatus: open # yes\ntags:\n- old\n  - older\ntitles: no\n---\nHot.\n"
    assert with_metadata(kept, title="New", tags=["n"]) == (
        '---\ntitle: "New"\ntags: ["n"]\nstatus: open # yes\ntitles: no\n---\nHot.\n'
    )
    for other in (
        "+++\ntitle = 1\n+++\n",
        "---\n{title: Old, a: 1}\n---\n",
        "---\ntitle: Old\u2028x: 1\n---\n",
    ):
        with pytest.raises(UsageError, match="not YAML"):
            with_metadata(other, title="New")


@pytest.mark.parametrize(
    "title",
    ["a\x7fb", "a\x80b\x9f", "a\u2028b\u2029 c\x85", "\ufffe", "\ufeffa", '\U0001ffff 🍵 \\ "'],
)
def test_a_title_and_tags_of_any_characters_are_read_back(title):
    matter = frontmatter(with_metadata("---\na: 1\n---\nHot.\n", title=title, tags=[title]))
    assert matter == Frontmatter({"title": title, "tags": [title], "a": 1}, matter.end)


def test_an_item_without_a_value_goes_with_its_key():
    kept = "---\ntags:\n-\n- a\nx:\n-\n---\nHot.\n"
    assert with_metadata(kept, tags=["n"]) == '---\ntags: ["n"]\nx:\n-\n---\nHot.\n'
    assert with_metadata(kept, tags=[""]) == kept


def test_other_spellings_of_title_and_tags_give_way_and_no_other_keys():
    kept = "---\nTitle: Old\ntag: a\ntitle:x: b\n'tags:': c\n\"tags\": [d]\n---\nHot.\n"
    matter = frontmatter(with_metadata(kept, title="New", tags=["n", " "]))
    assert matter.metadata == {"title": "New", "tags": ["n"], "title:x": "b", "tags:": "c"}


def test_front_matter_below_blank_lines_is_kept_as_the_only_block():
    whole = with_metadata("\n \n---\ntitle: Old\nx: 1\n---\nHot.\n", title="New")
    assert whole == '---\ntitle: "New"\nx: 1\n---\nHot.\n'
    assert with_metadata("\n---\nHot.\n", title="New") == '---\ntitle: "New"\n---\n\n\n---\nHot.\n'


@pytest.mark.parametrize(
    "name",
    ["", " ", "/a", "a/", "../a", "a/../b", "./a", ".a", "a//b", "a\nb", "a\x1b[1m", "a\\b", " a",
     "a /b", "a\0b", "\ud800", "a/.git/b", "é" * 200, "a/" * 600 + "b", "..", "qmd://"],
)  # fmt: skip
def test_a_name_that_leads_elsewhere_is_refused(library, name):
    with pytest.raises(UsageError):
        stored(library, name)
    assert library.ask("select * from documents") == []


@pytest.mark.parametrize(
    ("name", "path"),
    [("a", "a.md"), ("a.MD", "a.MD"), ("v1.2 of é", "v1.2 of é.md"), ("x/y.txt", "x/y.txt")],
)
def test_a_name_without_the_suffix_of_a_text_gets_one(name, path):
    assert document_path(name) == path


@pytest.mark.parametrize("bad", ["", " \n\t", "a\0b", "\udcff", "x" * (LARGEST + 1)])
def test_what_is_no_text_is_refused(library, bad):
    stored(library)
    with pytest.raises(UsageError):
        stored(library, text=bad)
    assert library.found("green") == ["inbox/tea.md"]


@pytest.mark.parametrize("collection", ["experiences", "a/b", "-x", "a\nb"])
def test_nothing_is_put_where_no_collection_can_be(library, collection):
    with pytest.raises(UsageError):
        stored(library, collection=collection)


def test_a_collection_in_the_index_has_its_name_alone(library):
    stored(library)
    for change in (
        lambda: library.engine.configured("inbox"),
        lambda: library.engine.folders(["inbox"]),
    ):
        with pytest.raises(UsageError, match="stored in the index"):
            change()
    library.configure("inbox")
    with pytest.raises(UsageError, match="same name"):
        library.found("green")
    library.configure()
    assert library.found("green") == ["inbox/tea.md"]


# -- in folders ------------------------------------------------------------------------------


@pytest.fixture
def writable(library):
    text = (library.folder / "index.yml").read_text()
    (library.folder / "index.yml").write_text(text + "    writable: true\n")
    return library


def test_a_folder_is_not_written_unless_it_is_allowed(library):
    with pytest.raises(UsageError, match="writable: true"):
        stored(library, collection="notes")
    with pytest.raises(UsageError, match="writable: true"):
        remove(library.engine, "notes/tea")
    assert list(library.root.iterdir()) == []


def test_a_document_of_a_folder_is_a_file(writable):
    done = stored(writable, "notes/deep/tea")
    file = writable.root / "deep/tea.md"
    assert (done.file, done.replaced) == ("notes/deep/tea.md", False)
    assert file.read_text() == "# Tea\n\nGreen.\n"
    file.chmod(0o640)
    assert stored(writable, "deep/tea", "Black.", collection="notes").replaced
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("Black.", 0o640)
    assert [each.name for each in file.parent.iterdir()] == ["tea.md"]
    assert writable.found("black") == ["deep/tea.md"]
    assert remove(writable.engine, "deep/tea", collection="notes") == "notes/deep/tea.md"
    assert not file.exists()
    assert writable.found("black") == []
    with pytest.raises(DocumentNotFound):
        remove(writable.engine, "notes/deep/tea.md")
    with pytest.raises(DocumentNotFound):
        remove(writable.engine, "notes/none/tea.md")


def test_no_link_is_followed_and_nothing_else_is_replaced(writable, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "tea.md").write_text("mine")
    (writable.root / "link").symlink_to(outside)
    (writable.root / "link.md").symlink_to(outside / "tea.md")
    (writable.root / "dir.md").mkdir()
    for name in ("link/tea", "link/new", "link", "dir", "link.md/x"):
        with pytest.raises(UsageError, match="cannot be changed"):
            stored(writable, name, collection="notes")
    for name in ("link/tea", "link", "dir"):
        with pytest.raises(UsageError, match="cannot be changed"):
            remove(writable.engine, name, collection="notes")
    assert [each.name for each in outside.iterdir()] == ["tea.md"]
    assert (outside / "tea.md").read_text() == "mine"
    assert sorted(each.name for each in writable.root.iterdir()) == ["dir.md", "link", "link.md"]


def test_a_file_that_the_mask_does_not_take_is_refused(writable):
    with pytest.raises(UsageError, match="mask"):
        stored(writable, "a.txt", collection="notes")


# -- several at once, and killed -------------------------------------------------------------


def test_of_documents_put_at_once_none_is_lost(library):
    names = [f"{number}" for number in range(4)] + ["same"]

    def work(number):
        other = Library.__new__(Library)
        other.engine = api.operations.index.Index(library.engine.place)
        for name in names:
            own = name if name == "same" else f"{number}-{name}"
            stored(other, own, f"tea {own} {number}")
        other.engine.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(library.found("tea", limit=100)) == 4 * 4 + 1
    assert library.problems() == []


KILLED = """
import sys
sys.path[:0] = {path!r}
import anyio
from pathlib import Path
from qmd.operations.index import Index
from qmd.operations.put import put
from qmd.settings.environment import Place
folder = Path({folder!r})
place = Place("index", folder / "index.yml", folder / "index.duckdb", None, folder / "trusted.json")
engine = Index(place)
for number in range(1000):
    done = anyio.run(lambda: put(engine, str(number), f"tea number{{number}}"))
    print(number, flush=True)
"""


def test_what_was_put_before_a_kill_is_there(library):
    library.engine.close()
    code = KILLED.format(path=sys.path, folder=str(library.folder))
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for _ in range(3):
            last = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        last = max([last, *map(int, process.stdout.read().split())])
    found = set(library.found("tea", limit=5000))
    assert {f"inbox/{number}.md" for number in range(last + 1)} <= found
    assert library.problems() == []


# -- on each surface -------------------------------------------------------------------------


def typed(monkeypatch, data):
    monkeypatch.setattr(
        sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data), isatty=lambda: False)
    )


def test_commands_put_and_remove(qmd, tmp_path, monkeypatch):
    typed(monkeypatch, "Grüner Tee\n".encode())
    code, out, _ = qmd("put", "tea", "--title", "Tee", "--tags", "a, b")
    assert (code, out.split()[:2]) == (0, ["Stored", "inbox/tea.md"])
    (tmp_path / "x.md").write_text("Kaffee")
    code, out, _ = qmd("put", "tea", "--file", tmp_path / "x.md", "--json")
    assert json.loads(out)["replaced"] is True
    assert json.loads(qmd("search", "kaffee", "--json")[1])[0]["file"] == "inbox/tea.md"
    for data in (b"", b"\xff\xfe\xfa"):
        typed(monkeypatch, data)
        assert qmd("put", "tea")[0] == 1
    assert qmd("put", "tea", "--file", tmp_path / "none")[0] != 0
    assert qmd("put", "../tea", "--file", tmp_path / "x.md")[0] == 1
    assert qmd("collection", "remove", "inbox")[0] == 1
    assert qmd("collection", "add", tmp_path, "--name", "inbox")[0] == 1
    assert qmd("remove", "tea")[:2] == (0, "Removed inbox/tea.md\n")
    assert qmd("remove", "tea")[0] == 1


@pytest.mark.parametrize(
    ("encoding", "text", "told"),
    [
        ("utf-16", "Grüner Tee", "UTF-16"),
        ("utf-16-le", "Grüner Tee aus der Kanne", "UTF-16"),
        ("utf-8-sig", "Grüner Tee", None),
        ("cp1252", "Grüner Tee für „zwei“", "Windows-1252"),
        (
            "shift_jis",
            "緑茶は、チャノキの葉から作った茶である。摘み取った茶葉を加熱する。" * 3,
            "Shift-JIS",
        ),
    ],
)
def test_a_text_of_another_encoding_is_put(qmd, monkeypatch, encoding, text, told):
    typed(monkeypatch, text.encode(encoding))
    code, _, err = qmd("put", "tea")
    assert code == 0
    assert qmd("get", "inbox/tea.md")[1].strip() == text
    assert (told or "") in err
    assert bool(err) == bool(told)


def test_invalid_bytes_in_a_text_are_replaced(qmd, monkeypatch):
    typed(monkeypatch, "Grüner Tee, süß über Öl \udcff".encode(errors="surrogateescape"))
    assert "invalid UTF-8" in qmd("put", "tea")[2]
    assert qmd("get", "inbox/tea.md")[1].startswith("Grüner Tee, süß über Öl \ufffd")


def test_an_export_brings_them_along(qmd, tmp_path, monkeypatch):
    typed(monkeypatch, b"Green tea")
    qmd("put", "tea")
    assert qmd("export", tmp_path / "out")[0] == 0
    monkeypatch.setenv("INDEX_PATH", str(tmp_path / "other.duckdb"))
    monkeypatch.setenv("QMD_CONFIG_DIR", str(tmp_path / "other"))
    assert qmd("import", tmp_path / "out")[0] == 0
    assert json.loads(qmd("search", "green", "--json")[1])[0]["file"] == "inbox/tea.md"
    assert qmd("update")[0] == 0
    assert json.loads(qmd("search", "green", "--json")[1])[0]["file"] == "inbox/tea.md"


def test_python_puts_and_removes(tmp_path):
    with api.connect(tmp_path / "index.duckdb") as kb:
        assert kb.put("tea", "Green", tags="a").file == "inbox/tea.md"
        assert [each.file for each in kb.search("green")] == ["inbox/tea.md"]
        assert kb.remove("tea") == "inbox/tea.md"


def test_agents_put_and_remove_where_the_user_allows_it(library):
    assert not {"put", "remove"} & {each.name for each in Toolbox(library.engine).tools}
    toolbox = Toolbox(library.engine, ServerTools(allow_write=True))

    def call(tool, **arguments):
        return anyio.run(toolbox.call, tool, arguments)

    reply = call("put", name="tea", text="Green", tags=["a"])
    assert reply.structured["file"] == "inbox/tea.md"
    assert text(reply).startswith("Stored inbox/tea.md (#")
    assert text(call("put", name="tea", text="Black")).startswith("Replaced ")
    assert call("put", name="../tea", text="Black").error is not None
    assert call("remove", name="tea").structured == {"file": "inbox/tea.md"}
    hints = {each.name: each.annotations["destructiveHint"] for each in toolbox.tools}
    assert {name for name, hint in hints.items() if hint} == {
        *("put", "remove", "edit", "move", "undo")
    }


def test_rest_puts_and_removes_where_the_user_allows_it(library):
    with service(Toolbox(library.engine)) as served:
        assert served.post("/put", {"name": "tea", "text": "Green"}).status_code == 404
    with service(Toolbox(library.engine, ServerTools(allow_write=True))) as served:
        answer = served.post("/put", {"name": "tea", "text": "Green"})
        assert (answer.status_code, answer.json()["file"]) == (200, "inbox/tea.md")
        assert served.post("/put", {"name": "../tea", "text": "x"}).status_code == 400
        assert served.post("/remove", {"name": "tea"}).json() == {"file": "inbox/tea.md"}
        assert served.post("/remove", {"name": "tea"}).status_code == 404


def test_a_document_that_another_process_replaces_meanwhile_is_put_again(library, monkeypatch):
    from qmd.ingest import stored as storing

    stored(library, text="first")
    batch, times = storing._batch, []

    def overtaken(*given):
        made = batch(*given)
        times.append(made)
        if len(times) == 1:
            storing.store(library.engine.database, "inbox", "tea.md", "second")
        return made

    monkeypatch.setattr(storing, "_batch", overtaken)
    assert stored(library, text="third").replaced
    assert get(library.engine, "inbox/tea.md").body == "third"
    assert len(times) == 3
    assert library.problems() == []
