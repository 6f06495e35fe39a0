"""A record is a document of a collection that no folder has."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from qmd.errors import ConfigError, DocumentNotFound, UsageError
from qmd.experiences.table import UNREVIEWED
from qmd.operations.collections import rename_collection
from qmd.operations.doctor import examine
from qmd.operations.documents import get
from qmd.operations.experience_records import query_experiences, submit_experience
from qmd.operations.experiences import Experiences
from qmd.operations.search import search
from qmd.operations.semantic_search import query
from qmd.operations.update import compare_folders, run_update
from qmd.settings import config, edit
from qmd.storage import maintenance
from qmd.types import Context
from tests.experiences.submitting import DOCKER, REDIS, asked, refused, submitted
from tests.library import Library

# -- documents -----------------------------------------------------------------


def test_a_record_is_a_document_that_every_search_finds_labelled_as_unreviewed(faked):
    records = Experiences(faked.engine)
    id_ = submitted(records, REDIS)
    [found] = list(search(faked.engine, "keepalive"))
    assert found.file == f"experiences/{id_}.md"
    assert found.title == REDIS["title"]
    assert found.context == UNREVIEWED
    assert anyio.run(query, faked.engine, "lex: keepalive")[0].file == found.file
    faked.embed("experiences")
    assert [each.file for each in faked.nearest("a question")] == [found.file]
    passage = get(faked.engine, found.file)
    assert passage.body == (
        "# Redis times out after an upgrade\n\n"
        "## Problem description\n\nClients lose their connection every few minutes.\n\n"
        "## Root cause\n\nThe server closes idle connections.\n\n"
        "## Solution\n\n"
        "Set the keepalive of the clients below the timeout of the server.\n\n"
        "## Context\n\nredis-py 5, server 7.2\n\n"
        "## Keywords\n\nredis, timeout\n"
    )
    assert passage.context == UNREVIEWED
    assert get(faked.engine, f"/{id_}.md").file == found.file
    assert faked.problems() == []


def test_a_title_of_several_lines_is_one_heading(records, library):
    submitted(records, {**DOCKER, "title": " Docker\n# is slow "})
    assert search(library.engine, "docker")[0].title == "Docker # is slow"
    assert asked(records, "docker")["experiences"][0]["title"] == "Docker\n# is slow"


def test_equal_submissions_are_two_records_with_one_text(records, library):
    ids = {submitted(records, REDIS), submitted(records, REDIS)}
    assert {each["id"] for each in asked(records, "redis")["experiences"]} == ids
    assert library.ask("select count(*), count(distinct hash) from documents") == [(2, 1)]
    assert library.ask("select count(*) from content") == [(1,)]
    assert library.ask("select count(*) - count(distinct word) from words") == [(0,)]


def test_the_words_of_an_id_are_no_words_of_its_record(records, library):
    id_ = submitted(records, REDIS)
    assert asked(records, id_)["total"] == 0
    assert not search(library.engine, id_)


def test_keywords_can_be_filtered_by(records, library):
    submitted(records, REDIS)
    submitted(records, {**REDIS, "keywords": []})
    assert len(search(library.engine, "redis", filter="keywords = timeout")) == 1


# -- the collection ------------------------------------------------------------


def names(library: Library) -> list[str]:
    return [each.name for each in library.engine.overview()]


def test_the_collection_is_there_once_there_is_a_record_and_stays(records, library):
    library.write("tea.md", "# Tea")
    library.update()
    assert names(library) == ["notes"]
    submitted(records, REDIS)
    assert names(library) == ["experiences", "notes"]
    library.configure("more")
    library.engine.sync()
    assert names(library) == ["experiences", "more", "notes"]
    assert [each.collection for each in anyio.run(run_update, library.engine)] == ["more", "notes"]
    assert list(compare_folders(library.engine)) == ["more", "notes"]
    library.configure()
    assert names(library) == ["experiences", "notes"]
    assert search(library.engine, "redis")[0].context == UNREVIEWED
    assert asked(records, "redis")["total"] == 1
    assert library.problems() == []


def test_doctor_and_cleanup_leave_records_as_they_are(records, library):
    submitted(records, REDIS)
    asked(records, "redis")
    records.count()
    library.write("tea.md", "# Tea")
    library.update()
    (library.root / "tea.md").unlink()
    library.update(removes=True)
    maintenance.clean(library.engine.database)
    [finding] = [f for f in examine(library.engine) if f.check == "collection experiences"]
    assert finding.status == "ok"
    assert finding.detail == "1 record, in the index alone"
    assert all(f.status != "problem" for f in examine(library.engine))
    assert asked(records, "redis")["experiences"][0]["query_count"] == 1
    assert library.found("keepalive") == [
        f"experiences/{asked(records, 'redis')['experiences'][0]['id']}.md"
    ]


def test_the_name_is_refused_wherever_a_collection_could_get_it(records, library):
    (library.folder / "index.yml").write_text(
        f"collections:\n  notes:\n    path: {library.root}\n  experiences:\n    path: /tmp\n"
    )
    with pytest.raises(ConfigError, match=r"index\.yml:4: The name 'experiences' is kept for"):
        search(library.engine, "redis")
    assert refused(records.query({"keywords": "redis"}))["code"] == "DATABASE_ERROR"
    library.configure()
    with pytest.raises(UsageError, match="The name 'experiences' is kept for"):
        rename_collection(library.engine, "notes", "experiences")
    submitted(records, REDIS)
    with pytest.raises(UsageError, match="cannot be changed"):
        rename_collection(library.engine, "experiences", "others")
    with pytest.raises(UsageError, match="has no folder to be updated from"):
        compare_folders(library.engine, ["experiences"])


def test_an_index_that_gave_the_name_to_a_folder_says_so_and_goes_on_under_another(tmp_path):
    """As an older qmd left it: the migration takes the folder's documents out."""
    library = Library(tmp_path)
    library.write("tea.md", "# Tea")
    library.update()

    def older(cursor):
        run = cursor.connection.execute
        for table in ("experiences", "experience_counts"):
            run(f"drop table {table}")
        run("delete from schema_migrations where version = 4")
        run("update collections set name = 'experiences'")
        run("update documents set collection = 'experiences'")
        seen = config.digest(library.engine.place)
        run("update settings set value = ? where name = 'config_digest'", [seen])

    settings = library.folder / "index.yml"
    text = settings.read_text()
    settings.write_text(text.replace("notes:", "experiences:"))
    library.engine.database.write(older)
    with pytest.raises(ConfigError, match="is kept for the records that agents submit"):
        search(library.engine, "tea")
    settings.write_text(text.replace("notes:", "work:"))
    anyio.run(run_update, library.engine)
    assert [each.file for each in list(search(library.engine, "tea"))] == ["work/tea.md"]
    assert library.problems() == []
    library.engine.close()


