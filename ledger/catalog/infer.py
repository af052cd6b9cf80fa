"""
Drafts a schema from recorded arguments: what was there, and nothing that was not.

Types, fields that were always there, values that come again and again. No bound, pattern or format is guessed, and
the objects stay open: a person closes them, who knows which fields there are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from ledger.catalog.explain import TYPE_NAMES
from ledger.strictjson import Json, JsonObject

MAX_ENUM: Final = 8
MIN_SESSIONS: Final = 3
"""A value of an enum was sent in so many sessions: one session repeats itself."""
MIN_SHARE: Final = 10
"""So many times as often as it has values a field was sent, before they pass for an enum."""
MAX_FIELDS: Final = 200
"""An object with more fields is a map: its keys are data."""

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z _./+-]{0,60}")
"""What may be a value of an enum. Texts with digits are ids mostly, and ids repeat as well."""
_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"


@dataclass(slots=True)
class _Texts:
    """The texts of one place, until they are too many to be an enum."""

    sessions: dict[str, set[str]] = field(default_factory=dict)
    many: bool = False

    def add(self, text: str, session: str) -> None:
        if self.many:
            return
        found = self.sessions.setdefault(text, set())
        if len(found) < MIN_SESSIONS:
            found.add(session)
        self.many = len(self.sessions) > MAX_ENUM or not _NAME.fullmatch(text)
        if self.many:
            self.sessions.clear()

    def enum(self, times: int) -> list[str] | None:
        """Return the values, if they are few and each was sent in several sessions."""
        few = not self.many and len(self.sessions) > 1 and times >= MIN_SHARE * len(self.sessions)
        repeated = all(len(found) >= MIN_SESSIONS for found in self.sessions.values())
        return sorted(self.sessions) if few and repeated else None


@dataclass(slots=True)
class _Place:
    """All that was seen at one place of the arguments."""

    times: int = 0
    types: dict[str, int] = field(default_factory=dict)
    texts: _Texts = field(default_factory=_Texts)
    fields: dict[str, _Place] = field(default_factory=dict)
    others: _Place | None = None
    items: _Place | None = None

    def add(self, value: Json, session: str, hidden: Json) -> None:
        self.times += 1
        if value == hidden and hidden is not None:
            return
        kind = TYPE_NAMES.get(type(value), "null")
        self.types[kind] = self.types.get(kind, 0) + 1
        if isinstance(value, str):
            self.texts.add(value, session)
        elif isinstance(value, list):
            for item in value:
                self.items = self.items or _Place()
                self.items.add(item, session, hidden)
        elif isinstance(value, dict):
            for key, each in value.items():
                self._below(key).add(each, session, hidden)

    def _below(self, key: str) -> _Place:
        if key not in self.fields and len(self.fields) >= MAX_FIELDS:
            self.others = self.others or _Place()
            return self.others
        return self.fields.setdefault(key, _Place())

    def schema(self) -> JsonObject:
        """Return what was seen as a schema; nothing known is the schema that says nothing."""
        names = sorted(self.types.keys() - ({"integer"} if "number" in self.types else set()))
        if not names:
            return {}
        result: JsonObject = {"type": names[0] if len(names) == 1 else names}
        enum = self.texts.enum(self.types.get("string", 0))
        if names == ["string"] and enum is not None:
            result["enum"] = enum
        if self.items is not None:
            result["items"] = self.items.schema()
        if self.fields and self.others is None:
            result["properties"] = {name: place.schema() for name, place in self.fields.items()}
            always = [name for name, place in self.fields.items() if place.times == self.types["object"]]
            result |= {"required": always} if always else {}
        return result


class Inference:
    """Takes recorded arguments one by one, in memory that does not grow with them, and drafts their schema."""

    def __init__(self) -> None:
        self._root = _Place()

    @property
    def calls(self) -> int:
        """How many calls it was given."""
        return self._root.times

    def add(self, arguments: JsonObject, *, session: str = "", hidden: Json = None) -> None:
        """Take the arguments of one call; *hidden* is what stands for a masked value: nothing is known of that."""
        self._root.add(arguments, session, hidden)

    def schema(self) -> JsonObject:
        """Return the draft, with its dialect."""
        return {"$schema": _DRAFT, "type": "object", **self._root.schema()}
