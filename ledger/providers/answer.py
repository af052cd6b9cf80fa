"""What the model reads for a call as it stands: one JSON object, the same bytes each time."""

from __future__ import annotations

from copy import deepcopy
from typing import Final, Literal, TypeAlias

from ledger.calls import Call
from ledger.events import outcomes
from ledger.providers import texts
from ledger.providers.cut import clip, cut
from ledger.strictjson import Json, JsonObject, canonical, to_pointer

Status: TypeAlias = Literal[
    "succeeded", "not_found", "failed", "rejected", "denied", "awaiting_approval", "needs_review", "retired"
]
Next: TypeAlias = Literal[
    "none", "repair", "ask_user", "await_approval", "query_state", "retry_later", "use_replacement", "stop"
]

SHOWN_BYTES: Final = outcomes.SHOWN_BYTES
"""How much of a result the model reads by default; the whole is kept and readable by pages."""
REPAIRS: Final = 3
"""How many rejected proposals of one goal the model may repair by itself."""

_TEXT = 2048  # bytes of a message, of all violations, of a replacement
_SHORT = 1024  # bytes of a hint, a source, the encodings, quoted arguments
_DOUBTED: Final = frozenset({"outcome-unknown", "attempts-exhausted"})
_REQUIRED: Final = frozenset({"required", "dependentRequired", "dependencies"})


def answer_text(call: Call, limit: int = SHOWN_BYTES) -> str:
    """Return the answer as canonical JSON text: valid UTF-8, no NUL, no surrogates (they stand escaped)."""
    return canonical(answer(call, limit)).decode()


def answer_bytes(call: Call, limit: int = SHOWN_BYTES) -> bytes:
    """Return the answer as canonical JSON in UTF-8."""
    return canonical(answer(call, limit))


def answer(call: Call, limit: int = SHOWN_BYTES, *, repairs: int = REPAIRS) -> JsonObject:
    """
    Return the one object that the model reads for the call: always `status` and `next`, and what fits its state.

    `limit` bounds the bytes of `data` (at least 64); a longer result is cut to one valid JSON value, with
    `truncated` and in `pointer` where `read_result` reads the rest. After `repairs` rejected proposals of one goal the
    user is asked. An answer that stands for no recorded end is marked `synthetic`.
    """
    found = _state(call, repairs)
    if call.state == "succeeded" and (call.result is not None or "message" not in found):
        found |= _data(call, limit)
    if not isinstance(call.arguments, dict) and call.raw_arguments is not None:
        found["rawArguments"] = clip(call.raw_arguments, _SHORT)
    if call.revision:
        found["arguments"] = _bounded(call.to_run, _SHORT)
    _retiring(call, found)
    return deepcopy(found)  # the caller's to change: the call's own result stays as it is


def _retiring(call: Call, found: JsonObject) -> None:
    """Say beside what became of a call that its tool is being retired, and what is there instead."""
    if call.attempt and call.replacement is not None:
        found.setdefault("replacement", _bounded(call.replacement, _TEXT))
    hint = call.hint if call.attempt else None
    if hint is not None or (call.stage == "compat" and call.reason != "duplicate"):  # not to do it there once more
        found.setdefault("hint", clip(hint or texts.RETIRING, _SHORT))


def unrecorded() -> JsonObject:
    """Return the answer for a call of a host's own transcript that the ledger knows nothing of."""
    return _synthetic("failed", texts.UNRECORDED, "query_state", code="not_recorded")


def unclear() -> JsonObject:
    """Return the answer for a call of a host's own transcript that may be a recorded one, or another like it."""
    return _synthetic("needs_review", texts.UNCLEAR, "query_state", code="outcome_unknown")


