"""Transcripts in and out by the command line: `session import`, `session repair`, `session export`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from ledger.cli import session as noun
from ledger.providers.check import check
from ledger.providers.formats import FORMATS
from ledger.providers.sniff import READABLE
from ledger.store.urls import open_store
from tests.audit.world import HOSTILE
from tests.cli.running import data, failure, ledger, terminal
from tests.cli.test_db import tampered
from tests.importing.chats import ASK, PAYS, WHOLE, chat, jsonl, result, says


def write(name: str, content: bytes) -> str:
    """Write a file here."""
    Path(name).write_bytes(content)
    return name


def test_the_formats_are_those_that_there_are() -> None:
    """The options name what can be read and written, without loading it."""
    assert (noun.READABLE[0], set(noun.READABLE[1:])) == ("auto", set(READABLE))
    assert set(noun.WIRES) == set(FORMATS)


def test_a_transcript_is_imported(empty: Path) -> None:
    """A ledger is made; again it adds nothing, and each answer says so."""
    write("t.jsonl", chat(WHOLE, "one") + chat(WHOLE[:3], "two"))
    page = ledger("session", "import", "t.jsonl").stdout.splitlines()
    assert page == [
        "Sessions: 2 (2 new), read as openai.",
        "Calls: 4, without a result: 2. Events added: 17.",
        "  - one: new, 2 calls",
        "  - two: new, 2 calls, 2 without a result",
    ]
    again = ledger("session", "import", "t.jsonl")
    assert (again.exit_code, again.stdout.splitlines()[0]) == (0, "Sessions: 2 (2 unchanged), read as openai.")
    assert [row["calls"] for row in data("session", "list")] == [2, 2]
    assert ledger("db", "check").exit_code == 0


def test_an_import_for_programs(empty: Path) -> None:
    """One object: the ledger, the format, each session, each problem."""
    name = write("t.jsonl.gz", gzip.compress(chat(WHOLE) + b'{"torn": '))
    found = data("session", "import", name, "--session", "mine", "--tenant", "acme", "--principal", "ann")
    assert found == {
        "db": "sqlite:///ledger.db",
        "format": "openai",
        "added": 9,
        "sessions": [
            {
                "sessionId": "mine",
                "state": "new",
                "added": 9,
                "turns": 2,
                "calls": 2,
                "open": 0,
                "reserialized": 0,
                "error": None,
            }
        ],
        "problems": [
            {
                "line": 2,
                "offset": found["problems"][0]["offset"],
                "code": "torn",
                "message": "a record ends in the middle",
            }
        ],
        "problemCount": 1,
    }
    assert data("audit", "calls", "--tenant", "acme", "--principal", "ann")[0]["sessionId"] == "mine"


def test_bad_records_are_told_and_fail(empty: Path) -> None:
    """Every good one is imported; the status is 1, or 0 where that is wanted."""
    name = write("t.jsonl", jsonl([ASK]) + b"\0" + jsonl([PAYS]) + b"{]\n" + jsonl([says("x")]))
    done = ledger("session", "import", name)
    assert done.exit_code == 1
    assert [line.partition(": ")[2] for line in done.stderr.splitlines()] == [
        "line 2, byte 41: 1 byte is 0 (nul)",
        "line 3, byte 286: no JSON: Expecting property name enclosed in double quotes (invalid_json)",
    ]
    assert "Calls: 2, without a result: 2" in done.stdout
    assert ledger("session", "import", name, "--skip-bad").exit_code == 0


@pytest.mark.parametrize("command", ["import", "repair"])
def test_a_transcript_read_in_another_format_is_told(empty: Path, command: str) -> None:
    """Where nothing reads as the format that was named, silence would look like good news."""
    done = ledger("session", command, write("t.json", json.dumps(WHOLE).encode()), "--format", "claude-code")
    assert "No session was found: nothing in it reads as claude-code. Is it another format (--format)?" in done.stderr


def test_an_imported_call_is_never_run(empty: Path) -> None:
    """Who says that it did not happen may not let it run: that is refused at once, with what can be said instead."""
    write("t.jsonl", chat(WHOLE[:3], "one"))
    ledger("session", "import", "t.jsonl")
    [row] = [row for row in data("review") if row["reason"] == "outcome-unknown"][:1]
    told = ledger("review", "resolve", row["callId"], "--did-not-happen", "--run")
    assert told.exit_code == 1
    assert "an imported call is never run" in told.stderr
    assert "Say --did-not-happen alone; with --arguments a new call of this ledger takes its place" in told.stderr
    other = ledger("review", "resolve", row["callId"], "--did-not-happen", "--arguments", "{}")
    assert (other.exit_code, "--app" in other.stderr, "Give --catalog with the tool's files" in other.stderr) == (
        2,
        False,
        True,
    )
    assert ledger("review", "resolve", row["callId"], "--did-not-happen").exit_code == 0


def test_a_refused_session_fails(empty: Path) -> None:
    """It is told with what to do; skipping bad records is no help."""
    write("t.jsonl", chat(WHOLE))
    write("other.jsonl", chat([*WHOLE[:5], says(f"Evil {HOSTILE}")]) + chat(WHOLE, "two"))
    ledger("session", "import", "t.jsonl")
    done = ledger("session", "import", "other.jsonl", "--skip-bad")
    assert done.exit_code == 1
    assert "Sessions: 2 (1 refused, 1 new)" in done.stdout
    assert "turn 2 is another than what is recorded as event 9 (transcript_changed). What is recorded" in done.stderr
    rows = data("session", "import", "other.jsonl")["sessions"]
    assert rows[0]["error"]["code"] == "transcript_changed"


def test_long_lists_are_cut_for_people(empty: Path) -> None:
    """Twenty sessions and twenty problems are shown, and how many more there are."""
    name = write("t.jsonl", b"".join(chat(WHOLE, f"s{n}") for n in range(23)) + b"x\n" * 25)
    done = ledger("session", "import", name)
    assert done.stdout.splitlines()[-1] == "  - and 3 more"
    assert done.stderr.splitlines()[-1] == "Warning: and 5 more"
    assert len(done.stderr.splitlines()) == 21


def test_a_transcript_from_a_pipe(empty: Path) -> None:
    """A `-` reads what comes in."""
    done = ledger("session", "import", "-", input=chat(WHOLE))
    assert (done.exit_code, done.stdout.splitlines()[0]) == (0, "Sessions: 1 (1 new), read as openai.")


def test_progress_is_told_on_a_terminal(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line on stderr says how far the file is read, and is taken away in the end."""
    from ledger.cli import main

    write("t.jsonl", chat(WHOLE))
    _, err = terminal(monkeypatch)
    with pytest.raises(SystemExit):
        main(["session", "import", "t.jsonl"])
    assert "\rReading 0 %" in err.shown
    assert err.shown.endswith("\r\x1b[K")


