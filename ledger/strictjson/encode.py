"""Any Python value as JSON: a tool that has done its work is not failed by what it returned."""

from __future__ import annotations

import hashlib
from typing import Final

from ledger.strictjson.canonical import to_bytes, to_text, write_plain
from ledger.strictjson.encoded import Encoded, Encoding
from ledger.strictjson.limits import RESULT, Json, Limits
from ledger.strictjson.plain import Copier, TooLargeError
from ledger.strictjson.text import type_name

_WHOLE: Final = 4
"""A value up to so many times the limit is encoded whole, so that its size and digest are known."""

_MARK_BYTES: Final = 33
"""What the JSON of an encoding has around its three texts."""

_CONTAINER_COST: Final = 12
"""`_WHOLE` times the three bytes (`[],`) that an array has at least: nothing that fits the limit is refused."""

_GLANCE: Final = 2**20
"""So much is looked at (in the sense of `Walk.room`) of a value that is larger than that."""

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
        room = _WHOLE * limits.max_bytes
        try:
            plain = Copier(limits, room, _CONTAINER_COST).copy(value, limits.max_depth)
            text = write_plain(plain)
        except TooLargeError:
            return _encode_odd(value, limits, min(room, _GLANCE), at_least=room)
        except Exception:  # noqa: BLE001 - not plain; or another thread changes it
            return _encode_odd(value, limits, room)
        data = to_bytes(text)
        if len(data) <= limits.max_bytes:
            return Encoded(plain, (), len(data))
        return _truncated(value, plain, data, limits)
    except Exception:  # noqa: BLE001 - the stack or the memory is used up
        return _NOTHING


def _encode_odd(value: object, limits: Limits, room: int, *, at_least: int = 0) -> Encoded:
    from ledger.strictjson.rules import rule_of  # most results are plain: decimal, uuid and pathlib can wait
    from ledger.strictjson.walk import Walk

    walk = Walk(limits, room, rule_of)
    encoded = walk.encode(value, "", 0)
    data = to_bytes(to_text(encoded))
    marks = sum(_MARK_BYTES + len(mark.pointer) + len(mark.kind) + len(mark.type) for mark in walk.encodings)
    if walk.full:
        return _truncated(value, encoded, data, limits, at_least=max(at_least, len(data)))
    if len(data) + marks > limits.max_bytes:
        return _truncated(value, encoded, data, limits)
    return Encoded(encoded, tuple(walk.encodings), len(data))


def _truncated(value: object, encoded: Json, data: bytes, limits: Limits, *, at_least: int = 0) -> Encoded:
    is_text = type(encoded) is str
    form: dict[str, Json] = {
        "truncated": True,
        "bytes": at_least or len(data),
        "exact": not at_least,
        "sha256": None if at_least else hashlib.sha256(data).hexdigest(),
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
