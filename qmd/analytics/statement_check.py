"""Check of a user's statement on its syntax tree, before it runs.

DuckDB's own parser makes the tree, and opens nothing for it. A statement other than a query has
none. In a query, table functions are the way out of a sandbox: the setting that disables file
access still permits to open the attached index itself, and some functions write logs to a file or
take a pointer. So the permitted functions are listed here, and all others are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from qmd.analytics import lexer, syntax_tree
from qmd.analytics.duckdb_messages import without_advice
from qmd.analytics.search_calls import (
    SEARCHES,
    Parameters,
    SearchCall,
    bind_call,
    check_parameters,
    parameter,
)
from qmd.errors import SqlError
from qmd.errors.base import advised
from qmd.named_tuple import NamedTuple
from qmd.storage.cursor import Cursor, DatabaseError

OF_VALUES = frozenset(
    """
    range generate_series unnest repeat repeat_row summary json_each json_tree icu_calendar_names
    pg_timezone_names
    """.split()
)
"""Table functions over their arguments alone."""

HARMLESS = OF_VALUES | frozenset(
    """
    duckdb_columns duckdb_constraints duckdb_databases duckdb_functions duckdb_indexes
    duckdb_keywords duckdb_memory duckdb_optimizers duckdb_schemas duckdb_settings duckdb_tables
    duckdb_types duckdb_variables duckdb_views pragma_collations pragma_database_size
    pragma_metadata_info pragma_platform pragma_show pragma_storage_info pragma_table_info
    pragma_version
    """.split()
)
"""Table functions that neither open nor change anything."""

OF_FILES = frozenset(
    """
    read_csv read_csv_auto sniff_csv read_json read_json_auto read_json_objects
    read_json_objects_auto read_ndjson read_ndjson_auto read_ndjson_objects read_parquet
    parquet_scan parquet_metadata parquet_schema parquet_file_metadata parquet_kv_metadata
    parquet_full_metadata parquet_bloom_probe read_text read_blob glob
    """.split()
)
"""Table functions that read files."""

_MORE_FILES = advised(
    "A query reads the index and nothing else. Allow it to read files with {}.",
    command="--allow-files",
    python="files=True",
)

_QUALIFIERS = frozenset("memory qmd_index main temp system information_schema pg_catalog".split())
"""Qualifiers allowed before a table name: the catalogs, and their schemas."""

_LOCAL = re.compile("^file:(//(localhost)?)?/")
"""Forms of a `file:` URL for a file on this machine."""

_OF_ROWS = "TABLE_FUNCTION"

_FORMS = "SELECT, FROM, WITH, VALUES, DESCRIBE, SHOW, SUMMARIZE and EXPLAIN"


class CheckedStatement(NamedTuple):
    """A statement that may run.

    Attributes:
        query: its text, without EXPLAIN.
        manner: the statement of qmd's that runs it, in sql/sandbox/.
        calls: searches that have to be made before.
        names: of views, and of whatever else may look at them, that it takes rows from; in lower
            case.
        own: names that it defines itself, with WITH.
    """

    query: str
    manner: str
    calls: tuple[SearchCall, ...]
    names: frozenset[str]
    own: frozenset[str]


class StatementChecker:
    """Checker of statements.

    Args:
        functions: macros of qmd's, which may be called.
        files: whether a query may read files.
        index: the index file, which it may not read as one.
    """

    def __init__(
        self, cursor: Cursor, *, functions: frozenset[str], files: bool, index: Path
    ) -> None:
        self._cursor = cursor
        self._functions = functions
        self._files = files
        self._index = index

    def request(self, text: str, parameters: Parameters) -> CheckedStatement:
        """Classify a statement and list its search calls.

        Raises:
            SqlError: it is not one query, would do what a query may not, or has other parameters.
        """
        query = lexer.only_statement(text)
        words = lexer.tokens(query)
        manner = "answer"
        if words[0].text.lower() == "explain":
            analyze = len(words) > 1 and words[1].text.lower() in ("analyze", "analyse")
            manner = "explain_analyze" if analyze else "explain"
            query = lexer.after_explain(query, words[1 if analyze else 0])
            if lexer.has_options(query):
                raise SqlError("EXPLAIN and EXPLAIN ANALYZE are taken, both without options.")
        tree = self._tree(query)
        if manner == "answer" and tree.get("from_table", {}).get("type") == "SHOW_REF":
            manner = "answer_shown"
        check_parameters(_parameters(tree), parameters)
        calls = dict.fromkeys(self._calls(tree, parameters))
        return CheckedStatement(query, manner, tuple(calls), _names(tree), _own(tree))

    def _tree(self, query: str) -> dict[str, Any]:
        parsed = self._cursor.one("sandbox/parse", text=query)
        if not parsed:
            # DuckDB 1.5.5 quotes 8 KB of a word that it cannot read, and half a character in the
            # end is no JSON.
            raise SqlError("This is no SQL: a word of it has thousands of letters.")
        found = syntax_tree.loaded(parsed)
        if found["error"]:
            raise self._refusal(query, found)
        if not found["statements"]:
            raise SqlError(lexer.NO_QUERY)
        node = found["statements"][0]["node"]
        assert isinstance(node, dict)
        return node

    def _refusal(self, query: str, found: dict[str, str]) -> SqlError:
        """Return the reason why a text has no syntax tree."""
        if found["error_type"] == "parser":
            try:
                self._cursor.connection.extract_statements(query)
            except DatabaseError as error:
                return SqlError(without_advice(str(error)))  # with the place
        first = lexer.tokens(query)[0].text.upper()
        if first == "PIVOT" or found["error_message"].startswith("Mixing"):
            hint = "Name the values that become columns: PIVOT … ON key IN ('tags', 'status') …"
            return SqlError(hint if first == "PIVOT" else without_advice(found["error_message"]))
        return SqlError(f"qmd sql only reads: {first} is no query. It takes {_FORMS}.")

    def _calls(self, tree: dict[str, Any], parameters: Parameters) -> Iterator[SearchCall]:
        """Yield the search calls; refuse what a query may not do."""
        nodes = list(_within(tree))
        giving_rows = {id(node["function"]) for node, _ in nodes if node.get("type") == _OF_ROWS}
        for node, own in nodes:
            syntax_tree.check_reads_only(node)
            kind = node.get("type")
            if kind == _OF_ROWS:
                function = node["function"]
                name = function["function_name"].lower()
                if name in OF_FILES:
                    for file in _files(function, parameters):
                        self._check_file(file)
                self._check_function(name)
                if name in SEARCHES:
                    yield bind_call(name, function.get("children", ()), parameters)
            elif kind == "BASE_TABLE":
                self._check_table(node, own)
            elif kind == "FUNCTION" and id(node) not in giving_rows:
                name = node["function_name"].lower()
                if name in SEARCHES:
                    raise SqlError(f"{name} gives rows: write … FROM {name}('words').")

    def _check_function(self, name: str) -> None:
        if name in HARMLESS or name in self._functions or (name in OF_FILES and self._files):
            return
        if name in OF_FILES:
            raise SqlError(f"{name} reads files.", advice=_MORE_FILES)
        raise SqlError(
            f"A query may not call {name} for rows.\n\n"
            f"It may call {', '.join(sorted(self._functions))}, range, unnest, json_each and "
            "others that only give rows: see docs/sql.md."
        )

    def _check_table(self, node: dict[str, Any], own: frozenset[str]) -> None:
        """Refuse a name that DuckDB would take for that of a file.

        Args:
            own: names that WITH has given here.
        """
        if "table_name" not in node:
            raise SqlError("A table has a name, and '' is none.")
        parts = [node.get("catalog_name"), node.get("schema_name"), node["table_name"]]
        named = [part for part in parts if part]
        name = ".".join(named)
        if _is_elsewhere(named[-1]):
            raise remote_file_error(named[-1])
        if len(named) == 1 and _folded(name) in own:
            return
        is_file = any(mark in named[-1] for mark in "./\\")
        if len(named) > 1 and named[0].lower() not in _QUALIFIERS:
            is_file = True  # DuckDB takes a.csv for the file, even without quotes
        if is_file and not self._files:
            raise SqlError(
                f"There is no table '{name}', and a file is not read.", advice=_MORE_FILES
            )
        self._check_not_index(name)

    def _check_file(self, name: str) -> None:
        """Refuse a file that may not be read, though others may."""
        if _is_elsewhere(name):
            raise remote_file_error(name)
        if self._files:
            self._check_not_index(name)

    def _check_not_index(self, value: str) -> None:
        """Refuse the index: DuckDB's lock of it goes when anything else in a process closes it."""
        try:
            named = Path(_LOCAL.sub("/", value)).expanduser().resolve()
            index = self._index.resolve()
            taken = any(fnmatch(f"{index}{more}", str(named)) for more in ("", ".wal")) or (
                named.exists() and index.exists() and named.samefile(index)
            )
        except (RuntimeError, OSError, ValueError):
            return  # an unknown user's home, or no valid path: too long, say
        if taken:
            raise SqlError(f"'{value}' takes in the index itself, which is there as tables.")


