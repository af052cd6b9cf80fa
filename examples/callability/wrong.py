"""Wrong calls, made from a right one and the tool's schema: each says at which gate it has to stop."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ledger.catalog import ToolVersion

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Wrong:
    """A wrong call: what is wrong with it, its arguments (a text is sent as it is), and where it has to stop."""

    what: str
    arguments: Any
    gate: str = "schema"
    code: str = "schema_validation"


def wrong_calls(version: ToolVersion, right: Arguments) -> Iterator[Wrong]:
    """Yield everything that can be wrong with one field of a right call, and with its text as a whole."""
    fields = version.schema["properties"]
    yield Wrong("extra field", {**right, "is_authorized": True})
    yield Wrong("wrong case of a name", {next(iter(right)).upper(): "x", **right})
    yield Wrong("no object", json.dumps([right]), "decode", "not_an_object")
    yield Wrong("text in a text", json.dumps(json.dumps(right)), "decode", "not_an_object")
    yield Wrong("cut off", json.dumps(right)[:-1], "decode", "invalid_json")
    for name in version.schema["required"]:
        yield Wrong(f"missing {name}", {key: value for key, value in right.items() if key != name})
    for name, field in fields.items():
        twice = json.dumps({name: right[name]})[:-1] + "," + json.dumps(right)[1:]
        yield Wrong(f"twice {name}", twice, "decode", "duplicate_key")
        yield Wrong(f"NaN for {name}", {**right, name: float("nan")}, "decode", "nan_or_infinity")
        for what, value in _wrong_values(field, right[name]):
            yield Wrong(f"{what} for {name}", {**right, name: value})


def _wrong_values(field: Mapping[str, Any], right: Any) -> Iterator[tuple[str, Any]]:
    yield "null", None
    yield "a list", []
    if "enum" in field:
        yield "wrong case", field["enum"][0].upper()
        yield "no such choice", "none of these"
    elif field["type"] == "array":
        yield "a text", "x"
        yield "a wrong item", [7]
        yield "too many items", right * (field["maxItems"] + 1)
    elif field["type"] == "string":
        yield "over-long text", "x" * (field["maxLength"] + 1)
        yield "a number", 7
        if field.get("minLength", 0) > 0:
            yield "empty text", ""
    else:
        yield "a text", "7"
        yield "a boolean", True
        yield "too large", field["maximum"] + 1
        yield "too small", field["minimum"] - 1
        if field["type"] == "integer":
            yield "a fraction", field["minimum"] + 0.5
