"""The published shape of every event: JSON Schemas made from the classes themselves."""

from __future__ import annotations

import inspect
import json
import re
import sys
from pathlib import Path
from typing import Final

from ledger.events.fields import Field, fields_of
from ledger.events.meanings import BODY
from ledger.events.meanings import ENVELOPE as MEANINGS
from ledger.events.names import BODIES
from ledger.events.session_bodies import JsonObject
from ledger.events.wire import ENVELOPE, FORMATS

FOLDER: Final = Path("schemas/events")

_JSON_TYPES: Final[dict[type, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    dict: "object",
    list: "array",
}
_LIMITS: Final[dict[str, JsonObject]] = {
    "attempt": {"minimum": 1},
    "eventId": {"format": "uuid"},
    "index": {"minimum": 0},
    "recordedAt": {"pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}Z$"},
    "revision": {"minimum": 0},
    "schemaVersion": {"minimum": 1},
    "sequence": {"minimum": 1},
    "sessionId": {"minLength": 1},
    "turn": {"minimum": 1},
}
_CALL_NEEDS: Final = ("callId", "index", "revision", "tool", "turn")


def schema_of(name: str) -> JsonObject:
    """
    Return the JSON Schema (2020-12) of an event as it is recorded and exported.

    More keys than these may come without another format: readers pass over what they do not know. `position` and
    `digest` stand beside a record, not in it.
    """
    body = BODIES[name]
    form = FORMATS.get(name, 1)
    envelope = {key: _member(key, _JSON_TYPES[kind]) for key, (_, kind) in ENVELOPE.items()}
    fixed: dict[str, JsonObject] = {"type": {"const": name}, "format": {"const": form}, "body": _object(body)}
    properties = envelope | {key: {"description": MEANINGS[key]} | value for key, value in fixed.items()}
    needs = {"sessionId", "eventId", "recordedAt", "sequence", "format", "type", "body"}
    if name.startswith("call."):
        needs |= {*_CALL_NEEDS}
    if name.startswith("tool."):
        needs |= {"tool"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:toolcall-ledger:event:{name}:{form}",
        "title": name,
        "description": _text(body),
        "type": "object",
        "required": sorted(needs),
        "properties": dict(sorted(properties.items())),
    }


def _member(key: str, kind: str) -> JsonObject:
    return {"description": MEANINGS[key], "type": kind} | _LIMITS.get(key, {})


def _object(body: type) -> JsonObject:
    fields = fields_of(body)
    return {
        "type": "object",
        "required": sorted(field.key for field in fields if field.required),
        "properties": {field.key: _property(field) for field in fields},
    }


def _property(field: Field) -> JsonObject:
    found: JsonObject = {"description": BODY[field.key]} if field.key in BODY else {}
    if field.kinds:
        # Both spellings of a type on the wire: (float, int) is a number, (list, tuple) an array.
        kind = _JSON_TYPES[field.kinds[0]]
        found["type"] = [kind, "null"] if field.nullable else kind
    if field.choices:
        found["enum"] = [*sorted(field.choices), *([None] if field.nullable else [])]
    if field.items is not None:
        found["items"] = {"type": _JSON_TYPES[field.items]}
    if not field.required and field.default is not None:
        found["default"] = list(field.default) if isinstance(field.default, tuple) else field.default
    return found


def _text(body: type) -> str:
    """Return the class's own words, its fields by their names on the wire."""
    keys = {field.name: field.key for field in fields_of(body)}
    text = " ".join((inspect.getdoc(body) or "").split())
    return re.sub("`(\\w+)`", lambda found: f"`{keys.get(found[1], found[1])}`", text)


def files() -> dict[str, str]:
    """Return the content of each file of `schemas/events/` by its name."""
    return {f"{name}.schema.json": json.dumps(schema_of(name), indent=2, ensure_ascii=False) + "\n" for name in BODIES}


def main(folder: Path = FOLDER) -> None:
    """Write the files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":  # pragma: no cover - `make docs`
    main(*map(Path, sys.argv[1:]))
