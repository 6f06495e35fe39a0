-- Draw no bar of how far a statement is.
set enable_progress_bar = false
