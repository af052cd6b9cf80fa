"""What happened in an event, in a few words for people."""

from __future__ import annotations

from typing import assert_never

from ledger import events as e
from ledger.counting import counted
from ledger.errors import owner_name
from ledger.events import Body
from ledger.providers.plain import text_of
from ledger.strictjson import Json, canonical

_LONGEST = 100


def summary(body: Body) -> str:
    """Return one line of text; it may hold any character that the recorded data hold, but no line break."""
    return " ".join(_said(body).split())


def _said(body: Body) -> str:
    return _session(body) if isinstance(body, e.SessionBody) else _call(body)


def _call(body: e.CallBody) -> str:
    match body:
        case e.CallProposed():
            asked = _short(body.arguments) if body.raw_arguments is None else _clipped(body.raw_arguments)
            return f"asked with {asked}" + _elsewhere(body)
        case e.CallValidated():
            return f"passed {', '.join(body.gates)}"
        case e.CallRejected():
            return f"{body.gate}: {body.code}: {_clipped(body.message)}"
        case e.CallAuthorized():
            return _allowed(body)
        case e.CallDenied():
            return f"{body.code}: {_clipped(body.message)}" + _by(body.by or body.policy) + _of(body.note, ": ")
        case e.CallApprovalRequested():
            return f"asks {', '.join(body.who) if body.who else 'anybody'}" + _of(body.message, ": ")
        case e.CallStarted():
            return f"on {owner_name(body.worker)}, key {body.idempotency_key}"
        case e.CallAttemptFailed():
            return f"{body.code}: {_clipped(body.message).rstrip('.')}; again in {body.backoff_seconds:g} s"
        case e.CallSucceeded():
            return ("not found" if body.status == "not_found" else _short(body.result)) + _of(body.message, ": ")
        case e.CallFailed():
            return ("not started: " if body.not_started else "") + f"{body.code}: {_clipped(body.message)}"
        case e.CallFlagged():
            return body.reason + _of(body.duplicate_of, " of ") + _of(body.evidence and _short(body.evidence), ": ")
        case e.CallReviewed():
            return f"{body.verdict}{', run' if body.run else ''} says {body.by}" + _of(body.note, ": ")
        case e.CallUpcast():
            return f"version {body.from_version} to {body.to_version}"
        case e.CallSuperseded():
            return f"by {body.superseded_by}, says {body.by}" + _of(body.note, ": ")
        case e.CallOutcomeArrivedLate():
            return f"{body.ended}{', settles it' if body.settles else ', kept as evidence'}" + _of(body.message, ": ")
        case e.CallNoted():
            return f"{body.by}: {_clipped(body.text)}"
        case _:
            assert_never(body)


def _session(body: e.SessionBody) -> str:
    match body:
        case e.MessageRecorded():
            return f"{body.role}: {_message(body.message)}"
        case e.TurnRecorded():
            return (f"{body.kind}, {counted(body.calls, 'call')}" if body.calls else body.kind) + _of(body.text, ": ")
        case e.SessionOpened():
            return "opened" + _of(body.agent, " by ") + _of(body.model, ", model ")
        case e.SessionClaimed():
            return f"by {owner_name(body.owner)}, token {body.token}"
        case e.SessionResumed():
            return f"{len(body.decisions)} decided" + _of(", ".join(map(_decision, body.decisions[:3])) or None, ": ")
        case e.SessionClosed():
            size = f"{counted(body.turns, 'turn')}, {counted(body.calls, 'call')}"
            return f"{body.reason}, {size}" + _of(body.message, ": ")
        case e.BatchPlanned():
            return f"{counted(body.size, 'call')}, {body.mode}, {counted(len(body.groups), 'group')}"
        case e.ToolVersionPublished():
            return _clipped(body.description)
        case e.ToolStageChanged():
            return f"is {body.stage} now" + _of(body.hint, ": ")
        case e.SessionErased():
            return f"by {body.by}" + _of(body.note, ": ")
        case e.LedgerPruned():
            return f"{counted(len(body.sessions), 'session')} by {body.by}"
        case e.Unreadable():
            return body.reason
        case _:
            assert_never(body)


def _allowed(body: e.CallAuthorized) -> str:
    if body.by == "policy" and body.policy == "none":
        return "no policy is registered"
    return f"by {body.by}" + _of(body.person or body.policy) + _of(body.note, ": ")


def _elsewhere(body: e.CallProposed) -> str:
    return (" (run by the provider)" if body.executor == "provider" else "") + (" (imported)" if body.imported else "")


def _decision(decision: Json) -> str:
    found = decision if isinstance(decision, dict) else {}
    return f"{found.get('tool')} {found.get('action')}"


def _message(message: Json) -> str:
    text = text_of(message.get("content") if isinstance(message, dict) else message)
    return _short(message) if text is None else _clipped(text)


def _by(who: str | None) -> str:
    return f" (by {_clipped(who)})" if who else ""


def _of(text: str | None, before: str = " ") -> str:
    return f"{before}{_clipped(text)}" if text else ""


def _short(value: Json) -> str:
    return _clipped(canonical(value).decode())


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
