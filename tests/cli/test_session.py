"""The noun `session`."""

import json
import os
from pathlib import Path

import pytest

from ledger.cli import sessions
from ledger.errors import UnknownSession
from tests.audit.odd import held, newer
from tests.audit.world import opened, reply
from tests.cli.running import call_ids, data, failure, ledger


def test_sessions_are_listed(world: Path) -> None:
    """One line a session: how it stands, when it was opened and last touched, what it counts."""
    lines = ledger("session").stdout.splitlines()
    assert lines[0].split()[:3] == ["SESSION", "STATE", "END"]
    assert [line.split()[:3] for line in lines[1:]] == [
        ["crash", "open", "-"],
        ["done", "closed", "final_answer"],
        ["mix", "waiting", "-"],
    ]
    row = data("session", "list")[2]
    assert (row["sessionId"], row["calls"], row["open"], row["waiting"]) == ("mix", 9, 3, 3)


@pytest.mark.parametrize("page", [1, 2, 200])
def test_pages_by_id(world: Path, monkeypatch: pytest.MonkeyPatch, page: int) -> None:
    """A limit names the id to go on with, however long the store's pages are."""
    monkeypatch.setattr(sessions, "_PAGE", page)
    assert [row["sessionId"] for row in data("session", "list")] == ["crash", "done", "mix"]
    first = json.loads(ledger("session", "list", "--limit", "2", "--json").stdout)
    assert ([row["sessionId"] for row in first["data"]], first["next"]) == (["crash", "done"], "done")
    rest = json.loads(ledger("session", "list", "--after", "done", "--limit", "2", "--json").stdout)
    assert ([row["sessionId"] for row in rest["data"]], rest["next"]) == (["mix"], None)
    assert data("session", "list", "--limit", "1")[0]["sessionId"] == "crash"


def test_a_session_is_shown(world: Path) -> None:
    """Who runs it, what it did, what is open."""
    page = ledger("session", "show", "mix").stdout
    owner = f"process {os.getpid()} on host "
    for words in ("Session mix  open", "agent       helper", "rejected           3", owner, "alive"):
        assert words in page
    assert "send_email is needs-review (outcome-unknown)" in page
    assert "send_email is awaiting-approval\n" in page
    story = data("session", "show", "mix")
    assert (story["turns"], story["calls"]["rejected"], len(story["openCalls"])) == (4, 3, 3)
    assert (story["owner"]["alive"], story["owner"]["until"], story["unreadable"]) == (True, None, [])
    assert "closed      final_answer\n" in ledger("session", "show", "done").stdout
    assert "Open\n" not in ledger("session", "show", "done").stdout


def test_an_owner_elsewhere_is_named(world: Path) -> None:
    """Whether another machine's process lives cannot be seen from here; how long it holds the session can."""
    with opened(world) as host:
        held(host, "mix", "elsewhere:boot:ns:17:2:x")
    page = ledger("session", "show", "mix").stdout
    assert "process 17 on host elsewhere, not to be seen from here, works on it until " in page


def test_a_session_nobody_ever_owned(world: Path) -> None:
    """A session whose events came without an owner shows none."""
    from ledger.testing.contract.building import add

    with opened(world) as host:
        add(host._wiring.store, "bare", "hello")
    assert data("session", "show", "bare")["owner"] is None
    assert "owner" not in ledger("session", "show", "bare").stdout
    assert "Calls" not in ledger("session", "show", "bare").stdout


def test_events_of_a_newer_release_make_it_read_only(world: Path) -> None:
    """What this release cannot read is named, and that the session cannot be continued here."""
    with opened(world) as host:
        newer(host, host.find(call_ids()["done 1.0"]))
    story = data("session", "show", "done")
    assert (story["unreadable"], story["readOnly"]) == ([12], True)
    page = ledger("session", "show", "done").stdout
    assert "It holds events of a newer release" in page
    assert "unreadable  12\n" in page


def test_a_session_is_closed(world: Path) -> None:
    """Writes without an outcome go to a person, the rest is cancelled; a second time it is only told."""
    page = ledger("session", "close", "crash", "--reason", "aborted", "--message", "started anew").stdout
    first, second, third, *waiting = page.splitlines()
    assert first == "Session crash is closed now (aborted)."
    assert second.startswith("Cancelled: ")
    assert third == "These wait for a person:"
    assert [line.split(": ")[1] for line in waiting] == [
        "send_email is needs-review (outcome-unknown)",
        "send_email is needs-review (not-started)",
    ]
    again = data("session", "close", "crash")
    assert (again["reason"], again["already"], len(again["waiting"]), again["cancelled"]) == ("aborted", True, 2, [])
    assert "started anew" in ledger("session", "show", "crash").stdout
    assert ledger("session", "close", "done").stdout == "Session done was closed already (final_answer).\n"


def test_a_session_of_another_owner_is_waited_for(world: Path) -> None:
    """Closing is refused in words while another process holds it, and --wait outlasts a lease."""
    with opened(world) as host:
        held(host, "crash", "elsewhere:boot:ns:17:2:x")
        refused = ledger("session", "close", "crash")
        assert (refused.exit_code, refused.stdout) == (1, "")
        assert "session crash is owned by process 17 on host elsewhere until " in refused.stderr
        assert "--wait SECONDS" in refused.stderr
        assert "elsewhere:boot:ns:17:2:x" in failure("session", "close", "crash")[2]
        held(host, "crash", "elsewhere:boot:ns:18:2:x", seconds=0.2)
    assert ledger("session", "close", "crash", "--wait", "60").exit_code == 0


def test_a_reason_is_worked_out(world: Path) -> None:
    """Behind a final answer a session closes as such."""
    with opened(world) as host, host.session("answered") as session:
        session.dispatch(reply(text="Yes."))
    assert data("session", "close", "answered") == {
        "sessionId": "answered",
        "reason": "final_answer",
        "already": False,
        "waiting": [],
        "cancelled": [],
    }


@pytest.mark.parametrize("verb", ["show", "close"])
def test_an_unknown_session_is_not_made(world: Path, verb: str) -> None:
    """A slip of the pen opens no session, and closes none."""
    assert failure("session", verb, "nobody")[:2] == (1, "unknown_session")
    assert len(data("session", "list")) == 3
    assert UnknownSession("nobody").session_id == "nobody"


@pytest.mark.parametrize("verb", [["list"], ["show", "s"], ["close", "s"]])
def test_without_a_ledger_nothing_is_made(empty: Path, verb: list[str]) -> None:
    """No command of the noun creates a database."""
    assert failure("session", *verb)[:2] == (1, "no_database")
    assert list(empty.iterdir()) == []
