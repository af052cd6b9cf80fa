"""The contract is what the author promises: cautious by default, one spelling on the wire, every wrong word named."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from ledger.catalog import Contract
from ledger.catalog.limit import RateLimit
from ledger.errors import CatalogFault

META = json.loads((Path(__file__).parents[2] / "schemas/meta/tool.schema.json").read_text(encoding="utf-8"))


def test_an_author_who_says_nothing_gets_the_cautious_contract() -> None:
    """Undeclared is external, unknown resources, review, exceptions that prove nothing."""
    contract = Contract()
    assert contract == Contract.from_wire({})
    assert (contract.effect, contract.recovery, contract.exceptions) == ("external", "review", "unknown")
    assert contract.resource_keys is None
    assert contract.side_effecting
    assert not Contract(effect="read").side_effecting


def test_the_wire_form_comes_back() -> None:
    """Every word goes to camelCase and back, and the digest is that of the wire form."""
    contract = Contract(
        effect="write",
        resource_keys=("workspace", "/path"),
        supports_idempotency=True,
        cancellable=False,
        recovery="retry",
        timeout_seconds=0.5,
        max_result_bytes=1,
        scopes=("mail",),
        exceptions="no-effect",
        apply_defaults=True,
        introduced_at="2026-01-01",
        deprecated_at="2026-06-01",
        replacement="other",
        limits=(RateLimit(max=100, per="hour"),),
    )
    wire = contract.to_wire()
    assert Contract.from_wire(wire) == contract
    assert wire["resourceKeys"] == ["workspace", "/path"]
    assert contract.digest == Contract.from_wire(wire).digest != Contract().digest
    assert Contract.from_options({"effect": "write", "resource_keys": ["a"]}).resource_keys == ("a",)


def test_the_meta_schema_knows_the_same_words() -> None:
    """The meta-schema that completes `tool.json` in an editor lists just the contract's words, with their defaults."""
    described = META["$defs"]["contract"]["properties"]
    assert described.keys() == Contract().to_wire().keys() | {"limits"}
    assert len(described) == len(fields(Contract))
    for name, value in Contract().to_wire().items():
        assert described[name].get("default", value) == value


@pytest.mark.parametrize(
    ("document", "pointer", "because"),
    [
        ([], "", "is an object"),
        ({"efect": "read"}, "/efect", 'did you mean "effect"?'),
        ({"resource_keys": []}, "/resource_keys", 'did you mean "resourceKeys"?'),
        ({"effect": "delete"}, "/effect", 'one of "read", "write", "external", not "delete"'),
        ({"effect": None}, "/effect", "one of"),
        ({"recovery": "always"}, "/recovery", "one of"),
        ({"exceptions": "none"}, "/exceptions", "one of"),
        ({"cancellable": 1}, "/cancellable", "true or false"),
        ({"timeoutSeconds": 0}, "/timeoutSeconds", "above 0"),
        ({"timeoutSeconds": True}, "/timeoutSeconds", "above 0"),
        ({"timeoutSeconds": float("inf")}, "/timeoutSeconds", "above 0"),
        ({"timeoutSeconds": 10**400}, "/timeoutSeconds", "above 0"),
        ({"timeoutSeconds": "5"}, "/timeoutSeconds", "above 0"),
        ({"maxResultBytes": 0}, "/maxResultBytes", "whole number"),
        ({"maxResultBytes": True}, "/maxResultBytes", "whole number"),
        ({"maxResultBytes": 1.0}, "/maxResultBytes", "whole number"),
        ({"scopes": "mail"}, "/scopes", "list of texts"),
        ({"scopes": [""]}, "/scopes", "list of texts"),
        ({"scopes": None}, "/scopes", "list of texts"),
        ({"scopes": ["x"] * 101}, "/scopes", "list of texts"),
        ({"resourceKeys": [1]}, "/resourceKeys", "templates"),
        ({"resourceKeys": ["file:{path"]}, "/resourceKeys", "stray brace"),
        ({"replacement": ""}, "/replacement", "a text"),
        ({"introducedAt": "x" * 1001}, "/introducedAt", "a text"),
    ],
)
def test_a_wrong_word_is_named(document: Any, pointer: str, because: str) -> None:
    """Whatever is unknown, of another type or out of bounds is a fault with its file and pointer."""
    with pytest.raises(CatalogFault) as fault:
        Contract.from_wire(document, path="tool.json", pointer="/versions/1/contract")
    assert fault.value.pointer == "/versions/1/contract" + pointer
    assert fault.value.path == "tool.json"
    assert because in str(fault.value)


def test_a_wrong_option_of_a_decorator_names_the_function() -> None:
    """The same words in snake_case, the same checks; null is fine where it means: no limit, unknown."""
    with pytest.raises(CatalogFault, match=r"send.*effect"):
        Contract.from_options({"efect": "read"}, path="send (a.py:3)")
    assert Contract.from_options({"timeout_seconds": None, "resource_keys": None}) == Contract()
