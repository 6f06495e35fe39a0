"""Query language, BM25, vector search, fusion, reranking and snippets.

A query comes in, ranked results go out.
May import, besides the ground floor, `errors` and `text`: `embedding`, `models`, `storage`.
"""
