-- Resolve names among the views, not in the index.
use memory
