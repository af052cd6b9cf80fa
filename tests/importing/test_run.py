"""Whole imports: what is recorded, again, longer, changed, and under which ids."""

from __future__ import annotations

import gzip
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from ledger.errors import LedgerError, StoreUnavailable, UsageError
from ledger.events import CallNoted, Event, MessageRecorded, encode
from ledger.ids import Clock
from ledger.importing import Wanted, import_file, writing
from ledger.providers import get_format
from ledger.providers.check import check
from ledger.providers.export import export
from ledger.store.memory import MemoryStore
from ledger.store.port import Append, CallFilter
from ledger.store.urls import open_store
from tests.importing.chats import (
    ASK,
    PAYS,
    SYSTEM,
    WHOLE,
    asking,
    chat,
    history,
    jsonl,
    records,
    result,
    says,
    taken,
    told,
    types,
)
from tests.providers.anthropic.making import result as claude_result
from tests.providers.anthropic.making import use
from tests.providers.imports.test_claude_code import model, user

UUID8 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
FORMATS = ("anthropic", "bedrock", "gemini", "mistral", "openai", "responses")


def test_a_session_is_recorded_as_it_was() -> None:
    """Messages, turns, intents to the byte, and outcomes directly behind them."""
    store = MemoryStore()
    report = taken(chat(WHOLE, model="gpt", domain="bank"), store)
    assert told(report) == [("s", "new", 9)]
    assert (report.sessions[0].turns, report.sessions[0].calls, report.sessions[0].open) == (2, 2, 0)
    assert types(store) == [
        "session.opened",
        "message.recorded",
        "message.recorded",
        "turn.recorded",
        "call.proposed",
        "call.proposed",
        "call.succeeded",
        "call.succeeded",
        "turn.recorded",
    ]
    found = history(store)
    assert found.opened is not None
    assert (found.opened.model, found.opened.labels) == ("gpt", {"domain": "bank", "imported": "openai"})
    calls = list(found.calls.values())
    assert [call.raw_arguments for call in calls] == ['{ "to":"x" }', '{"to": "y"}']
    assert [(call.provider_call_id, call.result, call.imported, call.effect) for call in calls] == [
        ("a", "ok x", True, "external"),
        ("b", "ok y", True, "external"),
    ]
    assert [body.message["content"] for body in found.starts] == ["Help.", "Pay both."]
    assert export(found, get_format("openai")) == {"messages": WHOLE}


def test_every_id_is_made_from_the_content() -> None:
    """Event and call ids are UUIDv8; two ledgers give the same ones, another session id gives others."""
    one, two, three = MemoryStore(), MemoryStore(), MemoryStore()
    for store, name in ((one, "s"), (two, "s"), (three, "t")):
        taken(chat(WHOLE, name), store)
    rows = [store.read(name, limit=100) for store, name in ((one, "s"), (two, "s"), (three, "t"))]
    ids = [[(row.event_id, row.call_id) for row in listed] for listed in rows]
    assert ids[0] == ids[1]
    assert not {event for event, _ in ids[0]} & {event for event, _ in ids[2]}
    every = {each for pair in ids[0] for each in pair if each}
    assert len(every) == 9 + 2
    assert all(UUID8.fullmatch(each) for each in every)


def test_twice_is_as_good_as_once() -> None:
    """The second import adds nothing and changes nothing."""
    store = MemoryStore()
    taken(chat(WHOLE), store)
    before = records(store)
    assert told(taken(chat(WHOLE), store)) == [("s", "unchanged", 0)]
    assert records(store) == before


def test_one_walk_leads_back_to_the_turn() -> None:
    """Each event of a call names the one before it, a proposal its turn, a late outcome the flag."""
    store = MemoryStore()
    taken(chat(WHOLE[:4]), store)
    taken(chat(WHOLE[:5]), store)
    wires = [json.loads(record) for record in records(store)]
    names = {wire["eventId"]: wire["type"] for wire in wires}
    assert [(wire["type"], names.get(wire.get("causationId", ""))) for wire in wires[3:]] == [
        ("turn.recorded", None),
        ("call.proposed", "turn.recorded"),
        ("call.proposed", "turn.recorded"),
        ("call.succeeded", "call.proposed"),
        ("call.flagged", "call.proposed"),
        ("call.outcome_arrived_late", "call.flagged"),
    ]
    assert wires[-1]["causationId"] == wires[-2]["eventId"]


