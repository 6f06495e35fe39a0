"""Version of qmd. It imports nothing, so that every module may import it."""

__version__ = "0.1.0"
