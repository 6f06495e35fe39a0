"""Analysis of a knowledge base as tables: with Polars, Arrow and SQL.

python examples/analyse_notes.py [INDEX]

INDEX is a name or a path; without it, it is the one that qmd would use here.
Needs Polars: pip install '.[polars]'
"""

from __future__ import annotations

import sys

import polars as pl

import qmd


def main(index: str | None) -> None:
    """Print three tables, and draw a map if there are vectors."""
    with qmd.connect(index) as kb:
        documents = kb.documents().polars()
        print("Documents of each year and collection")
        by_year = documents.group_by(pl.col("date").dt.year().alias("year"), "collection").agg(
            pl.len().alias("documents"), pl.col("size").sum().alias("bytes")
        )
        print(by_year.sort("year", "collection"))

        print("Which documents a question is about, by the score of each")
        hits = kb.search("alarm battery", limit=None).polars()
        print(hits.join(documents, on="file").select("file", "score", "date").head(5))

        print("The most frequent terms, from Arrow")
        terms = kb.stats(terms=5).terms.arrow()
        print(dict(zip(terms["term"].to_pylist(), terms["documents"].to_pylist(), strict=True)))

        print("Documents that say nothing of when they are from, in SQL")
        query = "select count(*) as undated from documents where date = modified"
        print(kb.sql(query)[0]["undated"])

        try:
            kb.map().save("qmd-map.html")
            print("qmd-map.html shows what is near to what")
        except qmd.NotEmbedded as error:
            print(error)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