@pytest.mark.parametrize("length", range(len(WHOLE) + 1))
def test_a_longer_state_adds_what_is_new(length: int) -> None:
    """Cut at any message and imported, then whole: the conversation is the same, and the older state adds nothing."""
    store, whole = MemoryStore(), MemoryStore()
    taken(chat(WHOLE), whole)
    first = taken(chat(WHOLE[:length]), store)
    assert told(first) == [("s", "new", len(records(store)))]
    second = taken(chat(WHOLE), store)
    assert second.sessions[0].state == ("unchanged" if length == len(WHOLE) else "longer")
    assert export(history(store), get_format("openai")) == {"messages": WHOLE}
    assert [call.result for call in history(store).calls.values()] == ["ok x", "ok y"]
    for again in (length, len(WHOLE)):
        assert told(taken(chat(WHOLE[:again]), store)) == [("s", "unchanged", 0)]
    for name in FORMATS:
        assert check(name, export(history(store), get_format(name))) == []


@pytest.mark.parametrize("length", range(len(WHOLE) + 1))
def test_an_older_state_adds_nothing(length: int) -> None:
    """What is known since stays known, results that it did not have yet among it."""
    store = MemoryStore()
    taken(chat(WHOLE), store)
    before = records(store)
    assert told(taken(chat(WHOLE[:length]), store)) == [("s", "unchanged", 0)]
    assert records(store) == before


def test_results_that_come_with_a_longer_state() -> None:
    """Calls that were open are settled by a late outcome, good or bad; their first flag stays recorded."""
    store = MemoryStore()
    report = taken(chat(WHOLE[:3]), store)
    assert report.sessions[0].open == 2
    assert [call.state for call in history(store).calls.values()] == ["needs-review"] * 2
    bad = {**result("b", "no such account"), "x_error": True}
    assert told(taken(chat([*WHOLE[:3], result("a", "ok x"), bad]), store)) == [("s", "longer", 2)]
    assert types(store)[-4:] == ["call.flagged"] * 2 + ["call.outcome_arrived_late"] * 2
    assert [(call.state, call.message) for call in history(store).calls.values()] == [
        ("succeeded", None),
        ("failed", "no such account"),
    ]
    rows = store.calls(CallFilter(), limit=10)
    assert [row.row.state for row in rows] == ["succeeded", "failed"]


@pytest.mark.parametrize(
    "changed",
    [
        [SYSTEM, {"role": "user", "content": "Pay one."}, *WHOLE[2:]],
        [SYSTEM, ASK, asking(("a", "pay", '{"to":"x"}'), ("b", "pay", '{"to": "y"}')), *WHOLE[3:]],
        [*WHOLE[:4], result("b", "ok z"), *WHOLE[5:]],
        [*WHOLE[:4], {**result("b", "ok y"), "x_error": True}, *WHOLE[5:]],
        [*WHOLE[:5], says("Well done.")],
        WHOLE[1:],
    ],
)
def test_a_changed_transcript_is_refused(changed: list[Any]) -> None:
    """What is recorded is never changed: nothing is added, and the place is named; under another id it is taken."""
    store = MemoryStore()
    taken(chat(WHOLE), store)
    before = records(store)
    report = taken(chat(changed), store)
    assert told(report) == [("s", "refused", 0)]
    assert records(store) == before
    error = report.refused[0].error
    assert error is not None
    assert (error.code, "is another than what is recorded as event" in error.message) == ("transcript_changed", True)
    assert "--session" in (error.hint or "")
    assert told(taken(chat(changed), store, session_id="other"))[0][:2] == ("other", "new")


def test_a_result_that_changed_since_it_came_late_is_refused() -> None:
    """A late outcome is compared like any other."""
    store = MemoryStore()
    taken(chat(WHOLE[:4]), store)
    taken(chat(WHOLE[:5]), store)
    for rest in ([], [says("Done.")]):
        report = taken(chat([*WHOLE[:4], result("b", "ok z"), *rest]), store)
        assert told(report) == [("s", "refused", 0)]


def test_another_session_of_that_id_is_left_alone() -> None:
    """A session that a host recorded, and one from another format, are not mixed with the transcript."""
    store = MemoryStore()
    body = MessageRecorded(role="user", provider="openai", message=ASK)
    event = Event(session_id="s", event_id="0190-7", recorded_at="2026-11-29T20:00:00.000000Z", body=body)
    store.append(Append(session_id="s", drafts=(encode(event),)))
    report = taken(chat(WHOLE), store)
    assert told(report) == [("s", "refused", 0)]
    assert "another session with this id is recorded" in str(report.refused[0].error)
    taken(chat(WHOLE, "t"), store)
    assert told(taken(chat(WHOLE, "t"), store, format="anthropic")) == [("t", "refused", 0)]


