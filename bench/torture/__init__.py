"""Torture tests of an index: see `bench.torture.__main__`."""
