"""What makes no sense is refused in words before anything is done."""

from __future__ import annotations

import pandas as pd
import pytest

import qmd
from qmd.surfaces.python import KnowledgeBase

WRONG = [
    ("search", (None,), {}, TypeError, "query takes a text, not None."),
    ("search", ("\ud800",), {}, ValueError, "query has half a character in it"),
    (
        "search",
        ("tea",),
        {"collection": 3},
        TypeError,
        "collection takes a name, or several, not 3",
    ),
    ("search", ("tea",), {"collection": b"notes"}, TypeError, "collection takes a name"),
    ("search", ("tea",), {"collection": ["notes", None]}, TypeError, "collection takes a text"),
    (
        "search",
        ("tea",),
        {"collection": []},
        ValueError,
        "collection is an empty list, which names",
    ),
    ("search", ("tea",), {"limit": 0}, ValueError, "limit=0 asks for nothing; None asks for all."),
    ("search", ("tea",), {"limit": "3"}, TypeError, "limit takes a whole number, not '3'."),
    ("search", ("tea",), {"limit": True}, TypeError, "limit takes a whole number, not True."),
    ("search", ("tea",), {"limit": 2.0}, TypeError, "limit takes a whole number, not 2.0."),
    ("search", ("tea",), {"min_score": "high"}, TypeError, "min_score takes a number, not 'high'."),
    ("search", ("tea",), {"min_score": float("nan")}, ValueError, "min_score takes a number"),
    ("search", ("tea",), {"since": 2025}, TypeError, "since takes a date, or a text such as"),
    ("search", ("tea",), {"min_score": 10**400}, ValueError, "min_score takes a number, not 10"),
    ("search", ("tea",), {"since": pd.NaT}, qmd.UsageError, "since takes a date such as"),
    ("search", ("tea",), {"filter": {}}, TypeError, "filter takes a text, not {}."),
    ("search", ("tea",), {"length": -1}, ValueError, "length takes 1 or more, not -1."),
    ("vector_search", (["tea"],), {}, TypeError, "question takes a text"),
    ("vector_search", ("tea",), {"per_file": 0}, ValueError, "per_file takes 1 or more, not 0."),
    ("query", (None,), {}, qmd.UsageError, "question and searches: give either one."),
    ("query", (5,), {}, TypeError, "question takes a text, not 5."),
    ("passages", (5,), {}, TypeError, "question takes a text, not 5."),
    ("passages", ("tea",), {"max_tokens": 9}, ValueError, "max_tokens takes 100 or more, not 9."),
    ("query", ("tea",), {"fusion": "best"}, ValueError, "fusion takes 'scores' or 'rrf', not"),
    ("query", ("tea",), {"candidates": -4}, ValueError, "candidates takes 1 or more, not -4."),
    ("query", ("tea",), {"timeout": -1}, ValueError, "timeout takes 0 or more, not -1."),
    ("query", ("tea",), {"recent": "30"}, TypeError, "recent takes a number, not '30'."),
    ("query", ("tea",), {"recent": 0}, ValueError, "recent takes days above 0, not 0."),
    ("query", ("tea",), {"recent": -0.5}, ValueError, "recent takes days above 0, not -0.5."),
    (
        "query",
        ("tea",),
        {"recent": float("inf")},
        ValueError,
        "recent takes days above 0, not inf.",
    ),
    (
        "query",
        ("tea",),
        {"recent": float("nan")},
        ValueError,
        "recent takes days above 0, not nan.",
    ),
    ("query", ("tea",), {"recent": 10**400}, ValueError, "recent takes days above 0, not 1000"),
    ("query", ("tea",), {"recent": True}, TypeError, "recent takes a number, not True."),
    ("query", ("tea",), {"intent": 1}, TypeError, "intent takes a text, not 1."),
    ("get", (None,), {}, TypeError, "name takes a text, not None."),
    ("get", ("notes/tea.md",), {"first": 0}, ValueError, "first takes 1 or more, not 0."),
    ("get", ("notes/tea.md",), {"count": "all"}, TypeError, "count takes a whole number"),
    ("multi_get", (["notes/tea.md", 5],), {}, TypeError, "pattern takes a text, not 5."),
    ("multi_get", ("notes/*",), {"largest": None}, TypeError, "largest takes a whole number"),
    ("documents", (1,), {}, TypeError, "path takes a text, not 1."),
    ("stats", ([],), {}, ValueError, "collection is an empty list"),
    ("stats", (), {"terms": -1}, ValueError, "terms takes 0 or more, not -1."),
    ("map", (), {"method": "umap"}, ValueError, "method takes 'pca' or 'tsne', not 'umap'."),
    ("sql", (None,), {}, TypeError, "query takes a text, not None."),
    ("sql", ("select 1", "x"), {}, TypeError, "parameters takes a mapping by name, or a list"),
    (
        "sql",
        ("select $x", {"x": "\ud800"}),
        {},
        ValueError,
        "The parameter 'x' has half a character",
    ),
    ("sql", ("select ?", ["\ud800"]), {}, ValueError, "The parameter 1 has half a character in it"),
    (
        "sql",
        ("select $x", {"x": ["a", {"\udfff": 1}]}),
        {},
        ValueError,
        "The parameter 'x' has half a character in it: '\\udfff'.",
    ),
    ("sql", ("select 1",), {"timeout": None}, TypeError, "timeout takes a number, not None."),
    ("sql", ("select 1",), {"memory": 10**9}, TypeError, "memory takes a text, not 1000000000."),
    ("export", (None,), {}, TypeError, "folder takes a path, not None."),
    ("export", ("",), {}, ValueError, "folder takes a path, not an empty text."),
    ("export", ("out",), {"tables": []}, ValueError, "tables is an empty list, which names"),
    ("export", ("out",), {"progress": 1}, TypeError, "progress takes a function, not 1."),
    ("import_", (3,), {}, TypeError, "folder takes a path, not 3."),
    ("add_collection", (None,), {}, TypeError, "path takes a path, not None."),
    ("add_collection", (".",), {"mask": ["*.md"]}, TypeError, "mask takes a text"),
    ("remove_collection", (None,), {}, TypeError, "name takes a text, not None."),
    ("collection", (1,), {}, TypeError, "name takes a text, not 1."),
    ("rename_collection", ("notes", None), {}, TypeError, "new takes a text, not None."),
    ("include_collection", (b"notes",), {}, TypeError, "name takes a text, not b'notes'."),
    ("exclude_collection", ("\ud800",), {}, ValueError, "name has half a character in it"),
    ("ignore_files", ("notes", []), {}, ValueError, "globs is an empty list, which names nothing"),
    ("set_update_command", ("notes", ["git"]), {}, TypeError, "command takes a text, not ['git']."),
    ("add_context", ("/", None), {}, TypeError, "text takes a text, not None."),
    ("add_context", (None, "x"), {}, TypeError, "path takes a path, not None."),
    ("remove_context", (b"/",), {}, TypeError, "path takes a path, not b'/'."),
    ("ask", (None,), {}, TypeError, "question takes a text, not None."),
    ("links", (None,), {}, TypeError, "name takes a text, not None."),
    ("links", ("a.md",), {"steps": 0}, ValueError, "steps takes 1 or more, not 0."),
    ("facets", (1,), {}, TypeError, "path takes a text, not 1."),
    ("facets", (), {"by": "x"}, ValueError, "by takes 'tag' or"),
    ("search", ("tea",), {"max_tokens": 9}, ValueError, "max_tokens takes 100 or more, not 9."),
    ("similar", (None,), {}, TypeError, "name takes a text, not None."),
    ("grep", (b"x",), {}, TypeError, "pattern takes a text, not b'x'."),
    ("put", (None, "x"), {}, TypeError, "name takes a text, not None."),
    ("append", (None, "x"), {}, TypeError, "name takes a text, not None."),
    ("edit", ("a.md", None), {}, TypeError, "text takes a text, not None."),
    ("move", (None,), {}, TypeError, "name takes a text, not None."),
    ("undo", ("1",), {}, TypeError, "number takes"),
    ("put", ("a.md", None), {}, TypeError, "text takes a text, not None."),
    ("remove", (b"x",), {}, TypeError, "name takes a text, not b'x'."),
    ("update", ([],), {}, ValueError, "collection is an empty list"),
    ("update", (), {"progress": "bar"}, TypeError, "progress takes a function, not 'bar'."),
    ("embed", (5,), {}, TypeError, "collection takes a name, or several, not 5."),
    ("embed", (), {"within": "1h"}, TypeError, "within takes a number, not '1h'."),
    ("embed", (), {"batch_tokens": 0}, ValueError, "batch_tokens takes 1 or more, not 0."),
]


