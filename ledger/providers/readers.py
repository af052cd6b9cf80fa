"""Reads transcripts of the providers' formats: whole sessions, requests with their replies, or message by message."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ledger.errors import UsageError
from ledger.providers import anthropic_parse, converse, gemini_parse, openai_parse, responses_parse
from ledger.providers.apart import Given, take_apart
from ledger.providers.assembling import Assembler
from ledger.providers.imported import ImportedSession, Read, Requestor
from ledger.providers.plain import plain, text_or_none
from ledger.providers.port import USER, Reply
from ledger.strictjson import Json, JsonObject, printable

_IDS: Final = ("session", "session_id", "sessionId", "conversation_id", "id")
_TIMES: Final = ("x_ts", "timestamp", "created_at")
_LABELS: Final = ("domain", "kind", "source", "termination")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """
    How a format's documents are built.

    `messages` is the key of a request's list, `system` that of instructions beside it, `replies` keys that only a
    reply has.
    """

    name: str
    messages: str
    system: str | None
    replies: frozenset[str]
    parse: Callable[[object], Reply]


DIALECTS: Final[dict[str, Dialect]] = {
    each.name: each
    for each in (
        Dialect(
            name="openai",
            messages="messages",
            system=None,
            replies=frozenset({"choices", "message"}),
            parse=openai_parse.parse,
        ),
        Dialect(
            name="anthropic",
            messages="messages",
            system="system",
            replies=frozenset({"stop_reason"}),
            parse=anthropic_parse.parse,
        ),
        Dialect(
            name="bedrock",
            messages="messages",
            system="system",
            replies=frozenset({"output"}),
            parse=converse.parse,
        ),
        Dialect(
            name="gemini",
            messages="contents",
            system="systemInstruction",
            replies=frozenset({"candidates"}),
            parse=gemini_parse.parse,
        ),
        Dialect(
            name="responses",
            messages="input",
            system="instructions",
            replies=frozenset({"output"}),
            parse=responses_parse.parse,
        ),
    )
}
"""The provider formats that can be read, by name."""


def read_provider(source: str, documents: Iterable[Json]) -> Iterator[Read]:
    """
    Yield what the documents of a provider's format hold.

    A document is a whole session (or the body of a request), `{"request", "response"}`, a list of messages, a reply,
    or one message; single messages and replies up to the next whole session are one session.
    """
    reading = _Reading(DIALECTS[source])
    for document in documents:
        yield from reading.document(document)
    yield from reading.end()


class _Reading:
    """Where a reader stands: its session, and the output items (Responses) that are not yet a turn."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._assembler = Assembler()
        self._run: list[JsonObject] = []
        self._begun = False
        self._place = -1

    def document(self, document: Json) -> Iterator[Read]:
        self._place += 1
        if isinstance(document, list):
            for message in document:
                yield from self._one(message)
        elif isinstance(document, dict) and isinstance(document.get("request"), dict):
            yield from self._session(document["request"], document)
            if isinstance(document.get("response"), dict):
                yield from self._one(document["response"])
            yield from self.end()
        elif isinstance(document, dict) and isinstance(document.get(self._dialect.messages), list | str):
            yield from self._session(document, document)
            yield from self.end()
        else:
            yield from self._one(document)

    def end(self) -> Iterator[Read]:
        """End the session."""
        self._close_run()
        yield from self._assembler.end()
        self._begun = False

    def _session(self, body: JsonObject, head: JsonObject) -> Iterator[Read]:
        yield from self.end()
        yield self._begin(head)
        system = self._dialect.system and _system(body.get(self._dialect.system))
        if system:
            self._assembler.say("system", self._dialect.name, {"role": "system", "content": system})
        messages = body.get(self._dialect.messages)
        for message in [{"role": "user", "content": messages}] if isinstance(messages, str) else messages or ():
            yield from self._one(message)
        if isinstance(body.get("output"), list):  # a response that is kept with its input
            yield from self._one({key: value for key, value in body.items() if key != self._dialect.messages})

    def _begin(self, head: JsonObject) -> ImportedSession:
        self._begun = True
        labels = {key: value for key in _LABELS if isinstance(value := head.get(key), str)}
        return ImportedSession(
            source=self._dialect.name,
            id=next((head[key] for key in _IDS if isinstance(head.get(key), str)), None),
            model=text_or_none(head.get("model")),
            started=text_or_none(head.get("started")),
            labels=labels,
        )

    def _one(self, message: Json) -> Iterator[Read]:
        """Take in one message or reply."""
        if not self._begun:
            yield self._begin({})
        if not isinstance(message, dict):
            self._assembler.skip(self._place, f"no message: {type(message).__name__}")
        elif self._dialect.replies & message.keys() and (self._dialect.name != "responses" or "type" not in message):
            self._reply(message)
        elif self._dialect.name == "responses":
            self._item(message)
        else:
            self._message(message)
        yield from self._assembler.ready()

    def _reply(self, message: JsonObject) -> None:
        self._close_run()
        try:
            self._assembler.turn(self._dialect.parse(message))
        except UsageError as error:
            self._assembler.skip(self._place, error.message)

    def _item(self, item: JsonObject) -> None:
        """Take in an item: those of the model up to the next of the host's are one turn."""
        if responses_parse.is_output(item):
            self._run.append(item)
            return
        self._close_run()
        self._message(item)

    def _close_run(self) -> None:
        if self._run:
            self._assembler.turn(responses_parse.parse({"output": self._run}))
            self._run = []

    def _message(self, message: JsonObject) -> None:
        name = self._dialect.name
        if name != "responses" and "role" not in message and "type" in message:  # as frameworks keep messages
            what = f"a message without a role, of the type {printable(str(message['type']))}: no provider's"
            self._assembler.skip(self._place, what)
            return
        at = next((message[key] for key in _TIMES if isinstance(message.get(key), str)), None)
        role = text_or_none(message.get("role")) or ("tool" if "type" in message else "user")
        requestor: Requestor = "user" if message.get("x_requestor") == "user" else "model"
        own = {key: value for key, value in message.items() if _is_own(key, value)}
        if role == "user" and own.get("tool_calls"):
            self._user_calls(own, at)
            return
        if role == "function":  # as tool messages were called once
            role, own = "tool", own | {"role": "tool"}
        error = {"x_error": True} if message.get("x_error") is True else {}
        apart = take_apart(name, role, _without_marks(own) | error)
        if apart.reply is not None:
            self._assembler.turn(apart.reply, at, reserialized=_reserialized(own))
            return
        for given in apart.results:
            if not self._assembler.answer(_named(given, own), at, requestor):
                self._assembler.orphan(role, name, _alone(name, own, given), at)
        if apart.rest is not None:
            self._assembler.say(role, name, plain(apart.rest), at)

    def _user_calls(self, message: JsonObject, at: str | None) -> None:
        """Take in the calls of a user: no provider has read them."""
        said = {key: value for key, value in message.items() if key != "tool_calls"}
        if said.get("content"):
            self._assembler.say("user", self._dialect.name, plain(said), at)
        calls = openai_parse.calls_of(_without_marks(message))
        reply = Reply(kind="tool_calls", provider=USER, calls=calls)
        self._assembler.turn(reply, at, "user", _reserialized(message))


