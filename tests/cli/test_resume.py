"""The command `resume`."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ledger import Ask
from ledger.cli.app import load_app
from ledger.errors import LedgerError, SessionOwned
from ledger.session import worker
from ledger.testing import crash
from tests.audit.odd import held
from tests.audit.world import Crashed, end, opened, reply
from tests.cli.hosts import HOST, app, module
from tests.cli.running import ROOT, call_ids, data, failure, ledger

__all__ = ["app"]

BOSS = "mix 2.0"


def answer(*options: str) -> tuple[int, Any]:
    result = ledger("resume", *options, "--json")
    return result.exit_code, json.loads(result.stdout)["data"]


def sent(folder: Path) -> list[str]:
    path = folder / "sent.txt"
    return path.read_text().split() if path.exists() else []


def test_without_code_it_flags_what_must_be_flagged(world: Path) -> None:
    """A write without an outcome goes to a person, a read that never ran needs code; the exit status is 3."""
    status, found = answer("crash")
    assert status == 3
    assert [(each["found"], each["action"], each["flag"], each["state"]) for each in found["decisions"]] == [
        ("started", "flag", "outcome-unknown", "needs-review"),
        ("authorized", "flag", "not-started", "needs-review"),
    ]
    assert [(each["tool"], each["kind"]) for each in found["waiting"]] == [("send_email", "doubt")] * 2
    assert [(each["tool"], each["state"]) for each in found["needsCode"]] == [("find", "authorized")]
    assert (found["dryRun"], found["error"]) == (False, None)


def test_a_second_resume_changes_nothing(world: Path) -> None:
    """Nothing new to decide: no event is added."""
    ledger("resume", "crash")
    before = len(data("audit", "events"))
    status, found = answer("crash")
    assert (status, found["decisions"], len(found["waiting"])) == (3, [], 2)
    assert len(data("audit", "events")) == before


def test_a_person_reads_what_was_decided(world: Path) -> None:
    """One line a call: what was done with it and why, and what to do next."""
    result = ledger("resume", "crash")
    head, first, second, third = result.stdout.splitlines()
    assert head == "crash"
    assert first.endswith(
        "send_email: flag outcome-unknown, because started, and no outcome is recorded; it is needs-review now"
    )
    assert "flag not-started" in second
    assert third.endswith("find needs code: it is authorized")
    assert result.stderr == (
        "What needs code runs with `ledger resume crash --app MODULE:LEDGER`.\n"
        "What waits for a person: `ledger review`.\n"
    )
    everything = ledger("resume", "--all", "--db", "sqlite:///./ledger.db").stderr
    assert "with `ledger resume --all --app MODULE:LEDGER`" in everything
    assert "`ledger review --db sqlite:///./ledger.db`" in everything
    assert "send_email waits for a person's approval\n" in ledger("resume", "mix").stdout
    again = ledger("resume", "crash").stdout
    assert "waits for a person: outcome-unknown" in again
    assert ledger("resume", "done").stdout == "done\n  nothing is open\n"
    assert ledger("resume", "done").exit_code == 0


def test_a_dry_run_changes_nothing(world: Path) -> None:
    """It says what would be done, and its status is that of the doing."""
    before = (world / "ledger.db").read_bytes()
    status, found = answer("--all", "--dry-run")
    assert status == 3
    assert [(row["sessionId"], len(row["decisions"]), row["dryRun"]) for row in found] == [
        ("crash", 2, True),
        ("mix", 0, True),
    ]
    assert found[0]["decisions"][0]["state"] == "started"
    lines = ledger("resume", "crash", "--dry-run").stdout.splitlines()
    assert lines[1].endswith("because started, and no outcome is recorded")
    assert (world / "ledger.db").read_bytes() == before


def test_what_would_wait_waits_in_a_dry_run_too(empty: Path) -> None:
    """A session whose only open call would be flagged exits with 3 before and after."""
    with opened(empty) as host:
        crash.arm(host, crash.after("call.started"), end=end)
        with pytest.raises(Crashed), host.session("one") as session:
            session.dispatch(reply(("send_email", {"to": "c@x"})))
    assert [answer("one", "--dry-run")[0], answer("one")[0]] == [3, 3]


def test_with_code_what_may_run_runs(world: Path, app: str) -> None:
    """A read runs again, an approved write is sent once, and a write in doubt is not."""
    ledger("review", "approve", call_ids()[BOSS], "--by", "ada")
    status, found = answer("--all", "--app", f"{app}:ledger")
    assert status == 3
    assert [(each["tool"], each["action"], each["state"]) for row in found for each in row["decisions"]] == [
        ("send_email", "flag", "needs-review"),
        ("send_email", "flag", "needs-review"),
        ("find", "gate", "succeeded"),
        ("send_email", "run", "succeeded"),
    ]
    assert sent(world) == ["boss@x"]
    sys.modules.pop(app)  # another process imports it anew
    assert answer("mix", "--app", f"{app}:ledger")[1]["decisions"] == []
    assert sent(world) == ["boss@x"]


def test_all_tells_a_session_at_a_time(world: Path) -> None:
    """For people each session has its lines, and the hints come once."""
    result = ledger("resume", "--all")
    assert [line for line in result.stdout.splitlines() if not line.startswith(" ")] == ["crash", "mix"]
    assert result.stderr.count("\n") == 2
    for row in data("review", "list"):
        ledger(
            "review",
            "resolve" if row["kind"] == "doubt" else "deny",
            row["callId"],
            *(["--abandon"] if row["kind"] == "doubt" else []),
        )
    with opened(world) as host:
        for name in ("crash", "mix"):
            host.session(name).close()
    result = ledger("resume", "--all")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "Nothing is open.\n")


def test_a_session_that_fails_is_told_beside_the_others(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its error stands in its row and makes the status 1; one that another owner works on is only told."""
    right = worker.resume_one
    errors: dict[str, LedgerError] = {"crash": LedgerError("no luck", code="unlucky")}

    def resume(host: Any, session_id: str, **options: Any) -> Any:
        if session_id in errors:
            raise errors[session_id]
        return right(host, session_id, **options)

    monkeypatch.setattr(worker, "resume_one", resume)
    status, found = answer("--all")
    assert (status, found[0]["error"]["code"], found[1]["error"]) == (1, "unlucky", None)
    assert ledger("resume", "--all").stdout.startswith("crash: no luck\nmix\n")
    errors["crash"] = SessionOwned("crash", owner="somebody", until="soon")
    assert answer("--all")[0] == 3