def test_settings_that_are_made_anew_from_the_index_leave_the_records_out(records, library):
    submitted(records, REDIS)
    search(library.engine, "redis")
    (library.folder / "index.yml").unlink()
    library.engine.change(lambda _, document: edit.set_context(document, Context(None, "", "x")))
    assert "experiences" not in (library.folder / "index.yml").read_text()
    assert names(library) == ["experiences", "notes"]


def test_nothing_outside_is_taken_for_a_record(records, library):
    """The collection has no root, so no path on disk lies below it."""
    id_ = submitted(records, REDIS)
    with pytest.raises(DocumentNotFound):
        get(library.engine, str(Path.cwd() / f"{id_}.md"))


def test_the_operations_answer_as_the_records_do(library):
    given = {"title": "Stale caches", "problem_description": "Old pages.", "solution": "Expire."}
    submitted = submit_experience(library.engine, **given, keywords=("Redis",))
    assert submitted["success"], submitted
    found = query_experiences(library.engine, "redis", limit=1)["data"]
    assert [each["id"] for each in found["experiences"]] == [submitted["data"]["id"]]
    assert (found["total"], found["limit"], found["offset"]) == (1, 1, 0)
    refused = submit_experience(library.engine, **given | {"title": " "})
    assert refused["error"]["code"] == "INVALID_TITLE"
