"""DuckDB file: locks, connection, statements, catalog, migrations, maintenance.

The name of a statement and parameters come in, rows go out.
May import: the ground floor, `errors` and `text`.
"""