def add(store: MemoryStore, body: Any, **envelope: Any) -> None:
    """Append an event as a host does."""
    event = Event(
        session_id="s",
        event_id=f"01900000-0000-7000-8000-{len(records(store)):012}",
        recorded_at="2026-11-29T20:00:00.000000Z",
        body=body,
        **envelope,
    )
    store.append(Append(session_id="s", drafts=(encode(event),)))


def test_a_note_is_no_obstacle() -> None:
    """What people say of imported calls stands between, and a longer state is taken all the same."""
    store = MemoryStore()
    taken(chat(WHOLE[:3]), store)
    call = next(iter(history(store).calls.values()))
    add(store, CallNoted(by="ann", text="Look."), call_id=call.call_id, tool="pay", turn=1, index=0, revision=0)
    assert told(taken(chat(WHOLE), store)) == [("s", "longer", 3)]
    assert told(taken(chat(WHOLE), store)) == [("s", "unchanged", 0)]


def test_where_both_went_on_nothing_is_mixed() -> None:
    """A session that was continued in the ledger takes results that were missing, and no other turn."""
    store = MemoryStore()
    taken(chat(WHOLE[:3]), store)
    add(store, MessageRecorded(role="user", provider="openai", message={"role": "user", "content": "And?"}))
    assert told(taken(chat(WHOLE[:5]), store)) == [("s", "longer", 2)]
    report = taken(chat(WHOLE), store)
    assert told(report) == [("s", "refused", 0)]
    assert "both went on" in str(report.refused[0].error)


def test_ids_of_sessions() -> None:
    """The file's, if a session can have it; else one made from it, or from how the session begins."""
    store = MemoryStore()
    names = ["s", "_catalog", "", "a\nb", "x" * 300, "caf\udce9", None, None]
    report = taken(b"".join(chat(WHOLE, name) for name in names), store)
    found = [each.session_id for each in report.sessions]
    assert found[0] == "s"
    assert all(name.startswith("import-") for name in found[1:])
    assert len(set(found)) == len(names)
    assert found[7] == f"{found[6]}/2"
    again = taken(b"".join(chat(WHOLE, name) for name in names), store)
    assert [(each.session_id, each.added) for each in again.sessions] == [(name, 0) for name in found]


def test_a_session_without_an_id_grows_too() -> None:
    """Its id is made from what stands up to the first answer: a longer state has the same one."""
    store = MemoryStore()
    first = taken(jsonl(WHOLE[:3]), store)
    assert told(taken(jsonl(WHOLE), store)) == [(first.sessions[0].session_id, "longer", 3)]
    long = [{"role": "user", "content": str(n)} for n in range(70)]
    early = taken(jsonl(long[:65]), store)
    assert told(taken(jsonl(long), store)) == [(early.sessions[0].session_id, "longer", 5)]
    assert told(taken(jsonl([ASK]), store))[0][1] == "new"


def test_ids_of_ones_own() -> None:
    """The first session of a file gets the id, the others a number behind it; one that cannot be is refused."""
    report = taken(chat(WHOLE, "a") + chat(WHOLE, None) + chat(WHOLE, "c"), session_id="mine")
    assert [each.session_id for each in report.sessions] == ["mine", "mine/1", "mine/2"]
    for wrong in ("", "_x", "a\0b", "x" * 256):
        with pytest.raises(UsageError, match="can be no session's id"):
            Wanted(session_id=wrong)


def test_whose_it_is() -> None:
    """Principal and tenant of the importer stand on every event and every call."""
    store = MemoryStore()
    taken(chat(WHOLE), store, principal="ann", tenant="acme")
    assert {(call.principal, call.tenant) for call in history(store).calls.values()} == {("ann", "acme")}
    assert {row.row.tenant for row in store.calls(CallFilter(tenant="acme"), limit=9)} == {"acme"}


