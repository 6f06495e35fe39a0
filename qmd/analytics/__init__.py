"""SQL sandbox, views, statistics and pictures.

A query comes in, rows or a picture go out.
May import, besides the ground floor, `errors` and `text`: `ranking`, `embedding`,
`models.selection`, `storage`.
"""
