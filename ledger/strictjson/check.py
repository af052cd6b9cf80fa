"""The strict door for Python values that claim to be JSON."""

from __future__ import annotations

from ledger.errors import JsonRejected
from ledger.strictjson import scan
from ledger.strictjson.canonical import write_plain
from ledger.strictjson.limits import ARGUMENTS, Json, Limits, digits_allowed
from ledger.strictjson.plain import Copier, Rules, TooLargeError, fault_of


def check(value: object, limits: Limits = ARGUMENTS) -> Json:
    """
    Return a deep copy of the value, made of plain dicts and lists.

    Only exact JSON types: None, bool, int, float (finite), str (no lone surrogates), list, dict with text keys. Tuples,
    other mappings and subclasses (IntEnum, OrderedDict) are rejected: they mean more than the copy would hold. A cycle
    is too_deep. Size is that of the canonical form.

    Raises `JsonRejected` with the pointer: not_json, nan_or_infinity, number_too_long, lone_surrogate, too_deep,
    too_large, too_many_items.
    """
    try:
        copy = Copier(limits, limits.max_bytes).copy(value, limits.max_depth)
        text = write_plain(copy)
        size = len(text.encode())
    except TooLargeError:
        raise JsonRejected(
            "too_large", f"The value has more than {limits.max_bytes} bytes. Send less at a time.", pointer=""
        ) from None
    except Exception:  # noqa: BLE001 - not plain; or a metaclass ran code of its own
        raise fault_of(value, Rules(limits.max_depth, digits_allowed(limits))) from None
    if size > limits.max_bytes:
        message = f"The value has {size} bytes; {limits.max_bytes} are allowed. Send less at a time."
        raise JsonRejected("too_large", message, pointer="")
    if len(text) > limits.max_items and (count := scan.items(text)) > limits.max_items:
        message = f"The value has {count} values in it; {limits.max_items} are allowed. Send fewer at a time."
        raise JsonRejected("too_many_items", message, pointer="")
    return copy
