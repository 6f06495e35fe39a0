"""Estimate of the tokens that a language model reads a text as.

Models count differently, and their tokenizers are megabytes. A token is taken as four bytes of
UTF-8, which is what English prose comes to; code and other scripts take some more.
Source: OpenAI, "What are tokens and how to count them?": four characters of English a token.
"""

from __future__ import annotations

TOKEN_BYTES = 4


def estimated_tokens(text: str) -> int:
    """Estimate the tokens of a text, rounded up."""
    return -(-len(text.encode(errors="replace")) // TOKEN_BYTES)


def cut_to_tokens(text: str, most: int) -> str:
    """Return the beginning of a text that has at most so many tokens."""
    return text.encode(errors="replace")[: max(0, most) * TOKEN_BYTES].decode(errors="ignore")
