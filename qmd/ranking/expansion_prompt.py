"""Prompt of query expansion, and parser of the response."""

from __future__ import annotations

from collections.abc import Callable

from qmd.models.registry import Model
from qmd.ranking.query_document import Kind, Search

GRAMMAR = r"""
root ::= lex lex? lex? vec vec? hyde?
lex  ::= "lex: " text "\n"
vec  ::= "vec: " text "\n"
hyde ::= "hyde: " text "\n"
text ::= [^\n\r] [^\n\r]{1,300}
"""
"""Grammar of an expansion (GBNF)."""

EXPANSION_TOKENS = 300

EXPAND = """\
You improve searches of a person's own notes and documents. Write other searches that would find
what the question is after: one to three lines 'lex: ' of two to five keywords each, one or two
lines 'vec: ' that ask the same in other words, and a line 'hyde: ' for a sentence that stands in a
document which has the answer. Keep names as they are.

Question: {text}"""
"""Prompt for models that were not trained for expansion."""


def expansion(model: Model, question: str, intent: str | None) -> str:
    """Build the prompt that expands a query."""
    template = EXPAND if model.query == "{text}" else model.query
    about = f"{question}\nContext: {intent}" if intent else question
    return template.replace("{text}", about)


def expanded(answer: str, question: str, keeps: Callable[[str], bool]) -> list[Search]:
    """Parse the response, without repetitions of the query or wordings off the subject.

    Args:
        keeps: checks that a text keeps the subject of the query.
    """
    searches: list[Search] = []
    seen = {_same(question)}
    for line in answer.splitlines():
        kind, _, text = line.partition(":")
        text = text.strip()
        if kind not in ("lex", "vec", "hyde") or not text:
            continue
        if _same(text) in seen or not keeps(text):
            continue
        seen.add(_same(text))
        searches.append(Search(_kind(kind), text))
    return searches


def _same(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip("?.! ")


def _kind(kind: str) -> Kind:
    return "lex" if kind == "lex" else "vec" if kind == "vec" else "hyde"
