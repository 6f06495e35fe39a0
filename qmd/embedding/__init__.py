"""Documents to chunks, chunks to vectors.

Texts without vectors come in, vectors go out.
May import, besides the ground floor, `errors` and `text`: `models`, `storage`.
"""
