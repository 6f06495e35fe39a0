"""anyio pipelines: who waits for whom."""
