-- Look names up in the index.
use qmd_index
