"""All that can be measured here, on what is here."""

from __future__ import annotations

from bench import relevance


def main() -> None:
    """Run the measurements that need no arguments."""
    relevance.main()


if __name__ == "__main__":
    main()
