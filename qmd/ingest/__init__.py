"""Ingestion: folders to documents, documents to postings.

A folder comes in, committed batches go out.
May import, besides the ground floor, `errors` and `text`: `storage`, `settings`.
"""
