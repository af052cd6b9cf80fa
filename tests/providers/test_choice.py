"""A wish for no call is understood in every provider's words."""

from enum import StrEnum
from typing import Any

import pytest

from ledger.providers.choice import forbids_calls


class Mode(StrEnum):
    """As an SDK spells it."""

    NONE = "NONE"


NONE: list[Any] = [
    "none",
    {"type": "none"},
    {"mode": "NONE"},
    {"functionCallingConfig": {"mode": "NONE"}},
    {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}},
    {"function_calling_config": {"mode": Mode.NONE}},
]
OTHERS: list[Any] = [
    None,
    "",
    "auto",
    "required",
    "any",
    0,
    [],
    {},
    {"type": "auto", "disable_parallel_tool_use": True},
    {"type": "function", "function": {"name": "none"}},
    {"type": "tool", "name": "none"},
    {"tool": {"name": "none"}},
    {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["none"]}},
]


@pytest.mark.parametrize("choice", NONE, ids=str)
def test_no_call_is_wished_for(choice: Any) -> None:
    """Each provider's spelling of `none` forbids calls."""
    assert forbids_calls(choice)


@pytest.mark.parametrize("choice", OTHERS, ids=str)
def test_a_call_may_be_made(choice: Any) -> None:
    """No wish, every other wish, and a tool that is named `none` forbid nothing."""
    assert not forbids_calls(choice)
