"""Reports of data that was refused, rounded, cut or put out of order on its way through a database or a terminal."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from ledger import Ledger
from ledger.ids import Clock
from ledger.providers.check import check
from ledger.strictjson import canonical, loads
from tests.cases.scenes import MEMORY, SERVER, SESSION, Desk
from tests.cli.running import data, ledger
from tests.providers.odd import FORMATS
from tests.session.agents import asked, recorded

OBJECT = {"type": "object"}


def echoing(desk: Desk, ran: list[Any]) -> Ledger:
    """Open a ledger with a tool that notes its arguments and gives them back."""

    def echo(**arguments: Any) -> Any:
        ran.append(arguments)
        return arguments

    found = desk.open(tools=False)
    found.tool("echo", effect="write", schema=OBJECT)(echo)
    return found


def of(host: Ledger, kind: str) -> list[Any]:
    """Return the bodies of the session's events of a type."""
    return [event.body for event in recorded(host, SESSION) if event.type == kind]


def test_a_nul_is_refused_by_a_database(tmp_path: Path, desk: Desk, server_url: str) -> None:
    """U+0000, and the six characters of its escape, are kept exactly and apart, with equal digests on each back end."""
    # https://github.com/Autumn-27/ARTEX/issues/112
    raw = '{"nul": "a\\u0000b", "text": "a\\\\u0000b", "a\\u0000": 1}'
    value = {"nul": "a\0b", "text": "a\\u0000b", "a\0": 1}
    found = []
    for place in (desk, Desk(tmp_path, MEMORY), Desk(tmp_path, server_url)):
        ran: list[Any] = []
        echoing(place, ran).session(SESSION).dispatch(asked(("echo", raw)))
        again = place.open(tools=False)
        (proposed,), (succeeded,) = of(again, "call.proposed"), of(again, "call.succeeded")
        assert (proposed.raw_arguments, proposed.arguments) == (raw, value)
        assert (ran, succeeded.result) == ([value], value)
        (row,) = again.calls(session=SESSION)
        found.append((row["argumentsDigest"], canonical(succeeded.result), again.session(SESSION).messages()))
        place.close()
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("raw", ['{"path":"caf\\udce9.txt"}', '{"path":"caf\udce9.txt"}'], ids=["escape", "character"])
def test_a_name_that_is_no_text_crashes_the_save(desk: Desk, raw: str) -> None:
    """A lone surrogate is kept in the raw text and in a result; a terminal sees an escape, an export is UTF-8."""
    # https://github.com/agentscope-ai/agentscope/issues/1117, https://github.com/Aider-AI/aider/issues/1636
    host = desk.open(tools=False)
    host.tool("find", effect="read", schema=OBJECT)(lambda **_: "caf\udce9.txt")
    session = host.session(SESSION)
    session.dispatch(asked(("find", raw), ("find", {})))
    again = desk.open(tools=False)
    assert [body.raw_arguments for body in of(again, "call.proposed")] == [raw, "{}"]
    (succeeded,) = of(again, "call.succeeded")
    assert succeeded.result == "caf\udce9.txt"
    refused, run = again.calls(session=SESSION)
    assert (refused["gate"], refused["code"], run["state"]) == ("decode", "lone_surrogate", "succeeded")
    for call in (refused, run):
        shown = ledger("audit", "call", call["callId"]).stdout
        assert "caf\\udce9.txt" in shown
        assert "\udce9" not in shown
    rows = ledger("audit", "events", "--format", "jsonl").stdout
    assert rows.isascii()
    assert raw in [json.loads(row)["body"].get("rawArguments") for row in rows.splitlines()]
    for name in FORMATS:
        messages = again.session(SESSION).messages(name)
        assert check(name, messages) == []
        assert b"caf" in json.dumps(messages, ensure_ascii=False).encode()


def test_a_large_id_is_rounded(desk: Desk) -> None:
    """Beyond 2^53 it stays what it is: in the tool, in the store, in replay and in every export; 1 is not 1.0."""
    # https://github.com/earendil-works/pi/issues/8943, https://github.com/NousResearch/hermes-agent/issues/55314
    raw = '{"id": 2512292042121000001, "n": 1.0, "m": 1, "d": 0.1}'
    ran: list[Any] = []
    echoing(desk, ran).session(SESSION).dispatch(asked(("echo", raw)))
    assert repr(ran) == "[{'id': 2512292042121000001, 'n': 1.0, 'm': 1, 'd': 0.1}]"
    again = desk.open(tools=False)
    (proposed,), (succeeded,) = of(again, "call.proposed"), of(again, "call.succeeded")
    assert proposed.raw_arguments == raw
    exact = b'{"d":0.1,"id":2512292042121000001,"m":1,"n":1.0}'
    assert canonical(proposed.arguments) == canonical(succeeded.result) == exact
    (call,) = data("replay", "session", SESSION)["turns"][0]["calls"]
    assert call["rawArguments"] == raw
    assert canonical(call["arguments"]) == canonical(call["answer"]["data"]) == exact
    for name in FORMATS:
        assert json.dumps(again.session(SESSION).messages(name)).count("2512292042121000001") == 2


