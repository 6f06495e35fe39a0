"""Pages as they come over HTTP, without a browser."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import urlencode

import httpx
import pytest
from starlette.datastructures import QueryParams

from qmd.analytics.views import views
from qmd.surfaces.http.app import Options
from qmd.surfaces.page.address import AddressedSearch
from qmd.surfaces.page.markdown_html import DEEPEST, render_markdown
from qmd.surfaces.page.marks import highlighted
from qmd.surfaces.page.routes import STATIC
from qmd.surfaces.tools.dispatch import Toolbox
from tests.library import Library
from tests.surfaces.service import LONG, service

HTML = {"accept": "text/html"}


class Tags(HTMLParser):
    """Elements of a page with their attributes."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def hrefs(self, kind=""):
        return [
            more["href"]
            for tag, more in self.found
            if tag == "a" and "href" in more and kind in (more.get("class") or "")
        ]


def asked(pages, **given):
    return pages.get("/?" + urlencode(given, doseq=True), headers=HTML)


def hits(answer):
    return [href.partition("?")[0] for href in Tags(answer.text).hrefs("hit-link")]


def article(answer):
    return answer.text.partition('<section class="prose')[2].partition("</article>")[0]


def test_the_first_page_lists_documents_and_facets(pages):
    answer = pages.get("/", headers=HTML)
    assert answer.status_code == 200
    assert len(hits(answer)) == 20
    assert ">drinks</bdi>" in answer.text
    assert '<bdi>notes/many</bdi> <span class="n">30</span>' in answer.text


@pytest.mark.parametrize("mode", ["both", "words"])
def test_words_are_found_and_marked(pages, mode):
    answer = asked(pages, q="brew degrees", mode=mode)
    assert hits(answer) == ["/doc/notes/tea.md"]
    assert "<mark>Brew</mark>" in answer.text
    assert "line=8#hit" in answer.text


def test_filters_narrow_and_chips_widen_again(pages):
    assert "/doc/notes/tea.md" in hits(asked(pages, q="tea"))
    assert hits(asked(pages, q="tea", folder="notes/deep")) == ["/doc/notes/deep/water.md"]
    assert hits(asked(pages, q="tea", tag="drinks")) == ["/doc/notes/tea.md"]
    assert hits(asked(pages, q="tea", tag=["drinks", "green"])) == ["/doc/notes/tea.md"]
    assert hits(asked(pages, q="tea", since="2024-01-01", before="2025-01-01")) == [
        "/doc/notes/tea.md"
    ]
    assert hits(asked(pages, q="tea", kind="txt")) == []
    assert "/doc/notes/tea.md" in hits(asked(pages, q="tea", kind="md"))
    assert hits(asked(pages, q="tea", kind="md", folder="notes/deep")) == [
        "/doc/notes/deep/water.md"
    ]
    chip = asked(pages, q="tea", tag="drinks").text
    assert '<a class="chip on" href="/?q=tea"' in chip


def test_a_hostile_filter_finds_nothing_and_breaks_nothing(pages):
    for text in ("'\"", "**[{", "notes/{a,b", "../..", "\0", "x" * 5000, "a' and b = 'c"):
        for name in ("folder", "tag", "kind", "since", "before", "c", "page", "mode"):
            answer = asked(pages, q="tea", **{name: text})
            assert answer.status_code == 200, (name, text)


def test_an_address_that_is_written_again_asks_for_the_same():
    asked_for = AddressedSearch.read(
        QueryParams({"since": f"{39 * '2'} 4", "before": f" {50 * '3'} "})
    )
    assert AddressedSearch.read(QueryParams(asked_for.parameters()[1:])) == asked_for


def test_pages_follow_one_another(pages):
    first = asked(pages, q="kettle", mode="words")
    second = pages.get(next(h for h in Tags(first.text).hrefs() if "page=2" in h), headers=HTML)
    assert (len(hits(first)), len(hits(second))) == (20, 10)
    assert not set(hits(first)) & set(hits(second))
    assert 'rel="next"' not in second.text


def test_scores_are_explained_when_asked_for(pages):
    assert "fused by" not in asked(pages, q="brew").text
    assert "fused by scores" in asked(pages, q="brew", why=1).text


def test_a_query_that_cannot_be_read_says_why(pages):
    answer = asked(pages, q='tea "', mode="meaning")
    assert answer.status_code == 200
    assert 'role="alert"' in answer.text


def test_the_script_gets_results_alone(pages):
    part = pages.get("/?q=brew", headers={"x-part": "results"}).text
    assert "<!doctype" not in part
    assert hits(httpx.Response(200, text=part)) == ["/doc/notes/tea.md"]