def test_an_owned_session_is_an_error(world: Path) -> None:
    """Asked for by name, a session of a live owner is refused in words; an unknown one is told."""
    with opened(world) as host:
        held(host, "crash", "elsewhere:boot:ns:1:2:x")
    status, code, message = failure("resume", "crash", "--wait", "0.01")
    assert (status, code) == (1, "session_owned")
    assert "elsewhere:boot:ns:1:2:x" in message
    assert failure("resume", "nobody")[:2] == (1, "unknown_session")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "Name a session, or give --all."),
        (["s", "--all"], "not both"),
        (["s", "--follow", "--app", "a:b"], "--follow goes on with all sessions: give --all instead"),
        (["--follow"], "--follow needs --app"),
        (["--all", "--follow", "--dry-run", "--app", "a:b"], "exclude each other"),
        (["--all", "--wait", "3"], "--wait is for one session"),
        (["s", "--app", "a:b", "--catalog", "x"], "leave --catalog out"),
        (["s", "--app", "a"], "MODULE:LEDGER"),
    ],
)
def test_contradictions_are_wrong_usage(empty: Path, options: list[str], words: str) -> None:
    """What cannot be meant is told before anything is opened."""
    status, code, message = failure("resume", *options)
    assert (status, code) == (2, "usage")
    assert words in message
    assert list(empty.iterdir()) == []


