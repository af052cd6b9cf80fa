"""What a real transcript must survive: into a ledger and out of it in every format, and back; cut anywhere, resumed."""

from __future__ import annotations

import gzip
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ledger import Ledger
from ledger.calls import Call
from ledger.history import History
from ledger.importing import ImportReport, SessionReport, import_file
from ledger.providers import get_format
from ledger.providers.bundle import write_bundle
from ledger.providers.check import check
from ledger.providers.export import export
from ledger.providers.formats import FORMATS
from ledger.providers.plain import text_from
from ledger.providers.port import USER
from ledger.replay import replay_json, replay_messages, replay_rows, session_at
from ledger.store.memory import MemoryStore
from ledger.store.port import Store
from ledger.strictjson import canonical

READERS = {"mistral": "openai"}
Counts = Counter[str]


def lines(path: Path) -> Iterator[Any]:
    """Yield the JSON values of a packed file, one a line."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def packed(values: Iterable[Any]) -> bytes:
    """Return values as a file, one a line."""
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def taken(data: bytes, store: Store, format: str = "auto") -> ImportReport:
    """Import a file's bytes; every record must be good and every session taken."""
    report = import_file(io.BytesIO(data), store, format=format)
    assert report.problems == []
    assert report.refused == []
    return report


def model_calls(history: History) -> list[tuple[str, str | None, bytes, str | None]]:
    """Return the model's calls: name, provider's id, arguments, and the text of what answered them."""
    found = []
    for turn in history.turns:
        for call in history.turn_calls(turn) if turn.body.provider != USER else ():
            text = text_from(call.result) if call.state == "succeeded" else call.message
            found.append((call.tool, call.provider_call_id, canonical(call.arguments), text))
    return found


def imported_to_the_byte(session: dict[str, Any], history: History) -> Counts:
    """Assert that every argument text and every result is the source's, in its order."""
    asked = [call for message in session["messages"] for call in message.get("tool_calls") or ()]
    calls = list(history.calls.values())
    assert [call.raw_arguments for call in calls] == [call["function"]["arguments"] for call in asked]
    assert [(call.tool, call.provider_call_id) for call in calls] == [
        (call["function"]["name"], call["id"]) for call in asked
    ]
    results = [message["content"] for message in session["messages"] if message["role"] == "tool"]
    answered = [text_from(call.result) if call.state == "succeeded" else call.message for call in calls]
    assert sorted(filter(None, answered)) == sorted(filter(None, results))
    return Counter(calls=len(calls), raw_argument_bytes=sum(len(call.raw_arguments or "") for call in calls))


def replayed(store: Store, session_id: str, history: History) -> None:
    """Assert that a replay tells every event, and in every format the same conversation."""
    assert len(list(replay_rows(store, session_id))) == history.sequence
    assert json.loads("".join(replay_json(store, session_id)))["sessionId"] == session_id
    wire = get_format("openai")
    assert list(replay_messages(store, session_id, wire)) == export(history, wire)["messages"]


def out_and_back(history: History, name: str) -> None:
    """Assert that a format's export is accepted, and that it comes back with the same calls, ids and results."""
    wire = get_format(name)
    body = export(history, wire)
    assert check(name, body) == []
    store = MemoryStore()
    report = taken(packed([body]), store, READERS.get(name, name))
    before, after = model_calls(history), model_calls(session_at(store, report.sessions[0].session_id))
    assert [(call[0], *call[2:]) for call in after] == [(call[0], *call[2:]) for call in before]
    seen: set[str | None] = set()
    for (_, given, *_), (_, here, *_) in zip(before, after, strict=True):
        keeps = given is not None and wire.ids.legal(given) and given not in seen
        assert (here == given) if keeps else (here != given)
        seen.add(given)


def bundled_and_back(store: Store, session_id: str) -> None:
    """Assert that the ledger's own export gives equal records and digests, in another ledger, once."""
    rows = store.read(session_id, limit=100_000)
    data = b"".join(write_bundle(session_id, (row.record for row in rows)))
    other = MemoryStore()
    assert taken(data, other).added == len(rows)
    assert [row.digest for row in other.read(session_id, limit=100_000)] == [row.digest for row in rows]
    assert taken(data, other).added == 0


def journey(session: dict[str, Any], report: SessionReport, store: Store) -> Counts:
    """Take one imported session through everything that has no end of its own; return what was counted."""
    history = session_at(store, report.session_id)
    counts = imported_to_the_byte(session, history)
    assert (report.calls, report.turns) == (len(history.calls), len(history.turns))
    replayed(store, report.session_id, history)
    for name in FORMATS:
        out_and_back(history, name)
    bundled_and_back(store, report.session_id)
    return counts + Counter(sessions=1, events=history.sequence, reserialized=report.reserialized, open=report.open)