def test_nothing_of_a_query_is_markup(pages):
    answer = asked(pages, q='"><script>alert(1)</script>')
    assert "<script>alert" not in answer.text


def test_a_document_is_rendered_with_outline_facts_and_lines(pages):
    answer = pages.get("/doc/notes/tea.md?q=brew&line=8", headers=HTML)
    text = article(answer)
    assert '<p id="hit" class="hit" dir="auto"><mark>Brew</mark>' in text
    assert '<h2 id="h-steps" dir="auto">Steps</h2>' in text
    assert 'href="#h-steps">Steps</a>' in answer.text
    assert 'id="L14"' in text
    assert "<table" in text
    assert '<dd dir="auto">open</dd>' in answer.text
    assert "#drinks" in answer.text
    assert (
        '<img src="/picture?from=notes%2Ftea.md&amp;to=leaf.png" alt="leaf" loading="lazy">' in text
    )


def test_a_title_that_the_text_begins_with_is_shown_once(pages):
    def is_titled(file):
        return article(pages.get(file, headers=HTML)).startswith(' titled">')

    assert is_titled("/doc/notes/tea.md")
    assert not is_titled("/doc/notes/arabic.md")
    assert not is_titled("/doc/notes/long.md")


def test_lists_and_quotations_run_as_their_text_does():
    text = "1. two\n2. اثنان\n\n> > اقتباس\n\n- (1) شاي\n\n  tea\n- tea\n\n* 1\n"
    html = render_markdown(text, "notes/a.md").html
    found = re.findall(r"<(ol|ul|li|blockquote)((?: [^>]*)?)>", html)
    assert [(name, "".join(re.findall('dir="(...)"', rest))) for name, rest in found] == [
        ("ol", "ltr"),
        ("li", "ltr"),
        ("li", "rtl"),
        ("blockquote", "rtl"),
        ("blockquote", "rtl"),
        ("ul", "rtl"),
        ("li", "rtl"),
        ("li", "ltr"),
        ("ul", ""),
        ("li", ""),
    ]


def test_a_page_that_there_is_not_is_told_as_a_page(pages):
    answer = pages.get("/nowhere", headers=HTML)
    assert answer.status_code == 404
    assert "This server has no such page." in answer.text
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert pages.get("/nowhere").headers["content-type"] == "application/json"


def test_an_index_without_documents_says_how_to_begin(tmp_path):
    library = Library(tmp_path)
    library.update()
    with service(Toolbox(library.engine)) as empty:
        home, look = (empty.get(path, headers=HTML).text for path in ("/", "/look"))
        found = empty.get("/?q=tea", headers=HTML).text
    library.engine.close()
    for text in (home, look):
        assert "There are no documents yet." in text
        assert "qmd collection add FOLDER" in text
    assert "/lists" not in look
    assert "There are no documents yet." not in found
    assert "Nothing found for" in found


def test_filters_that_are_folded_away_are_counted(pages):
    assert "<summary>Filters</summary>" in asked(pages, q="tea").text
    assert (
        "<summary>Filters (2 set)</summary>" in asked(pages, q="tea", tag="drinks", c="notes").text
    )


def test_links_lead_on_to_documents(pages):
    links = Tags(article(pages.get("/doc/notes/tea.md", headers=HTML))).hrefs()
    assert [pages.get(link, headers=HTML).headers["location"] for link in links] == [
        "/doc/notes/deep/water.md#h-soft-water",
        "/doc/notes/pool.md",
    ]
    gone = pages.get("/go?from=notes/pool.md&to=absent.md", headers=HTML)
    assert gone.headers["location"] == "/?q=absent.md"


def test_links_around_a_document_are_listed(pages):
    part = HTML | {"X-Part": "links"}
    text = pages.get("/links/notes/tea.md", headers=part).text
    into, _, out = text.partition("Links from here")
    assert "/doc/notes/deep/water.md" in out
    assert "/doc/notes/pool.md" in out
    assert "No document links here." in into
    assert '<span class="gone" dir="auto">Gone</span>' in (
        pages.get("/links/notes/pool.md", headers=part).text
    )


def test_a_missing_document_is_a_page_with_similar_names(pages):
    answer = pages.get("/doc/notes/te.md", headers=HTML)
    assert answer.status_code == 404
    assert "notes/tea.md" in answer.text


