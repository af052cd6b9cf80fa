"""A host's own messages, of any provider, on their way into a conversation: repaired where they would be refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from ledger.calls import NEW_CALL, Call
from ledger.events import MessageRecorded
from ledger.events.session_bodies import TurnRecorded
from ledger.providers import responses_parse
from ledger.providers.answer import unrecorded
from ledger.providers.apart import Apart, Given, take_apart
from ledger.providers.names import Ids
from ledger.providers.port import Answered, ProposedCall, Reply, WireFormat
from ledger.strictjson import Json, JsonObject, canonical, export_text

SYSTEM: Final = frozenset({"developer", "system"})
"""Roles of messages that are instructions."""

INSTRUCTION: Final = "[Instruction from the system, not from the user]"
_ORPHAN: Final = "[Result of a call that is not in this conversation]"

Own: TypeAlias = Callable[[str, JsonObject], list[JsonObject]]
"""From a message's role and content to what the provider takes of its own kind of message; it may be nothing."""


@dataclass(slots=True)
class _Waiting:
    """A call of the host's: the id it came with, and how it is answered once that is there."""

    given: str | None
    asked: Answered
    answer: Answered | None = None


class Quoted:
    """
    The host's messages of one conversation (see `HostMessages`).

    With `system_apart` the provider takes instructions beside the messages: those at the start are left out here (see
    `leading_system`), later ones become a marked text of the user.
    """

    def __init__(self, wire: WireFormat, ids: Ids, own: Own, *, system_apart: bool) -> None:
        self._wire = wire
        self._ids = ids
        self._own = own
        self._system_apart = system_apart
        self._begun = False
        self._asked = 0
        self._waiting: list[_Waiting] = []
        self._held: Reply | None = None
        self._run: list[Json] = []

    def note(self, body: MessageRecorded) -> None:
        """Take in the ids that the message uses."""
        reply = take_apart(body.provider, body.role, body.message).reply
        for sent in reply.calls if reply is not None else ():
            self._ids.give(sent.provider_call_id, "")

    def push(self, body: MessageRecorded) -> list[JsonObject]:
        """Return the next messages; calls wait until the results of all beside them are there."""
        apart = take_apart(body.provider, body.role, body.message)
        if body.role in SYSTEM and self._system_apart:
            return self._instruct(apart)
        self._begun = True
        if apart.reply is not None:
            return self._quote(body, apart.reply)
        found = [message for given in apart.results for message in self._answer(given, body.provider)]
        if apart.rest is None:
            return found
        return [*found, *self.flush(), *self._say(body.provider, apart, apart.rest)]

    def flush(self) -> list[JsonObject]:
        """Return the calls that waited with their results, and answers for those that stay without one."""
        self._begun = True
        held, self._held = self._held, None
        self._run = []
        if held is None:
            return []
        text = canonical(unrecorded()).decode()
        missing = [Answered(each.asked.call, each.asked.id, text, error=True) for each in self._waiting]
        answered = [each.answer or other for each, other in zip(self._waiting, missing, strict=True)]
        self._waiting.clear()
        return [*self._wire.assistant(turn_of(held), answered), *self._wire.results(answered)]

    def _instruct(self, apart: Apart) -> list[JsonObject]:
        if not self._begun:
            return []
        return [*self.flush(), self._wire.user(f"{INSTRUCTION} {apart.text}")]

    def _quote(self, body: MessageRecorded, reply: Reply) -> list[JsonObject]:
        """Take in the model's message, told as that of a turn; of Responses items those in a row are one."""
        items = body.provider == responses_parse.NAME
        before = [] if items and not any(each.answer for each in self._waiting) and self._run else self.flush()
        self._asked += bool(reply.calls)
        for sent in reply.calls:
            place = len(self._waiting)
            here = self._ids.give(sent.provider_call_id, f"message {self._asked}, call {place}")
            asked = Answered(call_of(sent, place, reply.provider), here, "")
            self._waiting.append(_Waiting(sent.provider_call_id or None, asked))
        self._held = reply
        if items:
            self._run.append(body.message)
            self._held = responses_parse.parse({"output": self._run})
        return before if items or reply.calls else [*before, *self.flush()]

    def _answer(self, given: Given, provider: str) -> list[JsonObject]:
        """Put a result beside its call; one without a call becomes a text of the user."""
        each = self._asking(given)
        text = export_text(given.text, nul=True)
        if each is None:
            return [*self.flush(), self._wire.user(f"{_ORPHAN} {text}")]
        content = given.content if isinstance(given.content, dict | list) else None
        own = content if provider == each.asked.call.provider == self._wire.name else None
        each.answer = Answered(each.asked.call, each.asked.id, text, error=given.error, content=own)
        return self.flush() if all(other.answer for other in self._waiting) else []

    def _asking(self, given: Given) -> _Waiting | None:
        """Return the first unanswered call with the result's id; where results carry names, of that name."""
        for each in self._waiting:
            named = given.name in (None, each.asked.call.tool)
            if each.answer is None and each.given == given.id and named:
                return each
        return None

    def _say(self, provider: str, apart: Apart, rest: JsonObject) -> list[JsonObject]:
        if provider == self._wire.name:
            return self._own(apart.role, rest)
        text = apart.text
        if not text.strip():
            return []
        if apart.role in SYSTEM:
            return [self._wire.system(text)]
        if apart.role in ("assistant", "model"):
            return self._wire.assistant(TurnRecorded(kind="text", provider=provider, calls=0, text=text), [])
        return [self._wire.user(text)]


def turn_of(reply: Reply) -> TurnRecorded:
    """Return a reply as the turn that it would be recorded as."""
    return TurnRecorded(
        kind=reply.kind,
        provider=reply.provider,
        calls=len(reply.calls),
        response_id=reply.response_id,
        stop_reason=reply.stop_reason,
        text=reply.text,
        items=reply.items,
        tool_choice=reply.tool_choice,
        usage=reply.usage,
    )


def call_of(sent: ProposedCall, index: int, provider: str) -> Call:
    """Return a proposed call as the one that it would be recorded as."""
    arguments = sent.arguments if isinstance(sent.arguments, dict) else None
    return NEW_CALL.changed(
        tool=sent.name,
        raw_arguments=sent.raw,
        arguments=arguments,
        index=index,
        provider=provider,
        provider_call_id=sent.provider_call_id,
    )