def _state(call: Call, repairs: int) -> JsonObject:
    match call.state:
        case "succeeded":
            return _succeeded(call)
        case "rejected":
            return _rejected(call, repairs)
        case "denied":
            return _denied(call)
        case "failed":
            return _failed(call, repairs)
        case "awaiting-approval":
            return _synthetic("awaiting_approval", texts.APPROVAL, "await_approval")
        case "needs-review":
            return _doubt(call)
        case "started":
            return _in_flight(call)
        case "abandoned":
            return _abandoned(call)
        case "superseded":
            return _synthetic("failed", texts.REPLACED, "none", code="superseded")
        case _ if not call.never_ran:  # allowed again after somebody was wrong about an earlier attempt
            return _doubt(call)
        case _:  # unknown, proposed, validated, authorized
            return _synthetic("failed", texts.ONLY_PROPOSED, "none", code="not_executed")


def _synthetic(status: Status, message: str, then: Next, *, code: str | None = None) -> JsonObject:
    found: JsonObject = {"status": status, "message": message, "next": then, "synthetic": True}
    if code is not None:
        found["code"] = code
    return found


def _succeeded(call: Call) -> JsonObject:
    if not call.result_known:
        return {"status": "succeeded", "message": texts.RESULT_UNKNOWN, "next": "query_state"}
    found: JsonObject = {"status": "not_found" if call.status == "not_found" else "succeeded", "next": "none"}
    _add(found, code=call.code, message=call.message and clip(call.message, _TEXT))
    return found


def _data(call: Call, limit: int) -> JsonObject:
    shortened = cut(call.result, limit)
    found: JsonObject = {"data": call.result if shortened is None else shortened.value}
    if shortened is not None:
        found["truncated"] = True
        found["pointer"] = {
            "tool": "read_result",
            "pointer": f"result:{call.call_id}{to_pointer(shortened.path)}",
            "offset": shortened.offset,
            "unit": shortened.unit,
            "returned": shortened.returned,
            "total": shortened.total,
        }
    _add(found, source=_bounded(call.source, _SHORT), encodings=_bounded(list(call.encodings) or None, _SHORT))
    return found


def _rejected(call: Call, repairs: int) -> JsonObject:
    retired = call.code == "tool_retired"
    found: JsonObject = {"status": "retired" if retired else "rejected", "modelCanRepair": call.model_can_repair}
    hints = [] if call.code == "gate_error" or call.hint is None else [call.hint]
    if names := _missing(call):
        hints.append(texts.MISSING.format(names=", ".join(names)))
    if call.replacement is not None:
        found["next"] = "use_replacement"
    elif retired:
        found["next"] = "stop"
    else:
        found["next"] = _repair(call, repairs)
        if found["next"] == "ask_user" and call.model_can_repair:
            hints.append(texts.REPAIRS_SPENT)
    _add(
        found,
        gate=call.gate,
        code=call.code,
        message=clip(call.message or "", _TEXT),
        violations=_violations(call) or None,
        requiresUserAction=call.requires_user_action and clip(call.requires_user_action, _SHORT),
        replacement=_bounded(call.replacement, _TEXT),
        hint=clip(" ".join(hints), _SHORT) or None,
    )
    return found


def _repair(call: Call, repairs: int) -> Next:
    """Say what the model does about a call that it wrote wrong."""
    if call.requires_user_action is not None:
        return "ask_user"
    if not call.model_can_repair:
        return "stop"
    return "repair" if call.repairs < repairs else "ask_user"


def _missing(call: Call) -> list[str]:
    """Return the names of required arguments that are not there, as the schema gate found them."""
    found = [each for each in call.violations if isinstance(each, dict) and each.get("keyword") in _REQUIRED]
    return [str(each.get("pointer", "")).removeprefix("/") for each in found]