def test_hostile_notes_run_nothing_and_load_nothing(pages):
    answer = pages.get("/doc/notes/hostile.md?q=poison", headers=HTML)
    tags = Tags(answer.text).found
    own = [more for tag, more in tags if tag == "script"]
    assert [each.get("src", "").partition("?")[0] for each in own] == ["/static/page.js"]
    inside = Tags(article(answer)).found
    assert not {tag for tag, _ in inside} & {"script", "style", "svg", "iframe", "form", "input"}
    for tag, more in inside:
        assert not [name for name in more if name.startswith("on") or name == "style"]
        for name in ("href", "src"):
            if name in more:
                assert re.match(r"/picture\?|/go\?|#|https://|$", more[name]), more
        if tag == "img":
            assert "elsewhere" not in more.get("src", "")
    assert "<title>&lt;script&gt;" in answer.text
    assert r"\u202e" in answer.text
    assert "<script>window" not in asked(pages, q="poison").text


@pytest.mark.parametrize("tag", ["<ul><li>", "<div>\n", "<q>", "<DIV x='a'></span>"])
def test_elements_are_nested_as_deeply_as_a_browser_has_them(tag):
    html = render_markdown(2 * DEEPEST * tag, "notes/a.md").html
    name = re.search("[a-z]+", tag, re.I)[0].lower()
    assert html.count(f"<{name}") == DEEPEST
    assert html.lower().count(f"&lt;{name}") == DEEPEST
    apart = render_markdown(2 * DEEPEST * "<div>tea</div>\n\n", "notes/a.md").html
    assert apart.count("<div") == 2 * DEEPEST


@pytest.mark.parametrize("heading", ["茶", "!", "Tea & pot"])
def test_the_outline_leads_to_each_heading(heading):
    (entry,), html = (
        (made := render_markdown(f"# {heading}\n\ntext", "notes/a.md")).outline,
        made.html,
    )
    assert f'id="{entry.id}"' in html


def test_an_anchor_of_a_heading_is_its_name_and_is_not_shown():
    made = render_markdown("# Set *up* {/*start*/}\n\n## Go on {#next}\n", "notes/a.md")
    assert [(each.text, each.id) for each in made.outline] == [
        ("Set up", "h-start"),
        ("Go on", "h-next"),
    ]
    assert "{" not in made.html


def test_a_link_without_a_scheme_leads_to_the_web():
    (link,) = Tags(render_markdown("[host](//example.org/a)", "notes/a.md").html).hrefs()
    assert link == "https://example.org/a"


@pytest.mark.parametrize(
    "target", ["qmd://notes/pool.md", "QMD:notes/pool.md", "qmd:/notes/pool.md"]
)
def test_a_link_by_the_scheme_of_qmd_stays_on_the_page(target):
    (link,) = Tags(render_markdown(f"[pool]({target})", "notes/a.md").html).hrefs()
    assert link.startswith("/doc/")


def test_long_documents_come_page_by_page(pages):
    answer = pages.get("/doc/notes/long.md?line=50500&q=sand", headers=HTML)
    assert "lines 50,001 to 51,000 of 100,000" in answer.text
    assert '<p id="hit" dir="auto" class="hit">' in answer.text
    assert len(answer.content) < 400_000
    assert "line 51001 of" not in answer.text


def test_pictures_are_those_of_the_collection_alone(pages):
    def picture(name, origin="notes/tea.md"):
        return pages.get("/picture?" + urlencode({"from": origin, "to": name}))

    leaf = picture("leaf.png")
    assert (leaf.status_code, leaf.headers["content-type"]) == (200, "image/png")
    assert picture("../leaf.png", "notes/deep/water.md").status_code == 200
    assert picture("/leaf.png", "notes/deep/water.md").status_code == 200
    assert "sandbox" in picture("evil.svg").headers["content-security-policy"]
    for name in (
        "../secret.png",
        "link.png",
        "linked/secret.png",
        ".hidden.png",
        "tea.md",
        "/etc/passwd",
        "absent.png",
    ):
        assert picture(name).status_code == 404, name
    assert picture("leaf.png", "absent/tea.md").status_code == 404


def test_an_original_is_saved_and_never_shown(pages):
    answer = pages.get("/original/notes/tea.md")
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''tea.md"
    assert answer.headers["content-type"] == "application/octet-stream"
    assert pages.get("/original/notes/leaf.png").status_code == 404


@pytest.mark.parametrize("path", ["/", "/?q=tea", "/doc/notes/tea.md", "/links/notes/tea.md"])
def test_pages_have_a_strict_policy_and_no_inline_code(pages, path):
    answer = pages.get(path, headers=HTML)
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    assert answer.headers["cache-control"] == "no-store"
    for tag, more in Tags(answer.text).found:
        assert "style" not in more
        assert not [name for name in more if name.startswith("on")], tag


