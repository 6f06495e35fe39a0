"""Operations of qmd, each declared once; the surfaces are derived from them.

In come typed arguments and the open index, out go typed results. Operations may use every room
below; no operation knows a surface. `qmd/declaration/operation.py` says how one is declared,
`parameters.py` there has the parameters that several share.
"""
