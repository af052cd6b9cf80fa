"""The noun `replay`."""

import json
from itertools import product
from pathlib import Path

import pytest

from ledger.cli import main
from ledger.cli.replay import WIRES
from ledger.providers import conversation
from ledger.providers.check import check
from ledger.providers.formats import FORMATS, get_format
from ledger.replay import session_at
from tests.audit.world import opened, reply
from tests.cli.running import data, failure, ledger, terminal


def test_a_session_told_again(world: Path) -> None:
    """One line an event: its place, what happened, and a state that the event's name does not say."""
    lines = ledger("replay", "session", "mix").stdout.splitlines()
    assert lines[0].split() == ["SEQ", "TIME", "(UTC)", "TURN", "TYPE", "TOOL", "CALL", "WHAT"]
    assert len(lines) == 1 + len(data("audit", "events", "--session", "mix"))
    (flag, copy) = (line for line in lines if "call.flagged" in line)
    assert "is needs-review; outcome-unknown" in flag
    assert "is needs-review; duplicate of" in copy
    assert "3.0" in flag.split()
    assert not any("is succeeded" in line for line in lines)


def test_the_document(world: Path) -> None:
    """--format json prints the bare document, --json the same in the envelope."""
    bare = json.loads(ledger("replay", "session", "done", "--format", "json").stdout)
    assert data("replay", "session", "done") == bare
    assert (bare["sessionId"], bare["state"], [turn["turn"] for turn in bare["turns"]]) == ("done", "closed", [1, 2])


def test_a_moment_of_the_past(world: Path) -> None:
    """--at shows the session as it was after that event."""
    assert data("replay", "session", "done", "--at", "5")["turns"][0]["calls"][0]["state"] == "proposed"
    assert len(ledger("replay", "session", "done", "--at", "3").stdout.splitlines()) == 4
    assert failure("replay", "session", "done", "--at", "99")[:2] == (2, "usage")


def test_messages_of_a_provider(world: Path) -> None:
    """--format openai prints the conversation as one JSON array, every call answered."""
    told = json.loads(ledger("replay", "session", "done", "--format", "openai").stdout)
    with opened(world) as host:
        assert told == host.session("done").messages("openai")
    begun = json.loads(ledger("replay", "session", "done", "--format", "openai", "--at", "5").stdout)
    assert [message["role"] for message in begun] == ["user", "assistant", "tool"]


def test_the_formats_are_those_there_are() -> None:
    """The command line knows them by heart; a wrong one is answered with all their names."""
    assert WIRES == FORMATS
    status, code, message = failure("replay", "session", "done", "--format", "cohere")
    assert (status, code) == (2, "usage")
    assert all(name in message for name in ("table", "json", "jsonl", "csv", *WIRES))


def test_messages_of_every_provider(world: Path) -> None:
    """Each format tells what the session itself tells in it, and its provider would take that."""
    with opened(world) as host:
        with host.session("instructed") as made:
            made.messages(start=[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}])
            made.dispatch(reply(("find", {"q": "1"})))
            made.dispatch(reply(text="Done."))
        for name, session in product(WIRES, ("mix", "crash", "instructed")):
            result = ledger("replay", "session", session, "--format", name)
            told = json.loads(result.stdout)
            assert told == conversation(session_at(host.reader, session), get_format(name))
            assert check(name, told) == []
            apart = session == "instructed" and get_format(name).system_apart
            assert ("instructions stand beside" in result.stderr) == apart


def test_a_forgotten_word_is_offered(world: Path) -> None:
    """`ledger replay done` says the whole line, on the ledger that was named."""
    assert "Did you mean `ledger replay session done`?" in failure("replay", "done")[2]
    assert "Did you mean `ledger replay session done --db x.db`?" in failure("--db", "x.db", "replay", "done")[2]


