"""DuckDB: the file, its processes, its statements."""
