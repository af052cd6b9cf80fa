"""The strict door for JSON text: what comes out is exactly what the text says, or the text is rejected."""

from __future__ import annotations

import json
import re
from functools import lru_cache, partial
from math import isinf
from typing import Any, Final, NoReturn

from ledger.errors import JsonRejected
from ledger.strictjson import scan
from ledger.strictjson.limits import ARGUMENTS, Json, Limits, digits_allowed
from ledger.strictjson.rejection import at_offset
from ledger.strictjson.text import printable

_SPACE: Final = " \t\n\r"
_STUMP: Final = re.compile(r"|t|tr|tru|f|fa|fal|fals|n|nu|nul|-|\\?u[0-9a-fA-F]{0,3}")  # what is left of a token
_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_NEVER_ROUNDED: Final = 15  # characters; so many digits come back from a double as they went in
_NOT_ZERO: Final = re.compile(r"[-0.]*[1-9]")
_EXACT: Final = 2.0**53  # below it a double tells whole numbers apart, and what is lost is less than one
_NEVER_TOO_LONG: Final = 640  # digits; no interpreter setting refuses fewer (sys.int_info.str_digits_check_threshold)


def decode(text: str | bytes, limits: Limits = ARGUMENTS) -> Json:
    r"""
    Return the value of a JSON text (RFC 8259), integers exact, 1 and 1.0 kept apart, `\u0000` as it is.

    Rejected where libraries guess: repeated keys, NaN and Infinity, numbers beyond a double or too near to zero, those
    from 2^53 on, with a point or an exponent, whose digits a double does not keep, lone surrogates, a second value
    behind the first, a byte order mark. Depth, size and digits are checked before anything recurses.

    Raises `JsonRejected` and nothing else, with line, column and offset (characters; of bytes that are no UTF-8:
    bytes). Codes: invalid_json, trailing_data, duplicate_key, nan_or_infinity, number_out_of_range, number_rounded,
    number_too_long, lone_surrogate, invalid_utf8, too_deep, too_large, too_many_items.
    """
    if not isinstance(text, str):
        text = _from_bytes(text, limits)
    _check_text(text, limits)
    if text.count("[") + text.count("{") > limits.max_depth:
        _check_depth(text, limits.max_depth)
    if len(text) > limits.max_items and (count := scan.items(text)) > limits.max_items:
        raise JsonRejected(
            "too_many_items", f"The JSON has {count} values; {limits.max_items} are allowed. Send fewer at a time."
        )
    value = _parse(text, limits)
    if "\\u" in text and (lone := scan.lone_surrogate_at(text)) is not None:
        raise _lone_surrogate(text, lone)
    return value


def _from_bytes(data: bytes, limits: Limits) -> str:
    if len(data) > limits.max_bytes:
        raise _too_large(len(data), limits)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        what = "is UTF-16" if data.startswith(_UTF16_MARKS) else f"is not UTF-8 (byte {error.start})"
        raise JsonRejected("invalid_utf8", f"The JSON text {what}. Send it in UTF-8.", offset=error.start) from None


def _check_text(text: str, limits: Limits) -> None:
    size = len(text)
    if not text.isascii() and size <= limits.max_bytes:
        try:
            size = len(text.encode("utf-8"))
        except UnicodeEncodeError as error:
            raise _lone_surrogate(text, error.start) from None
    if size > limits.max_bytes:
        raise _too_large(size, limits)
    if text.startswith("\ufeff"):
        raise at_offset("invalid_json", "the text begins with a byte order mark. Send it without.", text, 0)


def _check_depth(text: str, limit: int) -> None:
    if scan.depth(text) > limit and (offset := scan.too_deep_at(text, limit)) is not None:
        message = f"more than {limit} arrays and objects are nested. Send a flatter value."
        raise at_offset("too_deep", message, text, offset)


class _Refused(Exception):
    """Valid grammar, but not allowed: the code and the token."""


