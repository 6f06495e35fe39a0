"""The documentation site: its pages, and the check of what was built."""

from __future__ import annotations

import inspect
import os
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import qmd
from qmd.surfaces.tools.schemas import TOOLS
from tools.site import __main__ as builder
from tools.site import api_page, check, pages, tools_page

ROOT = Path(__file__).parents[1]


def listed(part: object) -> Iterator[str]:
    """Names of the pages in a part of the navigation."""
    if isinstance(part, str):
        yield part
    else:
        for each in part.values() if isinstance(part, dict) else part:
            yield from listed(each)


@pytest.fixture(scope="module")
def written() -> dict[str, str]:
    return pages.written()


def test_the_navigation_has_every_page_once(written):
    settings = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    named = list(listed(settings["nav"]))
    others = {name for name in written if name.startswith(("decisions/0", "files/"))}
    assert sorted(named) == sorted(written.keys() - others)
    assert "decisions/index.md" in named


def test_the_site_takes_no_font_from_another_host():
    settings = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    assert settings["theme"]["font"] is False
    assert settings["use_directory_urls"] is False


def test_links_out_of_the_folder_lead_to_pages_of_the_site(written):
    assert "](changelog.md)" in written["versioning.md"]
    assert "[Search quality on your notes](bench.md)" in written["quickstart.md"]
    assert "](files/examples-agent.py.md)" in written["python.md"]
    assert "import qmd" in written["files/examples-agent.py.md"]
    assert "](../models.md)" in written["decisions/006-exact-vector-search.md"]


def test_a_link_to_nothing_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("[gone](gone.md)", encoding="utf-8")
    with pytest.raises(ValueError, match="is not in the subpath"):
        pages._relinked(page.read_text(encoding="utf-8"), page, "page.md", {}, {})
    with pytest.raises(pages.BrokenLink, match=r"docs.python\.md: gone\.md"):
        pages._relinked("[gone](gone.md)", pages.DOCS / "python.md", "python.md", {}, {})


def test_a_link_in_a_program_is_left_alone():
    text = "```\n[gone](gone.md)\n```\n"
    assert pages._relinked(text, pages.DOCS / "python.md", "python.md", {}, {}) == text


def test_the_reference_of_python_has_every_public_name():
    page = api_page.page()
    methods = [name for name, _ in api_page._methods(qmd.KnowledgeBase)]
    assert [name for name in methods if f"### kb.{name}\n" not in page] == []
    public = [name for name in qmd.__all__ if not name.startswith("_")]
    heads = ("### {}\n", "### qmd.{}\n", "| `{}` | `")
    missing = [name for name in public if not any(each.format(name) in page for each in heads)]
    assert missing == ["AsyncKnowledgeBase", "KnowledgeBase"]


def test_the_reference_of_python_says_what_each_parameter_is():
    for name, method in api_page._methods(qmd.KnowledgeBase):
        told = "\n".join(api_page._function(f"kb.{name}", method, depth=3))
        for parameter in inspect.signature(method).parameters:
            if parameter not in ("self", "kb"):
                assert f"| `{parameter}` | " in told, f"{name}: {parameter}"


def test_sections_of_a_docstring_become_tables():
    text = "Find.\n\nArgs:\n    a, b: words,\n        and more.\n\nReturns:\n    All.\n"
    told = "\n".join(api_page._sections(text, {}))
    assert "| `a` | words, and more. |\n| `b` | words, and more. |" in told
    assert "**Returns:** All." in told


def test_the_reference_of_tools_has_every_parameter():
    page = tools_page.page()
    for tool in TOOLS:
        section = page.partition(f"## {tool.name}\n")[2].partition("\n## ")[0]
        for name in tool.input["properties"]:
            assert f"| `{name}` | " in section
    assert "integer, 1 to 500" in page


GOOD = '<h1 id="top">A</h1><a href="b.html#there">b</a><img src="a.png"><code>|---|</code>'
OTHER = '<h2 id="there">B</h2><a href="https://elsewhere.example/">away</a>'


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site without a fault."""
    (tmp_path / "a.html").write_text(GOOD, encoding="utf-8")
    (tmp_path / "b.html").write_text(OTHER, encoding="utf-8")
    (tmp_path / "a.png").touch()
    (tmp_path / "folder").mkdir()
    return tmp_path


def test_a_site_without_a_fault_passes(site):
    assert list(check.broken(site)) == []


@pytest.mark.parametrize(
    ("html", "why"),
    [
        ('<a href="c.html">c</a>', "is not there"),
        ('<a href="b.html#nowhere">b</a>', "has no such place"),
        ('<a href="#nowhere">up</a>', "has no such place"),
        ('<a href="folder/">folder</a>', "is a folder, which does not lead to its page"),
        ('<img src="b.png">', "is not there"),
        ('<script src="https://elsewhere.example/x.js"></script>', "is fetched from another host"),
        ('<link rel="stylesheet" href="//elsewhere.example/x.css">', "is fetched from another"),
        ("<p>| a | b |\n|---|---|---|</p>", "is Markdown that was not understood"),
        ("<p>[a](b.md)</p>", "is Markdown that was not understood"),
    ],
)
def test_a_fault_of_a_built_page_is_found(site, html, why):
    (site / "a.html").write_text(html, encoding="utf-8")
    (found,) = check.broken(site)
    assert found.page == "a.html"
    assert why in found.why


def test_the_script_of_another_host_becomes_our_own(site):
    page = site / "folder" / "page.html"
    page.write_text(f'<script src="{builder.FETCHED}"></script>', encoding="utf-8")
    assert list(check.broken(site))
    builder.own_worker(site)
    assert page.read_text(encoding="utf-8") == '<script src="../worker.js"></script>'
    assert list(check.broken(site)) == []


PAGE = """<!doctype html><script src="worker.js"></script><script>
  let heard = 0;
  const worker = new Worker("double.js");
  worker.onmessage = ({ data }) => { document.title = `${data} ${heard}`; };
  worker.addEventListener("message", () => { heard += 1; });
  worker.postMessage(21);
</script>"""


def test_a_page_opened_as_a_file_has_workers(tmp_path):
    """A browser refuses them there, so searches of the site would not work."""
    api = pytest.importorskip("playwright.sync_api")
    chromium = os.environ.get("QMD_TEST_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no Chromium (apt-get install chromium, or QMD_TEST_CHROMIUM)")
    shutil.copyfile(builder.WORKER, tmp_path / "worker.js")
    (tmp_path / "double.js").write_text("self.onmessage = e => self.postMessage(2 * e.data)")
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto((tmp_path / "page.html").as_uri())
        page.wait_for_function("document.title.includes('42')")
        assert page.title().split() == ["42", "1"]
        browser.close()
