r"""
One value, one sequence of bytes: what is stored, hashed, and compared.

Keys sorted by code point, no white space, integers exact, floats as Python's shortest `repr` (1 and 1.0 differ), text
as UTF-8, a lone surrogate as `\udXXX`. It is always valid JSON and valid UTF-8. Not RFC 8785: that refuses integers
above 2^53 and merges 1.0 with 1.

Two surrogates that stand side by side in a Python string but were never joined (`"\ud83d" + "\ude00"`) are not the
character they spell. JSON cannot say so; the canonical form does by the case of one letter: `\ud83d\uDe00`. A real
character is never escaped, so `loads` gives back exactly what `canonical` was given, and two values that differ never
have the same bytes. Other readers join the pair, as JSON asks.
"""

from __future__ import annotations

import hashlib
import json
import json.encoder
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any, Final, NoReturn

from ledger.strictjson.limits import TRUSTED, Json, digits_allowed
from ledger.strictjson.plain import SCALARS, TEXT, NotPlainError, Rules, fault_of

_CONTAINERS: Final = frozenset({dict, list, tuple})
_UNJOINED: Final = re.compile("([\ud800-\udbff])([\udc00-\udfff])")
_UNJOINED_ESCAPE: Final = re.compile(r"\\(?:u(d[89ab][0-9a-f]{2})\\uD([c-f][0-9a-f]{2})|.)", re.DOTALL)


def canonical(value: Json) -> bytes:
    """
    Return the canonical bytes of a value.

    A tuple is written as an array; every other type must be exactly a JSON type, every key text. Raises `JsonRejected`
    with the pointer: not_json, nan_or_infinity, number_too_long, too_deep (deeper than the interpreter's stack).
    """
    return to_bytes(to_text(value))


def digest(value: Json) -> str:
    """Return the SHA-256 of the canonical bytes, in hex."""
    return hashlib.sha256(canonical(value)).hexdigest()


def loads(data: bytes | str) -> Json:
    """
    Return the value of canonical bytes: the exact inverse of `canonical`, for records of one's own.

    Repeated keys and depth are not looked at: what comes from outside goes through `decode`. Raises ValueError (not
    `JsonRejected`) where the data is no JSON, and RecursionError where it is nested deeper than the stack.
    """
    text = data if isinstance(data, str) else str(data, "utf-8")
    if "\\uD" in text:
        text = _UNJOINED_ESCAPE.sub(_unescape, text)
    try:
        value, end = _READER.raw_decode(text)
        if end == len(text):
            return value  # canonical bytes hold no white space: there is none to look for
    except ValueError:
        pass
    return _READER.decode(text)


def to_text(value: Json) -> str:
    """Return the canonical form as text in which surrogates still stand as they are. Raises as `canonical` does."""
    try:
        text = write_plain(value)
        if type(value) not in SCALARS:
            _require_exact(value)
    except Exception:  # noqa: BLE001 - the encoder's own, NotPlainError, or whatever a metaclass raised
        digits = digits_allowed(TRUSTED)
        raise fault_of(value, Rules(max_depth=sys.maxsize, digits=digits, surrogates=True, tuples=True)) from None
    return text


def write_plain(value: Json) -> str:
    """Return the same for a value of plain types. Raises ValueError for NaN, RecursionError where the stack ends."""
    return "".join(_write(value, 0))


def to_bytes(text: str) -> bytes:
    """Return the bytes of a text made by `to_text`."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _UNJOINED.sub(_escape, text).encode("utf-8", "backslashreplace")


def _require_exact(value: Json) -> None:
    """Refuse what the encoder takes silently: other keys than text (1 and "1" would collide), and subclasses."""
    kind = type(value)
    if kind is dict:
        if not TEXT.issuperset(map(type, value)):
            raise NotPlainError
        value = value.values()
    elif kind not in _CONTAINERS:
        raise NotPlainError
    for item in value:
        kind = type(item)
        if kind in _CONTAINERS:
            _require_exact(item)
        elif kind not in SCALARS:
            raise NotPlainError


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[1]):04x}\\uD{ord(found[2]) & 0xFFF:03x}"


def _unescape(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) + chr(int("d" + found[2], 16)) if found[1] else found[0]


def _refuse(token: str) -> NoReturn:
    raise ValueError(f"{token} is no JSON")


_READER: Final = json.JSONDecoder(parse_constant=_refuse)


def _writer(make: Callable[..., Callable[[Json, int], Iterable[str]]] | None) -> Callable[[Json, int], Iterable[str]]:
    """Return the encoder; made once where the C one can be (a quarter faster), by the public way elsewhere."""
    if make:
        return make(None, None, json.encoder.encode_basestring, None, ":", ",", True, False, False)  # noqa: FBT003 - what json takes by place
    public = json.JSONEncoder(
        ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False, check_circular=False
    )
    return lambda value, _indent: public.iterencode(value)


_write: Final[Callable[[Any, int], Iterable[str]]] = _writer(getattr(json.encoder, "c_make_encoder", None))
