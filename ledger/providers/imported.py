"""What every reader of a foreign transcript yields: sessions, what was said, turns with what answered their calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from ledger.errors import JsonRejected
from ledger.events import CallFailed, CallProposed, CallSucceeded, MessageRecorded, TurnRecorded
from ledger.providers.plain import text_from
from ledger.providers.port import HostedCall, ProposedCall, Reply
from ledger.providers.quoted import turn_of
from ledger.strictjson import Json, JsonObject, decode, encode_result

Requestor: TypeAlias = Literal["model", "user"]
NO_MESSAGE: Final = "The tool reported an error and no text."


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSession:
    """
    A session begins; what follows up to the next one is of it.

    `source` is the format's name, `id` the session's in its source (None: it has none), `parent` that of the session
    it branched off or works for, `started` the time as the source spells it, `labels` what else it says of itself.
    """

    source: str
    id: str | None = None
    model: str | None = None
    parent: str | None = None
    started: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message of the host or the user; `orphan`: a result whose call is not in the transcript."""

    role: str
    provider: str
    message: JsonObject
    at: str | None = None
    orphan: bool = False

    def recorded(self, *, start: bool = False) -> MessageRecorded:
        """Return the event's body."""
        return MessageRecorded(role=self.role, provider=self.provider, message=self.message, start=start)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """
    What answered a call.

    `content` is as the source holds it: a text, the provider's list of parts, or (Gemini) an object.
    """

    content: Json
    error: bool = False
    at: str | None = None

    @property
    def text(self) -> str:
        """The content as the model read it."""
        return text_from(self.content)

    def recorded(self) -> CallSucceeded | CallFailed:
        """Return the event's body: told to a model, it is this content again, word for word."""
        if self.error:
            message = self.text or NO_MESSAGE
            return CallFailed(code="tool_error", error_class="tool", message=message)
        return succeeded(self.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """
    A model's message; `outcomes` are those of its calls, by index (None: none is in the transcript).

    `reserialized` are the calls whose argument text was not kept by the source. A `user` that called (simulated ones
    do) is no model: its turns are recorded under the provider `user` and never told one.
    """

    reply: Reply
    outcomes: tuple[Outcome | None, ...] = ()
    requestor: Requestor = "model"
    at: str | None = None
    reserialized: frozenset[int] = frozenset()

    def recorded(self) -> TurnRecorded:
        """Return the event's body."""
        return turn_of(self.reply)

    def proposed(self, index: int, **known: object) -> CallProposed:
        """Return the body of a call's proposal; `known` are the importer's own fields, such as `effect`."""
        return proposed(self.reply.calls[index], self.reply, **known)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Something in the source that is none of this, named so that it can be reported; `place` counts from 0."""

    place: int
    what: str


Item: TypeAlias = Said | Turn | Skipped
Read: TypeAlias = ImportedSession | Item


def proposed(sent: ProposedCall, reply: Reply, **known: object) -> CallProposed:
    """Return the body of an imported call's proposal: the exact text of its arguments, and what it says."""
    return CallProposed(
        raw_arguments=sent.raw,
        arguments=arguments_of(sent),
        provider_call_id=sent.provider_call_id,
        provider=reply.provider,
        model=reply.model,
        imported=True,
        **known,  # type: ignore[arg-type]  # the fields of a proposal that the importer names
    )


def hosted_proposed(sent: HostedCall, reply: Reply) -> CallProposed:
    """Return the same for a call that the provider executed."""
    call = ProposedCall(
        name=sent.name or "", raw=sent.raw, arguments=sent.arguments, provider_call_id=sent.provider_call_id
    )
    return proposed(call, reply, executor="provider")


def hosted_end(sent: HostedCall) -> CallSucceeded | CallFailed | None:
    """Return the end of a call that the provider executed, as it told it; None: it did not."""
    if sent.ended is None:
        return None
    if sent.ended == "succeeded":
        return succeeded(sent.result)
    message = sent.message or "The provider says that it failed."
    return CallFailed(code="tool_error", error_class="tool", message=message)


def arguments_of(sent: ProposedCall | HostedCall) -> JsonObject | None:
    """Return a call's arguments as an object; None where they are none. Nothing at all is an empty one."""
    if sent.raw is None:
        given = {} if sent.arguments is None else sent.arguments
        return given if isinstance(given, dict) else None
    try:
        found = decode(sent.raw) if sent.raw.strip() else {}
    except JsonRejected:
        return None
    return found if isinstance(found, dict) else None


def succeeded(content: Json) -> CallSucceeded:
    """Return the end of a call with this result."""
    encoded = encode_result(content)
    marks = tuple({"pointer": e.pointer, "kind": e.kind, "type": e.type} for e in encoded.encodings)
    return CallSucceeded(result=encoded.value, encodings=marks, size=encoded.size)
