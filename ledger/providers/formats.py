"""The wire formats there are, by name; each is loaded when it is asked for."""

from __future__ import annotations

from functools import cache
from typing import Final

from ledger.errors import UsageError
from ledger.providers.openai_chat import OpenAIChat
from ledger.providers.port import WireFormat

FORMATS: Final = ("anthropic", "bedrock", "gemini", "mistral", "openai", "responses")
"""Their names, as `format=` and `--format` take them."""


@cache
def get_format(name: str) -> WireFormat:
    """Return the wire format of this name; raises `UsageError` that names those there are."""
    match name:
        case "openai":
            return OpenAIChat()
        case "anthropic":
            from ledger.providers.anthropic import Anthropic

            return Anthropic()
        case "bedrock":
            from ledger.providers.bedrock import Bedrock

            return Bedrock()
        case "gemini":
            from ledger.providers.gemini import Gemini

            return Gemini()
        case "mistral":
            from ledger.providers.mistral import Mistral

            return Mistral()
        case "responses":
            from ledger.providers.responses import Responses

            return Responses()
        case _:
            raise UsageError(f"no wire format {name!r}.", hint=f"There is: {', '.join(FORMATS)}.")
