"""Methods of the Python clients that change nothing: searches, documents, facts, SQL."""

from __future__ import annotations

from qmd.operations.ask import ask
from qmd.operations.doctor import doctor
from qmd.operations.documents import get, multi_get
from qmd.operations.facets import facets
from qmd.operations.grep import grep
from qmd.operations.links import links
from qmd.operations.listing import documents
from qmd.operations.passages import passages
from qmd.operations.search import search
from qmd.operations.semantic_search import query, vector_search
from qmd.operations.similar import similar
from qmd.operations.sql import sql
from qmd.operations.statistics import map, stats
from qmd.operations.status import status
from qmd.surfaces.python.base import Base
from qmd.surfaces.python.derive import awaited


class Asking(Base):
    """Methods that read an index."""

    search = awaited(search)
    vector_search = awaited(vector_search)
    vsearch = vector_search
    query = awaited(query)
    similar = awaited(similar)
    links = awaited(links)
    ask = awaited(ask)
    passages = awaited(passages)

    grep = awaited(grep)
    get = awaited(get)
    multi_get = awaited(multi_get)
    documents = awaited(documents)
    ls = documents
    facets = awaited(facets)

    status = awaited(status)
    doctor = awaited(doctor)
    stats = awaited(stats)
    map = awaited(map)
    sql = awaited(sql)
