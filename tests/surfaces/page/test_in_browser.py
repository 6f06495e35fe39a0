"""Pages in a real browser: keys, no script, dark, phone, and no request to other hosts."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from tests.surfaces.page.conftest import axe

PHONE = {"width": 390, "height": 844}
SHOWN = [
    "/",
    "/?q=tea&why=1",
    "/doc/notes/tea.md?q=brew&line=8",
    "/doc/notes/long.md?line=500",
    "/doc/notes/hostile.md?q=poison",
    "/doc/notes/arabic.md",
    "/links/notes/tea.md",
    "/look",
    "/lists",
    "/map",
    "/sql",
    "/sql?run=1&query=select+path,+size+from+documents+order+by+size+limit+9",
]


@contextmanager
def opened(browser, pages, path, **options):
    """A page in a window of its own; what it asks of other hosts or complains of is an error."""
    context = browser.new_context(base_url=pages.url, **options)
    context.set_default_timeout(20_000)
    page = context.new_page()
    wrong = []
    page.on("request", lambda each: each.url.startswith(pages.url) or wrong.append(each.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(path)
    try:
        yield page
        assert wrong == []
    finally:
        context.close()


def files(page):
    links = page.query_selector_all(".hit-link")
    return [each.get_attribute("href").partition("?")[0] for each in links]


def test_results_come_while_typing_and_the_address_follows(browser, pages):
    with opened(browser, pages, "/") as page:
        page.type("#q", "brew")
        page.wait_for_url("**/?q=brew")
        page.wait_for_selector(".cards:not(:has(.card:nth-child(2))) .card")
        assert files(page) == ["/doc/notes/tea.md"]
        assert page.evaluate("document.activeElement.id") == "q"


def test_all_results_come_while_typing_in_the_order_of_the_page(browser, pages):
    with opened(browser, pages, "/?mode=words") as page:
        page.type("#q", "kettle")
        page.wait_for_url("**/?mode=words&q=kettle")
        page.wait_for_selector(".card:nth-child(20) .hit-link")
        typed = files(page)
        page.goto("/?mode=words&q=kettle")
        assert typed == files(page)
        assert len(typed) == 20


def test_keys_choose_open_and_lead_back(browser, pages):
    with opened(browser, pages, "/?q=tea&mode=words") as page:
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.id") == "q"
        first, second = files(page)[:2]
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        assert second in page.evaluate("document.activeElement.href")
        page.keyboard.press("ArrowUp")
        assert first in page.evaluate("document.activeElement.href")
        page.keyboard.press("Enter")
        page.wait_for_selector("body.document")
        page.keyboard.press("Escape")
        page.wait_for_selector("body.search")
        assert page.input_value("#q") == "tea"
        page.focus("#q")
        page.keyboard.press("Escape")
        page.wait_for_url("**/?mode=words")
        assert page.input_value("#q") == ""


def test_chips_filter_and_the_browser_leads_back(browser, pages):
    with opened(browser, pages, "/?q=tea&mode=words") as page:
        before = files(page)
        page.click(".chip:has-text('drinks')")
        page.wait_for_selector(".chip.on")
        assert files(page) == ["/doc/notes/tea.md"]
        page.go_back()
        page.wait_for_selector(".chip.on", state="detached")
        assert files(page) == before


def test_further_results_are_appended(browser, pages):
    with opened(browser, pages, "/?q=kettle&mode=words") as page:
        page.click("text=More results")
        page.wait_for_selector(".card:nth-child(30)")
        assert not page.query_selector("[rel=next]")


def test_all_works_without_script(browser, pages):
    with opened(browser, pages, "/", java_script_enabled=False) as page:
        page.fill("#q", "brew")
        page.click("#search button")
        assert files(page) == ["/doc/notes/tea.md"]
        page.click(".hit-link")
        page.click("text=Links and similar passages")
        page.click(".near >> text=Water")
        assert page.inner_text(".doc-title") == "Water"


def test_what_takes_longer_comes_after_the_document(browser, pages):
    with opened(browser, pages, "/doc/notes/tea.md") as page:
        page.click("aside h2:has-text('Similar passages') + .near a")
        page.wait_for_selector("#hit")
        assert "tea" in page.inner_text("article").lower()


def test_the_drawing_of_links_is_walked_with_keys(browser, pages):
    with opened(browser, pages, "/links/notes/tea.md", java_script_enabled=False) as page:
        page.focus(".graph a[aria-label=Water]")
        page.keyboard.press("Enter")
        page.wait_for_url("**/links/notes/deep/water.md")
        page.click(".graph .step0 a")
        page.wait_for_url("**/doc/notes/deep/water.md")


@pytest.mark.parametrize("path", SHOWN)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_phones_and_are_accessible(browser, pages, path, scheme):
    check_phone(browser, pages, path, scheme)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_map_fits_phones_and_is_accessible(browser, mapped, scheme):
    check_phone(browser, mapped, "/map?q=kettle&at=500,300", scheme)


def check_phone(browser, server, path, scheme):
    """Fail if a page is wider than a phone, has other colours, or has faults that axe knows."""
    with opened(browser, server, path, viewport=PHONE, color_scheme=scheme) as page:
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        light = page.evaluate("getComputedStyle(document.body).color.match(/[0-9]+/)[0] > 128")
        assert light == (scheme == "dark")
        if axe() is None:
            pytest.skip("axe-core is not here (npm install axe-core, or QMD_TEST_AXE)")
        page.evaluate(axe().read_text(encoding="utf-8"))
        found = page.evaluate(
            "axe.run(document, {resultTypes: ['violations'],"
            " runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa']})"
        )
        grave = [
            (each["id"], [node["html"][:200] for node in each["nodes"][:3]])
            for each in found["violations"]
            if each["impact"] in ("serious", "critical")
        ]
        assert grave == []


def test_the_map_lists_what_is_under_the_pointer_and_keeps_a_place(browser, mapped):
    with opened(browser, mapped, "/map?q=kettle") as page:
        page.hover("#map image", position={"x": 300, "y": 200})
        page.wait_for_selector("#near li")
        assert "at=" not in page.url
        page.click("#map image", position={"x": 20, "y": 20})
        page.wait_for_url("**/map?q=kettle&at=*")
        near = page.inner_text("#near")
        page.reload()
        assert page.inner_text("#near") == near
        assert page.evaluate("window.ran") is None
        assert page.evaluate(
            "fetch(document.querySelector('#map image').href.baseVal)"
            ".then(answer => answer.text()).then(text => text.match(/h0/g).length)"
        )


def test_the_map_is_walked_without_a_script(browser, mapped):
    with opened(browser, mapped, "/map", java_script_enabled=False) as page:
        page.focus("#map .label")
        page.keyboard.press("Enter")
        page.wait_for_url("**/map?at=*")
        page.click("#near a")
        page.wait_for_selector("body.document")


def test_hostile_notes_run_nothing_in_a_browser(browser, pages):
    with opened(browser, pages, "/doc/notes/hostile.md?q=poison") as page:
        page.wait_for_load_state("networkidle")
        for link in page.query_selector_all(".prose a"):
            assert link.get_attribute("href") is None or "javascript:" not in link.get_attribute(
                "href"
            )
        assert page.evaluate("window.ran") is None
        page.goto("/picture?from=notes/hostile.md&to=evil.svg")
        assert page.evaluate("window.ran") is None


def test_right_to_left_texts_begin_at_the_right(browser, pages):
    with opened(browser, pages, "/doc/notes/arabic.md") as page:
        assert (
            page.evaluate("getComputedStyle(document.querySelector('.prose p')).direction") == "rtl"
        )
        assert page.evaluate("getComputedStyle(document.querySelector('h1')).direction") == "rtl"


def test_huge_tables_scroll_inside_the_page(browser, pages):
    with opened(browser, pages, "/doc/notes/table.md", viewport=PHONE) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_a_query_is_written_run_and_downloaded(browser, pages):
    with opened(browser, pages, "/sql") as page:
        page.fill("#query", "select 'tea' as drink, 3 as cups union all select 'milk', 1")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector(".rows td")
        assert page.locator(".bars rect").count() == 2
        with page.expect_download() as saved:
            page.click("a[download]")
        text = saved.value.path().read_text(encoding="utf-8")
        assert sorted(text.splitlines()) == ["drink,cups", "milk,1", "tea,3"]