def test_rows_for_programs(world: Path) -> None:
    """Jsonl and csv have the rows under their wire names, each with the same keys."""
    rows = [json.loads(line) for line in ledger("replay", "session", "done", "--format", "jsonl").stdout.splitlines()]
    assert [row["sequence"] for row in rows] == list(range(1, len(rows) + 1))
    assert {tuple(row) for row in rows} == {tuple(rows[0])}
    assert "summary" in rows[0]
    csv = ledger("replay", "session", "done", "--format", "csv").stdout.splitlines()
    assert csv[0] == "sequence,recordedAt,turn,index,type,tool,schemaVersion,callId,state,summary,raw"
    assert len(csv) == len(rows) + 1
    messages = ledger("replay", "session", "done", "--diff", "mix", "--format", "openai")
    assert (messages.exit_code, "--diff compares whole sessions" in messages.stderr) == (2, True)


def test_nothing_is_executed_or_written(world: Path) -> None:
    """A replay leaves the ledger as it was."""
    before = (world / "ledger.db").read_bytes()
    for options in ([], ["--format", "json"], ["--format", "openai"], ["--diff", "mix"]):
        ledger("replay", "session", "crash", *options)
    assert (world / "ledger.db").read_bytes() == before
    assert len(list(world.iterdir())) == 2


def again(world: Path, name: str, query: str) -> None:
    """Make a session like `done`."""
    with opened(world) as host, host.session(name) as session:
        session.messages(start=[{"role": "user", "content": "hi"}])
        session.dispatch(reply(("find", {"q": query})))
        session.dispatch(reply(text="All done."))
        session.close()


def test_equal_sessions(world: Path) -> None:
    """Ids and times are no difference: the status is 0."""
    again(world, "twin", "1")
    result = ledger("replay", "session", "done", "--diff", "twin")
    assert (result.exit_code, result.output) == (0, "done and twin are equal.\n")
    assert data("replay", "session", "done", "--diff", "twin") == []


def test_long_values_are_shown_from_where_they_differ(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal two that begin alike would look the same; in a pipe both are whole."""
    long = "is the same in both for longer than the terminal is wide, and then "
    again(world, "one", f"{long}a")
    again(world, "two", f"{long}b")
    piped = ledger("replay", "session", "one", "--diff", "two").stdout
    assert all(f'{{"q": "{long}{end}"}}' in piped for end in "ab")
    out, _ = terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main.main(["replay", "session", "one", "--diff", "two", "--no-color"])
    ends = [part.strip() for part in out.shown.splitlines()[1].split("  ...")]
    assert ends[-2:] == ['nd then a"}', 'nd then b"}']


def test_different_sessions(world: Path) -> None:
    """Each place that differs is a row with both values: the status is 1."""
    again(world, "other", "2")
    result = ledger("replay", "session", "done", "--diff", "other")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[0].split() == ["TURN", "INDEX", "FIELD", "A", "B"]
    rows = data("replay", "session", "done", "--diff", "other")
    assert rows[0] == {"turn": 1, "index": 0, "field": "arguments", "a": {"q": "1"}, "b": {"q": "2"}}
    lines = ledger("replay", "session", "done", "--diff", "other", "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line) for line in lines] == rows


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--diff", "mix", "--at", "3"], "--diff compares whole sessions"),
        (["--format", "json"], "--json and --format exclude each other"),
        (["--format", "cohere"], "cohere"),
        (["--at", "0"], "--at"),
    ],
)
def test_contradictions_are_wrong_usage(world: Path, options: list[str], words: str) -> None:
    """What cannot be meant is told."""
    status, code, message = failure("replay", "session", "done", *options)
    assert (status, code) == (2, "usage")
    assert words in message


@pytest.mark.parametrize("options", [[], ["--format", "json"], ["--format", "openai"], ["--diff", "done"]])
def test_an_unknown_session(world: Path, options: list[str]) -> None:
    """In every form an unknown session is told, and nothing is printed before it."""
    result = ledger("replay", "session", "nobody", *options)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no session 'nobody'" in result.stderr
    assert failure("replay", "session", "nobody")[:2] == (1, "unknown_session")


def test_without_a_ledger_nothing_is_made(empty: Path) -> None:
    """Replay never creates a database."""
    assert failure("replay", "session", "s")[:2] == (1, "no_database")
    assert list(empty.iterdir()) == []
