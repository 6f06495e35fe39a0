"""What is left out of an answer that has no room for it, and how that is told."""

from __future__ import annotations

import re

import pytest

from qmd.surfaces.tools import reply_text
from qmd.surfaces.tools.reply import Code, Resource
from qmd.wording import MOST_OF_VALUE, shortened
from tests.surfaces.tools.calling import call, text

LONG_NAME = "x" * 200
MANY = 600
"""Documents: with such names, notices of all of them would fill an answer."""


def size(reply):
    """Bytes of an answer, with the names of its documents and around 100 for their fields."""
    return sum(
        len("".join(part).encode()) + 100 if isinstance(part, Resource) else len(part.encode())
        for part in reply.content
    )


def apart(reply):
    """The documents of an answer, and what is told of others."""
    found = [part for part in reply.content if isinstance(part, Resource)]
    return found, [part for part in reply.content if isinstance(part, str)]


@pytest.mark.parametrize("most", [1, 10_240])
def test_documents_left_out_are_named_as_far_as_there_is_room_and_then_counted(
    faked, toolbox, most
):
    for n in range(MANY):
        faked.write(f"many/{n:03}{LONG_NAME}.md", f"# {n}\n\n" + "word " * 100)
    faked.update()
    reply = call(toolbox, "multi_get", pattern="{tea.md,many/**}", maxBytes=most, maxLines=3)
    assert size(reply) <= reply_text.MOST_BYTES
    found, [*named, last] = apart(reply)
    assert len(found) >= (0 if most == 1 else 100)
    assert all(each.startswith("[SKIPPED: notes/") for each in named)
    assert sum(len(each) for each in named) > reply_text.NOTICES // 2
    counted = re.match(
        r"\[SKIPPED: (\d+) more - Use 'qmd get' for one of them, or a pattern ", last
    )
    assert len(found) + len(named) + int(counted[1]) == MANY + 1


def test_names_that_nothing_has_leave_room_for_the_documents_that_are_there(toolbox):
    names = [f"{n:03}{'y' * 700}.md" for n in range(499)]
    reply = call(toolbox, "multi_get", pattern=",".join([*names, "tea.md"]))
    assert size(reply) <= reply_text.MOST_BYTES
    [found], [*named, last] = apart(reply)
    assert found.name == "notes/tea.md"
    assert named[0] == f"Document not found: {shortened(names[0], MOST_OF_VALUE)}"
    assert last == f"[... and {499 - len(named)} more names that give no document]"
    reply = call(toolbox, "multi_get", pattern=",".join(names))
    assert reply.error is Code.NOT_FOUND
    assert text(reply).startswith(f"No files matched pattern: {names[0]},")
    assert size(reply) <= reply_text.MOST_BYTES


def test_a_document_too_large_for_an_answer_of_several_says_how_to_get_the_rest(faked, toolbox):
    faked.write("huge.md", "\n".join(f"{n} " + "word " * 20 for n in range(1, 5001)) + "\n")
    faked.write("other.md", "# Other\n\n" + "word " * 100)
    faked.update()
    reply = call(toolbox, "multi_get", pattern="huge.md, other.md", maxBytes=10**6)
    [huge], [told] = apart(reply)
    assert size(reply) <= reply_text.MOST_BYTES
    assert told.startswith("[SKIPPED: notes/other.md - The answer is full.")
    body, _, note = huge.text.rpartition("\n\n[... ")
    following = int(body.split("\n")[-1].split()[0]) + 1
    assert note == (
        f"the answer is full; go on with 'qmd get', file=\"notes/huge.md\", fromLine={following}]"
    )
    [rest] = call(toolbox, "get", file="notes/huge.md", fromLine=following).content
    assert rest.text.startswith(f"{following} word")


def test_a_title_as_long_as_an_answer_leaves_it_below_its_cap(faked, toolbox):
    faked.write("title.md", "# " + "long " * 100_000 + "\n\nTea.\n")
    faked.update()
    reply = call(toolbox, "multi_get", pattern="title.md", maxBytes=10**7)
    assert size(reply) <= reply_text.MOST_BYTES