def test_a_longer_transcript_goes_on_for_the_same_ones() -> None:
    """Where the importer names nobody; a result that comes late is for whom its call is, whoever imports it."""
    store = MemoryStore()
    taken(chat(WHOLE[:4]), store, principal="ann", tenant="acme")
    taken(chat(WHOLE), store)
    events = [json.loads(record) for record in records(store)]
    assert {(event["principal"], event["tenant"]) for event in events} == {("ann", "acme")}
    more = [*WHOLE, asking(("c", "pay", '{"to": "z"}'))]
    taken(chat(more), store, principal="bob", tenant="acme")
    taken(chat([*more, result("c", "ok z")]), store, principal="cy")
    for_whom = [json.loads(record)["principal"] for record in records(store)[len(events) :]]
    assert for_whom == ["bob"] * 4
    assert history(store).calls.keys() == {row.row.call_id for row in store.calls(CallFilter(tenant="acme"), limit=9)}


def test_a_session_keeps_its_tenant() -> None:
    """A longer transcript for another one is refused whole; the same one again adds nothing, whoever it is for."""
    store = MemoryStore()
    taken(chat(WHOLE[:4]), store, tenant="acme")
    before = records(store)
    assert told(taken(chat(WHOLE[:4]), store, tenant="other")) == [("s", "unchanged", 0)]
    for longer in (WHOLE[:5], WHOLE):
        [refused] = taken(chat(longer), store, tenant="other").sessions
        assert (refused.state, str(refused.error).partition(".")[0]) == (
            "refused",
            "session 's' belongs to another tenant than 'other'",
        )
    assert records(store) == before


def test_times_are_those_of_the_source() -> None:
    """A time without a zone is UTC; where there is none, or nonsense, the one before it counts."""
    store = MemoryStore()
    messages = [
        {**ASK, "timestamp": "2025-01-02T03:04:05"},
        {**PAYS, "timestamp": "2025-01-02T05:04:06+02:00"},
        {**result("a", "1"), "timestamp": "soon"},
        {**result("b", "2"), "timestamp": "2025-01-02T03:04:09Z"},
        {**says("x"), "timestamp": "0001-01-01T00:00:00+23:00"},
    ]
    taken(chat(messages, started="2025-01-01"), store)
    times = [json.loads(record)["recordedAt"] for record in records(store)]
    assert times == [
        "2025-01-01T00:00:00.000000Z",
        "2025-01-02T03:04:05.000000Z",
        *["2025-01-02T03:04:06.000000Z"] * 4,
        *["2025-01-02T03:04:09.000000Z"] * 2,
    ]


def test_without_times_it_is_now() -> None:
    """Then an import's own time is what is known."""
    store = MemoryStore()
    import_file(_file(chat(WHOLE)), store, clock=Clock(), format="openai")
    assert all(json.loads(record)["recordedAt"] > "2026" for record in records(store))


def _file(data: bytes) -> io.BytesIO:
    return io.BytesIO(data)


def test_repeated_and_missing_ids_are_kept_apart() -> None:
    """The provider's ids may repeat, in a turn and beyond it, or be missing: every call has its own result."""
    store = MemoryStore()
    messages = [
        ASK,
        asking(("x", "pay", "1"), ("x", "pay", "2"), (None, "pay", "3"), ("", "pay", "4")),
        *(result(given, f"r{n}") for n, given in enumerate(["x", "x", None, ""])),
        asking(("x", "pay", "1")),
        result("x", "again"),
    ]
    taken(chat(messages), store)
    calls = list(history(store).calls.values())
    assert [call.result for call in calls] == ["r0", "r1", "r2", "r3", "again"]
    assert len({call.call_id for call in calls}) == 5
    for name in FORMATS:
        assert check(name, export(history(store), get_format(name))) == []


def test_the_calls_of_a_user() -> None:
    """Those of a simulated user are recorded as the user's, and never told a model."""
    store = MemoryStore()
    call = {**asking(("u", "look", "{}")), "role": "user", "x_requestor": "user", "content": None}
    taken(chat([ASK, call, {**result("u", "seen"), "x_requestor": "user"}, says("Well.")]), store)
    found = history(store)
    assert [(turn.body.provider, len(turn.call_ids)) for turn in found.turns] == [("user", 1), ("openai", 0)]
    actors = [json.loads(record)["actor"] for record in records(store)]
    assert actors == ["import", "import", "user", "user", "import", "model"]
    assert export(found, get_format("openai")) == {"messages": [ASK, says("Well.")]}


def test_argument_texts_that_the_source_did_not_keep_are_named() -> None:
    """They are counted, and the outcome says so."""
    store = MemoryStore()
    call = asking(("a", "pay", "{}"))
    call["tool_calls"][0]["x_args_reserialized"] = True
    report = taken(chat([ASK, call, result("a", "ok")]), store)
    assert report.sessions[0].reserialized == 1
    assert json.loads(records(store)[-1])["body"]["evidence"] == {
        "rawArguments": "the source did not keep the text that the model sent"
    }


