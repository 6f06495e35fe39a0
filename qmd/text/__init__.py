"""Pure functions over text: no files, no database.

Text comes in, values go out.
May import: the ground floor and `errors`.
"""