class Host:
    """A host with side-effecting tools that only count how often they run."""

    def __init__(self, names: Iterable[str]) -> None:
        self.ran = 0
        self.ledger = Ledger.open("memory://")
        self.store: Store = self.ledger._wiring.store
        for name in names:
            self.ledger.tool(name, effect="external", schema={"type": "object"})(self._tool)

    def _tool(self, **_: Any) -> str:
        self.ran += 1
        return "done"

    def resume(self, session_id: str, messages: list[Any], formats: Iterable[str]) -> Counts:
        """Resume an imported session; assert that nothing runs and that a provider takes what it tells."""
        session = self.ledger.session(session_id)
        session.resume()
        for name in formats:
            assert check(name, export(session.history, get_format(name))) == []
        assert check("openai", session.messages("openai")) == []
        told = [message for message in messages if message.get("x_requestor") != "user"]
        found = check("openai", session.complete(told))
        assert {each.code for each in found} <= {"id"}  # ids that repeat are the host's own there
        open_calls = [call for call in session.history.open_calls() if call.provider != USER]
        if open_calls:  # the model asks for them once more, as it may after a crash
            session.dispatch(asking_again(open_calls))
            assert check("openai", session.messages("openai")) == []
        assert self.ran == 0
        return Counter(cuts=1, open_when_cut=len(open_calls))


def asking_again(calls: Iterable[Call]) -> dict[str, Any]:
    """Return a model's message that repeats calls under new ids."""
    listed = [
        {"id": f"again{n}", "type": "function", "function": {"name": call.tool, "arguments": call.raw_arguments}}
        for n, call in enumerate(calls)
    ]
    return {"role": "assistant", "content": None, "tool_calls": listed}


def tools_of(session: dict[str, Any]) -> set[str]:
    """Return the names of the tools that a session calls."""
    return {call["function"]["name"] for message in session["messages"] for call in message.get("tool_calls") or ()}


def cut_everywhere(session: dict[str, Any], formats: int = len(FORMATS)) -> Counts:
    """
    Cut a session behind each message, import it, resume it; and let it grow message by message in one ledger.

    `formats`: how many are looked at behind each cut, in turn.
    """
    host, counts, messages = Host(tools_of(session)), Counts(), session["messages"]
    for length in range(1, len(messages) + 1):
        part = {**session, "messages": messages[:length]}
        taken(packed([{**part, "session": f"cut {length}"}]), host.store, "openai")
        names = (FORMATS * 2)[length % len(FORMATS) :][:formats]
        counts += host.resume(f"cut {length}", messages[:length], names)
        taken(packed([{**part, "session": "growing"}]), host.store, "openai")
    assert_same_calls(host.store, "growing", f"cut {len(messages)}")
    return counts


def assert_same_calls(store: Store, one: str, other: str) -> None:
    """Assert that two sessions hold the same calls with the same ends."""
    found = [
        [(call.tool, call.raw_arguments, call.state, call.result, call.message) for call in history.calls.values()]
        for history in (session_at(store, one), session_at(store, other))
    ]
    assert found[0] == found[1]


HOSTS = {
    "bedrock-runtime": "bedrock",
    "anthropic.com": "anthropic",
    "googleapis.com": "gemini",
    "/responses": "responses",
}


def exchanges(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each exchange in which a provider answered with a message, with its format's name."""
    for exchange in lines(path):
        for each in exchange["interactions"]:
            request, response = each.get("request"), each.get("response")
            if each["status"] != 200 or not isinstance(request, dict) or not isinstance(response, dict):
                continue
            if response.keys() & {"candidates", "choices", "message", "output"} or response.get("type") == "message":
                name = next((name for part, name in HOSTS.items() if part in each["uri"]), "openai")
                yield name, {"request": request, "response": response}


def exchange_taken(name: str, document: dict[str, Any]) -> Counts:
    """Import an exchange; if there are calls in it, assert that the provider is right and every export is accepted."""
    store = MemoryStore()
    report = taken(packed([document]), store)
    assert report.format == name
    history = session_at(store, report.sessions[0].session_id)
    if not history.calls:
        return Counter(exchanges=1)
    assert {turn.body.provider for turn in history.turns} == {name}
    for wire in FORMATS:
        assert check(wire, export(history, get_format(wire))) == []
    assert taken(packed([document]), store).added == 0
    return Counter({"exchanges": 1, "exchanges_with_calls": 1, f"calls_{name}": len(history.calls)})
