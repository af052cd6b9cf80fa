"""The noun `audit`."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.audit.odd import newer
from tests.audit.world import opened
from tests.cli.running import call_ids, data, failure, ledger


def rows(*arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ledger("audit", *arguments, "--format", "jsonl").stdout.splitlines()]


def test_calls_as_a_table(world: Path) -> None:
    """One row a call: what was asked when and under which version, how it stands and why."""
    lines = ledger("audit", "calls", "--session", "mix", "--state", "needs-review").stdout.splitlines()
    assert lines[0].split() == ["CALL", "ASKED", "(UTC)", "SESSION", "TOOL", "V", "STATE", "WHY", "MS"]
    assert [line.split()[5:] for line in lines[1:]] == [
        ["v1", "needs-review", "outcome-unknown", "-"],
        ["v1", "needs-review", "duplicate", "-"],
    ]
    assert "schema_validation" not in ledger("audit", "calls").stdout


def test_the_api_and_the_command_line_have_the_same_rows(world: Path) -> None:
    """What --json, --format json and jsonl print is what `Ledger.calls` and `Ledger.events` yield."""
    with opened(world) as host:
        calls, events = list(host.calls(session="mix")), list(host.events(session="mix"))
    assert data("audit", "calls", "--session", "mix") == rows("calls", "--session", "mix") == calls
    assert json.loads(ledger("audit", "events", "--session", "mix", "--format", "json").stdout) == events


@pytest.mark.parametrize(
    ("options", "count"),
    [
        (["--state", "denied"], 1),
        (["--state", "denied", "--state", "rejected"], 4),
        (["--reason", "duplicate"], 1),
        (["--duplicates"], 1),
        (["--gate", "decode"], 2),
        (["--code", "no"], 1),
        (["--class", "policy"], 1),
        (["--stage", "compat"], 0),
        (["--schema-version", "2"], 0),
        (["--tool", "find", "--principal", "bob"], 1),
        (["--tenant", "acme"], 9),
        (["--idempotency-key", "k"], 0),
        (["--since", "1h"], 13),
        (["--until", "1h"], 0),
    ],
)
def test_filters_of_calls(world: Path, options: list[str], count: int) -> None:
    """Each filter leaves the rows that fit."""
    assert len(data("audit", "calls", *options)) == count


def test_nothing_found_is_said(world: Path) -> None:
    """Where no row fits a person is told, and a program gets an empty list."""
    assert ledger("audit", "calls", "--tool", "nope").output == "No call fits.\n"
    assert ledger("audit", "events", "--type", "call.upcast").output == "No event fits.\n"
    assert ledger("audit", "stats", "--tool", "nope").output == "No call fits.\n"
    assert data("audit", "events", "--type", "call.upcast") == []


@pytest.mark.parametrize("noun", ["calls", "events", "stats", "versions"])
@pytest.mark.parametrize(
    ("option", "word", "what"),
    [
        ("--state", "need-review", "state"),
        ("--type", "nope", "type"),
        ("--gate", "x", "gate"),
        ("--class", "models", "class"),
        ("--stage", "x", "stage"),
        ("--reason", "x", "reason"),
    ],
)
def test_a_slip_of_the_pen_is_told(world: Path, noun: str, option: str, word: str, what: str) -> None:
    """A word that nothing can have is wrong usage: no row would look like good news."""
    status, code, message = failure("audit", noun, option, word)
    assert (status, code) == (2, "usage")
    assert message.startswith(f"there is no {what} {word!r}")


def test_a_call_is_named_by_head_or_tail(world: Path) -> None:
    """Calls and their events are found by the tail that tables show."""
    called = call_ids()["done 1.0"]
    assert [row["callId"] for row in data("audit", "calls", "--call", called[-8:])] == [called]
    assert {row["callId"] for row in data("audit", "events", "--call", called[-8:])} == {called}
    assert failure("audit", "events", "--call", "nope")[:2] == (1, "unknown_call")
    assert failure("audit", "call", called[:6])[:2] == (1, "unknown_call")


def test_a_limit_names_the_next_page(world: Path) -> None:
    """A cut listing says so and where it goes on; the last page does not."""
    cut = ledger("audit", "events", "--limit", "2")
    assert cut.stdout.count("\n") == 3
    assert cut.stderr == "There are more: go on with --after 2\n"
    first = json.loads(ledger("audit", "events", "--limit", "2", "--json").stdout)
    assert ([row["position"] for row in first["data"]], first["next"]) == ([1, 2], "2")
    total = len(rows("events"))
    last = json.loads(ledger("audit", "events", "--after", "2", "--limit", str(total - 2), "--json").stdout)
    assert (len(last["data"]), last["next"]) == (total - 2, None)
    assert len(ledger("audit", "calls", "--limit", "1", "--format", "jsonl").stdout.splitlines()) == 1


def test_events_tell_what_happened(world: Path) -> None:
    """The table has a few words of each event; the rows for programs have the body instead."""
    told = ledger("audit", "events", "--session", "mix", "--type", "call.denied").stdout.splitlines()
    assert told[0].split() == ["POS", "TIME", "(UTC)", "SESSION", "SEQ", "TYPE", "TOOL", "CALL", "WHAT"]
    assert "no: Not there." in told[1]
    (row,) = data("audit", "events", "--session", "mix", "--type", "call.denied")
    assert row["body"]["code"] == "no"
    assert "summary" not in row
    both = data("audit", "events", "--type", "session.closed", "--type", "call.denied")
    assert sorted(row["type"] for row in both) == ["call.denied", "session.closed"]


def test_the_story_of_a_call(world: Path) -> None:
    """For people a page and the events; for programs the story with its events in one object."""
    called = call_ids()["mix 3.0"]
    page = ledger("audit", "call", called[-8:]).stdout
    for words in (f"Call {called}  needs-review\n", "Arguments\n  body  lost\n", "TimeoutError", "Copies, settled"):
        assert words in page
    assert page.rstrip().splitlines()[-1].split()[3:5] == ["call.flagged", "outcome-unknown:"]
    story = data("audit", "call", called)
    assert (story["callId"], story["reason"]) == (called, "outcome-unknown")
    assert [event["type"] for event in story["events"]][-2:] == ["call.started", "call.flagged"]
    assert [row["type"] for row in rows("call", called)] == [event["type"] for event in story["events"]]


def test_a_table_of_a_call_has_its_events_only(world: Path) -> None:
    """--format prints the call's events; the page is for who asks for nothing in particular."""
    called = call_ids()["done 1.0"]
    told = ledger("audit", "call", called, "--format", "table").stdout.splitlines()
    assert told[0].split() == ["SEQ", "TIME", "(UTC)", "TYPE", "WHAT"]
    assert len(told) == 6
    refused = ledger("audit", "call", called, "--json", "--format", "json")
    assert refused.exit_code == 2


