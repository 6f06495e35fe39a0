"""Export of an index to a folder of Parquet files, and import.

An index comes in and a folder of files goes out, or the other way round.
May import, besides the ground floor, `errors` and `text`: `ingest`, `ranking.postings`,
`storage`, `settings`.
"""
