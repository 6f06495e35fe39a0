-- Disable DuckDB's progress bar.
--
-- in   $drawn  text  false; a value, so that DuckDB looks up the classes of values: storage/stand_ins.py
set enable_progress_bar = $drawn