def _parse(text: str, limits: Limits) -> Json:
    digits = digits_allowed(limits)
    decoder = _SHORT if len(text) <= min(digits, _NEVER_TOO_LONG) else _decoder(digits)
    try:
        value, end = decoder.raw_decode(text, len(text) - len(text.lstrip(_SPACE)))
    except json.JSONDecodeError as error:
        raise _invalid(text, error) from None
    except _Refused as refused:
        code, token = refused.args
        raise _refusal(text, code, token, digits) from None
    except RecursionError:
        raise JsonRejected("too_deep", "The JSON is nested too deep to be read here. Send a flatter value.") from None
    if rest := text[end:].lstrip(_SPACE):
        message = "another text follows the JSON value. Send one value, and nothing behind it."
        raise at_offset("trailing_data", message, text, len(text) - len(rest))
    return value


@lru_cache(maxsize=16)
def _decoder(digits: int | None) -> json.JSONDecoder:
    """Return a decoder for texts with integers of at most that many digits (None: they are too short for more)."""
    return json.JSONDecoder(
        object_pairs_hook=_object,
        parse_float=_float,
        parse_int=partial(_integer, digits) if digits else int,
        parse_constant=_constant,
    )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Refused("duplicate_key", "")
    return value


def _float(token: str) -> float:
    value = float(token)
    return value if value and -_EXACT < value < _EXACT else _extreme(token, value)


def _extreme(token: str, value: float) -> float:
    if isinf(value) or (not value and _NOT_ZERO.match(token)):
        raise _Refused("number_out_of_range", token)
    if len(token) > _NEVER_ROUNDED:
        from decimal import Decimal  # hardly any text needs it

        if Decimal(token) != Decimal(repr(value)):
            raise _Refused("number_rounded", token)
    return value


def _integer(digits: int, token: str) -> int:
    if len(token) - token.startswith("-") > digits:
        raise _Refused("number_too_long", token)
    return int(token)


def _constant(token: str) -> NoReturn:
    raise _Refused("nan_or_infinity", token)


_SHORT: Final = _decoder(None)


def _refusal(text: str, code: str, token: str, digits: int) -> JsonRejected:
    if code == "duplicate_key":
        key, offset = scan.first_repeated_key(text)
        return at_offset(
            code, f'the key "{printable(key, 80)}" stands twice in one object. Send it once.', text, offset
        )
    message = {
        "number_out_of_range": "the number {token} is beyond a double's range. Send it as a string.",
        "number_rounded": "a double does not keep the digits of {token}. Send an integer without point or exponent, "
        "another number as a string.",
        "number_too_long": "an integer has more than {digits} digits. Send it as a string.",
        "nan_or_infinity": "{token} is no JSON. Send null or a string.",
    }[code]
    message = message.format(token=printable(token, 40), digits=digits)
    return at_offset(code, message, text, scan.bare_at(text, token))


def _invalid(text: str, error: json.JSONDecodeError) -> JsonRejected:
    if not text.strip(_SPACE):
        return at_offset("invalid_json", "the text is empty. Send a JSON value.", text, error.pos)
    if error.msg.startswith("Unterminated string") or _STUMP.fullmatch(text[error.pos :].rstrip(_SPACE)):
        message = "the text ends before the JSON value does: it was cut off. Send it again, whole."
    else:
        what = printable(error.msg.removesuffix(" at"))
        message = f"invalid JSON: {what[:1].lower()}{what[1:]}. Correct it and send it again."
    return at_offset("invalid_json", message, text, error.pos)


def _lone_surrogate(text: str, offset: int) -> JsonRejected:
    return at_offset(
        "lone_surrogate", "half of a surrogate pair stands alone; it is no character. Leave it out.", text, offset
    )


def _too_large(size: int, limits: Limits) -> JsonRejected:
    return JsonRejected(
        "too_large", f"The JSON text has {size} bytes; {limits.max_bytes} are allowed. Send less at a time."
    )
