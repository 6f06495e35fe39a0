"""Operations of qmd, each declared once; the surfaces are derived from them.

Typed arguments come in, typed results go out.
May import, besides the ground floor, `errors` and `text`: every room below.
"""