def test_the_environments_ledger_is_no_contradiction(world: Path, app: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """LEDGER_DB is not on the line: --app's own ledger is taken, and told where that is another one."""
    monkeypatch.setenv("LEDGER_DB", "sqlite:///other.db")
    told = ledger("resume", "crash", "--app", f"{app}:ledger")
    assert told.exit_code == 3
    assert "--app brings its own ledger, sqlite:///ledger.db; LEDGER_DB names another" in told.stderr
    assert "`ledger review --db sqlite:///ledger.db`" in told.stderr
    monkeypatch.setenv("LEDGER_DB", "mysql://no/ledger")
    assert "LEDGER_DB names another" in ledger("resume", "crash", "--app", f"{app}:ledger").stderr
    monkeypatch.setenv("LEDGER_DB", f"sqlite:///{world}/ledger.db")
    sys.modules.pop(app)  # another process imports it anew
    told = ledger("resume", "crash", "--app", f"{app}:ledger")
    assert "LEDGER_DB" not in told.stderr
    assert "`ledger review`" in told.stderr


def test_another_ledger_on_the_line_is_a_contradiction(world: Path, app: str) -> None:
    """--app brings its own: only the same one may be named beside it."""
    status, code, message = failure("resume", "done", "--app", f"{app}:ledger", "--db", "sqlite:///x.db")
    assert (status, code) == (2, "usage")
    assert "its own ledger, sqlite:///ledger.db, and --db names another: leave --db out" in message
    sys.modules.pop(app)
    assert ledger("resume", "done", "--app", f"{app}:ledger", "--db", f"sqlite:///{world}/ledger.db").exit_code == 0


def test_a_ledger_in_memory_has_no_place(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is another one than any file."""
    for name in module(empty, "from ledger import Ledger\nledger = Ledger.open('memory://')", monkeypatch):
        assert ledger("resume", "--all", "--app", f"{name}:ledger").stderr == "Nothing is open.\n"


def test_people_read_the_owner_in_words(world: Path) -> None:
    """A session that somebody else works on is told beside the others; programs get the owner's name."""
    with opened(world) as host:
        held(host, "crash", "elsewhere:boot:ns:17:2:x")
        assert "crash: session crash is owned by process 17 on host elsewhere" in ledger("resume", "--all").stdout
        assert "elsewhere:boot:ns:17:2:x" in answer("--all")[1][0]["error"]["message"]


def test_without_a_ledger_nothing_is_made(empty: Path) -> None:
    """Resume never creates a database."""
    assert failure("resume", "--all")[:2] == (1, "no_database")
    assert failure("resume", "--all", "--dry-run")[:2] == (1, "no_database")
    assert list(empty.iterdir()) == []


@pytest.mark.parametrize("options", [["crash"], ["--all"], ["--all", "--follow"], ["--all", "--dry-run"]])
def test_a_program_that_closes_its_own_ledger_is_told_what_to_do(
    world: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    """Its module closes it while it is imported: the refusal names the lines that belong under `__main__`."""
    for name in module(world, HOST + "\n\nwith ledger:\n    pass\n", monkeypatch):
        said = ledger("resume", *options, "--app", f"{name}:ledger")
        assert failure("resume", *options, "--app", f"{name}:ledger")[:2] == (1, "store_unavailable")
        assert f"the ledger {name}:ledger is closed already" in said.stderr
        assert f"Importing {name} closes it: put `with ledger:` or `ledger.close()` under `if __name__" in said.stderr


# -- as a process

SLOW = (
    HOST
    + """

@ledger.tool("slow", effect="external")
def slow(n: int) -> int:
    "Say that it began, and wait to be let go."
    open(f"began{n}", "w").close()
    open("go").close()
    return n
"""
)


@pytest.fixture
def slow(world: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A session with two approved calls of a tool that says when it began and ends when it is let go."""
    for name in ("began1", "began2", "go"):
        os.mkfifo(world / name)
    for name in module(world, SLOW, monkeypatch):
        host = load_app(f"{name}:ledger")
        host.authorize(lambda call, principal: Ask())
        with host.session("slow") as session:
            session.dispatch(reply(("slow", {"n": 1}), ("slow", {"n": 2})))
        host.close()
        for place, call_id in call_ids(session="slow").items():
            assert place.startswith("slow 1.")
            ledger("review", "approve", call_id)
    return name


def started(world: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start the command line in the folder of the ledger."""
    return subprocess.Popen(
        [sys.executable, "-m", "ledger", *arguments],
        cwd=world,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def heard(child: subprocess.Popen[str], words: str) -> bool:
    """Read the child's stderr up to a line with these words."""
    assert child.stderr is not None
    return any(words in line for line in child.stderr)


def test_a_signal_lets_started_calls_end(world: Path, slow: str) -> None:
    """What has started may end, what has not is cancelled and pages nobody; the status is that of the signal."""
    child = started(world, "resume", "slow", "--app", f"{slow}:ledger")
    (world / "began1").read_text()
    child.send_signal(signal.SIGTERM)
    assert heard(child, "Stopping")
    (world / "go").write_text("")
    child.communicate()
    assert child.returncode == 143
    assert [(row["state"], row["code"]) for row in data("audit", "calls", "--session", "slow")] == [
        ("succeeded", None),
        ("failed", "cancelled"),
    ]
    assert data("review", "list", "--session", "slow") == []


def test_the_grace_after_a_signal_is_limited(world: Path, slow: str) -> None:
    """What does not end in time is left in doubt under its lease, though its tool holds the main thread."""
    child = started(world, "resume", "slow", "--app", f"{slow}:ledger", "--grace", "0", "--json")
    (world / "began1").read_text()
    child.send_signal(signal.SIGTERM)
    out, errors = child.communicate()
    assert "may end within 0 s" in errors
    assert child.returncode == 143
    told = json.loads(out)["data"]
    assert [each["state"] for each in told["decisions"]] == ["needs-review", "failed"]
    assert [each["reason"] for each in told["waiting"]] == ["outcome-unknown"]
    assert [(row["state"], row["reason"] or row["code"]) for row in data("audit", "calls", "--session", "slow")] == [
        ("needs-review", "outcome-unknown"),
        ("failed", "cancelled"),
    ]


def test_a_worker_tells_of_the_session_that_its_end_cut_short(world: Path, slow: str) -> None:
    """Whoever stops a worker reads which call is left in doubt, though its tool did not end; the status is 0."""
    child = started(world, "resume", "--all", "--follow", "--app", f"{slow}:ledger", "--grace", "0")
    (world / "began1").read_text()
    child.send_signal(signal.SIGTERM)
    out, _ = child.communicate()
    assert child.returncode == 0
    left, other = (each["callId"][-8:] for each in data("audit", "calls", "--session", "slow"))
    line = f"slow: slow {left} needs-review, slow {other} failed; 1 waits for a person"
    assert out.splitlines()[-1] == line


def test_a_second_signal_leaves_as_a_crash_would(world: Path, slow: str) -> None:
    """The call that was left behind is in doubt at the next resume, the other still approved."""
    child = started(world, "resume", "--all", "--app", f"{slow}:ledger")
    (world / "began1").read_text()
    child.send_signal(signal.SIGINT)
    assert heard(child, "Stopping")
    child.send_signal(signal.SIGINT)
    child.communicate()
    assert child.returncode == 130
    status, found = answer("slow")
    assert (status, [each["flag"] for each in found["decisions"]]) == (3, ["outcome-unknown"])
    assert [each["state"] for each in found["needsCode"]] == ["authorized"]


def test_a_worker_runs_what_is_approved_while_it_follows(world: Path, app: str) -> None:
    """Each session acted on is one line, as JSON where it is asked for; a signal ends it with 0."""
    child = started(world, "resume", "--follow", "--app", f"{app}:ledger", "--json")
    assert child.stdout is not None
    first = json.loads(child.stdout.readline())
    assert (first["sessionId"], len(first["decisions"])) == ("crash", 3)
    ledger("review", "approve", call_ids()[BOSS], "--by", "ada")
    second = json.loads(child.stdout.readline())
    assert [(each["tool"], each["state"]) for each in second["decisions"]] == [("send_email", "succeeded")]
    child.send_signal(signal.SIGTERM)
    rest, _ = child.communicate()
    assert (rest, child.returncode, sent(world)) == ("", 0, ["boss@x"])


def test_a_person_reads_a_line_a_session(world: Path, app: str) -> None:
    """The worker's line says what became of each call, and what still waits."""
    child = started(world, "resume", "--all", "--follow", "--app", f"{app}:ledger")
    assert child.stdout is not None
    line = child.stdout.readline()
    child.send_signal(signal.SIGTERM)
    _, errors = child.communicate()
    assert line.startswith("crash: send_email ")
    assert line.endswith("; 2 wait for a person\n")
    assert "find" in line
    assert "Following; SIGTERM or Ctrl-C stops.\n" in errors
    assert child.returncode == 0
