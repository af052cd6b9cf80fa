"""Finds the texts of secrets wherever they come again, and leaves the ledger's own words alone."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias, TypeVar
from urllib.parse import quote, quote_plus

from ledger.session.redaction import MASK, texts_of
from ledger.strictjson import printable

T = TypeVar("T")

SHORTEST: Final = 4
"""Shorter secrets are masked at their place only: replacing them everywhere would hide ordinary text."""
LONG: Final = 8
"""Shorter ones (PINs, common words) are found only as words of their own: 1234 is no part of the account 12345678."""

FOREIGN: Final = frozenset(
    {
        "encodings",
        "evidence",
        "items",
        "message",
        "note",
        "requires_user_action",
        "resource_keys",
        "result",
        "source",
        "structured",
        "text",
        "violations",
    }
)
"""
Fields of events that hold what a model, a tool, a person or the host's code said; all others are the ledger's own:
names, codes, ids, numbers, digests, which it reads again. A call's arguments are masked where it is taken in, or not
at all: what runs later is what is recorded of them.
"""
CODES: Final = frozenset({"code", "exception", "rule"})
"""Fields with the host's own codes and names beside the ledger's, which are plain words."""
_OURS: Final = re.compile(r"[a-z_]+")
_MARKS: Final = ("encodings", "violations")
"""Lists of the ledger's own objects: of those, only the place and the words may quote, and a host's code."""
_WIRE: Final = frozenset(
    {"call_id", "encrypted_content", "role", "signature", "thoughtSignature", "tool_call_id", "tool_use_id", "type"}
)
"""Keys whose texts a provider reads as words of its format, or checks a signature by."""
_WIRE_KEYS: Final = _WIRE | {"call", "content", "functionCall", "message", "output", "parts", "text", "thinking"}
_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ESCAPES: Final = r"(?<=\\[a-zA-Z])|(?<=\\x[0-9a-fA-F]{2})|(?<=\\u[0-9a-fA-F]{4})|(?<=%[0-9a-fA-F]{2})"
_BEGINS: Final = rf"(?:(?<![^\W_])|{_ESCAPES})"
_ENDS: Final = r"(?![^\W_])"

Needle: TypeAlias = tuple[str, re.Pattern[str] | None]


@dataclass(frozen=True, slots=True)
class Scrubber:
    """Masks secrets in anything; `needles` are their spellings, the longest first, with how short ones are found."""

    needles: tuple[Needle, ...] = ()
    numbers: frozenset[str] = frozenset()

    def scrub(self, value: Any, *, keys: bool = True, wire: bool = False) -> Any:
        """
        Return the value with every secret masked in its texts, numbers and keys; the value itself where there is none.

        `keys`: whether the value's keys may be a tool's; those of the ledger's own objects are no secret. `wire`: it is
        a provider's object, whose format has words of its own.
        """
        return self._scrub(value, keys=keys, wire=wire) if self.needles else value

    def body(self, body: T) -> T:
        """Return an event's body with every secret masked in what others said in it."""
        if not self.needles:
            return body
        fields = (field.name for field in dataclasses.fields(body) if field.name in FOREIGN | CODES)  # type: ignore[arg-type]  # every body is a dataclass
        found = {name: (value, self._field(name, value)) for name in fields if (value := getattr(body, name))}
        changes = {name: after for name, (before, after) in found.items() if after is not before}
        return dataclasses.replace(body, **changes) if changes else body  # type: ignore[type-var]  # the same

    def _field(self, name: str, value: Any) -> Any:
        if name in CODES:
            return self._code(value)
        if name in _MARKS:
            return tuple(self._mark(each) for each in value)
        if name == "structured":
            return value | {"violations": [self._mark(each) for each in value.get("violations", ())]}
        return self._scrub(value, keys=True, wire=name in ("items", "message"))

    def _mark(self, mark: Any) -> Any:
        masks: dict[str, Callable[[str], str]] = {"keyword": self._code, "message": self._text, "pointer": self._text}
        return {key: masks[key](item) if key in masks else item for key, item in mark.items()}

    def _code(self, code: str) -> str:
        """Mask a host's code; a word that may be the ledger's own is read again, so no short secret is seen in it."""
        plain = _OURS.fullmatch(code)
        return self._text(code, [each for each in self.needles if each[1] is None] if plain else self.needles)

    def _scrub(self, value: Any, *, keys: bool, wire: bool) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list | tuple):
            items = [self._scrub(item, keys=keys, wire=wire) for item in value]
            return type(value)(items) if _changed(items, value) else value
        if isinstance(value, dict):
            return self._object(value, keys=keys, wire=wire)
        if isinstance(value, int | float) and any(each in self.numbers for each in texts_of(value)):
            return MASK
        return value

    def _object(self, value: dict[str, Any], *, keys: bool, wire: bool) -> dict[str, Any]:
        names = [self._text(key) if keys and not (wire and key in _WIRE_KEYS) else key for key in value]
        items = [
            item if wire and key in _WIRE and isinstance(item, str) else self._scrub(item, keys=keys, wire=wire)
            for key, item in value.items()
        ]
        if not _changed(names, value) and not _changed(items, value.values()):
            return value
        return dict(zip(names, items, strict=True))

    def _text(self, text: str, needles: Collection[Needle] | None = None) -> str:
        for needle, word in self.needles if needles is None else needles:
            if needle not in text:
                continue
            if word is None:
                text = text.replace(needle, MASK)
            elif not _ID.fullmatch(text):
                text = word.sub(MASK, text)
        return text


def _changed(after: Collection[Any], before: Collection[Any]) -> bool:
    return any(a is not b for a, b in zip(after, before, strict=True))


def scrubber(secrets: Collection[str]) -> Scrubber:
    """Return what masks these secrets, as far as they are long enough to be told from ordinary text."""
    found: dict[str, bool] = {}  # spelling: whether it is found as a word only
    for secret in secrets:
        if len(secret) >= SHORTEST:
            for spelled in _spellings(secret):
                found[spelled] = found.get(spelled, True) and len(secret) < LONG
    ordered = sorted(found, key=len, reverse=True)
    needles = tuple((each, _word(each) if found[each] else None) for each in ordered)
    return Scrubber(needles, frozenset(found))


def scrub(value: Any, secrets: Collection[str], *, keys: bool = True) -> Any:
    """Return the value with these secrets masked; `keys` as in `Scrubber.scrub`."""
    return scrubber(secrets).scrub(value, keys=keys)


@lru_cache(maxsize=4096)
def _word(text: str) -> re.Pattern[str]:
    """Return a pattern of a text that is no part of a longer word, as far as its ends are letters or digits."""
    begins = _BEGINS if text[0].isalnum() else ""
    return re.compile(begins + re.escape(text) + (_ENDS if text[-1].isalnum() else ""))


def _spellings(secret: str) -> Iterator[str]:
    """Yield a secret as a text may quote it: itself, inside of JSON, as Python shows it, in a URL, in our own words."""
    yield secret
    if not (secret.isalnum() and secret.isascii()):
        yield from (json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1])
        yield printable(secret, len(secret))
        with suppress(UnicodeError):  # half of a surrogate pair has no place in a URL
            yield from (quote(secret, safe=""), quote(secret), quote_plus(secret))
