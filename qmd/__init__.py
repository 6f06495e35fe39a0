"""qmd: on-device search for everything you have written down."""

__version__ = "0.1.0"
