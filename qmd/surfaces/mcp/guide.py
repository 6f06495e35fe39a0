"""Texts about qmd for models: on connection, and on request."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from qmd.surfaces.tools.schemas.tool import Tool

_INSTRUCTIONS = """\
qmd searches the user's own notes, documents and code on this machine.

`context` answers most questions in one call: the best passages with their text, within \
`maxTokens`. Else search first, then read: a result names a file, its docid and the line that \
matches; `get` reads it from there ('file.md:120:40', 'file.md#Heading' or '#abc123'), \
`multi_get` reads several. `search` finds exact words, names and phrases; `vsearch` finds what \
means the same in other words; `query` does both and is the best choice when unsure. `ls` lists \
collections and folders. `query_experiences` finds solved problems that agents have recorded, \
unreviewed"""

_SUBMIT = "; record yours with `submit_experience`"

PROMPT = "query"
PROMPT_TITLE = "How to search with qmd"
PROMPT_DESCRIPTION = "A guide to the tools: which to use for what, and how to read what they find."

_BEST_FOR = {
    "search": 'exact words, names, identifiers, "quoted phrases"; leave words out with -word',
    "vsearch": "a question in your own words, when the text may use others",
    "query": "anything where you want the best answer; typed `searches` (lex, vec, hyde) steer it",
    "context": "answering a question in one call: the passages themselves, with their places",
    "similar": "more on the subject of a document that you have found",
    "links": "what a document links to, what links to it, and the documents around these",
    "get": "reading one document, or some of its lines: `file.md:120:40`",
    "grep": "lines that a regular expression matches, such as all uses of an identifier",
    "ls": "finding your way: collections, folders, documents, what has changed of late, and tags",
    "multi_get": "reading several at once, by glob or by a list of paths and docids",
    "status": "seeing which collections there are, and whether vectors are up to date",
    "query_experiences": "problems that were solved before, with their causes and solutions",
    "submit_experience": "recording a problem that you have solved; without secrets or names",
    "update": "indexing files that have changed since",
    "embed": "giving new documents their vectors",
    "put": "keeping a text of your own, such as a note of what was decided",
    "remove": "removing a document that `put` has made",
    "append": "adding to a note, or to one of its sections",
    "edit": "changing a section or a passage of a note that you have read",
    "move": "renaming a note, with the links to it",
    "undo": "taking back what you have just written",
}

_GUIDE = """\
# Searching with qmd

qmd indexes the user's Markdown notes, documents and code, on this machine.

## Available Tools

{tools}

## Resources

A document can also be read as a resource: `qmd://collection/path/to/file.md`, percent-encoded. \
Its lines are numbered, and a comment on top says what its folder is about.

## Search Strategy

1. Begin with `context`: it brings the passages themselves. To see which documents there are, \
begin with `search` if you know a word that must occur, with `query` if you do not.
2. Scores go from 0 to 1 and say which result of one answer is better; those of different \
tools or questions cannot be compared.
3. Nothing found? Try other words with `vsearch`, or `query` with several `searches`: \
`lex` for words, `vec` for a question, `hyde` for a sentence as the answer might be written. \
Their scores are added, weighted; the very first search counts double among those of its kind, \
by words (`lex`) or by meaning (`vec`, `hyde`). A model expands a plain question, or \
reranks, only where one is at hand.
4. Read the best two or three with `get` from the line of the match before you answer.

## Tips

- A docid such as `#abc123` stays the same as long as the text does.
- `collection` narrows a search; `status` names the collections.
- `intent` tells `query` what an ambiguous question is about; it is not searched itself.
- Large documents come with their outline: read on with `fromLine` and `maxLines`, or by heading.
- Several at once: `multi_get` with `pattern` 'journals/2025-05*.md'; `maxBytes` 50000 also brings \
those that are larger than 10,240 bytes.
- Say which file and line an answer is from.
"""


def instructions(tools: Mapping[str, Tool]) -> str:
    """Compose the text that a model gets on connection.

    Args:
        tools: by the names that the client sees.
    """
    may_submit = any(tool.name == "submit_experience" for tool in tools.values())
    return _called(tools, _INSTRUCTIONS + (_SUBMIT if may_submit else "")) + "."


def guide(tools: Mapping[str, Tool], collection: str | None = None) -> str:
    """Compose the guide.

    Args:
        tools: by the names that the client sees.
        collection: that the user wants to search.
    """
    lines = [
        f"- `{name}` ({tool.title}): best for {_BEST_FOR[tool.name]}"
        for name, tool in tools.items()
    ]
    text = _called(tools, _GUIDE).format(tools="\n".join(lines))
    if collection:
        text += (
            f"- Search in the collection {json.dumps(collection)} alone: `collection` names it.\n"
        )
    return text


def _called(tools: Mapping[str, Tool], text: str) -> str:
    """Replace the names of tools in a text by those that a client sees."""
    names = {tool.name: name for name, tool in tools.items()}
    return re.sub(r"`(\w+)`", lambda found: f"`{names.get(found[1], found[1])}`", text)
