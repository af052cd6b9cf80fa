"""What a host asked of its model's choice of tools, in any provider's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_HELD_BY: Final = ("type", "mode", "toolConfig", "tool_config", "functionCallingConfig", "function_calling_config")


def forbids_calls(choice: object) -> bool:
    """
    Whether the model was told to make no call at all.

    OpenAI and Mistral say `none`, Anthropic `{"type": "none"}`, Gemini
    `{"functionCallingConfig": {"mode": "NONE"}}`, also inside of its `toolConfig`. A wish for a tool whose name is
    `none` is none of these.
    """
    while isinstance(choice, Mapping):
        choice = next((choice[key] for key in _HELD_BY if key in choice), None)
    return isinstance(choice, str) and choice.casefold() == "none"
