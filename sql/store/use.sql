-- Resolve names in the index.
use qmd_index