HOSTED: dict[str, Any] = {
    "role": "assistant",
    "content": [
        {"type": "server_tool_use", "id": "w1", "name": "web_search", "input": {"q": 1}},
        {"type": "tool_use", "id": "c1", "name": "pay", "input": {"to": "x"}},
    ],
}
SEARCHED = {"type": "web_search_tool_result", "tool_use_id": "w1", "content": [{"type": "web_search_result"}]}


def test_what_a_provider_executed_itself() -> None:
    """It stands behind the calls of its turn, and its end may come later; an end of nothing is passed over."""
    store = MemoryStore()
    paid = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "ok"}]}
    unknown = {**SEARCHED, "tool_use_id": "w9"}
    later = {"role": "assistant", "content": [SEARCHED, unknown, {"type": "text", "text": "Found."}]}
    taken(chat([ASK, HOSTED, paid, later]), store, format="anthropic")
    calls = list(history(store).calls.values())
    assert [(call.tool, call.index, call.executor, call.state) for call in calls] == [
        ("pay", 0, "host", "succeeded"),
        ("web_search", 1, "provider", "succeeded"),
    ]
    assert told(taken(chat([ASK, HOSTED, paid, later]), store, format="anthropic")) == [("s", "unchanged", 0)]
    other = MemoryStore()
    taken(chat([ASK, HOSTED, paid]), other, format="anthropic")
    assert told(taken(chat([ASK, HOSTED, paid, later]), other, format="anthropic")) == [("s", "longer", 2)]
    assert [call.state for call in history(other).calls.values()] == ["succeeded", "succeeded"]


def test_two_ends_in_one_later_turn() -> None:
    """Two calls at the same place of different turns may end in the same later one: their ids differ."""
    asks = [{"role": "assistant", "content": [{**HOSTED["content"][0], "id": name}]} for name in ("w1", "w2")]
    ends = [{**SEARCHED, "tool_use_id": name} for name in ("w1", "w2")]
    store = MemoryStore()
    messages = [ASK, asks[0], ASK, asks[1], ASK, {"role": "assistant", "content": ends}]
    assert told(taken(chat(messages), store, format="anthropic"))[0][1] == "new"
    assert [call.state for call in history(store).calls.values()] == ["succeeded", "succeeded"]


def test_a_session_file_of_claude_code() -> None:
    """Its branches and subagents are sessions with the first one as their parent, whatever that is called here."""
    lines = [
        user("u1", None),
        model("m1", "u1", use("c1")),
        user("u2", "m1", [claude_result("c1")]),
        user("x1", "m1", "Another way.", isSidechain=True),
    ]
    store = MemoryStore()
    report = taken(jsonl(lines), store, format="auto")
    assert (report.format, told(report)) == ("claude-code", [("s1", "new", 5), ("s1/1", "new", 2)])
    assert told(taken(jsonl(lines), store, format="auto")) == [("s1", "unchanged", 0), ("s1/1", "unchanged", 0)]
    taken(jsonl(lines), store, format="auto", session_id="mine")
    openings = [history(store, name).opened for name in ("s1", "s1/1", "mine", "mine/1")]
    assert [opened and opened.parent for opened in openings] == [None, "s1", None, "mine"]


def test_lone_surrogates_and_nul_are_data() -> None:
    """In texts, names, ids and results they are kept; exports stay valid."""
    store = MemoryStore()
    odd = "caf\udce9 \0"
    messages = [{"role": "user", "content": odd}, asking((odd, odd, odd)), result(odd, odd), says(odd)]
    assert told(taken(chat(messages), store)) == [("s", "new", 6)]
    call = next(iter(history(store).calls.values()))
    assert (call.tool, call.raw_arguments, call.provider_call_id, call.result) == (odd, odd, odd, odd)
    for name in FORMATS:
        assert check(name, export(history(store), get_format(name))) == []
    assert told(taken(chat(messages), store)) == [("s", "unchanged", 0)]