def test_a_number_beyond_all_bounds_becomes_infinity(desk: Desk) -> None:
    """1e400 is refused with its place, kept as the text that it was, and never told as Infinity."""
    # https://github.com/earendil-works/pi/issues/8943
    ran: list[Any] = []
    host = echoing(desk, ran)
    told = host.session(SESSION).dispatch(asked(("echo", '{"e": 1e400}')))
    assert (ran, told.calls[0].state, told.calls[0].code) == ([], "rejected", "number_out_of_range")
    (proposed,) = of(host, "call.proposed")
    assert (proposed.raw_arguments, proposed.arguments) == ('{"e": 1e400}', None)
    assert loads(ledger("audit", "events", "--json").stdout.encode())
    assert "Infinity" not in ledger("audit", "events", "--json").stdout


MOMENTS = [
    datetime(2026, 5, 1, 12, tzinfo=UTC),
    datetime(2026, 5, 1, 9, tzinfo=timezone(timedelta(hours=-3))),
    datetime(2026, 5, 1, 13, tzinfo=UTC),
    datetime(2026, 5, 1, 14),  # noqa: DTZ001 - as naive as the reported one
    datetime(2026, 5, 1, 8, tzinfo=UTC),
]


@pytest.fixture
def new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine whose own time is not UTC."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "America/New_York")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("new_york")
@pytest.mark.parametrize("desk", ["", MEMORY, SERVER], ids=["sqlite", "memory", "postgres"], indirect=True)
def test_a_database_keeps_the_wall_clock_and_drops_the_offset(desk: Desk) -> None:
    """Order is by sequence, whatever the clock said; a time is an instant in UTC, and without an offset it is UTC."""
    # https://github.com/ibm-granite/granite.build/issues/279, https://github.com/MemMachine/MemMachine/pull/1462
    hands = [MOMENTS[0]]
    host = desk.open(tools=False, clock=Clock(now=lambda: hands[-1]))
    for number, moment in enumerate(MOMENTS):
        hands.append(moment)
        host.session(SESSION).add({"role": "user", "content": str(number)})
    rows = list(host.events(session=SESSION, type="message.recorded"))
    assert [row["body"]["message"]["content"] for row in rows] == ["0", "1", "2", "3", "4"]
    assert [row["recordedAt"][11:] for row in rows] == [f"{hour:02}:00:00.000000Z" for hour in (12, 12, 13, 14, 8)]
    for since in ("2026-05-01T12:30:00Z", "2026-05-01T09:30:00-03:00", "2026-05-01T12:30"):
        found = host.events(session=SESSION, type="message.recorded", since=since)
        assert [row["body"]["message"]["content"] for row in found] == ["2", "3"]
        if desk.url != MEMORY:
            shown = data("audit", "events", "--type", "message.recorded", "--since", since, "--db", desk.url)
            assert [row["body"]["message"]["content"] for row in shown] == ["2", "3"]


@pytest.mark.usefixtures("new_york")
def test_a_transcripts_times_lose_their_offset(desk: Desk) -> None:
    """Imported times are the same instants, one without an offset is UTC, and equal ones keep the file's order."""
    # https://github.com/ibm-granite/granite.build/issues/279, https://github.com/MemMachine/MemMachine/pull/1462
    times = ["2026-05-01T12:00:00+00:00", "2026-05-01T09:00:00-03:00", "2026-05-01T13:00:00+00:00", "2026-05-01T13:00"]
    messages = [{"role": "user", "content": str(number), "x_ts": time} for number, time in enumerate(times)]
    (desk.folder / "chat.json").write_text(json.dumps({"messages": messages}))
    assert ledger("session", "import", "chat.json", "--session", SESSION).exit_code == 0
    rows = data("audit", "events", "--session", SESSION, "--type", "message.recorded")
    assert [row["body"]["message"]["content"] for row in rows] == ["0", "1", "2", "3"]
    assert [row["recordedAt"][11:16] for row in rows] == ["12:00", "12:00", "13:00", "13:00"]
    late = data(
        "audit", "events", "--session", SESSION, "--type", "message.recorded", "--since", "2026-05-01T09:30-03:00"
    )
    assert [row["body"]["message"]["content"] for row in late] == ["2", "3"]