@pytest.mark.parametrize(("verb", "given", "named", "error", "problem"), WRONG)
def test_what_makes_no_sense_is_refused_in_words_before_anything_is_done(
    tmp_path, verb, given, named, error, problem
):
    kb = qmd.connect(tmp_path / "never.duckdb")
    with pytest.raises(error) as raised:
        getattr(kb, verb)(*given, **named)
    assert str(raised.value).startswith(problem)
    assert not (tmp_path / "never.duckdb").exists()


def test_every_verb_that_takes_something_refuses_what_makes_no_sense():
    plain = {"close", "collections", "contexts", "status", "path", "ls", "vsearch"}
    plain |= {"cleanup", "doctor", "missing_contexts", "journal"}
    verbs = {name for name in dir(KnowledgeBase) if not name.startswith("_")}
    assert {verb for verb, *_ in WRONG} == verbs - plain


@pytest.mark.parametrize(
    ("named", "error", "problem"),
    [
        ({"index": 3}, TypeError, "index takes a path, not 3."),
        ({"index": ""}, ValueError, "index takes a path, not an empty text."),
        ({"path": b"kb"}, TypeError, "path takes a path, not b'kb'."),
        ({"patience": -1}, ValueError, "patience takes 0 or more, not -1."),
        ({"patience": None}, TypeError, "patience takes a number, not None."),
    ],
)
def test_an_index_that_makes_no_sense_is_refused(named, error, problem):
    for door in (qmd.connect, qmd.open):
        with pytest.raises(error) as raised:
            door(**named)
        assert str(raised.value) == problem


def test_names_may_be_anything_that_can_be_gone_through(kb):
    assert kb.search("tea", collection=(name for name in ["notes"]))
    assert kb.search("tea", collection={"notes": 1}.keys())
