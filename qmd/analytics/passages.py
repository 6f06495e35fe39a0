"""Passages for a question, as rows and as a text within a budget of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from qmd.analytics.rows import Rows
from qmd.ranking import excerpts
from qmd.ranking.excerpts import Excerpt
from qmd.text.tokens import estimated_tokens
from qmd.wording import MOST_OF_VALUE, shortened


class Excerpts(Rows[Excerpt]):
    """Passages for a question, document by document, the best first.

    Attributes:
        notice: something to know about them, such as that documents lack vectors; or None.
        left_out: further passages that found no room, the best first.
    """

    def __init__(
        self,
        question: str,
        found: Iterable[Excerpt],
        left_out: Sequence[Excerpt] = (),
        notice: str | None = None,
        *,
        most: int | None = None,
    ) -> None:
        super().__init__(Excerpt, found)
        self.left_out = tuple(left_out)
        self.notice = notice
        self._question = question
        self._most = most

    @property
    def text(self) -> str:
        """All of it but the notice, as models read it, within the budget."""
        return self.told()

    def told(self, budget: str = "maxTokens") -> str:
        """Write the passages, and the places of those that are left out.

        Args:
            budget: name of the option that makes the answer longer.
        """
        if not self and not self.left_out:
            return f'No results found for "{shortened(self._question, MOST_OF_VALUE)}"'
        parts, context = [], None
        for number, each in enumerate(self, 1):
            if each.context and each.context != context:
                parts.append(f"Context: {' '.join(each.context.split())}")
            context = each.context
            parts.append(each.told(number))
        if self.left_out:
            room = None if self._most is None else self._most - estimated_tokens("\n".join(parts))
            parts.append(_remainder(self.left_out, budget, room))
        return "\n".join(parts)


def _remainder(left_out: Sequence[Excerpt], budget: str, room: int | None) -> str:
    """Name the passages that found no room, as many as there is room for, and how to get them."""
    for count in range(min(excerpts.NAMED, len(left_out)), 0, -1):
        named = list(excerpts.places_of(left_out[:count]))
        rest = len(left_out) - len(named)
        more = f" and {rest} more" if rest else ""
        told = f"[Left out: {', '.join(named)}{more}; raise {budget}, or get one of them]"
        if room is None or estimated_tokens(told) < room:
            return told
    return f"[{len(left_out)} left out; raise {budget}]"
