"""Places to cut a program."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.embedding import code_chunker
from qmd.embedding.chunker import Break, Sizes, chunks
from qmd.embedding.code_chunker import grammar_of, syntax_breaks
from tests.test_cases import recorded

PARTS = {
    "a.c": {
        "#include <a.h>": 60,
        "struct A { int x; };": 100,
        "typedef int B;": 80,
        "enum E { X };": 80,
        "union U { int a; };": 100,
        "static int f(void) { return 0; }": 90,
        "struct A global;": None,
        "int declared(int);": None,
    },
    "a.hpp": {
        "#include <a>": 60,
        "using namespace std;": 60,
        "template <class T>": 90,
        "T id(T x) { return x; }": 90,
        "class A : public B {": 100,
        "void m() {} };": 90,
        "class Declared;": None,
        "namespace n { int a; }": 100,
        "using X = int;": 80,
    },
    "a.go": {
        "package a": None,
        'import "x"': 60,
        "type A struct { x int }": 100,
        "type B interface {}": 100,
        "type C int": 80,
        "func f() {}": 90,
        "func (a A) m() {}": 90,
    },
    "A.java": {
        "package a;": None,
        "import b.C;": 60,
        "@X public class A {": 100,
        "int field;": None,
        "A() {}": 90,
        "void m() {}": 90,
        "enum E { Q } }": 80,
        "interface I {}": 100,
        "record R(int a) {}": 100,
        "@interface N {}": 100,
    },
    "a.rb": {
        "require 'x'": 60,
        "puts 'x'": None,
        "module A": 100,
        "class B < C": 100,
        "def m; end": 90,
        "def self.n; end": 90,
        "end; end": None,
    },
    "a.rs": {
        "use a::b;": 60,
        "#[test]": None,
        "fn a() {}": 90,
        "union U { a: i32 }": 100,
        "macro_rules! m { () => {} }": 90,
        "const X: i32 = 1;": None,
    },
    "a.tsx": {
        "import x from 'x';": 60,
        "const A = () => <div>é</div>;": 90,
        "const b = 1;": None,
        "abstract class C {}": 100,
        "namespace N {}": 100,
        "type T = string;": 80,
    },
    "a.jsx": {"const A = () => <div>é</div>;": 90, "function* g() {}": 90, "var x = 1;": None},
    "a.pyi": {
        "from __future__ import annotations": 60,
        "x = 'é日本🚀'": None,
        "async def f(): pass": 90,
        "type X = int": 80,
        "class A: pass": 100,
    },
}
"""For a file of each language, its lines and what each is worth."""


@pytest.mark.parametrize("case", recorded("ast.json", "ast"))
def test_breaks_are_as_recorded(case):
    assert (grammar_of(case["file"]) is None) == (case["language"] is None)
    assert syntax_breaks(case["content"], case["file"]) == [
        Break(each["pos"], each["score"]) for each in case["expected"]
    ]


@pytest.mark.parametrize("path", PARTS)
def test_each_part_of_a_program_is_worth_what_it_is(path):
    text, expected = "", []
    for line, score in PARTS[path].items():
        if score is not None:
            expected.append(Break(len(text), score))
        text += line + "\n"
    assert syntax_breaks(text, path) == expected


def test_every_language_has_a_suffix_and_a_query_that_its_grammar_knows():
    assert {grammar_of(f"a{suffix}") for suffix in code_chunker._LANGUAGES} == set(
        code_chunker._QUERIES
    )
    for name in code_chunker._QUERIES:
        code_chunker._grammar(name)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/a.PY", "python"),
        ("a.py/b.rs", "rust"),
        ("a.d.ts", "typescript"),
        ("a.tsx", "tsx"),
        ("a.h", "cpp"),
        ("notes.md", None),
        ("py", None),
        (".py", None),
    ],
)
def test_the_last_extension_is_the_language(path, expected):
    assert grammar_of(path) == expected


def test_a_position_counts_characters():
    text = "# 日本語 🚀\nclass É:\n    'ü'\n    def f(self): pass\n"
    assert [text[position:][:5] for position, _ in syntax_breaks(text, "a.py")] == [
        "class",
        "def f",
    ]


def test_a_character_that_has_no_bytes_is_a_character_all_the_same():
    text = "x = '\ud800'\ndef f(): pass\n"
    assert syntax_breaks(text, "a.py") == [Break(text.index("def"), 90)]


def test_a_program_is_cut_where_its_parts_begin():
    text = "\n".join(f"def f{at}():\n    x = 1\n    y = 2\n" for at in range(20))
    pieces = chunks(text, Sizes(100, 0, 50), syntax_breaks(text, "a.py"))
    assert len(pieces) > 5
    assert all(text.startswith("def", piece.position) for piece in pieces)


def test_without_its_grammar_a_program_is_a_text(monkeypatch):
    code_chunker._grammar.cache_clear()
    monkeypatch.setitem(sys.modules, "tree_sitter_python", None)
    assert syntax_breaks("def f(): pass", "a.py") == []
    monkeypatch.undo()
    assert syntax_breaks("def f(): pass", "a.py") == [Break(0, 90)]


def test_a_query_that_a_grammar_does_not_know_is_no_error(monkeypatch):
    code_chunker._grammar.cache_clear()
    monkeypatch.setitem(code_chunker._QUERIES, "python", "(unheard_of) @class")
    assert syntax_breaks("def f(): pass", "a.py") == []


def test_a_text_that_is_too_long_is_not_parsed(monkeypatch):
    monkeypatch.setattr(code_chunker, "LONGEST", 13)
    assert syntax_breaks("def f(): pass", "a.py") == [Break(0, 90)]
    assert syntax_breaks("def f(): pass ", "a.py") == []


def test_what_is_broken_all_over_is_not_searched():
    some, many = ("def f(): pass\n" + "(" * count for count in (100, 20_000))
    assert syntax_breaks(some, "a.py") == [Break(0, 90)]
    assert syntax_breaks(many, "a.py") == []


@given(
    st.text(st.sampled_from("ab\n \t(){}[];:='\"`#é日🚀\\/<>@\0\ud800"), max_size=80),
    st.sampled_from(sorted(code_chunker._LANGUAGES)),
)
def test_whatever_is_read_the_places_are_in_order_and_in_the_text(text, suffix):
    places = [position for position, _ in syntax_breaks(f"{text}\nclass A {{}}", f"a{suffix}")]
    assert places == sorted(set(places))
    assert all(0 <= place < len(text) + 11 for place in places)
