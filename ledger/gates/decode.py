"""The decode gate: from what the model sent to a JSON object, or the exact reason why it is none."""

from __future__ import annotations

from typing import Final

from ledger.errors import JsonRejected
from ledger.events import CallRejected
from ledger.strictjson import ARGUMENTS, JsonObject, Limits, check
from ledger.strictjson import decode as decode_text

_SPACE: Final = " \t\n\r"
"""What JSON means by white space; Python knows more."""


def decode(
    raw: str | None, given: object, *, needs_arguments: bool, limits: Limits = ARGUMENTS
) -> JsonObject | CallRejected:
    """
    Return the arguments as a JSON object.

    `raw` is the exact text, where the provider sent a text; else `given` is what the SDK had. An empty text and null
    count as `{}` only for a tool without required arguments. Malformed JSON is never repaired by guessing: a text cut
    by the provider's token limit is rejected with its position (https://github.com/NousResearch/hermes-agent/issues/35151).
    """
    try:
        value = decode_text(raw, limits) if raw is not None and raw.strip(_SPACE) else _given(raw, given, limits)
    except JsonRejected as error:
        return _rejected(error.code, str(error), error.pointer)
    if value is None:
        if not needs_arguments:
            return {}
        return _rejected("missing_arguments", "The tool needs arguments, but none were sent. Send them all.", None)
    if not isinstance(value, dict):
        kind = type(value).__name__
        return _rejected("not_an_object", f"The arguments must be one JSON object, not {kind}.", None)
    return value


def _given(raw: str | None, given: object, limits: Limits) -> object:
    return None if raw is not None or given is None else check(given, limits)


def _rejected(code: str, message: str, pointer: str | None) -> CallRejected:
    violations = () if pointer is None else ({"pointer": pointer, "keyword": code, "message": message},)
    return CallRejected(
        gate="decode",
        code=code,
        error_class="model",
        message=f"{message} Send the whole arguments again as one JSON object.",
        violations=violations,
        model_can_repair=True,
    )
