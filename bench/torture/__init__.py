"""All that can happen to an index: see `bench.torture.__main__`."""
