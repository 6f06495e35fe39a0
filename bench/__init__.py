"""Measurements: each module prints its figures; `python -m bench` runs all that can run here."""
