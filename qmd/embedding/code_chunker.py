"""Candidate splits of source code: the starts of classes, functions, types and imports.

The grammars are separate packages. Without a grammar, or if it cannot parse the text, a program is
chunked like any text.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from qmd.embedding.chunker import Break

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Query

LONGEST = 500_000
"""Characters of a text that is parsed, at most: another text may take half a minute."""

_BROKEN = 100_000_000
"""Sum of the squared child counts of error nodes from which on a tree is not searched: a query
takes as many steps there."""

_SCORES = {"class": 100, "function": 90, "type": 80, "import": 60}
"""Scores of the captures below. Source: tobi/qmd (MIT), src/ast.ts, SCORE_MAP."""

_SUFFIXES = {
    "c": ".c",
    "cpp": ".h .cpp .cc .cxx .hpp .hh .hxx .ipp",  # a C header is as good as always C++
    "go": ".go",
    "java": ".java",
    "javascript": ".js .jsx .mjs .cjs",
    "python": ".py .pyi .pyw",
    "ruby": ".rb .rake .gemspec",
    "rust": ".rs",
    "tsx": ".tsx",
    "typescript": ".ts .mts .cts",
}
_LANGUAGES = {suffix: name for name, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}

_GRAMMARS = {
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
}
"""Package and function of a grammar whose name differs from the language."""

_C = """
[(struct_specifier body: (_)) (union_specifier body: (_))] @class
(function_definition) @function
[(enum_specifier body: (_)) (type_definition)] @type
(preproc_include) @import
"""
_JAVASCRIPT = """
(class_declaration) @class
[
  (export_statement)
  (function_declaration)
  (generator_function_declaration)
  (method_definition)
] @function
(_ (variable_declarator
  value: [(arrow_function) (function_expression) (generator_function)])) @function
(import_statement) @import
"""
_TYPESCRIPT = f"""{_JAVASCRIPT}
[(abstract_class_declaration) (interface_declaration) (internal_module) (module)] @class
[(type_alias_declaration) (enum_declaration)] @type
"""
_QUERIES = {
    "c": _C,
    "cpp": f"""{_C}
    [(class_specifier body: (_)) (namespace_definition)] @class
    (template_declaration) @function
    [(alias_declaration) (concept_definition)] @type
    (using_declaration) @import
    """,
    "go": """
    (type_declaration (type_spec type: [(struct_type) (interface_type)])) @class
    [(function_declaration) (method_declaration)] @function
    (type_declaration) @type
    (import_declaration) @import
    """,
    "java": """
    [
      (class_declaration)
      (interface_declaration)
      (annotation_type_declaration)
      (record_declaration)
      (module_declaration)
    ] @class
    [
      (method_declaration)
      (constructor_declaration)
      (compact_constructor_declaration)
    ] @function
    (enum_declaration) @type
    (import_declaration) @import
    """,
    "javascript": _JAVASCRIPT,
    "python": """
    (class_definition) @class
    [(function_definition) (decorated_definition)] @function
    (type_alias_statement) @type
    [(import_statement) (import_from_statement) (future_import_statement)] @import
    """,
    "ruby": """
    [(class) (singleton_class) (module)] @class
    [(method) (singleton_method)] @function
    (program (call
      method: (identifier) @name (#any-of? @name "require" "require_relative")) @import)
    """,
    "rust": """
    [(struct_item) (union_item) (trait_item) (impl_item) (mod_item)] @class
    [(function_item) (macro_definition)] @function
    [(enum_item) (type_item)] @type
    [(use_declaration) (extern_crate_declaration)] @import
    """,
    "tsx": _TYPESCRIPT,
    "typescript": _TYPESCRIPT,
}


def grammar_of(path: str) -> str | None:
    """Return the language of a program by its file extension; None without a grammar."""
    return _LANGUAGES.get(PurePosixPath(path).suffix.lower())


def syntax_breaks(text: str, path: str) -> list[Break]:
    """List the starts of syntactic units, in order; none if the text cannot be parsed."""
    name = grammar_of(path)
    if name is None or len(text) > LONGEST:
        return []
    # Each character that UTF-8 has no bytes for is a question mark.
    program = text.encode("utf-8", "replace")
    try:
        starts = sorted(_starts(program, name).items())
    except Exception:  # A grammar is foreign code: whatever it does, the text is still a text.
        return []
    found = []
    position = at = 0
    for start, score in starts:
        position += len(program[at:start].decode("utf-8"))
        at = start
        found.append(Break(position, score))
    return found


def _starts(program: bytes, name: str) -> dict[int, int]:
    """Map the byte offset of each unit to the highest score of a unit that starts there."""
    from tree_sitter import Parser, QueryCursor

    grammar, query = _grammar(name)
    root = Parser(grammar).parse(program).root_node
    if _broken(root):
        return {}
    captures = QueryCursor(query).captures(root)
    best: dict[int, int] = {}
    for kind in sorted(captures.keys() & _SCORES.keys(), key=_SCORES.__getitem__):
        for node in captures[kind]:
            best[node.start_byte] = _SCORES[kind]
    return best


def _broken(root: Node) -> bool:
    """Check for long runs of syntax errors, which would make a query slow."""
    steps, nodes = 0, [root]
    while nodes:
        node = nodes.pop()
        if node.has_error:
            steps += node.child_count**2 if node.is_error else 0
            nodes.extend(node.children)
    return steps > _BROKEN


@cache
def _grammar(name: str) -> tuple[Language, Query]:
    """Load a grammar and its query for units. Errors of the library pass through."""
    from tree_sitter import Language, Query

    package, function = _GRAMMARS.get(name, (f"tree_sitter_{name}", "language"))
    grammar = Language(getattr(import_module(package), function)())
    return grammar, Query(grammar, _QUERIES[name])
