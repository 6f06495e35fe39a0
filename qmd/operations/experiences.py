"""Records of solved problems: agents submit them, and find those of others.

Beneath any protocol: what comes in is what a client sent, what goes out is the object that the
contract for experience records asks for, also when something is refused or fails.
"""

from __future__ import annotations

import threading
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from qmd.embedding import vectors
from qmd.errors import ModelError, QmdError
from qmd.experiences import contract, table
from qmd.experiences.contract import ContractViolations, RecordRequest, Violation
from qmd.experiences.table import Page, RankedRecord, Record
from qmd.ingest import commit
from qmd.named_tuple import NamedTuple
from qmd.operations.index import Index
from qmd.ranking.query import plain_words
from qmd.storage import cancellation
from qmd.storage.cursor import Cursor
from qmd.text.stems import terms as stem_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Outcome = dict[str, object]
"""`{"success": True, "data": {…}}` or `{"success": False, "error": {…}}`."""

PUBLISHED = "Experience record created and published successfully"
"""Source: the contract for experience records."""

FARTHEST = (1 << 62) - 1
"""Records that can be skipped; no index has as many."""


class Vector(NamedTuple):
    """The vector of a query, for the model with which records were embedded."""

    fingerprint: str
    numbers: NDArray[np.float32]


class Experiences:
    """Records of solved problems. Made once by a server; safe to share between threads."""

    def __init__(self, engine: Index) -> None:
        self._engine = engine
        self._turn = threading.Lock()
        self._uncounted: Counter[str] = Counter()

    # -- submit ------------------------------------------------------------------

    def submit(self, given: Mapping[str, object], misnamed: Sequence[Violation] = ()) -> Outcome:
        """Publish a record, to be found by the very next query of any process.

        Args:
            misnamed: what came besides, and is no field.
        """
        return _answered(partial(self._submit, given, misnamed))

    def _submit(self, given: Mapping[str, object], misnamed: Sequence[Violation]) -> Outcome:
        submission = contract.submission(given, misnamed)
        record = Record(str(uuid.uuid4()), submission, now())
        self.add([record])
        return _succeeded({"id": record.id, "status": "published", "message": PUBLISHED})

    def add(self, records: Sequence[Record]) -> None:
        """Add records with their documents: all of them, or none.

        Raises:
            IndexFailure: the index is busy or cannot be written.
        """
        from qmd.experiences.documents import prepared

        batch = prepared(records)
        self._engine.database.write(partial(table.add, records=records, batch=batch))

    # -- query -------------------------------------------------------------------

    def query(self, given: Mapping[str, object], misnamed: Sequence[Violation] = ()) -> Outcome:
        """Find a page of matching records, best first, each with its earlier answers.

        Args:
            misnamed: what came besides, and is no field.
        """
        return _answered(lambda: self._query(given, misnamed, self.vector(given)))

    def found(
        self,
        given: Mapping[str, object],
        misnamed: Sequence[Violation] = (),
        *,
        vector: Vector | None,
    ) -> Outcome:
        """Find records by keywords, and by a vector if one is given; uses no model."""
        return _answered(partial(self._query, given, misnamed, vector))

    def _query(
        self, given: Mapping[str, object], misnamed: Sequence[Violation], vector: Vector | None
    ) -> Outcome:
        asked = contract.query(given, misnamed)
        with self._turn:
            uncounted = dict(self._uncounted)
        page = self._engine.read(
            partial(self._page, asked=asked, vector=vector, uncounted=uncounted)
        )
        with self._turn:
            self._uncounted.update(found.record.id for found in page.found)
        return _succeeded(
            {
                "experiences": [_shown(found) for found in page.found],
                "total": page.total,
                "limit": asked.limit,
                "offset": asked.offset,
            }
        )

    def _page(
        self,
        cursor: Cursor,
        *,
        asked: RecordRequest,
        vector: Vector | None,
        uncounted: Mapping[str, int],
    ) -> Page:
        model_id = None
        if vector is not None:
            width = len(vector.numbers)
            model_id = vectors.model_id(cursor, vector.fingerprint, dimensions=width)
        return table.ranked(
            cursor,
            self._terms(cursor, plain_words(asked.keywords)),
            model_id=model_id,
            vector=vector and vectors.as_text(vector.numbers),
            uncounted=uncounted,
            now=now(),
            limit=asked.limit,
            offset=min(asked.offset, FARTHEST),
        )

    def _terms(self, cursor: Cursor, words: Sequence[str]) -> list[int]:
        """Return the distinct terms of words; of a word unknown to the index, that of its stem."""
        known = commit.known_words(cursor, words)
        terms = list(known.values())
        unknown = [word for word in words if word not in known]
        terms += [term_id for term_id, _ in stem_terms(unknown)]
        return list(dict.fromkeys(terms))

    def has_vectors(self) -> bool:
        """Return whether some record has vectors, of any model.

        Raises:
            IndexFailure: the index is busy or cannot be read.
        """
        return bool(self._models())

    def _models(self) -> frozenset[str]:
        """Fingerprints of the models of which some record has a vector."""
        return self._engine.read(table.models, key=("experiences", "models"))

    def vector(self, given: Mapping[str, object]) -> Vector | None:
        """Embed a query for `found`; the model may take long.

        Returns:
            None if the query is refused, no record has vectors to compare, or the model fails.

        Raises:
            IndexFailure: the index is busy or cannot be read.
        """
        models = self._engine.models
        try:
            keywords = contract.query(given).keywords
            if not (embedded := self._models()):
                return None
            space = models.space()
            if space.fingerprint not in embedded or not space.model.knows(keywords):
                return None
            text = space.model.as_query(keywords)
            rows = models.vectors(space, [text], between=cancellation.check)
            return Vector(space.fingerprint, rows[0])
        except (ContractViolations, ModelError):
            return None  # the reason is told by who looks at words; those answer alone

    # -- counters ----------------------------------------------------------------

    @property
    def uncounted(self) -> bool:
        """True if there are answers that the index does not count yet."""
        return bool(self._uncounted)

    def count(self) -> None:
        """Count, in the index, all answers since the last time.

        Raises:
            IndexFailure: the index is busy or cannot be written. They are kept for the next time.
        """
        with self._turn:
            counted, self._uncounted = self._uncounted, Counter()
        if not counted:
            return
        try:
            self._engine.database.write(partial(table.count, counted=counted, now=now()))
        except BaseException:
            with self._turn:
                self._uncounted.update(counted)
            raise


