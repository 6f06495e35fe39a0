-- Detach the index. After a write this is its checkpoint.
detach qmd_index