def test_a_page_weighs_little(pages):
    script = sum(len(pages.get(f"/static/{name}").content) for name in STATIC)
    assert script + len(asked(pages, q="tea").content) < 100_000


def test_another_site_may_link_here_and_load_nothing(pages):
    def status(path, site, mode):
        headers = {**HTML, "sec-fetch-site": site, "sec-fetch-mode": mode}
        return pages.get(path, headers=headers).status_code

    assert status("/?q=tea", "cross-site", "navigate") == 200
    assert status("/?q=tea", "same-origin", "cors") == 200
    assert status("/?q=tea", "cross-site", "no-cors") == 403
    assert status("/picture?from=notes/tea.md&to=leaf.png", "same-site", "no-cors") == 403
    assert pages.get("/", headers={"host": "elsewhere.example"}).status_code == 421
    assert pages.get("/", headers={"origin": "https://elsewhere.example"}).status_code == 403


def test_a_token_is_asked_for_once(kept):
    with service(Toolbox(kept.engine), Options(token="s3cret")) as server:
        assert server.get("/").status_code == 401
        sent = server.get("/?q=tea", headers=HTML)
        assert (sent.status_code, sent.headers["location"]) == (303, "/login?next=%2F%3Fq%3Dtea")
        assert server.get("/static/page.css").status_code == 200
        form = server.get(sent.headers["location"], headers=HTML).text
        assert 'name="next" value="/?q=tea"' in form

        def login(token, there="/?q=tea", **headers):
            data = {"token": token, "next": there}
            return httpx.post(f"{server.url}/login", data=data, headers=headers, timeout=LONG)

        assert login("wrong").status_code == 403
        assert "set-cookie" not in login("wrong").headers
        assert login("s3cret", origin="https://elsewhere.example").status_code == 403
        for there in ("//elsewhere.example", "https://elsewhere.example", "/\\elsewhere.example"):
            assert login("s3cret", there).headers["location"] == "/"
        right = login("s3cret")
        assert (right.status_code, right.headers["location"]) == (303, "/?q=tea")
        cookie = right.headers["set-cookie"]
        assert cookie.endswith("; Path=/; HttpOnly; SameSite=Strict")
        assert "s3cret" not in cookie
        given = {"cookie": cookie.partition(";")[0]}
        assert server.get("/?q=tea", headers=given).status_code == 200
        assert server.get("/status", headers=given).status_code == 401
        assert server.post("/search", {"query": "tea"}, headers=given).status_code == 401
        assert server.get("/", headers={**HTML, "cookie": "qmd-x=1"}).status_code == 303
        assert server.get("/", headers={"authorization": "Bearer s3cret"}).status_code == 200


def test_forms_are_taken_by_the_log_in_alone(pages):
    form = {"content-type": "application/x-www-form-urlencoded"}
    for path in ("/search", "/mcp", "/put"):
        answer = httpx.post(pages.url + path, content=b"a=b", headers=form, timeout=LONG)
        assert answer.status_code == 415
    assert pages.get("/login?next=/doc/notes/tea.md").headers["location"] == "/doc/notes/tea.md"


def test_to_look_writes_nothing(kept):
    kept.configure(more="query_log: true")
    kept.engine.forget_settings()
    log = kept.engine.place.database.with_name("index.duckdb.searches.jsonl")
    try:
        with service(Toolbox(kept.engine)) as server:
            server.post("/search", {"query": "tea"})
            assert log.read_text().count("\n") == 1
            for mode in ("both", "words"):
                assert asked(server, q="tea", mode=mode).status_code == 200
            assert server.get("/links/notes/tea.md").status_code == 200
            assert log.read_text().count("\n") == 1
    finally:
        kept.configure()
        kept.engine.forget_settings()


def test_editor_links_are_those_of_the_settings(kept):
    kept.configure(more="editor_uri: vscode://file/{path}:{line}")
    kept.engine.forget_settings()
    try:
        with service(Toolbox(kept.engine)) as server:
            text = server.get("/doc/notes/tea.md?line=8", headers=HTML).text
            assert f'href="vscode://file{kept.root}/tea.md:8"' in text.replace("file//", "file/")
    finally:
        kept.configure()


def test_the_page_needs_views_that_there_are():
    assert {"links", "documents"} <= {view.name for view in views()}


def test_a_word_is_marked_with_the_marks_of_its_letters():
    assert highlighted("हिन्दी भाषा", "भाषा".__eq__) == "हिन्दी <mark>भाषा</mark>"
