-- Look names up among the views, not in the index.
use memory
