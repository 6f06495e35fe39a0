"""SQL views over the index, one file each: `sql/views/<name>.sql`.

A file is one `create view <name> as …` or `create macro <name>(…) as table …`. The index is
attached as `qmd_index`; the view is in an in-memory catalog, so it may have the name of a table
(`from qmd_index.documents`). The header is that of a statement, and is shown to users: the first
line describes a row, and each line `out` has name, type (of DuckDB; `?` may be null) and meaning
of a column, in order. A line `needs` lists the views that this one depends on, with commas; they
are created before it:

    -- Headings of documents.
    --
    -- needs  documents, links
    -- out  file   text     of `documents`
    -- out  level  integer  1 to 6
    create view headings as
    select …

A view with a line `stored` takes long. It is computed once for a query in which other views read
it, and kept as a table: DuckDB would compute it for each of them. That of links is also kept in a
file (`resolved_links`).

A macro has a line `in` for each of its parameters. `$selection` stands for the parameters that
choose documents, as they are declared for all searches, and `$chosen` for their names. Every file
in the folder is included: to add a view, add a file, and run `python -m tools.docs`, which
describes it in docs/sql.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from graphlib import TopologicalSorter

from qmd.declaration.operation import members
from qmd.declaration.parameters import Selection
from qmd.named_tuple import NamedTuple
from qmd.storage.statements import data_folder

_CALL = re.compile(r"^create macro (.+\)) as table$", re.M)
_TAKEN = re.compile(r"^-- in +(\w+) +(\S+) *(.*)$", re.M)
_NEEDS = re.compile(r"^-- needs +(.+)$", re.M)
_STORED = re.compile(r"^-- stored\b", re.M)
_CREATE = re.compile(r"^(create) view ", re.M)
_HEAD = re.compile(r"\A(--.*\n)*create view \w+ as\n")
_COLUMN = re.compile(r"^-- out +(\w+) +(\S+) *(.*)$", re.M)


class ViewColumn(NamedTuple):
    """A column of a view.

    Attributes:
        kind: its type; with `?`, it may be null.
    """

    name: str
    kind: str
    meaning: str

    @property
    def bare(self) -> str:
        """Type of the column as DuckDB knows it."""
        return self.kind.removesuffix("?")


class View(NamedTuple):
    """A view or a table macro, as described in its file.

    Attributes:
        call: how it stands in a query: its name, or `bm25(query, n := 100)`.
        about: what a row is: a sentence.
        needs: names of views that come first.
        parameters: of a macro.
        text: the statement that creates it.
        is_stored: other views read it as a table.
    """

    name: str
    call: str
    about: str
    needs: tuple[str, ...]
    parameters: tuple[ViewColumn, ...]
    columns: tuple[ViewColumn, ...]
    text: str
    is_stored: bool

    @property
    def table(self) -> str:
        """Statement that computes the view, and stores its rows."""
        return _CREATE.sub(r"\1 table ", self.text, count=1)

    def table_in(self, database: str) -> str:
        """Return the statement that stores the rows in an attached database."""
        return _CREATE.sub(rf"\1 table {database}.", self.text, count=1)

    @property
    def query(self) -> str:
        """Query whose rows are those of the view."""
        return _HEAD.sub("", self.text)

    @property
    def is_macro(self) -> bool:
        """True for a macro, which takes parameters."""
        return self.call != self.name


@cache
def views() -> tuple[View, ...]:
    """List all views, each after those that it depends on, else by name."""
    found = {}
    for file in sorted((data_folder("sql") / "views").glob("*.sql")):
        found[file.stem] = _read(file.stem, file.read_text(encoding="utf-8"))
    order = TopologicalSorter({view.name: view.needs for view in found.values()})
    return tuple(found[name] for name in order.static_order())


def needed(names: Iterable[str]) -> set[str]:
    """Add the views that some views depend on."""
    wanted = set(names)
    for view in reversed(views()):
        if view.name in wanted:
            wanted.update(view.needs)
    return wanted


def _read(name: str, text: str) -> View:
    chosen = members(Selection) if "$selection" in text else ()
    more = tuple(ViewColumn(each.name, "text?", each.about.help_on("sql")) for each in chosen)
    taken = [ViewColumn(*found) for found in _TAKEN.findall(text)]
    text = text.replace("$selection", ", ".join(f"{each.name} := null" for each in more))
    text = text.replace("$chosen", ", ".join(each.name for each in more))
    call = _CALL.search(text)
    return View(
        name,
        call[1] if call else name,
        text.partition("\n")[0].removeprefix("-- "),
        tuple(each.strip() for line in _NEEDS.findall(text) for each in line.split(",")),
        (*taken, *more),
        tuple(ViewColumn(*found) for found in _COLUMN.findall(text)),
        text,
        _STORED.search(text) is not None,
    )


class Example(NamedTuple):
    """An example question with its query.

    Attributes:
        name: of its file, without the number.
    """

    name: str
    question: str
    query: str


@cache
def examples() -> tuple[Example, ...]:
    """List the example queries `sql/examples/NN_name.sql`, in order."""
    found = []
    for file in sorted((data_folder("sql") / "examples").glob("*.sql")):
        about, _, query = file.read_text(encoding="utf-8").partition("\n")
        name = file.stem.partition("_")[2]
        found.append(Example(name, about.removeprefix("-- "), query))
    return tuple(found)
