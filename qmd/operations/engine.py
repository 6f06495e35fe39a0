"""One index, every verb.

Verbs that only look something up are plain functions, ready for a worker thread; what is a
pipeline, or asks models, is asynchronous. The command line and the servers are thin layers over
this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qmd.models.loader import Models
from qmd.operations.arranging import Arranging
from qmd.operations.documents import LARGEST_OF_SEVERAL, Reading
from qmd.operations.sql import Asking
from qmd.ranking.postings_loader import Holder
from qmd.ranking.search_log import Log
from qmd.ranking.vector_indexes import VectorIndexes
from qmd.settings.environment import Machine, Place
from qmd.storage.database import Database
from qmd.storage.stemmer import Stemmer
from qmd.types import ALL

if TYPE_CHECKING:
    from qmd.analytics.sandbox_workers import Workers

__all__ = ["ALL", "LARGEST_OF_SEVERAL", "Engine"]


class Engine(Asking, Reading, Arranging):
    """An index and its settings.

    Args:
        machine: what the environment says of models.
        warm: for a process that reads more than once: keep the index attached between reads.
        stays: for a server: what takes minutes to make and is of use later may be made.
        workers: processes for queries in SQL; made when the first is asked.
    """

    def __init__(
        self,
        place: Place,
        machine: Machine = Machine(),  # noqa: B008  # a named tuple
        *,
        warm: bool = False,
        stays: bool = False,
        patience: float = 30.0,
        workers: Workers | None = None,
    ) -> None:
        self.place = place
        self.models = Models(self._approved, machine, place.config.parent)
        self.database = Database(place.database, warm=warm, patience=patience)
        self.holder = Holder(self.database)
        if warm:
            self.database.missed = self.holder.missed
        self.stemmer = Stemmer()
        self.log = Log(place.database)
        self._workers = workers
        self.vector_indexes = VectorIndexes(self.database, place.database, stays=stays)
        self._stays = stays

    def close(self, patience: float | None = None) -> None:
        """Let go of the index and of the models.

        Args:
            patience: seconds to wait for those who use the index; None for as long as they do.
        """
        if self.database.is_inherited:
            return  # it is for the process that opened it
        self.vector_indexes.close()
        if self._workers is not None:
            self._workers.close()
        self.holder.close()
        if self.holder.is_reader:
            patience = 0.0  # for what this thread itself reads
        self.models.close()
        self.database.close(patience)

    def load_postings(self) -> None:
        """Read postings into memory in the background, in a process that stays."""
        if self._stays:
            self.holder.prepare()
