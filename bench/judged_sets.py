"""Judged sets made of what is on this machine, in the form that `bench.relevance` reads.

    python -m bench.judged_sets OUT [--pages FOLDER] [--questions FILE...]

code       functions of Python's standard library; the first line of a docstring asks for the rest
manual     manual pages; the line of purpose in NAME asks for the page without it
packages   descriptions of the installed Python packages; the summary asks for its description
headings   sections of Markdown files in FOLDER; a heading of four words or more asks for its text
FILE       paragraphs of a file in the form of SQuAD, such as `xquad.vi.json` of XQuAD (CC BY-SA
           4.0), each with one of its questions; and a second set, with the questions as they are
           typed on a keyboard without marks and letters of that language

One document answers each question. What asks is taken out of the text, so that its words are found
only where the author wrote them a second time.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import json
import random
import re
import subprocess
import sysconfig
import unicodedata
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path
from typing import NamedTuple

DOCUMENTS, QUESTIONS = 1200, 300
"""Of a set, at most."""

LEAST_WORDS, LEAST_TEXT, LONGEST = 4, 200, 6000
"""Words of a question, and characters of a text."""


TYPED = str.maketrans(
    {"đ": "d", "Đ": "D", "ı": "i", "ß": "ss", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O"}
)
"""Letters that are no others with marks, and what is typed for them."""

BEGINNING = 2000
"""Characters of the description of a package: what it is for stands there."""


class Pair(NamedTuple):
    """A question, and the document that answers it."""

    title: str
    text: str
    question: str


def functions() -> Iterator[Pair]:
    """Yield documented functions of the standard library."""
    for file in sorted(Path(sysconfig.get_path("stdlib")).glob("**/*.py")):
        if {"site-packages", "test", "tests", "idlelib", "lib2to3"} & {*file.parts}:
            continue
        try:
            source = file.read_text(encoding="utf-8")
            tree = ast.parse(source)
        except (SyntaxError, UnicodeDecodeError):
            continue
        lines = source.splitlines()
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and (said := ast.get_docstring(node)):
                doc = node.body[0]
                rest = lines[node.lineno - 1 : doc.lineno - 1]
                rest += lines[doc.end_lineno : node.end_lineno]
                yield Pair("", "\n".join(rest), said.partition("\n")[0].rstrip("."))


def manual() -> Iterator[Pair]:
    """Yield manual pages, but one family of thousands that say nearly the same."""
    for file in sorted(Path("/usr/share/man").glob("man[18]/*.gz")):
        if file.name.startswith("gcloud"):
            continue
        source = gzip.decompress(file.read_bytes())
        if source.startswith(b".so "):
            continue
        made = subprocess.run(
            ["groff", "-mandoc", "-Tutf8", "-P-cbou", "-rLL=100n"],
            input=source,
            capture_output=True,
        )
        text = made.stdout.decode(errors="replace")
        named = re.search(r"^NAME\n(.*?)\n(?=\S)", text, re.M | re.S)
        if named is None:
            continue
        purpose = " ".join(re.split(r"\s[-–—−‐]+\s", named[1], maxsplit=1)[-1].split())
        rest = text[: named.start()].partition("\n")[2] + text[named.end() :]
        yield Pair(file.name.partition(".")[0], rest.strip(), purpose)


def descriptions() -> Iterator[Pair]:
    """Yield installed packages, without their summaries and with the beginnings of descriptions."""
    for package in distributions():
        summary, text = package.metadata["Summary"], package.metadata.get_payload()
        if summary and isinstance(text, str):
            yield Pair("", text.replace(summary, "")[:BEGINNING], summary)


def sections(folder: Path) -> Iterator[Pair]:
    """Yield sections of Markdown files."""
    for file in sorted(folder.glob("**/*.md")):
        text = file.read_text(encoding="utf-8", errors="replace")
        prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
        parts = re.split(r"^#{1,4} +(.+)$", prose, flags=re.M)
        for heading, body in zip(parts[1::2], parts[2::2], strict=True):
            yield Pair("", body.strip(), re.sub(r"\[(.+?)\]\(.*?\)|[`*]", r"\1", heading))


def paragraphs(file: Path) -> Iterator[Pair]:
    """Yield the questions about each paragraph."""
    for article in json.loads(file.read_text(encoding="utf-8"))["data"]:
        for each in article["paragraphs"]:
            for question in each["qas"]:
                yield Pair("", each["context"], question["question"])


def without_marks(text: str) -> str:
    """Return a text as it is typed without accents and letters of its language."""
    apart = unicodedata.normalize("NFD", text)
    return "".join(each for each in apart if unicodedata.category(each) != "Mn").translate(TYPED)


def chosen(pairs: Iterator[Pair]) -> list[Pair]:
    """Choose pairs by chance, each question and each text once."""
    asked: dict[str, Pair] = {}
    texts: set[str] = set()
    for each in pairs:
        few = len(re.findall(r"\w{2,}", each.question)) < LEAST_WORDS
        if few or len(each.text) < LEAST_TEXT or each.text[:LEAST_TEXT] in texts:
            continue
        texts.add(each.text[:LEAST_TEXT])
        asked.setdefault(each.question.casefold(), each)
    found = sorted(asked.values())
    return random.Random(30).sample(found, min(DOCUMENTS, len(found)))


def write(pairs: list[Pair], folder: Path) -> None:
    """Write a set; the first documents are asked for."""
    folder.mkdir(parents=True, exist_ok=True)
    documents = [
        {"_id": f"d{n}", "title": each.title, "text": each.text[:LONGEST]}
        for n, each in enumerate(pairs)
    ]
    asked = [{"_id": f"q{n}", "text": each.question} for n, each in enumerate(pairs[:QUESTIONS])]
    judged = ["query-id\tcorpus-id\tscore", *(f"q{n}\td{n}\t1" for n in range(len(asked)))]
    for name, rows in (("corpus", documents), ("queries", asked)):
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    (folder / "qrels.tsv").write_text("\n".join(judged) + "\n", encoding="utf-8")


def main() -> None:
    """Write the sets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--pages", type=Path, help="folder of Markdown files")
    parser.add_argument("--questions", type=Path, nargs="*", default=[], metavar="FILE")
    options = parser.parse_args()
    sets = {"code": functions(), "manual": manual(), "packages": descriptions()}
    if options.pages:
        sets["headings"] = sections(options.pages)
    if options.questions:
        sets = {file.stem: paragraphs(file) for file in options.questions}
    for name, pairs in sets.items():
        found = chosen(pairs)
        write(found, options.out / name)
        if options.questions:
            plain = [each._replace(question=without_marks(each.question)) for each in found]
            write(plain, options.out / f"{name} without marks")
        print(f"{name}: {len(found)} documents, {min(QUESTIONS, len(found))} questions")


if __name__ == "__main__":
    main()