@pytest.mark.parametrize("content", [b"", b"hello\n", b"\x89PNG"])
def test_what_is_no_transcript_makes_no_ledger(empty: Path, content: bytes) -> None:
    """Neither does a file that is not there."""
    name = write("t", content)
    assert failure("session", "import", name)[:2] == (2, "usage")
    assert failure("session", "import", "nothing")[:2] == (1, "os_error")
    assert failure("session", "import", name, "--db", "memory://")[0] != 0
    assert failure("session", "repair", name)[:2] == (2, "usage")
    assert [path.name for path in empty.iterdir()] == ["t"]


def test_a_refused_conversation_is_repaired(empty: Path) -> None:
    """A call without a result is answered honestly, at its place; nothing is kept."""
    broken = [ASK, PAYS, result("b", "ok"), {"role": "user", "content": "And?"}]
    name = write("t.json", json.dumps(broken, indent=1).encode())
    assert check("openai", broken) != []
    done = ledger("session", "repair", name)
    assert done.exit_code == 0
    body = json.loads(done.stdout)
    assert check("openai", body) == []
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "tool", "tool", "user"]
    assert "OUTCOME UNKNOWN" in body["messages"][2]["content"]
    assert body["messages"][3]["content"] == "ok"
    assert done.stderr.endswith(": 1 of 2 calls without a result, told as OUTCOME UNKNOWN.\n")
    assert [path.name for path in empty.iterdir()] == ["t.json"]


