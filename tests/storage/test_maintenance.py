"""Postings are put in order, slice by slice."""

from __future__ import annotations

import pytest

from qmd.errors import IndexBusy
from qmd.operations.search import search
from qmd.storage import maintenance
from qmd.storage.file_lock import errand
from qmd.storage.maintenance import LARGEST_SLICE, OF_A_RUN, SLICE_POSTINGS, MergeSize


@pytest.mark.parametrize(
    ("postings", "runs", "slices"),
    [
        (0, 0, 1),
        (SLICE_POSTINGS - 1, 1, 1),
        (10 * SLICE_POSTINGS, 32, 11),
        (100_000_000, 200, 100_000_000 // (200 * OF_A_RUN) + 1),
        (200_000_000, 5000, 200_000_000 // LARGEST_SLICE + 1),
    ],
)
def test_a_slice_has_enough_of_each_run_and_not_too_much_at_once(postings, runs, slices):
    assert MergeSize(postings, 0, runs, 0, 1).slices == slices


@pytest.mark.parametrize(
    ("postings", "merged", "runs", "loose"),
    [
        (0, 0, 0, False),
        (100, 0, 1, False),
        (100, 0, 2, True),
        (100, 100, 0, False),
        (100, 80, 1, True),
        (100, 90, 1, False),
        (100, 95, 9, False),
    ],
)
def test_postings_of_several_commits_are_out_of_order(postings, merged, runs, loose):
    assert MergeSize(postings, merged, runs, 0, 1).is_loose is loose


def falls(library):
    """How often a term of the postings comes after a later one."""
    [(count,)] = library.ask(
        "select count(*) from (select term_id < lag(term_id) over (order by rowid) as falls"
        " from postings) where falls"
    )
    return count


def largest_group(library, table):
    """Rows of the largest row group of a table."""
    [(rows,)] = library.ask(
        "select max(rows) from (select sum(count) as rows"
        f" from pragma_storage_info('{table}') where column_id = 0 and segment_type <> 'VALIDITY'"
        " group by row_group_id)"
    )
    return rows


def test_sorted_postings_are_in_large_row_groups_and_nothing_else_is(library, monkeypatch):
    database = library.engine.database
    for name in ("tea", "cake"):
        library.write(f"{name}.md", " ".join(f"word{number}" for number in range(14_000)))
        library.update()
        library.write(f"{name}s.md", name)
    assert largest_group(library, "postings") == 2_048
    assert maintenance.merge(database, always=True)
    assert largest_group(library, "postings") > 28_000
    assert largest_group(library, "words") == 2_048
    library.update()
    assert largest_group(library, "postings") > 28_000
    monkeypatch.setattr(maintenance, "_finish", lambda _, gone: None)
    assert maintenance.merge(database, always=True)
    assert largest_group(library, "words") == 2_048
    assert library.problems() == []


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_merge_leaves_postings_in_order_and_answers_as_they_were(library, monkeypatch, size):
    monkeypatch.setattr(maintenance, "SLICE_POSTINGS", size)
    monkeypatch.setattr(maintenance, "OF_A_RUN", 0)
    for name in ("tea", "cake", "rust"):
        library.write(f"{name}.md", f"# {name}\n\nSome {name}, and tea with it.")
        library.update()
    (library.root / "rust.md").unlink()
    library.update()

    before = list(search(library.engine, "some tea"))
    assert falls(library) > 0
    assert maintenance.merge(library.engine.database, always=True)
    assert list(search(library.engine, "some tea")) == before
    assert falls(library) == 0
    assert library.ask("from tombstones") == []
    assert not maintenance.merge(library.engine.database, always=True)


def test_a_merge_is_left_to_who_is_at_it_but_for_a_cleanup(library, monkeypatch):
    monkeypatch.setattr(maintenance, "MANY_RUNS", 2)
    database = library.engine.database
    with errand(database.path, "merge"):
        for name in ("tea", "cake", "rust"):
            library.write(f"{name}.md", f"# {name}\n\nSome {name}, and tea with it.")
            library.update()
        assert not maintenance.merge(database)
        assert falls(library) > 0
        assert maintenance.merge(database, always=True)
        assert falls(library) == 0
    for name in ("milk", "bread"):
        library.write(f"{name}.md", f"# {name}\n\nSome {name}, and tea with it.")
        library.update()
    assert falls(library) == 0


def test_an_update_that_has_read_many_documents_puts_postings_in_order(library, monkeypatch):
    library.write("tea.md", "# tea\n\nSome tea.")
    library.update()
    monkeypatch.setattr("qmd.operations.update.MANY_READ", 2)
    library.write("cake.md", "# cake\n\nSome cake, and tea with it.")
    library.update()
    assert falls(library) > 0
    for name in ("milk", "bread"):
        library.write(f"{name}.md", f"# {name}\n\nSome {name}, and tea with it.")
    library.update()
    assert falls(library) == 0


def test_a_merge_puts_words_in_order_too(library):
    for name in ("tea", "cake", "zest"):
        library.write(f"{name}.md", f"# {name}\n\nSome {name}.")
        library.update()
    before = library.ask("from words order by word")
    assert library.ask("from words order by rowid") != before
    assert maintenance.merge(library.engine.database, always=True)
    assert library.ask("from words order by rowid") == before


def test_an_update_that_has_read_several_documents_puts_words_in_order(library, monkeypatch):
    for name in ("tea", "zest"):
        library.write(f"{name}.md", f"# {name}\n\nSome {name}.")
        library.update()
    monkeypatch.setattr("qmd.operations.update.SEVERAL_READ", 2)
    library.write("cake.md", "# cake\n\nSome cake.")
    library.update()
    before = library.ask("from words order by word")
    assert library.ask("from words order by rowid") != before
    for name in ("tea", "zest"):
        library.write(f"{name}.md", f"# {name}\n\nSome more {name}.")
    library.update()
    before = library.ask("from words order by word")
    assert library.ask("from words order by rowid") == before
    assert falls(library) > 0


def test_postings_are_put_in_order_after_documents_have_got_their_vectors(faked):
    for name in ("tea", "cake"):
        faked.write(f"{name}.md", f"# {name}\n\nSome {name}, and tea with it.")
        faked.update()
    assert falls(faked) > 0
    faked.embed(within=100.0)  # who has little time wants vectors
    assert falls(faked) > 0
    faked.embed()  # nothing to do
    assert falls(faked) > 0
    faked.embed(force=True)
    assert falls(faked) == 0


def test_vectors_are_there_though_a_merge_has_failed(faked, monkeypatch):
    def fail(*_, **__):
        raise IndexBusy(faked.engine.database.path, holder=None, waited=30.0)

    monkeypatch.setattr(maintenance, "merge", fail)
    faked.write("tea.md", "# Tea\n")
    assert maintenance.merge is fail
    with pytest.raises(IndexBusy):
        faked.update()
    assert faked.embed().chunks == 1


def test_a_few_documents_are_not_added_to_a_row_group_of_many(library):
    for number in range(2_100):
        library.write(f"{number}.md", f"note {number}")
    library.update()

    def groups():
        rows = library.ask(
            "select count, block_id from pragma_storage_info('content')"
            " where column_name = 'body' and segment_type <> 'VALIDITY' order by row_group_id"
        )
        return [tuple(row) for row in rows]

    before = groups()
    library.write("late.md", "one more")
    library.update()
    assert sum(count for count, _ in before) == 2_100
    assert groups() == [*before, (1, groups()[-1][1])]
    library.write("later.md", "and one more")
    library.update()
    assert groups() == [*before, (2, groups()[-1][1])]
