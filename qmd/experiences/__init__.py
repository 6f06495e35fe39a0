"""Records of solved problems: contract, secrets, documents, table.

A submission comes in, a document and its row go out.
May import, besides the ground floor, `errors` and `text`: `ingest`, `storage`.
"""
