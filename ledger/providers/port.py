"""The few things the ledger needs of a provider's wire format; each provider is one module behind this port."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, TypeAlias

from ledger.calls import Call
from ledger.catalog.definition import ToolVersion
from ledger.events import MessageRecorded
from ledger.events.session_bodies import TurnKind, TurnRecorded
from ledger.providers.names import IdRule, Ids
from ledger.strictjson import Json, JsonObject

HOST: Final = "host"
"""The provider of a turn that the host's own code made."""

USER: Final = "user"
"""The provider of a turn in which a user called: recorded, and never told a model, which has not read it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedCall:
    """
    One call as the provider's message holds it.

    `name` is the provider's spelling (see `original_name`). `raw` is the exact text of the arguments where the
    provider sent a text, `arguments` what the SDK gave instead (anything). The provider's id may repeat or be missing.
    """

    name: str
    raw: str | None = None
    arguments: Any = None
    provider_call_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedCall:
    """
    A call that the provider executed itself: it is recorded, never dispatched.

    `ended` None: the answer does not say what became of it. `name` None: the end of a call of an earlier answer, found
    by the provider's id. `raw` is the exact text of the arguments where it sent one.
    """

    name: str | None
    raw: str | None = None
    arguments: Json = None
    provider_call_id: str | None = None
    ended: Literal["succeeded", "failed"] | None = None
    result: Json = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """
    A model's answer, read from a provider's format.

    `items` is JSON: everything that was not understood, verbatim, for the same provider only. `usage` are its token
    counts. An `incomplete` reply was cut off or refused: it is recorded, and none of its calls is executed.
    """

    kind: TurnKind
    provider: str
    calls: tuple[ProposedCall, ...] = ()
    hosted: tuple[HostedCall, ...] = ()
    text: str | None = None
    response_id: str | None = None
    stop_reason: str | None = None
    items: Json = None
    usage: Json = None
    tool_choice: Json = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """
    A call in a conversation: the intent as the model sent it, the id it has there, and the text that answers it.

    `error`: the call did not succeed, or nobody knows. `content` is what this very provider was given as the answer, if
    that is more than a text.
    """

    call: Call
    id: str
    text: str
    error: bool = False
    content: Json = None


class HostMessages(Protocol):
    """The host's own messages on their way into a conversation; some hold calls and results of their own."""

    def note(self, body: MessageRecorded) -> None:
        """Take in the ids that the message uses, and nothing else."""

    def push(self, body: MessageRecorded) -> list[JsonObject]:
        """
        Return the next messages: this one, after answers for calls that stay without one.

        As recorded if it is of this provider, else its role and its text. No result stays without its call.
        """

    def flush(self) -> list[JsonObject]:
        """Return answers for the calls that stay without one."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a call is answered with in a host's own transcript; `error` as in `Answered`."""

    call_id: str
    text: str
    error: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """The calls of an assistant message in a host's own transcript, and what answers each there (None: nothing)."""

    calls: tuple[ProposedCall, ...]
    answers: tuple[str | None, ...]


Says: TypeAlias = Callable[[Told], str]
"""What a transcript says where a call is answered so, as `Asked` has it."""

FindAnswers: TypeAlias = Callable[[Sequence[Asked], Says], Sequence[Sequence[Told]]]
"""From the assistant messages to the answer of each call; where no recorded one is meant its callId is made up."""


class WireFormat(Protocol):
    """One provider's messages, in and out. All that it returns is new, plain JSON: dicts, lists and scalars."""

    name: str
    ids: IdRule
    system_apart: bool  # whether instructions stand beside the messages

    def parse(self, reply: object) -> Reply:
        """Read a model's answer; raises `UsageError` that names what was given and what is taken."""

    def assistant(self, turn: TurnRecorded, answered: Sequence[Answered]) -> list[JsonObject]:
        """Return the assistant message with its calls."""

    def results(self, answered: Sequence[Answered]) -> list[JsonObject]:
        """Return what answers the calls, in their order."""

    def tools(self, versions: Sequence[ToolVersion]) -> list[JsonObject]:
        """Return the tools as the provider's request takes them; raises `UsageError` where two get one name."""

    def system(self, text: str) -> JsonObject:
        """Return a system message."""

    def user(self, text: str) -> JsonObject:
        """Return a user message."""

    def follow(self, before: JsonObject | None, message: JsonObject) -> list[JsonObject]:
        """
        Return what stands for the last message so far (None: there is none yet) and the one that follows it.

        Some providers take no two messages of one role in a row, or no assistant's message first.
        """

    def host(self, ids: Ids) -> HostMessages:
        """Return the way in for the host's messages of one conversation."""

    def request(self, system: str | None, messages: Sequence[JsonObject]) -> JsonObject:
        """Return the messages (and the instructions, where they stand apart) as a request's body holds them."""

    def complete(self, messages: Sequence[Any], find: FindAnswers, *, every: bool) -> tuple[list[Any], set[str]]:
        """
        Return a host's transcript with the missing answers at their places; the rest stays as it is.

        Beside it the callIds whose answer as found stands in it now; with `every` also those where nothing is missing.
        Some are of no recorded call: see `FindAnswers`.
        """

    def holds(self, messages: Sequence[Any], message: JsonObject) -> bool:
        """Whether the message stands in a host's transcript."""