def _is_own(key: str, value: Json) -> bool:
    """Whether it is the provider's, and says something: neither the source's remark nor a null that is refused."""
    return not key.startswith("x_") and key not in _TIMES and (value is not None or key == "content")


def _system(given: Json) -> str | None:
    """Return instructions as a text, in whichever of the formats' shapes they come."""
    if isinstance(given, str):
        return given
    return take_apart("anthropic", "system", {"content": given}).text if isinstance(given, list) else _content(given)


def _content(given: Json) -> str | None:
    return take_apart("gemini", "system", given).text if isinstance(given, dict) else None


def _calls(message: Mapping[str, Any]) -> list[Any]:
    calls = message.get("tool_calls")
    return calls if isinstance(calls, list) else []


def _without_marks(message: JsonObject) -> JsonObject:
    """Return the message without what the source remarks on its calls."""
    calls = [
        {key: value for key, value in call.items() if not key.startswith("x_")} if isinstance(call, dict) else call
        for call in _calls(message)
    ]
    return message | {"tool_calls": calls} if calls else message


def _reserialized(message: JsonObject) -> frozenset[int]:
    """Return the calls whose argument text the source did not keep."""
    calls = enumerate(_calls(message))
    return frozenset(n for n, call in calls if isinstance(call, dict) and call.get("x_args_reserialized") is True)


def _named(given: Given, message: JsonObject) -> Given:
    """Return a result with the tool's name where the message has it and no id (the old function messages)."""
    name = message.get("name")
    return (
        Given(content=given.content, name=name, error=given.error) if isinstance(name, str) and not given.id else given
    )


def _alone(name: str, message: JsonObject, given: Given) -> JsonObject:
    """Return an orphan's message: of one with several results only this."""
    if name == "anthropic":
        block = {"type": "tool_result", "tool_use_id": given.id, "content": given.content}
        return {"role": "user", "content": [block]}
    if name == "gemini":
        response = {"name": given.name, "response": given.content}
        return {"role": "user", "parts": [{"functionResponse": response}]}
    return dict(plain(message))
