"""Mistral's format: OpenAI's Chat messages, with ids of exactly nine letters and digits."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from ledger.providers.names import IdRule
from ledger.providers.openai_chat import OpenAIChat
from ledger.providers.port import Reply

IDS: Final = IdRule(re.compile(r"[a-zA-Z0-9]{9}"), "", length=9)
"""Anything else is refused: `Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9`."""


class Mistral(OpenAIChat):
    """The wire format `mistral`; see `WireFormat` for what the methods promise."""

    name = "mistral"
    ids = IDS

    def parse(self, reply: object) -> Reply:
        """Read a ChatCompletionResponse, a choice, an assistant message, or the chunks of a stream."""
        return replace(super().parse(reply), provider=self.name)