def test_csv_carries_every_row_whole(world: Path) -> None:
    """A CSV parser gives back each field; the row count is that of the query."""
    text = ledger("audit", "events", "--format", "csv").stdout
    parsed = list(csv.DictReader(io.StringIO(text, newline="")))
    found = rows("events")
    assert [row["eventId"] for row in parsed] == [row["eventId"] for row in found]
    assert [json.loads(row["body"]) for row in parsed] == [row["body"] for row in found]


@pytest.mark.parametrize("noun", ["calls", "events", "call x"])
def test_without_a_ledger_nothing_is_made(empty: Path, noun: str) -> None:
    """Reading commands never create a database; they say how to make one."""
    assert failure("audit", *noun.split())[:2] == (1, "no_database")
    assert list(empty.iterdir()) == []
    assert "ledger init" in ledger("audit", *noun.split()).stderr


def test_ledgers_nearby_are_named(world: Path) -> None:
    """Who mistypes the database is told which ones lie there."""
    assert "--db sqlite:///ledger.db" in ledger("audit", "calls", "--db", "sqlite:///legder.db").stderr


def test_an_event_that_cannot_be_read_is_shown_raw(world: Path) -> None:
    """What a newer release wrote is shown as it is, and why it is not understood."""
    with opened(world) as host:
        newer(host, host.find(call_ids()["done 1.0"]))
    row = data("audit", "events", "--session", "done")[-1]
    assert (row["type"], row["body"]["text"]) == ("call.teleported", "from the future")
    assert row["unreadable"] == "a newer release wrote this event"
    assert "a newer release wrote this event" in ledger("audit", "events", "--type", "call.teleported").stdout
