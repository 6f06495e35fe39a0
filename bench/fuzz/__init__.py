"""Fuzzing: see `bench.fuzz.__main__`."""