def remote_file_error(name: str) -> SqlError:
    """Build the error for a file on another machine."""
    return SqlError(
        f"'{name}' is not on this machine, and a query does not reach the network.",
        advice=advised(
            "Fetch the file first, and let the query read it with {}.",
            command="--allow-files",
            python="files=True",
        ),
    )


def _is_elsewhere(name: str) -> bool:
    """Check that a file name is a URL other than `file://`."""
    scheme, found, _ = name.partition("://")
    return bool(found) and scheme.isidentifier() and scheme.lower() != "file"


def _files(function: dict[str, Any], parameters: Parameters) -> Iterator[str]:
    """Yield the files that a function reads, by name or pattern.

    Raises:
        SqlError: which they are is only known when it runs.
    """
    for first in function.get("children", ())[:1]:
        several = first.get("function_name") == "list_value"
        for node in first.get("children", ()) if several else [first]:
            if node.get("class") == "PARAMETER":
                value = parameter(node["identifier"], parameters)
            elif node.get("type") == "VALUE_CONSTANT":
                value = node["value"].get("value")
            else:
                name = function["function_name"]
                raise SqlError(
                    f"{name} takes the names of files as texts or parameters, nothing that is "
                    f"computed: {name}('a.csv'), {name}($file)."
                )
            for each in value if isinstance(value, list | tuple) else [value]:
                if isinstance(each, str):
                    yield each


