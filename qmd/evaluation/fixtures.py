"""Test collections: queries, relevance judgements (qrels), corpora.

- A JSON file as tobi/qmd's bench reads it: queries, each with the files that should be found.
- A folder as BEIR and TREC have it: queries, judgements (qrels), maybe the documents.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from qmd.errors import UsageError
from qmd.evaluation.tobi_bench import same_file
from qmd.named_tuple import NamedTuple
from qmd.text import paths
from qmd.text.hashes import DOCID_DIGITS, parse_docid

MIN_DEPTH = 10
"""Results of a query at least: nDCG and recall consider so many."""

FOLDER_DEPTH = 100
"""Results of a query of a folder. Source: trec_eval and BEIR report recall@100."""

QRELS = ("qrels.tsv", "qrels/test.tsv", "qrels.txt", "qrels.trec", "qrels")
"""Names of judgement files, in order of preference; after them the only *.qrels."""

_HEADER = frozenset({"query-id", "query_id", "qid", "id", "_id"})


class JudgedQuery(NamedTuple):
    """A query with its relevance-judged documents.

    Attributes:
        judged: grade of each document; from 1 on it is relevant.
        k: results among which the expected ones should be.
        kind: as the fixture calls it, or ''.
    """

    id: str
    text: str
    judged: Mapping[str, int]
    k: int = MIN_DEPTH
    kind: str = ""


class Fixture(NamedTuple):
    """Judged queries.

    Attributes:
        questions: never empty; at least one has a judged document.
        depth: results to ask for.
        collection: that they are about, or None.
        corpus: file with the documents; None: they are those of an index.
        is_typed: questions are in qmd's query syntax, documents are known by how a path ends.
        remark: what the user should know, or None.
    """

    name: str
    questions: tuple[JudgedQuery, ...]
    depth: int = FOLDER_DEPTH
    collection: str | None = None
    corpus: Path | None = None
    is_typed: bool = False
    remark: str | None = None

    def sampled(self, count: int) -> Fixture:
        """Sample the queries, always the same ones; all, if there are no more."""
        if count >= len(self.questions):
            return self
        chosen = sorted(random.Random(0).sample(range(len(self.questions)), count))
        return self._replace(questions=tuple(self.questions[at] for at in chosen))

    def named(self, judged: Iterable[str], documents: Iterable[Sequence[str]]) -> list[str]:
        """Map each document to its judged document, else to its first name.

        Args:
            documents: all names of each; of several with one judged document, the first counts.
        """
        found = []
        if self.is_typed:
            left = list(judged)
            for names in documents:
                same = (each for each in left if any(same_file(name, each) for name in names))
                match = next(same, None)
                if match is not None:
                    left.remove(match)
                found.append(names[0] if match is None else match)
            return found
        keys = {self._key(name): name for name in judged}
        for names in documents:
            known = next((key for key in map(self._key, names) if key in keys), None)
            found.append(names[0] if known is None else keys.pop(known))
        return found

    def unknown(self, documents: Iterable[Sequence[str]]) -> list[str]:
        """List the judged documents that are not among these.

        Args:
            documents: all names of each.
        """
        left = dict.fromkeys(name for question in self.questions for name in question.judged)
        if self.is_typed:
            for names in documents:
                same = [each for each in left if any(same_file(name, each) for name in names)]
                for each in same:
                    del left[each]
            return [*left]
        there = {self._key(name) for names in documents for name in names}
        return [name for name in left if self._key(name) not in there]

    def _key(self, name: str) -> str:
        """Normalize the names of one document to a common form."""
        if self.corpus is not None:
            return name
        digits = parse_docid(name)
        if digits is not None:
            return f"#{digits[:DOCID_DIGITS]}"
        virtual = paths.parse_virtual(name)
        return name if virtual is None else paths.decoded(f"{virtual.collection}/{virtual.path}")


def read(path: Path) -> Fixture:
    """Read the judged queries of a file or a folder.

    Raises:
        UsageError: there is nothing, it has another form, or it says something that cannot be
            right; with the line where there is one.
    """
    if path.is_dir():
        return _folder(path)
    if not path.exists():
        raise UsageError(f"Fixture not found: {path}")
    return _file(path)


# -- one file --------------------------------------------------------------------


def _file(path: Path) -> Fixture:
    with _readable(path):
        text = path.read_text(encoding="utf-8-sig")
    document = _parsed(text, path)
    entries = document.get("queries") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise UsageError(
            f"{path} is no fixture: it has no list 'queries'.\n\n"
            'Write {"queries": [{"query": "green tea", "expected_files": ["tea.md"]}]}, or name '
            "a folder with queries and qrels."
        )
    collection = document.get("collection")
    if collection is not None and not isinstance(collection, str):
        raise UsageError(f"{path}: 'collection' has to be text.")
    questions = [_question(entry, number, path) for number, entry in enumerate(entries, start=1)]
    if not any(question.judged for question in questions):
        raise UsageError(f"{path} judges nothing: no query has 'expected_files'.")
    _check_different([question.id for question in questions], path)
    depth = max(MIN_DEPTH, *(question.k for question in questions))
    return Fixture(path.stem, tuple(questions), depth, collection or None, is_typed=True)


def _question(entry: Any, number: int, path: Path) -> JudgedQuery:
    where = f"{path}: query {number}"
    if not isinstance(entry, dict) or not isinstance(entry.get("query"), str):
        raise UsageError(f"{where} needs a text 'query'.")
    judged, k = (
        _expected(entry.get("expected_files"), where),
        entry.get("expected_in_top_k", MIN_DEPTH),
    )
    if not isinstance(k, int) or isinstance(k, bool) or k < 1:
        raise UsageError(f"{where}: 'expected_in_top_k' has to be a whole number of at least 1.")
    kind = str(entry.get("type") or entry.get("difficulty") or "")
    name = str(entry.get("id", number))
    return JudgedQuery(name, entry["query"], judged, k, kind)


def _expected(files: Any, where: str) -> dict[str, int]:
    """Read the grades of the expected files; those of a list are 1."""
    if not isinstance(files, list | dict) or not all(
        isinstance(file, str) and file for file in files
    ):
        raise UsageError(
            f"{where} needs a list 'expected_files' of paths, or an object of paths and grades."
        )
    if isinstance(files, list):
        return dict.fromkeys(files, 1)
    for file, grade in files.items():
        if not isinstance(grade, int) or isinstance(grade, bool) or grade < 1:
            raise UsageError(
                f"{where}: the grade of '{file}' has to be a whole number of at least 1."
            )
    return files


# -- a folder --------------------------------------------------------------------


def _folder(folder: Path) -> Fixture:
    asked, texts = _queries(folder)
    file, judged = _judgements(folder)
    unknown = [name for name in judged if name not in texts]
    if len(unknown) == len(judged):
        raise UsageError(
            f"{file}: no line names a query of {asked.name}.\n\n"
            f"It names '{unknown[0]}'; the first query is '{next(iter(texts))}'."
        )
    corpus = folder / "corpus.jsonl"
    remark = None
    if unknown:
        more = ", …" if len(unknown) > 1 else ""
        remark = f"{file.name} judges queries that {asked.name} does not have: {unknown[0]}{more}"
    return Fixture(
        folder.resolve().name,
        tuple(JudgedQuery(q, text, judged[q]) for q, text in texts.items() if q in judged),
        corpus=corpus if corpus.exists() else None,
        remark=remark,
    )


def _queries(folder: Path) -> tuple[Path, dict[str, str]]:
    """Read the query file: each text by its name."""
    records, table = folder / "queries.jsonl", folder / "queries.tsv"
    file, rows = records, list[tuple[str, str]]()
    if records.is_file():
        rows = [(name, record["text"]) for name, record in _records(records)]
    elif table.is_file():
        file = table
        for number, fields in _rows(table):
            if len(fields) != 2:
                raise line_error(table, number, "a line is a query's name, a tab, and its text")
            rows.append((fields[0], fields[1]))
    else:
        raise UsageError(
            f"{folder} is no fixture: it has neither queries.jsonl nor queries.tsv.\n\n"
            "A folder needs queries and qrels, as BEIR and TREC have them; or name a JSON file."
        )
    if not rows:
        raise UsageError(f"{file} has no queries.")
    _check_different([name for name, _ in rows], file)
    return file, dict(rows)


def _judgements(folder: Path) -> tuple[Path, dict[str, dict[str, int]]]:
    """Read the judgements file: the grade of each document, by query."""
    found = [folder / name for name in QRELS if (folder / name).is_file()]
    found = found or sorted(folder.glob("*.qrels"))
    if not found:
        raise UsageError(
            f"{folder} is no fixture: it has no qrels.\n\nThey are looked for in "
            f"{', '.join(QRELS)} and *.qrels."
        )
    judged: dict[str, dict[str, int]] = {}
    for number, fields in _rows(found[0]):
        if len(fields) == 4:
            del fields[1]  # TREC's iteration, which is unused
        try:
            query, document, grade = fields
            judged.setdefault(query, {})[document] = int(grade)
        except ValueError:
            raise line_error(
                found[0],
                number,
                "a line is a query, a document and a whole number, with TREC's 0 after the query",
            ) from None
    if not judged:
        raise UsageError(f"{found[0]} judges nothing.")
    return found[0], judged


class CorpusDocument(NamedTuple):
    """A document of a corpus."""

    id: str
    title: str
    text: str


def corpus_documents(corpus: Path) -> Iterator[CorpusDocument]:
    """Read the documents of a corpus.jsonl.

    Raises:
        UsageError: a line is no document, or two have the same name.
    """
    seen = set()
    for name, record in _records(corpus):
        if name in seen:
            raise UsageError(f"{corpus} has '{name}' twice.")
        seen.add(name)
        yield CorpusDocument(name, str(record.get("title") or ""), record["text"])


# -- lines -----------------------------------------------------------------------


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, each with its number.

    Raises:
        UsageError: it cannot be read, or is not UTF-8.
    """
    with _readable(path), path.open(encoding="utf-8-sig", newline="\n") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield number, line.rstrip("\r\n")


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (name, record) of each line of a JSONL file; every record has a text."""
    for number, line in numbered_lines(path):
        record = _parsed(line, path, line=number)
        name = record.get("_id") if isinstance(record, dict) else None
        if not isinstance(name, str | int) or not isinstance(record.get("text"), str):
            raise line_error(path, number, "a line needs '_id' and a text 'text'")
        yield str(name), record


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Split each line at tabs, or at blanks if it has none; a header is left out."""
    for number, line in numbered_lines(path):
        fields = line.split("\t") if "\t" in line else line.split()
        if number > 1 or fields[0].lower() not in _HEADER:
            yield number, fields


def _parsed(text: str, path: Path, *, line: int = 1) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise line_error(path, line + error.lineno - 1, f"this is not JSON: {error.msg}") from error
    except (RecursionError, ValueError) as error:  # nested too deeply; a number of 5000 digits
        raise line_error(path, line, f"this cannot be read: {error}") from error


def line_error(path: Path, line: int, problem: str) -> UsageError:
    """Build the error of a line."""
    return UsageError(f"{path}:{line}: {problem}")


def _check_different(names: Sequence[str], path: Path) -> None:
    seen = set[str]()
    for name in names:
        if name in seen:
            raise UsageError(f"{path} has the query '{name}' twice.")
        seen.add(name)