def _violations(call: Call) -> list[Json]:
    """Return the violations that fit, the first ones first."""
    found: list[Json] = []
    room = _TEXT
    for violation in call.violations:
        bounded = _bounded(violation, _TEXT // 4)
        room -= len(canonical(bounded))
        if room < 0:
            break
        found.append(bounded)
    return found


def _denied(call: Call) -> JsonObject:
    """Say no without a word that helps probing: neither policy, nor rule, nor a hint."""
    found: JsonObject = {"status": "denied", "modelCanRepair": False, "next": "stop"}
    fixed = texts.DENIED
    if call.requires_user_action is not None:
        found["next"] = "ask_user"
    if call.retry_after is not None:
        found["next"], fixed = "retry_later", texts.DENIED_FOR_NOW
    _add(
        found,
        gate=call.gate,
        code=call.code,
        message=f"{_stopped(clip(call.message or '', _TEXT))} {fixed}".strip(),
        requiresUserAction=call.requires_user_action and clip(call.requires_user_action, _SHORT),
        retryAfter=call.retry_after,
    )
    return found


def _stopped(text: str) -> str:
    """Return a text as a sentence: what follows it shall not run into it."""
    text = text.rstrip()
    return text if not text or text.endswith((".", "!", "?", "…", "。")) else f"{text}."


def _failed(call: Call, repairs: int) -> JsonObject:
    if _is_settled_copy(call):  # how its original failed is told of that one; effects of it may remain
        ended: JsonObject = {"status": "failed", "code": call.code, "message": texts.COPY_ENDED, "retryable": False}
        return ended | {"next": "query_state"}
    retired = call.code == "tool_retired"
    message = clip(call.message or "", _TEXT)
    if call.not_started and call.never_ran:
        message = f"{texts.NOT_EXECUTED} {message} {texts.CANCELLED}"
    found: JsonObject = {
        "status": "retired" if retired else "failed",
        "message": message,
        "retryable": call.retryable,
        "next": _retired(call) if retired else _after_failure(call, repairs),
    }
    _add(found, code=call.code, retryAfter=call.retry_after, modelCanRepair=call.model_can_repair or None)
    return found


def _retired(call: Call) -> Next:
    return "stop" if call.replacement is None else "use_replacement"


def _after_failure(call: Call, repairs: int) -> Next:
    if call.model_can_repair:
        return _repair(call, repairs)
    if call.retryable:
        return "retry_later"
    if call.side_effecting and call.error_class == "tool" and not call.not_started:
        return "query_state"  # a known bad end, of which effects may remain
    return "none"


def _doubt(call: Call) -> JsonObject:
    if _unsure(call):
        return _synthetic("needs_review", texts.UNDER_REVIEW, "query_state", code="outcome_unknown")
    if call.reason == "duplicate":
        return _synthetic("needs_review", texts.COPY, "query_state", code="duplicate")
    return _synthetic("needs_review", texts.HELD, "await_approval", code="not_executed")


def _unsure(call: Call) -> bool:
    """Whether it may have happened."""
    return call.reason in _DOUBTED or not call.never_ran


def _in_flight(call: Call) -> JsonObject:
    if call.side_effecting:  # nobody was asked about it yet: it may run in another process
        return _synthetic("needs_review", texts.IN_FLIGHT, "query_state", code="outcome_unknown")
    return _synthetic("failed", texts.RESULT_LOST, "retry_later", code="interrupted") | {"retryable": True}


def _abandoned(call: Call) -> JsonObject:
    if call.review is not None and _is_settled_copy(call):
        if any(isinstance(each, dict) and "supersededBy" in each for each in call.review.evidence):
            return {"status": "failed", "code": "superseded", "message": texts.COPY_REPLACED, "next": "query_state"}
        return {"status": "failed", "code": "abandoned", "message": texts.COPY_ENDED, "next": "query_state"}
    if _unsure(call):
        return {"status": "failed", "code": "abandoned", "message": texts.GIVEN_UP, "next": "query_state"}
    return {"status": "failed", "code": "abandoned", "message": texts.ENDED_UNRUN, "next": "stop"}


def _is_settled_copy(call: Call) -> bool:
    """Whether the end is its original's: nobody's word was about this one."""
    return call.review is not None and call.review.settled_by is not None


def _bounded(value: Json, budget: int) -> Json:
    shortened = None if value is None else cut(value, budget)
    return value if shortened is None else shortened.value


def _add(found: JsonObject, **values: object) -> None:
    """Add what there is: a key without a value would tell the model nothing."""
    found |= {key: value for key, value in values.items() if value is not None}
