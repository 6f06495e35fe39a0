-- Disable DuckDB's progress bar.
set enable_progress_bar = false
