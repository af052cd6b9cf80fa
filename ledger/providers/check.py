"""Whether a conversation would be accepted: the rules that providers refuse whole sessions for, checked offline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from ledger.errors import UsageError
from ledger.providers.check_anthropic import check_anthropic
from ledger.providers.check_bedrock import check_bedrock
from ledger.providers.check_gemini import check_gemini
from ledger.providers.check_openai import check_mistral, check_openai
from ledger.providers.check_responses import check_responses
from ledger.providers.problems import Problem

__all__ = ["Problem", "check", "check_openai"]

_Check: TypeAlias = Callable[[Sequence[Any]], list[Problem]]

CHECKS: Final[dict[str, _Check]] = {
    "anthropic": check_anthropic,
    "bedrock": check_bedrock,
    "gemini": check_gemini,
    "mistral": check_mistral,
    "openai": check_openai,
    "responses": check_responses,
}
"""The check of each wire format, by its name."""

_LISTS: Final = ("messages", "contents", "input")


def check(format: str, messages: Sequence[Any] | Mapping[str, Any]) -> list[Problem]:
    """
    Return what the provider of a wire format would refuse in a conversation; empty: nothing.

    `messages` is the list, or the body of a request that holds it. Raises `UsageError` for a format without a check.
    """
    try:
        checked = CHECKS[format]
    except KeyError:
        raise UsageError(f"no check for the format {format!r}.", hint=f"There is: {', '.join(CHECKS)}.") from None
    if not isinstance(messages, Mapping):
        return checked(messages)
    listed = next((messages[key] for key in _LISTS if isinstance(messages.get(key), list)), None)
    return [Problem(0, "message", "the body holds no list of messages")] if listed is None else checked(listed)
