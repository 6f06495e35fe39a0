"""Inputs nobody thought of: see `bench.fuzz.__main__`."""