def nodes(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield all nodes of a tree."""
    waiting: list[Any] = [tree]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            yield each
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each


def _within(tree: dict[str, Any]) -> Iterator[tuple[dict[str, Any], frozenset[str]]]:
    """Yield all nodes of a tree, each with the names of the WITH clauses around it, in lower case.

    A name counts in the query that its WITH begins, and in those that its WITH gives names to
    after it; in its own only if that is recursive, and there only in what is repeated.
    """
    waiting: list[tuple[Any, frozenset[str]]] = [(tree, frozenset())]
    while waiting:
        each, names = waiting.pop()
        if isinstance(each, dict):
            for entry in each.get("cte_map", {}).get("map", ()):
                waiting.append((entry["value"], names))
                names |= {_folded(entry["key"])}
            yield each, names
            parts = {key: part for key, part in each.items() if key != "cte_map"}
            if each.get("type") == "RECURSIVE_CTE_NODE":
                waiting.append((parts.pop("right"), names | {_folded(each["cte_name"])}))
            waiting += [(part, names) for part in parts.values()]
        elif isinstance(each, list):
            waiting += [(part, names) for part in each]


def _names(tree: dict[str, Any]) -> frozenset[str]:
    """Yield the sources of rows, except tables of the index, files, and functions of values."""
    found = set()
    for node in nodes(tree):
        if node.get("type") == _OF_ROWS:
            found.add(node["function"]["function_name"].lower())
        elif "table_name" in node:
            of = (node.get("catalog_name", ""), node.get("schema_name", ""))
            if "qmd_index" not in map(str.lower, of):
                found.add(node["table_name"].lower())
    return frozenset(found - OF_VALUES - OF_FILES)


def _parameters(tree: dict[str, Any]) -> list[str]:
    """Yield the names of the parameters."""
    return [node["identifier"] for node in nodes(tree) if node.get("class") == "PARAMETER"]


def _own(tree: dict[str, Any]) -> frozenset[str]:
    """Return the names that a statement defines with WITH."""
    maps = (node.get("cte_map", {}).get("map", ()) for node in nodes(tree))
    return frozenset(_folded(entry["key"]) for each in maps for entry in each)


def _folded(name: str) -> str:
    """Fold a name as DuckDB compares names: only ASCII letters change."""
    return name.encode(errors="surrogatepass").lower().decode(errors="surrogatepass")
