"""Programs are told of each error by a code that fits: only what passes is called busy."""

from __future__ import annotations

from pathlib import Path

import pytest

from qmd import errors
from qmd.errors import QmdError
from qmd.surfaces.tools.build_reply import CODES, code_of, failed
from qmd.surfaces.tools.reply import Code
from tests.surfaces.tools.calling import call

PLACE = Path("/place/index.duckdb")

EXPECTED = [
    (errors.ConfigError(PLACE, "it is no YAML"), Code.CONFIG_ERROR, 500, 1),
    (errors.ConfigEmptied(PLACE, ["notes"]), Code.CONFIG_ERROR, 500, 1),
    (errors.IndexNotWritable(PLACE, "Read-only file system"), Code.DATABASE_UNUSABLE, 500, 3),
    (errors.IndexOutOfReach(PLACE, "Permission denied"), Code.DATABASE_UNUSABLE, 500, 3),
    (errors.LockUnusable(PLACE), Code.DATABASE_UNUSABLE, 500, 3),
    (errors.MigrationEdited(PLACE, "1", written_by="1"), Code.DATABASE_UNUSABLE, 500, 3),
    (
        errors.IndexTooNew(PLACE, schema=9, known=6, written_by="1", this="1"),
        *(Code.DATABASE_UNUSABLE, 500, 3),
    ),
    (errors.IndexBusy(PLACE, holder=None, waited=1), Code.DATABASE_BUSY, 503, 3),
    (errors.FileBusy(PLACE, holder=None, waited=1), Code.DATABASE_BUSY, 503, 3),
    (errors.JobRunning(PLACE, job="embed", holder=None), Code.DATABASE_BUSY, 503, 3),
    (errors.IndexUnreadable(PLACE, "it is damaged"), Code.DATABASE_BUSY, 503, 3),
    (errors.ModelMissing("small", "no file"), Code.MODEL_ERROR, 503, 1),
    (errors.NotEmbedded(), Code.NO_VECTOR_INDEX, 503, 1),
    (errors.VectorsRemoved("small"), Code.NO_VECTOR_INDEX, 503, 1),
    (errors.TextTooLong(9, 8), Code.INVALID_PARAMS, 400, 1),
    (errors.DocumentNotFound("tea"), Code.NOT_FOUND, 404, 1),
    (errors.CollectionNotFound("tea"), Code.UNKNOWN_COLLECTION, 400, 1),
    (errors.IndexNotFound("tea"), Code.NOT_FOUND, 404, 1),
    (errors.QueryError("open quote"), Code.INVALID_PARAMS, 400, 1),
    (errors.RootMissing("notes", "/notes"), Code.INVALID_PARAMS, 400, 2),
    (QmdError("a mistake"), Code.INTERNAL, 500, 1),
]


@pytest.mark.parametrize(
    ("error", "code", "status", "exit_code"), EXPECTED, ids=lambda each: type(each).__name__
)
def test_an_error_has_a_code_a_status_and_an_exit_code(error, code, status, exit_code):
    assert (code_of(error), code_of(error).status, error.exit_code) == (code, status, exit_code)
    assert failed(error).error is code


def test_every_error_of_an_index_or_of_a_caller_has_a_code():
    kinds = [getattr(errors, name) for name in errors.__all__ if name[0].isupper()]
    kinds = [each for each in kinds if isinstance(each, type)]
    with_code = tuple(kind for kind, _ in CODES)
    none = {each.__name__ for each in kinds if not issubclass(each, with_code)}
    not_served = {"ServerFailure", "PortTaken", "AlreadyServed", "QmdError"}
    exchange = {each.__name__ for each in kinds if issubclass(each, errors.ExchangeError)}
    assert none - exchange == not_served


def test_settings_that_cannot_be_read_are_no_busy_database(toolbox):
    toolbox.engine.place.config.write_text("collections: [")
    for tool, given in (
        ("search", {"query": "tea"}),
        ("status", {}),
        ("query_experiences", {"keywords": "tea"}),
    ):
        reply = call(toolbox, tool, **given)
        assert reply.error is Code.CONFIG_ERROR, tool
        assert "index.yml:1: " in str(reply.content[0])


def test_a_disk_that_cannot_be_written_is_no_busy_database(toolbox, monkeypatch):
    def refuse(_):
        raise errors.IndexNotWritable(PLACE, "Read-only file system")

    monkeypatch.setattr(toolbox.engine.database, "write", refuse)
    told = {"title": "Tea", "problem_description": "Cold.", "solution": "Brew."}
    reply = call(toolbox, "submit_experience", **told)
    assert reply.error is Code.DATABASE_UNUSABLE
    assert reply.structured["error"]["code"] == "DATABASE_ERROR"  # the contract has one for all
