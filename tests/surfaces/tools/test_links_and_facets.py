"""Links of documents, and counts by tag, folder, kind and year."""

from __future__ import annotations

import json
import threading
import time

import pytest

import qmd.operations.sql
from qmd.storage import cancellation
from qmd.surfaces.tools.dispatch import Toolbox
from qmd.surfaces.tools.reply import Code
from tests.surfaces.tools.calling import LONG, call, text


@pytest.fixture
def toolbox(faked, monkeypatch):
    monkeypatch.setattr("qmd.surfaces.tools.dispatch.SOON", 100.0)
    monkeypatch.setattr("qmd.operations.links.SECONDS", 90.0)
    faked.write(
        "tea.md",
        "---\ntags: [drink, hot]\ndate: 2024-05-01\n---\n# Tea\n\n[Pots](pots.md)\n\n"
        "## Sorts\n\n[[Green]] and [nothing](gone.md)\n",
    )
    faked.write("pots.md", "# Pots\n\nOf clay. [Clay](deep/clay.md)\n")
    faked.write("green.md", "---\ntags: [drink]\n---\n# Green\n\n[Sorts](tea.md#sorts)\n")
    faked.write("index.md", "# Index\n\n[Tea](tea.md) [Pots](pots.md)\n")
    faked.write("deep/clay.md", "# Clay\n")
    faked.write("deep/down/mud.md", "# Mud\n")
    faked.update()
    return Toolbox(faked.engine)


def linked(reply):
    found = {}
    for each in reply.structured["links"]:
        found.setdefault(each["direction"], []).append(each["file"])
    return found


def test_links_lead_out_and_back(toolbox):
    reply = call(toolbox, "links", file="notes/tea.md")
    assert linked(reply) == {
        "out": ["notes/pots.md", "notes/green.md", None],
        "back": ["notes/green.md", "notes/index.md"],
    }
    lines = text(reply).split("\n")
    assert lines[0] == "Links to:"
    assert "  notes/pots.md - Pots (line 7: Pots)" in lines
    assert "  nothing -> gone.md (no document), line 11" in lines
    assert "  notes/index.md:3 - Index" in lines


def test_two_steps_lead_to_the_documents_around_those(toolbox):
    reply = call(toolbox, "links", file="tea.md", steps=2)
    assert linked(reply)["two"] == ["notes/deep/clay.md"]
    assert "  notes/deep/clay.md - Clay (via notes/pots.md)" in text(reply)


def test_links_of_a_section_are_those_in_it_and_to_it(toolbox):
    reply = call(toolbox, "links", file="notes/tea.md#Sorts")
    assert linked(reply) == {"out": ["notes/green.md", None], "back": ["notes/green.md"]}


def test_a_document_without_links_says_so(toolbox):
    reply = call(toolbox, "links", file="mud.md", depth="2")
    assert text(reply) == "No links from or to mud.md."
    assert call(toolbox, "links", file="nothing.md").error is Code.NOT_FOUND
    assert call(toolbox, "links", file="tea.md#Nothing").error is Code.INVALID_PARAMS


def test_documents_are_counted_by_what_they_have(toolbox):
    assert text(call(toolbox, "ls", by="tag")) == "drink 2 documents\nhot 1 document"
    assert text(call(toolbox, "ls", by="kind")) == "md 6 documents"
    assert text(call(toolbox, "ls", by="folder")) == "notes/deep 2 documents"
    below = call(toolbox, "ls", by="folder", path="notes/deep")
    assert text(below) == "notes/deep/down 1 document"
    years = call(toolbox, "ls", by="year").structured["values"]
    assert {"value": "2024", "documents": 1} in years
    assert text(call(toolbox, "ls", by="tag", path="notes/deep")) == "No document has a tag."
    assert text(call(toolbox, "ls", by="kind", since="2099")) == "No document has a kind."
    assert call(toolbox, "ls", by="colour").error is Code.INVALID_PARAMS
    assert call(toolbox, "ls", by="tag", path="nots").error is Code.UNKNOWN_COLLECTION


def test_the_commands_list_links_and_counts(qmd, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "tea.md").write_text("---\ntags: [drink]\n---\n# Tea\n\n[Pots](pots.md)\n")
    (folder / "pots.md").write_text("# Pots\n")
    qmd("collection", "add", folder)
    assert qmd("links", "notes/tea.md")[1] == ("Links to:\n  notes/pots.md - Pots (line 6: Pots)\n")
    [back] = json.loads(qmd("links", "pots.md", "--json")[1])
    assert (back["direction"], back["file"], back["line"]) == ("back", "notes/tea.md", 6)
    assert qmd("facets")[1] == "1  drink\n"
    assert json.loads(qmd("facets", "notes", "--by", "kind", "--json")[1]) == [
        {"value": "md", "documents": 2}
    ]


def test_links_that_are_not_ready_in_time_are_prepared_after_the_call(toolbox, monkeypatch):
    expected = call(toolbox, "links", file="notes/tea.md")
    monkeypatch.setattr("qmd.surfaces.tools.run_operation.ENOUGH", 0.2)
    original = qmd.operations.sql.sql
    go_on = threading.Event()
    done = []

    def slow(*given, **named):
        assert go_on.wait(LONG)
        rows = original(*given, **named)
        done.append(len(done))
        return rows

    monkeypatch.setattr(qmd.operations.sql, "sql", slow)
    for _ in range(2):
        late = call(toolbox, "links", file="notes/tea.md")
        assert late.error is Code.TIMEOUT
        assert "That goes on. Call again in a few seconds." in text(late)
    assert done == []
    monkeypatch.setattr("qmd.surfaces.tools.run_operation.ENOUGH", LONG)
    go_on.set()
    assert call(toolbox, "links", file="notes/tea.md") == expected
    assert len(done) >= 2


def test_what_is_prepared_after_a_call_ends_with_the_server(toolbox, monkeypatch):
    monkeypatch.setattr("qmd.surfaces.tools.run_operation.ENOUGH", 0.2)
    ended = threading.Event()

    def endless(*given, **named):
        try:
            while True:
                cancellation.check()
                time.sleep(cancellation.CANCEL_POLL_SECONDS)
        finally:
            ended.set()

    monkeypatch.setattr(qmd.operations.sql, "sql", endless)
    assert call(toolbox, "links", file="notes/tea.md").error is Code.TIMEOUT
    assert not ended.is_set()
    toolbox.close()
    assert ended.wait(LONG)
