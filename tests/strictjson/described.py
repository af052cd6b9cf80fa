"""Python values as tests/suite/json_border.json describes them."""

import base64
import json
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from ledger.strictjson import Limits

SUITE = json.loads((Path(__file__).parents[1] / "suite" / "json_border.json").read_text("utf-8"))


def cases(part: str) -> dict[str, Any]:
    """Return the cases of one part by name."""
    return {case["name"]: case for case in SUITE[part]}


def limits(case: dict[str, Any], default: Limits) -> Limits:
    """Return the limits a case is about."""
    given = case.get("limits")
    if not given:
        return default
    names = {"maxBytes": "max_bytes", "maxDepth": "max_depth", "maxDigits": "max_digits", "maxItems": "max_items"}
    return Limits(**{names[key]: number for key, number in given.items()})


def text_of(case: dict[str, Any]) -> str | bytes:
    """Return the text or bytes of a decode case."""
    if "base64" in case:
        return base64.b64decode(case["base64"])
    if "codePoints" in case:
        return "".join(map(chr, case["codePoints"]))
    if "repeat" in case:
        run = case["repeat"]
        return str(run.get("before", "") + run["text"] * run["times"] + run.get("after", ""))
    return str(case["text"])


def nested(levels: int, innermost: Any = None) -> Any:
    """Return so many arrays in each other; the last one is empty, or holds `innermost`."""
    value = [] if innermost is None else [innermost]
    for _ in range(levels - 1):
        value = [value]
    return value


def piece(text: str) -> str:
    """Return the code point that an escape names, or the text itself."""
    escape, digits = text[:2], text[2:]
    return chr(int(digits, base=16)) if escape == "\\u" else text


def cycle(_: Any) -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


MAKERS: dict[str, Callable[[Any], Any]] = {
    "$bytes": base64.b64decode,
    "$cycle": cycle,
    "$date": date.fromisoformat,
    "$datetime": datetime.fromisoformat,
    "$decimal": Decimal,
    "$dict": lambda pairs: {build(key): build(item) for key, item in pairs},
    "$float": float,
    "$frozenset": lambda items: frozenset(map(build, items)),
    "$microseconds": lambda number: timedelta(microseconds=number),
    "$nested": nested,
    "$nestedText": lambda given: nested(*given),
    "$power10": lambda power: 10**power,
    "$power10hex": lambda power: hex(10**power),
    "$set": lambda items: set(map(build, items)),
    "$text": lambda pieces: "".join(map(piece, pieces)),
    "$time": time.fromisoformat,
    "$tuple": lambda items: tuple(map(build, items)),
    "$uuid": UUID,
}


def build(value: Any) -> Any:
    """Return the value that is described."""
    if isinstance(value, list):
        return [build(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and (key := next(iter(value))) in MAKERS:
        return MAKERS[key](value[key])
    return {key: build(item) for key, item in value.items()}


def same(left: Any, right: Any) -> bool:
    """Tell whether two values are equal with all their types: 1 is not 1.0 nor True, NaN is itself, 0.0 is not -0.0."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return len(left) == len(right) and all(
            same(a, b) for a, b in zip(typed_pairs(left), typed_pairs(right), strict=True)
        )
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, set | frozenset):
        return same(sorted(map(typed, left)), sorted(map(typed, right)))
    return typed(left) == typed(right)


def typed(value: Any) -> str:
    """Return a text that tells apart what `==` does not."""
    if isinstance(value, frozenset | tuple):
        parts = [typed(item) for item in value]
        return f"{type(value).__name__}:{sorted(parts) if isinstance(value, frozenset) else parts}"
    if type(value) is int:
        return f"int:{value:x}"  # decimal has a limit of digits
    return f"{type(value).__name__}:{value!r}"


def typed_pairs(value: dict[Any, Any]) -> list[tuple[str, Any]]:
    return sorted(((typed(key), item) for key, item in value.items()), key=lambda pair: pair[0])
