"""How long to wait before the next attempt: exponential with full jitter, within the deadline."""

from __future__ import annotations

FIRST_SECONDS = 0.5
LONGEST_SECONDS = 30.0
LONGEST_WAIT = 60.0
"""A service that asks for more ends the call: whoever asked is told when to try again."""


def backoff(attempt: int, jitter: float, retry_after: float | None = None) -> float:
    """
    Return seconds to wait after a failed attempt (from 1); `jitter` is between 0 and 1 and given by the caller.

    A service's own `retry_after` is the least that is waited. Full jitter after the AWS Architecture Blog,
    "Exponential Backoff And Jitter".
    """
    longest = min(LONGEST_SECONDS, FIRST_SECONDS * 2.0 ** (attempt - 1))
    return max(longest * jitter, retry_after or 0.0)
