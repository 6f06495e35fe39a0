"""Pure functions over text: no files, no database."""