@pytest.mark.parametrize("to", FORMATS)
def test_a_repair_for_another_provider(empty: Path, to: str) -> None:
    """Each session is one line; with --json a row with what was found."""
    write("t.jsonl", chat(WHOLE[:4], "one") + chat(WHOLE[:3], "two"))
    lines = ledger("session", "repair", "t.jsonl", "--to", to).stdout.splitlines()
    rows = data("session", "repair", "t.jsonl", "--to", to)
    assert [json.loads(line) for line in lines] == [row["body"] for row in rows]
    assert [(row["sessionId"], row["format"], row["open"], row["refused"]) for row in rows] == [
        ("one", to, 1, []),
        ("two", to, 2, []),
    ]
    for row in rows:
        assert check(to, row["body"]) == []


def test_a_repair_of_a_damaged_file(empty: Path) -> None:
    """What could not be read is told, and the status is 1, or 0 where that is wanted."""
    name = write("t.jsonl", jsonl(WHOLE[:4]) + b"x\n" * 25)
    done = ledger("session", "repair", name)
    assert (done.exit_code, done.stderr.count("invalid_json")) == (1, 20)
    assert check("openai", json.loads(done.stdout)) == []
    assert ledger("session", "repair", name, "--skip-bad").exit_code == 0
    write("u.jsonl", chat(WHOLE) + chat(WHOLE[1:]))
    assert ledger("session", "repair", "u.jsonl").exit_code == 0


def test_what_is_still_refused_fails(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text longer than any provider takes cannot be repaired: that is said."""
    from ledger.providers import problems

    monkeypatch.setattr(problems, "LONGEST", 3)
    done = ledger("session", "repair", write("t.jsonl", chat(WHOLE)))
    assert done.exit_code == 1
    assert "s, message 0: " in done.stderr


def test_a_session_is_exported(empty: Path) -> None:
    """As its last provider's request by default, checked if wanted."""
    ledger("session", "import", write("t.jsonl", chat(WHOLE)))
    done = ledger("session", "export", "s", "--check")
    assert (json.loads(done.stdout), done.stderr) == ({"messages": WHOLE}, "Checked: openai would take it.\n")
    for name in FORMATS:
        body = data("session", "export", "s", "--format", name)
        assert (body.pop("sessionId"), body.pop("format")) == ("s", name)
        assert check(name, body) == []


def test_the_format_is_that_of_the_last_provider(world: Path) -> None:
    """A session without a turn, or of a provider that has no format, is told as OpenAI's."""
    content = {"role": "assistant", "content": [{"type": "text", "text": "Hi."}], "stop_reason": "end_turn"}
    ledger("session", "import", write("t.jsonl", chat([ASK, content])), "--format", "anthropic")
    assert data("session", "export", "s")["format"] == "anthropic"
    ledger("session", "import", write("u.jsonl", chat([ASK], "u")), "--format", "anthropic")
    assert data("session", "export", "u")["format"] == "openai"


def test_calls_of_removed_tools_are_told_as_text(empty: Path) -> None:
    """No request declares them any more: call and result are told together, and providers take it."""
    ledger("session", "import", write("t.jsonl", chat(WHOLE)))
    folder = empty / "tools" / "pay"
    folder.mkdir(parents=True)
    document = {
        "name": "pay",
        "description": "Pay.",
        "current": 1,
        "stage": "removed",
        "versions": {"1": {"contract": {}}},
    }
    (folder / "tool.json").write_text(json.dumps(document))
    (folder / "v1.json").write_text('{"type": "object"}')
    (empty / "tools" / "catalog.json").write_text("{}")
    body = data("session", "export", "s", "--catalog", "tools", "--check")
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "user", "assistant"]
    assert not any("tool_calls" in message for message in body["messages"])
    assert any("tool_calls" in message for message in data("session", "export", "s")["messages"])


