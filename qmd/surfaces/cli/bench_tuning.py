"""Report of `qmd bench --tune`, for people and for programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from qmd.surfaces import formats
from qmd.surfaces.cli.bench_report import amount_of_queries

if TYPE_CHECKING:
    from qmd.evaluation.tuning import Tuned


def settings_of(tuned: Tuned) -> str:
    """Lines of index.yml that set the share."""
    return f"ranking:\n  keywords: {tuned.best:g}"


def tuning_report(tuned: Tuned, name: str, config: Path) -> str:
    """Table of all shares, and what is proposed."""
    from qmd.evaluation.tuning import FEWEST, FOLDS

    rows = [["keywords", "meaning", "nDCG@10", ""]]
    for share, mean in tuned.means.items():
        notes = ["in use"] * (share == tuned.now) + ["best"] * (share == tuned.best)
        rows.append([f"{share:g}", f"{1 - share:g}", f"{mean:.3f}", ", ".join(notes)])
    lines = [
        f"{name}: {amount_of_queries(tuned.queries)}",
        "",
        formats.table(rows, right=frozenset({0, 1, 2})),
        f"Before {tuned.before:.3f}, after {tuned.after:.3f} (p = {tuned.p:.3f}): each fifth of "
        f"the queries with the share that is best for the other {FOLDS - 1}.",
    ]
    if tuned.is_proposed:
        lines.append(
            f"Nothing was changed. To use it, write into {config}:\n\n{settings_of(tuned)}"
        )
    elif tuned.queries < FEWEST:
        lines.append(f"Nothing is proposed: that takes {FEWEST} queries or more.")
    else:
        lines.append("Nothing is proposed: no share is better by more than chance.")
    return "\n".join(lines)


def tuning_json(tuned: Tuned, name: str) -> dict[str, object]:
    """All figures."""
    return {
        "fixture": name,
        "queries": tuned.queries,
        "inUse": tuned.now,
        "best": tuned.best,
        "shares": [{"keywords": share, "nDCG@10": mean} for share, mean in tuned.means.items()],
        "before": tuned.before,
        "after": tuned.after,
        "p": tuned.p,
        "proposed": {"ranking": {"keywords": tuned.best}} if tuned.is_proposed else None,
    }
