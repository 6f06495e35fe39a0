-- End the copy of an index; this writes it.
detach qmd_index;
detach old_index;
