"""Any Python value as JSON: a tool that has done its work is not failed by what it returned."""

from __future__ import annotations

import hashlib
from typing import Final

from ledger.strictjson.canonical import to_bytes, to_text, write_plain
from ledger.strictjson.encoded import Encoded, Encoding
from ledger.strictjson.limits import RESULT, Json, Limits
from ledger.strictjson.plain import Copier
from ledger.strictjson.rules import rule_of
from ledger.strictjson.text import type_name
from ledger.strictjson.walk import Walk

_WHOLE: Final = 4
"""A value up to so many times the limit is encoded whole, so that its size and digest are known."""

_MARK_BYTES: Final = 33
"""What the JSON of an encoding has around its three texts."""

_NOTHING: Final = Encoded(None, (Encoding("", "repr", "unknown: no stack or memory was left to look"),), 4)


def encode_result(value: object, limits: Limits = RESULT) -> Encoded:
    """
    Return the value as JSON with a list of what was something else; `Kind` says how each is written.

    A plain JSON value gets no encodings and is copied, so that its owner may go on changing it. Lone surrogates and
    U+0000 are plain JSON here: the canonical form carries both. Iterators are used up.

    More than `max_bytes` (encodings counted): the value is `{"truncated": true, "bytes", "exact", "sha256", "form",
    "head"}`: size and digest of the whole canonical form (where `exact` is false the size is a lower bound and the
    digest null), and its beginning, or that of the text itself if it was one (`form`: json, text). Below some 200 bytes
    of limit the head is empty.

    Never raises: whatever the value's own code raises is noted, and its repr kept (KeyboardInterrupt, SystemExit pass).
    """
    try:
        try:
            plain = Copier(limits, _WHOLE * limits.max_bytes).copy(value, limits.max_depth)
            text = write_plain(plain)
        except Exception:  # noqa: BLE001 - not plain; or another thread changes it
            return _encode_odd(value, limits)
        data = to_bytes(text)
        if len(data) <= limits.max_bytes:
            return Encoded(plain, (), len(data))
        return _truncated(value, plain, data, limits)
    except Exception:  # noqa: BLE001 - the stack or the memory is used up
        return _NOTHING


def _encode_odd(value: object, limits: Limits) -> Encoded:
    walk = Walk(limits, _WHOLE * limits.max_bytes, rule_of)
    encoded = walk.encode(value, "", 0)
    data = to_bytes(to_text(encoded))
    marks = sum(_MARK_BYTES + len(mark.pointer) + len(mark.kind) + len(mark.type) for mark in walk.encodings)
    if walk.full:
        return _truncated(value, encoded, data, limits, exact=False)
    if len(data) + marks > limits.max_bytes:
        return _truncated(value, encoded, data, limits)
    return Encoded(encoded, tuple(walk.encodings), len(data))


def _truncated(value: object, encoded: Json, data: bytes, limits: Limits, *, exact: bool = True) -> Encoded:
    is_text = type(encoded) is str
    form: dict[str, Json] = {
        "truncated": True,
        "bytes": len(data),
        "exact": exact,
        "sha256": hashlib.sha256(data).hexdigest() if exact else None,
        "form": "text" if is_text else "json",
        "head": "",
    }
    mark = Encoding("", "truncated", type_name(type(value)))
    room = limits.max_bytes - len(to_text(form)) - len(mark.type) - _MARK_BYTES - len(mark.kind)
    form["head"] = _head(encoded if is_text else data.decode(), max(0, room))
    return Encoded(form, (mark,), len(to_bytes(to_text(form))))


def _head(text: str, room: int) -> str:
    """Return the beginning of the text that takes at most `room` bytes between its quotes in canonical form."""
    head = text[:room]
    while (size := len(to_bytes(to_text(head))) - 2) > room:
        head = head[: min(len(head) * room // size, len(head) - 1)]
    return head
