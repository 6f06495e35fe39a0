"""Records to submit, and what is answered."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

from qmd.experiences.contract import Submission
from qmd.experiences.table import Record
from qmd.operations.experiences import Experiences

REDIS = {
    "title": "Redis times out after an upgrade",
    "problem_description": "Clients lose their connection every few minutes.",
    "root_cause": "The server closes idle connections.",
    "solution": "Set the keepalive of the clients below the timeout of the server.",
    "context": "redis-py 5, server 7.2",
    "keywords": ["redis", "timeout"],
}
DOCKER = {
    "title": "Docker builds are slow",
    "problem_description": "Every build installs all packages anew.",
    "solution": "Copy the lock file first, so that the layer is kept.",
}


def submitted(records: Experiences, given: dict[str, object]) -> str:
    """The id of a record that is taken."""
    outcome = records.submit(given)
    assert outcome["success"] is True, outcome
    return outcome["data"]["id"]


def asked(records: Experiences, keywords: str, **more: object) -> dict:
    """What a query finds."""
    outcome = records.query({"keywords": keywords, **more})
    assert outcome["success"] is True, outcome
    return outcome["data"]


def titles(records: Experiences, keywords: str, **more: object) -> list[str]:
    return [found["title"] for found in asked(records, keywords, **more)["experiences"]]


def refused(outcome: dict) -> dict:
    assert outcome["success"] is False
    return outcome["error"]


def faults(outcome: dict) -> dict[str, str]:
    return {each["field"]: each["message"] for each in refused(outcome)["validation_errors"]}


def record(title: str, *, body: str = "as said", days: float = 0, **more: object) -> Record:
    """A record of some days ago."""
    submission = Submission(title, body, None, body, None, ())._replace(**more)
    moment = datetime.now(UTC).replace(tzinfo=None) - timedelta(days=days)
    return Record(str(uuid4()), submission, moment)
