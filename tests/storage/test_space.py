"""Room of the index file on the disk."""

from __future__ import annotations

from qmd.storage import compaction, maintenance

LONG = "select strlen(body) > 4096 from content order by rowid"
BESIDE = """
select count(*) from pragma_storage_info('content')
where column_name = 'body' and len(additional_block_ids) > 0
"""


def of_many_sizes(library, numbers):
    """Write short and long texts in turn, more than a block holds."""
    for number in numbers:
        library.write(f"{number:03}.md", f"# {number}\n\n" + "tea " * (900 + 300 * (number % 2)))


def test_long_texts_are_stored_behind_the_short_ones_of_their_commit(library):
    of_many_sizes(library, range(80))
    library.update()
    assert library.ask(LONG) == [(False,)] * 40 + [(True,)] * 40
    assert library.ask(BESIDE) == [(1,)]


def test_a_file_written_anew_has_all_long_texts_behind_the_short_ones(library):
    of_many_sizes(library, range(40))
    library.update()
    of_many_sizes(library, range(40, 80))
    library.update()
    assert library.ask(LONG) == 2 * ([(False,)] * 20 + [(True,)] * 20)
    for path in library.root.glob("*.md"):
        path.unlink() if int(path.stem) % 4 == 3 else None
    library.update()
    maintenance.clean(library.engine.database)
    texts = library.ask("from content order by hash")
    assert compaction.compact(library.engine.database)
    assert library.ask(LONG) == [(False,)] * 40 + [(True,)] * 20
    assert library.ask("from content order by hash") == texts
