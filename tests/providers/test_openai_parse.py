"""Replies in the OpenAI Chat format, as they come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from ledger.errors import UsageError
from ledger.providers import Reply, get_format
from ledger.strictjson import canonical

CASES = json.loads(Path("tests/suite/openai_chat.json").read_text(encoding="utf-8"))
READ = [case for case in CASES if "read" in case]
REFUSED = [case for case in CASES if "refused" in case]
WIRE = get_format("openai")


class Sdk(BaseModel):
    """An object like those of SDKs: fields of any name, and a `model_dump`."""

    model_config = ConfigDict(extra="allow")


class Older:
    """An object whose `model_dump` takes no options."""

    def __init__(self, dumped: Any) -> None:
        self.dumped = dumped

    def model_dump(self) -> Any:
        return self.dumped


def sdk(value: Any) -> Any:
    """Return the value with every object in it as an SDK's object, as attributes hold them."""
    if isinstance(value, dict):
        return Sdk(**value)
    return [sdk(item) for item in value] if isinstance(value, list) else value


def check_reply(reply: Reply, wanted: dict[str, Any]) -> None:
    """Assert what was read; of calls: name, raw text, arguments, id."""
    calls = [[c.name, c.raw, c.arguments, c.provider_call_id] for c in reply.calls]
    found = {name: getattr(reply, name) for name in wanted} | {"calls": calls}
    assert found == wanted
    assert reply.provider == "openai"
    canonical([reply.items, reply.usage, reply.tool_choice])


@pytest.mark.parametrize("form", [dict, sdk, Older], ids=["dict", "pydantic object", "other object"])
@pytest.mark.parametrize("case", READ, ids=lambda case: case["name"])
def test_a_reply_is_read_as_it_came(case: dict[str, Any], form: Any) -> None:
    """SDK objects and dicts of a completion, a choice or a message are read alike."""
    check_reply(WIRE.parse(form(case["reply"])), case["read"])


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["name"])
def test_what_is_no_reply_is_refused_by_name(case: dict[str, Any]) -> None:
    """The error says what was given and what is taken."""
    with pytest.raises(UsageError) as caught:
        WIRE.parse(case["reply"])
    assert case["refused"] in str(caught.value)
    assert "Give the ChatCompletion" in str(caught.value)


@pytest.mark.parametrize("given", [Sdk, Older([1]), object()], ids=["a class", "dumps no object", "no dump"])
def test_an_object_that_dumps_no_object_is_no_reply(given: object) -> None:
    """Neither a class nor an object without a usable `model_dump` is read."""
    with pytest.raises(UsageError, match="this is no reply"):
        WIRE.parse(given)


def test_what_json_cannot_hold_is_kept_as_text() -> None:
    """Whatever an SDK adds to a reply, it can be recorded: odd values and deep ones become text."""
    deep: Any = "x"
    for _ in range(100):
        deep = [deep]
    odd = {"deep": deep, "set": {1}, "nan": float("nan"), "half": 0.5, 5: (1, None)}
    reply = WIRE.parse({"role": "assistant", "content": "Hi", "odd": odd})
    kept = reply.items["message"]["odd"]
    assert (kept["set"], kept["nan"], kept["half"], kept["5"]) == ("{1}", "nan", 0.5, [1, None])
    assert canonical(reply.items)


def test_the_raw_text_is_the_same_object_byte_for_byte() -> None:
    """White space, key order and escapes of the arguments stay as the model wrote them."""
    raw = '{"b" : 1,\n "a":"\\u00e9é", "id":2512292042121000001, "f": 1.0}'
    (call,) = WIRE.parse({"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": raw}}]}).calls
    assert call.raw == raw
