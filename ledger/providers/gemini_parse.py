"""A model's answer in Gemini's format: parts of a content, each with the thought signature it came with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ledger.errors import UsageError
from ledger.events.session_bodies import TurnKind
from ledger.providers.gemini_stream import camel, is_open, joined, whole_calls
from ledger.providers.plain import id_or_none, named, plain, rest, text_or_none, view
from ledger.providers.port import HostedCall, ProposedCall, Reply
from ledger.strictjson import Json, JsonObject

NAME: Final = "gemini"
_TAKEN: Final = "Give the GenerateContentResponse (object or dict), a candidate, its content, or a stream's responses."
_FINE: Final = frozenset({None, "STOP", "FINISH_REASON_UNSPECIFIED"})
_REPLY: Final = frozenset({"candidates", "promptFeedback"})
_CALL: Final = frozenset({"args", "id", "name", "willContinue"})
_KNOWN: Final = frozenset({"candidates", "modelVersion", "responseId", "usageMetadata"})


def parse(reply: object) -> Reply:
    """
    Read a response, a candidate, a model's content, or the list of a stream's responses; objects and dicts alike.

    Raises `UsageError` naming what was given.
    """
    whole = _whole(reply)
    candidate, content = _content(whole, reply)
    parts = parts_of(content)
    calls = calls_of(parts)
    stop = text_or_none(plain(candidate.get("finishReason"))) or _blocked(whole)
    return Reply(
        kind="incomplete" if any(map(is_open, parts)) else _kind(stop, sent=bool(calls)),
        provider=NAME,
        calls=calls,
        hosted=_hosted(parts),
        text=_text(parts),
        response_id=id_or_none(whole.get("responseId")),
        stop_reason=stop,
        items=_items(whole, candidate, content, parts),
        usage=plain(whole.get("usageMetadata")),
        model=text_or_none(whole.get("modelVersion")),
    )


def parts_of(content: Mapping[str, Any]) -> list[JsonObject]:
    """
    Return a content's parts under the API's names (snake case is read too); a text alone is one part.

    A call that came in pieces is one part.
    """
    return whole_calls(_parts(content))


def _parts(content: Mapping[str, Any]) -> list[JsonObject]:
    """Return the parts as they came."""
    given = content.get("parts", content.get("content"))
    if isinstance(given, str):
        return [{"text": given}]
    views = map(view, given) if isinstance(given, list | tuple) else ()
    return [_named_part(part) for part in views if part is not None]


def calls_of(parts: Sequence[JsonObject]) -> tuple[ProposedCall, ...]:
    """Return the calls of a content's parts, in their order."""
    return tuple(_call(part) for part in parts if "functionCall" in part)


def _named_part(part: JsonObject) -> JsonObject:
    """Return a part under the API's names; what a call's arguments and a response hold is not touched."""
    named_part: JsonObject = {}
    for key, value in part.items():
        inner = view(value)
        if value is not None:
            named_part[camel(key)] = (
                value if inner is None else {camel(k): v for k, v in inner.items() if v is not None}
            )
    return named_part


def _whole(reply: object) -> JsonObject:
    if not isinstance(reply, list | tuple) or not reply:
        return _shallow(view(reply))
    whole: JsonObject = {}
    parts: list[JsonObject] = []
    candidate: JsonObject = {}
    for given in reply:
        chunk = _shallow(view(given))
        if not chunk.keys() & _REPLY:
            raise UsageError(f"{NAME}: the list holds something else than a stream's responses.", hint=_TAKEN)
        first = _first(chunk)
        parts += _parts(_shallow(view(first.get("content"))))
        candidate |= _told(first)
        whole |= _told(chunk)
    candidate["finishReason"] = candidate.get("finishReason") or "STREAM_CUT"
    return whole | {"candidates": [candidate | {"content": {"role": "model", "parts": joined(parts)}}]}


def _told(whole: JsonObject) -> JsonObject:
    """Return what says something: neither a null nor an empty id takes the place of what came before."""
    return {key: value for key, value in whole.items() if value not in (None, "")}


def _shallow(whole: JsonObject | None) -> JsonObject:
    return {camel(key): value for key, value in (whole or {}).items()}


def _first(whole: JsonObject) -> JsonObject:
    candidates = whole.get("candidates")
    return _shallow(view(candidates[0])) if isinstance(candidates, list | tuple) and candidates else {}


def _content(whole: JsonObject, reply: object) -> tuple[JsonObject, JsonObject]:
    """Return the candidate (empty where only a content was given) and its content."""
    if whole.keys() & _REPLY:
        candidate = _first(whole)
        return candidate, _shallow(view(candidate.get("content")))
    if "content" in whole and "parts" not in whole and whole.get("role") is None:
        return whole, _shallow(view(whole["content"]))
    if whole.get("role") == "model" and ("parts" in whole or isinstance(whole.get("content"), str)):
        return {}, whole
    given = f"an object with the keys {sorted(whole)[:8]}" if whole else named(reply)
    raise UsageError(f"{NAME}: this is no reply: {given}.", hint=_TAKEN)