class Failure(dict[str, object]):
    """An outcome, and the error that it tells of: the contract has one code for several.

    Attributes:
        error: for those who know more codes.
    """

    def __init__(self, outcome: Outcome, error: QmdError) -> None:
        super().__init__(outcome)
        self.error = error


def timed_out(seconds: float) -> Outcome:
    """Build the outcome of an operation that exceeded its time limit."""
    return _failed("TIMEOUT", f"Timed out after {seconds:g} s.")


def failed(error: QmdError) -> Outcome:
    """Build the outcome of a failed operation."""
    return Failure(_failed("DATABASE_ERROR", str(error)), error)


def _answered(work: Callable[[], Outcome]) -> Outcome:
    try:
        return work()
    except ContractViolations as refusal:
        return _failed(
            refusal.code,
            str(refusal),
            validation_errors=[
                {"field": each.field, "message": each.message} for each in refusal.violations
            ],
            **(
                {"details": {"findings": [each._asdict() for each in refusal.findings]}}
                if refusal.findings
                else {}
            ),
        )
    except QmdError as error:
        return failed(error)


def _succeeded(data: Mapping[str, object]) -> Outcome:
    return {"success": True, "data": data}


def _failed(code: str, message: str, **more: object) -> Outcome:
    return {"success": False, "error": {"code": code, "message": message, **more}}


def _shown(found: RankedRecord) -> dict[str, object]:
    """Convert a record to the form of the contract, without absent fields."""
    record, submission = found.record, found.record.submission
    shown = {
        "id": record.id,
        **submission._asdict(),
        "keywords": list(submission.keywords),
        "query_count": found.query_count,
        "created_at": record.created_at.isoformat(timespec="milliseconds") + "Z",
        "relevance_score": round(found.relevance, 4),
    }
    return {name: value for name, value in shown.items() if value is not None}


def now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC).replace(tzinfo=None)
