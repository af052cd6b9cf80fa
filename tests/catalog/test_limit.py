"""Limits are read strictly: what is counted together, for how long, and what a call without a place is told."""

from typing import Any

import jsonschema
import pytest

from ledger.catalog import Contract, build_tool
from ledger.catalog.limit import RateLimit, read_limits
from ledger.errors import CatalogFault, ToolMisfit
from tests.catalog.test_contract import META

GOOD: list[dict[str, Any]] = [
    {"max": 100, "per": "hour"},
    {"max": 1, "per": "running", "scope": "tenant"},
    {"max": 1_000_000, "per": "minute", "scope": "principal", "code": "RATE_LIMITED"},
    {"max": 5, "per": "minute", "scope": "service", "service": "mail"},
]
WRONG: list[tuple[Any, str, str]] = [
    (100, "", "a limit is an object"),
    ({"max": 1}, "", 'a limit says its "per"'),
    ({"per": "hour"}, "", 'a limit says its "max"'),
    ({"max": 0, "per": "hour"}, "/max", "whole number"),
    ({"max": True, "per": "hour"}, "/max", "whole number"),
    ({"max": 1.5, "per": "hour"}, "/max", "whole number"),
    ({"max": 1_000_001, "per": "hour"}, "/max", "whole number"),
    ({"max": 1, "per": "day"}, "/per", 'one of "running"'),
    ({"max": 1, "per": ["hour"]}, "/per", 'one of "running"'),
    ({"max": 1, "per": "hour", "scope": "user"}, "/scope", 'one of "tool"'),
    ({"max": 1, "per": "hour", "scopes": "tool"}, "/scopes", 'did you mean "scope"?'),
    ({"max": 1, "per": "hour", "scope": "service"}, "", "goes with the scope"),
    ({"max": 1, "per": "hour", "service": "mail"}, "", "goes with the scope"),
    ({"max": 1, "per": "hour", "scope": "service", "service": ""}, "/service", "a text"),
    ({"max": 1, "per": "hour", "scope": "service", "service": "a\x1b[m"}, "/service", "a text"),
    ({"max": 1, "per": "hour", "code": None}, "/code", "a text"),
]


def meta_takes(limit: Any) -> bool:
    """Return whether the meta-schema takes a limit."""
    schema = {"$defs": META["$defs"], "$ref": "#/$defs/limit"}
    return bool(jsonschema.Draft202012Validator(schema).is_valid(limit))


@pytest.mark.parametrize("limit", GOOD)
def test_a_limit_comes_back_as_it_was_written(limit: dict[str, Any]) -> None:
    """A limit of a contract is read and written alike, and the meta-schema takes it."""
    contract = Contract.from_wire({"limits": [limit]})
    assert contract.to_wire()["limits"] == [{"scope": "tool"} | limit]
    assert Contract.from_options({"limits": contract.limits}) == contract
    assert meta_takes(limit)


@pytest.mark.parametrize(("limit", "pointer", "because"), WRONG)
def test_a_wrong_limit_is_named(limit: Any, pointer: str, because: str) -> None:
    """Each wrong word is a fault with its place."""
    with pytest.raises(CatalogFault) as fault:
        Contract.from_wire({"limits": [GOOD[0], limit]}, path="tool.json", pointer="/contract")
    assert fault.value.pointer == "/contract/limits/1" + pointer
    assert because in str(fault.value)
    assert not meta_takes(limit) or "printable" in str(fault.value)


def test_limits_are_a_short_list() -> None:
    """Limits are a list of at most 20."""
    for wrong in ({"max": 1, "per": "hour"}, "hour", None, [GOOD[0]] * 21):
        with pytest.raises(CatalogFault, match="a list of at most 20 limits"):
            Contract.from_wire({"limits": wrong})


def test_a_contract_without_limits_is_written_as_before() -> None:
    """No limits leave the contract's wire form, and so its digest, as they were before there were limits."""
    assert "limits" not in Contract().to_wire()
    assert Contract(limits=read_limits(GOOD)).digest != Contract().digest


def test_a_limit_reads_like_a_sentence() -> None:
    """People read a limit in words."""
    told = [str(limit) for limit in read_limits(GOOD)]
    assert told[:2] == ["100 each hour", "1 running for each tenant"]
    assert told[2:] == ["1000000 each minute for each principal", "5 each minute of mail"]


def test_limits_stand_in_one_place() -> None:
    """A function whose decorator says other limits than its catalog file is refused, both told in words."""

    def send(to: str) -> str:
        """Send."""
        return to

    tool = build_tool(send, limits=[GOOD[0]])
    assert tool.contract.limits == (RateLimit(max=100, per="hour"),)
    with pytest.raises(ToolMisfit, match=r'"1 running for each tenant".*says "100 each hour"'):
        build_tool(send, definition=tool.definition, limits=[GOOD[1]])
    assert build_tool(send, definition=tool.definition, limits=[GOOD[0]]).contract == tool.contract
