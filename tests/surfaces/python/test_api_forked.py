"""A process that is forked from one that has a knowledge base open."""

from __future__ import annotations

from tests.surfaces.python.programs import python

SETTING = """
import multiprocessing, os
from pathlib import Path
import qmd
from qmd.errors import OfAnotherProcess

Path("n").mkdir()
Path("n/tea.md").write_text("# Tea")
fork = multiprocessing.get_context("fork")
kb = qmd.connect("index.duckdb", patience=5).__enter__()
kb.add_collection("n")
assert len(kb.search("tea")) == 1
"""

REFUSED = """
def child(answers):
    try:
        kb.search("tea")
    except OfAnotherProcess as error:
        answers.put(str(error))
    kb.close()
    with qmd.connect("index.duckdb") as own:
        answers.put(str(len(own.search("tea"))))

answers = fork.Queue()
forked = fork.Process(target=child, args=(answers,))
forked.start()
print(answers.get(timeout=20).splitlines()[-1])
print(answers.get(timeout=20))
forked.join(20)
print(forked.exitcode, len(kb.search("tea")))
"""

LOCKS = """
forked = fork.Process(target=lambda goes: goes.wait(20), args=[goes := fork.Event()])
forked.start()
kb.close()
Path("n/more.md").write_text("# More tea")
print(qmd.connect("index.duckdb", patience=2).update()[0].new)
goes.set()
forked.join(20)
"""


def test_a_forked_process_is_told_to_open_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told, found, end = python(SETTING + REFUSED, HOME=str(tmp_path)).splitlines()
    assert told == "Open it again here, or start processes by 'spawn', which multiprocessing can."
    assert found == "1"
    assert end == "0 1"


def test_a_forked_process_holds_no_lock(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert python(SETTING + LOCKS, HOME=str(tmp_path)) == "1"