def _call(part: JsonObject) -> ProposedCall:
    body = part["functionCall"] if isinstance(part["functionCall"], dict) else {}
    given = body.get("args", None if is_open(part) else {})  # left out where there are none
    return ProposedCall(
        name=text_or_none(body.get("name")) or "",
        raw=given if isinstance(given, str) else None,
        arguments=None if isinstance(given, str) else given,
        provider_call_id=text_or_none(body.get("id")),
    )


def _hosted(parts: Sequence[JsonObject]) -> tuple[HostedCall, ...]:
    """Return what the provider executed; a result belongs to the call before it."""
    ends = [part for part in parts if "codeExecutionResult" in part or "toolResponse" in part]
    found = []
    for part in parts:
        kind, end = (
            ("executableCode", "codeExecutionResult") if "executableCode" in part else ("toolCall", "toolResponse")
        )
        if kind in part:
            body = part[kind] if isinstance(part[kind], dict) else {}
            found.append(_executed(kind, body, _end_of(ends, end, body.get("id"))))
    return tuple(found)


def _end_of(ends: list[JsonObject], kind: str, given: object) -> JsonObject | None:
    for place, part in enumerate(ends):
        body = part.get(kind)
        if isinstance(body, dict) and (given is None or body.get("id") in (None, given)):
            del ends[place]
            return body
    return None


def _executed(kind: str, body: JsonObject, end: JsonObject | None) -> HostedCall:
    code = kind == "executableCode"
    outcome = text_or_none(plain(end.get("outcome"))) if end is not None else None
    failed = outcome is not None and outcome != "OUTCOME_OK"
    content = None if end is None else end.get("output" if code else "response")
    return HostedCall(
        name="code_execution" if code else (text_or_none(plain(body.get("toolType"))) or "").lower(),
        arguments=rest(body, {"id"}) if code else plain(body.get("args") or {}),
        provider_call_id=text_or_none(body.get("id")),
        ended=None if end is None else "failed" if failed else "succeeded",
        result=None if failed else plain(content),
        message=f"The provider says: {outcome}." if failed else None,
    )


def _kind(stop: str | None, *, sent: bool) -> TurnKind:
    if stop not in _FINE:
        return "incomplete"
    return "tool_calls" if sent else "text"


def _blocked(whole: JsonObject) -> str | None:
    feedback = _shallow(view(whole.get("promptFeedback")))
    reason = text_or_none(plain(feedback.get("blockReason")))
    return None if reason is None else f"blocked: {reason}"


def _text(parts: Sequence[JsonObject]) -> str | None:
    texts = [part.get("text") for part in parts if not part.get("thought")]
    found = [text for text in texts if isinstance(text, str)]
    return "".join(found) if found else None


def _items(whole: JsonObject, candidate: JsonObject, content: JsonObject, parts: Sequence[JsonObject]) -> Json:
    """Keep what was not understood; the parts only where text and calls alone would not give them back."""
    items: JsonObject = {}
    if not _simple(parts):
        items["parts"] = _marked(parts)
    if others := rest(candidate, {"content", "finishReason", "parts", "role"}):
        items["candidate"] = others
    if whole is not candidate and whole is not content and (others := rest(whole, _KNOWN)):
        items["response"] = others
    candidates = whole.get("candidates")
    if isinstance(candidates, list | tuple) and len(candidates) > 1:
        items["candidates"] = [_other(other) for other in candidates[1:]]
    return items or None


def _other(candidate: object) -> Json:
    """Return another candidate without its calls: nobody runs them, and no schema says what in them is sensitive."""
    whole = _shallow(view(candidate))
    content = _shallow(view(whole.get("content")))
    parts = parts_of(content)
    texts = [part for part in parts if "functionCall" not in part]
    if len(texts) == len(parts):
        return plain(view(candidate) or candidate)
    said = {"role": "model", "parts": texts}
    return plain({key: value for key, value in whole.items() if key != "logprobsResult"} | {"content": said})


def _simple(parts: Sequence[JsonObject]) -> bool:
    """Whether it is at most one plain text and then plain calls."""
    for place, part in enumerate(parts):
        body = part.get("functionCall")
        called = part.keys() == {"functionCall"} and isinstance(body, dict) and body.keys() <= _CALL
        if not called and (place or part.keys() != {"text"}):
            return False
    return True


def _marked(parts: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the parts with a mark in place of each call: which one of the turn's it is."""
    kept: list[JsonObject] = []
    calls = 0
    for part in parts:
        if "functionCall" not in part:
            kept.append(rest(part))
            continue
        body = part["functionCall"] if isinstance(part["functionCall"], dict) else {}
        kept.append({"call": calls, "functionCall": rest(body, _CALL)} | rest(part, {"functionCall"}))
        calls += 1
    return kept
