"""Pictures of the data flow, docs/update.svg and docs/search.svg.

python -m tools.flows
"""

from __future__ import annotations

from collections.abc import Iterator

from tools.picture import FILES, PICTURE, SEARCH, WHO, WORK, arrow, box, cylinder, svg, written

HEIGHT = 560


def update() -> Iterator[str]:
    """Draw one update, and the embedding that follows."""
    yield from written(28, 42, "One update", ())
    yield from box(28, 66, 120, 118, FILES, "Files", "a folder", "with a mask", "", "never changed")
    hooks = ("ingest/hooks.py", "such as git pull, if", "approved: trust.py")
    yield from box(184, 66, 170, 100, WORK, "Update command", *hooks)
    walked = ("ingest/walk.py", "names, times, sizes,", "without ignored files")
    yield from box(390, 66, 170, 100, WORK, "Walk", *walked)
    saved = ("ingest/fingerprint.py", "equal to the saved one:", "done, without DuckDB")
    yield from box(596, 66, 180, 100, WORK, "Fingerprint", *saved)
    compared = ("ingest/compare.py", "join with documents,", "in one statement")
    yield from box(812, 66, 160, 100, WORK, "Compare", *compared)
    yield arrow((148, 116), (182, 116))
    yield arrow((354, 116), (388, 116))
    yield arrow((560, 116), (594, 116))
    yield arrow((776, 116), (810, 116))
    yield arrow((892, 166), (892, 226), (123, 226), (123, 262))
    yield from written(370, 195, "", ("batches of 12 MB, several in progress",))
    read = (
        "ingest/reader.py",
        "text and hash; title,",
        "date and frontmatter",
        "by text/markdown.py",
    )
    yield from box(28, 264, 190, 118, WORK, "Read", *read)
    inverted = (
        "ingest/inversion.py",
        "words to postings, by term;",
        "links, headings, tags",
        "by ingest/outlines.py",
    )
    yield from box(252, 264, 196, 118, WORK, "Invert", *inverted)
    committed = (
        "ingest/commit.py",
        "one transaction under",
        "the writer's lock",
        "(storage/file_lock.py)",
    )
    yield from box(482, 264, 190, 118, WORK, "Commit", *committed)
    yield arrow((218, 323), (250, 323))
    yield arrow((448, 323), (480, 323))
    kept = ("documents, content", "postings, words", "chunks, vectors")
    yield from cylinder(802, 264, 170, 256, "`index.duckdb`", *kept)
    yield arrow((672, 323), (800, 323))
    merged = ("then merge the", "postings, if that", "pays")
    yield from written(684, 318, "", merged)
    yield from written(28, 424, "Then qmd embed", ())
    chunked = ("embedding/chunker.py,", "code_chunker.py")
    yield from box(28, 438, 190, 82, WORK, "Chunk", *chunked)
    yield from box(252, 438, 196, 82, WORK, "Embed", "models/encoder.py,", "llama.py or remote.py")
    yield from box(
        482, 438, 190, 82, WORK, "Commit", "embedding/vectors.py", "chunks first, then vectors"
    )
    yield arrow((218, 479), (250, 479))
    yield arrow((448, 479), (480, 479))
    yield arrow((672, 479), (800, 479))


def search() -> Iterator[str]:
    """Draw one hybrid search; a keyword search is its upper lane."""
    yield from written(28, 42, "One search", ())
    yield from box(28, 200, 130, 100, WHO, "Query", "text, collections,", "dates, filter,", "limit")
    opened = (
        "operations/",
        "settings synchronized,",
        "one state of the file,",
        "allowed documents",
    )
    yield from box(196, 190, 160, 118, SEARCH, "Open index", *opened)
    yield arrow((158, 250), (194, 250))
    parsed = ("ranking/query.py", "words, phrases,", "exclusions")
    yield from box(400, 66, 160, 100, SEARCH, "Parse", *parsed)
    resolved = ("ranking/query_terms.py", "stems, variants,", "document counts")
    yield from box(594, 66, 176, 100, SEARCH, "Resolve", *resolved)
    scored = ("ranking/bm25.py", "in DuckDB, or", "inverted_index.py")
    yield from box(804, 66, 168, 100, SEARCH, "Rank: BM25", *scored)
    yield arrow((560, 116), (592, 116))
    yield arrow((770, 116), (802, 116))
    expanded = ("ranking/expansion.py", "other wordings, if a", "model is fast")
    yield from box(400, 200, 160, 100, SEARCH, "Expand", *expanded)
    embedded = ("models/loader.py", "vector of the query", "(minilm by default)")
    yield from box(594, 200, 176, 100, SEARCH, "Embed", *embedded)
    nearest = ("ranking/nearest.py", "vector_matrix.py,", "hnsw.py")
    yield from box(804, 200, 168, 100, SEARCH, "Rank: cosine", *nearest)
    yield arrow((356, 250), (398, 250))
    yield arrow((480, 200), (480, 168))
    yield arrow((560, 250), (592, 250))
    yield arrow((770, 250), (802, 250))
    yield arrow((972, 116), (986, 116), (986, 336), (920, 336), (920, 366))
    yield arrow((870, 300), (870, 366))
    fused = ("ranking/fusion.py", "by scores, or by", "reciprocal ranks")
    yield from box(804, 368, 168, 100, SEARCH, "Fuse", *fused)
    reranked = ("ranking/reranking.py", "cross-encoder, if a", "model is fast")
    yield from box(594, 368, 176, 100, SEARCH, "Rerank", *reranked)
    presented = ("ranking/results.py", "texts, snippets,", "contexts")
    yield from box(400, 368, 160, 100, SEARCH, "Results", *presented)
    shown = ("surfaces/", "text, JSON, CSV, XML,", "MCP, HTTP, Python")
    yield from box(196, 368, 160, 100, WHO, "Output", *shown)
    yield arrow((804, 418), (772, 418))
    yield arrow((594, 418), (562, 418))
    yield arrow((400, 418), (358, 418))
    yield from written(
        28,
        506,
        "",
        (
            "qmd search runs the upper lane (parse, resolve, rank), qmd vsearch the lower one "
            "(embed, rank).",
            "Both go straight from there to the results. qmd query runs all steps.",
        ),
    )


def pictures() -> dict[str, str]:
    """Draw all pictures, by the names of their files."""
    return {
        "update.svg": svg("One update, from files to postings and vectors", update(), HEIGHT),
        "search.svg": svg("One search, from the query to results", search(), HEIGHT),
    }


if __name__ == "__main__":
    for name, drawing in pictures().items():
        PICTURE.with_name(name).write_text(drawing, encoding="utf-8")