def test_an_export_that_would_be_refused_fails(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --check nothing is printed then; the reasons are."""
    from ledger.providers import problems

    ledger("session", "import", write("t.jsonl", chat(WHOLE)))
    monkeypatch.setattr(problems, "LONGEST", 3)
    assert failure("session", "export", "s", "--check")[:2] == (1, "export_refused")
    assert ledger("session", "export", "s", "--check").stdout == ""
    assert ledger("session", "export", "s").exit_code == 0


def test_a_ledgers_own_export_comes_back(world: Path) -> None:
    """
    Every session of a ledger, hostile texts and all, into another one: the same records, digests and calls.

    But what either of them could run, of which a person is asked there.
    """
    asked: set[str] = set()
    for row in data("session", "list"):
        name = row["sessionId"]
        done = ledger("session", "export", name, "--format", "ledger", "--check")
        assert done.exit_code == 0
        assert done.stdout.isascii()
        Path("b.jsonl").write_text(done.stdout)
        first = ledger("session", "import", "b.jsonl", "--db", "sqlite:///o.db", "--json")
        added = json.loads(first.stdout)["data"]["sessions"][0]["added"]
        again = json.loads(ledger("session", "import", "b.jsonl", "--db", "sqlite:///o.db", "--json").stdout)["data"]
        assert (again["added"], again["sessions"][0]["state"]) == (0, "unchanged")
        own, other = stored("sqlite:///ledger.db", name), stored("sqlite:///o.db", name)
        assert (other[: row["events"]], len(other)) == (own, added)
        flags = [json.loads(record) for _, record, _ in other[row["events"] :]]
        assert {flag["type"] for flag in flags} <= {"call.flagged"}
        asked |= {flag["callId"] for flag in flags}
        lines = data("session", "export", name, "--format", "ledger")["lines"]
        assert lines == [json.loads(line) for line in done.stdout.splitlines()]
    own_rows, rows = calls(), calls("--db", "sqlite:///o.db")
    assert {name for name, row in rows.items() if row != own_rows[name]} == asked
    assert {rows[name]["state"] for name in asked} == {"needs-review"}
    assert {own_rows[name]["state"] for name in asked} == {"authorized", "started"}
    assert ledger("db", "check", "--db", "sqlite:///o.db").exit_code == 0


def calls(*options: str) -> dict[str, Any]:
    """Return every call's row by its id, without its position, which is the ledger's own."""
    return {row["callId"]: row | {"position": 0} for row in data("audit", "calls", *options)}


def stored(url: str, session_id: str) -> list[tuple[Any, ...]]:
    """Return the records and digests of a session."""
    store = open_store(url, create=False, read_only=True)
    rows = [(row.sequence, row.record, row.digest) for row in store.read(session_id, limit=1000)]
    store.close()
    return rows


def test_an_export_of_what_was_tampered_with_fails(world: Path) -> None:
    """With --check the chain of digests is followed first: the status is 4."""
    tampered(world, "DELETE FROM event WHERE session_id = 'done' AND sequence = 2")
    assert failure("session", "export", "done", "--format", "ledger", "--check")[:2] == (4, "integrity")
    assert failure("session", "export", "nobody", "--format", "ledger")[:2] == (1, "unknown_session")


@pytest.mark.parametrize(
    ("statements", "records", "why"),
    [
        (["DELETE FROM event WHERE session_id = 'done' AND sequence > 2"], 2, "event 3 is missing, of "),
        (["DELETE FROM event WHERE session_id = 'done' AND sequence = 2"], -1, "event 2 is missing"),
        (["UPDATE event SET digest = zeroblob(32) WHERE session_id = 'done'"], 0, "event 1 is not what was recorded"),
        (["UPDATE session_head SET digest = zeroblob(32) WHERE session_id = 'done'"], 0, "that of other events"),
    ],
)
def test_no_export_says_of_a_damaged_session_that_it_is_whole(
    world: Path, statements: list[str], records: int, why: str
) -> None:
    """With --check nothing is printed; without it all that there is, but no line that an import takes for the end."""
    whole = len(stored("sqlite:///ledger.db", "done"))
    tampered(world, *statements)
    asked = ("session", "export", "done", "--format", "ledger")
    checked = ledger(*asked, "--check")
    assert (checked.exit_code, checked.stdout) == (4, "")
    assert why in checked.stderr
    done = ledger(*asked)
    assert (done.exit_code, done.stderr) == (4, checked.stderr)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [key for line in lines for key in line if key in ("bundle", "record", "end")] == [
        "bundle",
        *["record"] * (records if records > 0 else whole + records),
    ]


def test_export_makes_no_ledger(empty: Path) -> None:
    """It only reads."""
    assert failure("session", "export", "s")[:2] == (1, "no_database")
    assert list(empty.iterdir()) == []