def test_bad_records_are_named_and_the_good_ones_taken() -> None:
    """Torn, glued, overwritten lines and what is no message: each at its line and byte."""
    data = jsonl([ASK]) + b'{"role":"us\n' + b"\0\0" + jsonl([PAYS]) + b"7\n" + jsonl([result("a", "1")])
    data += json.dumps(result("b", "2")).encode() + jsonl([says("Done.")])
    store = MemoryStore()
    report = taken(data, store)
    assert [(each.line, each.code) for each in report.problems] == [
        (2, "torn"),
        (3, "nul"),
        (4, "skipped"),
        (6, "glued"),
    ]
    for problem in report.problems:
        assert 0 < problem.offset < len(data)
    assert report.problems[2].told().endswith("no message: int (skipped)")
    assert (report.sessions[0].turns, report.sessions[0].calls, report.sessions[0].open) == (2, 2, 0)


def test_of_very_many_problems_the_first_are_kept() -> None:
    """All are counted."""
    report = taken(b"x\n" * 1500 + jsonl([ASK]))
    assert (len(report.problems), report.problem_count) == (1000, 1500)


def test_a_packed_file_that_ends_in_the_middle(tmp_path: Path) -> None:
    """What can be unpacked is taken, the rest is a problem behind the last line."""
    packed = gzip.compress(b"".join(chat(WHOLE, f"s{n}-{n * 7919}") for n in range(150)))
    path = tmp_path / "many.jsonl.gz"
    path.write_bytes(packed[: len(packed) // 2])
    report = import_file(path, MemoryStore())
    assert 10 < len(report.sessions) < 150
    assert [each.code for each in report.problems] == ["torn", "damaged"]


def test_a_packed_file_that_is_broken_from_its_begin() -> None:
    """Nothing is known of it then, not even its format: that is what is told."""
    with pytest.raises(LedgerError, match="the packed file is broken"):
        import_file(_file(b"\x1f\x8b" + b"\xff" * 50), MemoryStore())


def test_a_result_of_nothing_is_no_beginning() -> None:
    """What a host gives to begin with is said by it, before the first turn."""
    store = MemoryStore()
    taken(chat([ASK, result("z", "?"), says("x"), {"role": "user", "content": "And?"}]), store)
    assert [body.message for body in history(store).starts] == [ASK]


def test_what_is_no_transcript_is_not_imported(tmp_path: Path) -> None:
    """Neither by its content nor by its name; no ledger is made for it."""
    url = f"sqlite:///{tmp_path}/l.db"
    for data, name in ((b"hello", "auto"), (b"", "auto"), (chat(WHOLE), "word")):
        with pytest.raises(UsageError):
            import_file(_file(data), url, format=name)
    with pytest.raises(OSError, match="No such file"):
        import_file(tmp_path / "none", url)
    assert list(tmp_path.iterdir()) == []


def test_a_file_into_a_ledger(tmp_path: Path) -> None:
    """A path and a URL are enough; the ledger is made; what was imported is there, call by call."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(chat(WHOLE, "a") + chat(WHOLE[:3], "b"))
    url = f"sqlite:///{tmp_path}/l.db"
    report = import_file(str(path), url)
    assert (report.format, report.added) == ("openai", 17)
    assert import_file(path, url).added == 0
    store = open_store(url, create=False, read_only=True)
    assert [row.row.state for row in store.calls(CallFilter(), limit=9)] == ["succeeded"] * 2 + ["needs-review"] * 2
    assert [row.session_id for row in store.sessions(limit=9)] == ["a", "b"]
    store.close()


class Failing(MemoryStore):
    """A store that cannot be written."""

    def append(self, request: Append) -> Any:
        raise StoreUnavailable("full")


def test_a_store_that_fails_ends_the_import() -> None:
    """That is no fault of one session: it is raised."""
    with pytest.raises(StoreUnavailable):
        taken(chat(WHOLE), Failing())


def test_a_session_without_a_message() -> None:
    """It is recorded as begun; one that has no id either is none."""
    store = MemoryStore()
    assert told(taken(chat([]) + chat([], None), store)) == [("s", "new", 1)]


def test_a_long_session_is_committed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between its messages, never inside of a turn; broken off and imported again, it is the same."""
    monkeypatch.setattr(writing, "MOST_EVENTS", 4)
    store, once = MemoryStore(), MemoryStore()
    taken(chat(WHOLE), store)
    monkeypatch.undo()
    taken(chat(WHOLE), once)
    assert list(map(_undated, records(store))) == list(map(_undated, records(once)))
    assert told(taken(chat(WHOLE), store)) == [("s", "unchanged", 0)]


def _undated(record: bytes) -> Any:
    return json.loads(record) | {"recordedAt": None}
