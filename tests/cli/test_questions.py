"""The questions of an auditor, each by the command that answers it."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from ledger import Allow, Deny, Ledger
from ledger.catalog import Catalog
from ledger.cli.opening import reading
from ledger.cli.shell import Shell
from ledger.errors import StoreUnavailable, UsageError
from ledger.store.sqlite.store import ReadOnlySqliteStore
from tests.audit.world import opened
from tests.cli.running import call_ids, data, failure, ledger, terminal


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with labels and resources: two deployments, one of them refused."""
    folder = tmp_path_factory.mktemp("told")
    with Ledger.open(f"sqlite:///{folder}/ledger.db", catalog=Catalog(tools={}, digest="")) as host:

        @host.tool("deploy", effect="write", resource_keys=("repo:acme/site",))
        def deploy(version: str) -> dict[str, str]:
            """Deploy a version."""
            return {"version": version}

        @host.authorize
        def policy(call: Any, principal: Any) -> Any:
            return Deny("frozen", "Not on Fridays.") if call.arguments["version"] == "2" else Allow()

        for name, version, env in (("a", "1", "prod"), ("b", "2", "test")):
            with host.session(name, principal="ada", tenant="acme", labels={"env": env, "n": 3}) as session:
                session.call("deploy", {"version": version}, idempotency_key=f"order-{name}")
    return folder


@pytest.fixture
def there(told: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(told)
    monkeypatch.setenv("COLUMNS", "80")


def sessions(*arguments: str) -> list[str]:
    """The sessions of the calls or events that a command finds, each once."""
    return sorted({row["sessionId"] for row in data("audit", *arguments)})


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--label", "env=prod"], ["a"]),
        (["--label", "env=prod", "--label", "n=3"], ["a"]),
        (["--label", "env=prod", "--label", "n=4"], []),
        (["--label", "n=3", "--since", "1h"], ["a", "b"]),
        (["--resource", "repo:acme/site"], ["a"]),
        (["--resource", "repo:acme"], []),
        (["--actor", "ledger"], ["a", "b"]),
        (["--actor", "nobody"], []),
        (["--type", "call.denied"], ["b"]),
        (["--state", "denied"], ["b"]),
        (["--code", "frozen", "--class", "policy", "--gate", "authorization"], ["b"]),
        (["--idempotency-key", "order-a"], ["a"]),
        (["--tenant", "acme", "--principal", "ada", "--session", "b"], ["b"]),
        (["--schema-version", "1", "--tool", "deploy", "--stage", "active"], ["a", "b"]),
        (["--until", "2020-01-01"], []),
        (["--duplicates"], []),
        (["--reason", "duplicate"], []),
    ],
)
def test_every_filter_is_on_every_command(options: list[str], found: list[str]) -> None:
    """Calls, events and counts understand the same filters; events are those of the calls that fit."""
    assert sessions("calls", *options) == found
    assert [name for name in sessions("events", *options) if name in "ab"] == found
    assert sum(row["calls"] for row in data("audit", "stats", *options)) == len(found)
    assert sum(row["calls"] for row in data("audit", "versions", *options)) == len(found)


@pytest.mark.parametrize(
    "attack",
    [
        "' OR 1=1 --",
        '" OR ""="',
        "x'; DROP TABLE event; --",
        "position) UNION SELECT * FROM event --",
        "%",
        "a=' OR 1=1",
    ],
)
@pytest.mark.usefixtures("there")
def test_no_filter_is_sql(attack: str) -> None:
    """Whatever a value looks like, it is compared or refused; the ledger is as it was."""
    texts = ("--session", "--tool", "--tenant", "--principal", "--actor", "--code", "--resource", "--idempotency-key")
    for noun in ("calls", "events"):
        for option in texts:
            assert data("audit", noun, option, attack) == []
        for option in ("--limit", "--after", "--schema-version", "--state", "--gate", "--class", "--since", "--type"):
            assert failure("audit", noun, option, attack)[:2] == (2, "usage")
    assert failure("audit", "stats", "--by", attack)[:2] == (2, "usage")
    assert failure("audit", "calls", "--sort", attack)[:2] == (2, "usage")
    assert sessions("calls") == ["a", "b"]


def test_who_called_what_when_under_which_version(world: Path) -> None:
    """Question 1."""
    row = data("audit", "calls", "--session", "done")[0]
    asked = ("principal", "tool", "schemaVersion", "argumentsDigest", "proposedAt", "state")
    assert [bool(row[key]) for key in asked] == [True] * 6
    assert data("audit", "call", row["callId"])["arguments"] == {"q": "1"}


def test_the_whole_story_of_one_call(world: Path) -> None:
    """Question 2."""
    story = data("audit", "call", call_ids()["mix 2.1"])
    assert story["state"] == "denied"
    assert [event["type"] for event in story["events"]] == ["call.proposed", "call.validated", "call.denied"]


def test_failures_by_class_this_week(world: Path) -> None:
    """Question 3."""
    rows = {row["errorClass"]: row["calls"] for row in data("audit", "stats", "--by", "class", "--since", "7d")}
    assert rows == {None: 9, "model": 3, "policy": 1}
    assert {row["code"] for row in data("audit", "stats", "--by", "code", "--since", "7d")} >= {"no", "unknown_tool"}


def test_denied_by_which_rule(world: Path) -> None:
    """Question 4."""
    (row,) = data("audit", "calls", "--state", "denied")
    (event,) = data("audit", "events", "--type", "call.denied")
    assert (row["code"], event["body"]["policy"], event["callId"]) == ("no", "policy", row["callId"])


def test_executed_under_a_deprecated_stage_or_an_old_version(world: Path) -> None:
    """Question 5: as it was then."""
    assert data("audit", "calls", "--stage", "compat") == []
    assert len(data("audit", "calls", "--stage", "active", "--schema-version", "1")) == 12


def test_how_often_a_model_could_repair_by_wording(world: Path) -> None:
    """Question 7, with n and an interval."""
    row = next(row for row in data("audit", "stats", "--by", "description") if row["model"] and row["tool"] == "find")
    assert (row["repairable"], row["ended"]) == (2, 3)
    assert 0 < row["repairableRateLow"] < row["repairableRate"] < row["repairableRateHigh"] < 1
    assert "2/3 67% (21-94)" in ledger("audit", "stats", "--by", "description").stdout


def test_duplicates(world: Path) -> None:
    """Question 8."""
    (row,) = data("audit", "calls", "--duplicates")
    assert row["duplicateOf"] == call_ids()["mix 3.0"]


@pytest.mark.usefixtures("there")
def test_calls_that_touched_a_resource() -> None:
    """Question 9: the refused one did not."""
    assert sessions("calls", "--resource", "repo:acme/site") == ["a"]


def test_approvals(world: Path) -> None:
    """Question 10: who allowed what, bound to which arguments."""
    with opened(world) as host:
        host.approve(call_ids()["mix 2.0"], by="ada")
    (row,) = [row for row in data("audit", "events", "--type", "call.authorized") if row["body"]["by"] == "person"]
    assert (row["body"]["person"], row["callId"]) == ("ada", call_ids()["mix 2.0"])
    assert [row["callId"] for row in data("audit", "calls", "--actor", "person:ada")] == [call_ids()["mix 2.0"]]


def test_upcasts(world: Path) -> None:
    """Question 11: none was applied here, and that is no error."""
    assert data("audit", "events", "--type", "call.upcast") == []


def test_what_recovery_decided(world: Path) -> None:
    """Question 15."""
    assert ledger("resume", "crash").exit_code in (0, 3)
    rows = data("audit", "events", "--type", "session.resumed", "--session", "crash")
    assert {decision["action"] for row in rows for decision in row["body"]["decisions"]}


def test_orphans_and_clocks_that_go_back(world: Path) -> None:
    """Question 16; a look-up table that somebody changed is found there too, and made again."""
    found = data("db", "check")
    assert (found["sound"], found["orphans"], found["lookUps"]) == (True, {"calls": 0, "proposals": 0}, [])
    connection = sqlite3.connect(world / "ledger.db")
    connection.execute("DELETE FROM session_tag WHERE value = 'bob'")
    connection.commit()
    connection.close()
    assert data("audit", "events", "--principal", "bob") == []
    checked = ledger("db", "check")
    assert checked.exit_code == 1
    assert "Tables that audit looks up differ from the events\n  - session_tag: 1 row\n" in checked.stdout
    assert data("db", "check", "--rebuild")["lookUps"] == [{"table": "session_tag", "differences": 1}]
    assert len(data("audit", "events", "--principal", "bob")) > 5
    assert data("db", "check")["sound"] is True


def test_latencies_by_tool_and_version(world: Path) -> None:
    """Question 17."""
    for row in data("audit", "stats", "--by", "tool"):
        assert (row["schemaVersion"] is None) == (row["tool"] not in ("find", "send_email"))
        assert (row["timed"] == 0) == (row["p50Ms"] is None) == (row["p95Ms"] is None)


def test_versions_are_listed(world: Path) -> None:
    """Which versions and wordings this ledger knows, published when, with the calls under each."""
    lines = ledger("audit", "versions").stdout.splitlines()
    assert lines[0].split()[:4] == ["TOOL", "V", "STAGE", "PUBLISHED"]
    assert len(lines) == 4
    rows = data("audit", "versions")
    assert [row["calls"] for row in rows if row["tool"] == "find"] == [5]


def test_python_has_the_same_counts(world: Path) -> None:
    """What --json prints is what `Ledger.stats` and `Ledger.versions` yield."""
    with opened(world) as host:
        counts, versions = list(host.stats(by=["code", "tool"], tenant="acme")), list(host.versions(tenant="acme"))
    assert data("audit", "stats", "--by", "code", "--by", "tool", "--tenant", "acme") == counts
    assert data("audit", "versions", "--tenant", "acme") == versions


def test_a_reason_is_read_whole_in_80_columns(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Why a call waits is not cut while a year, or a column without any value, takes room beside it."""
    from ledger.cli import main

    for command in ("review list --session crash", "audit calls --state needs-review"):
        if command.startswith("review"):
            with opened(world) as host:
                host.resume("crash", execute=False)
        out, _ = terminal(monkeypatch)
        monkeypatch.setenv("COLUMNS", "80")
        with pytest.raises(SystemExit):
            main.main([*command.split(), "--no-color"])
        assert "outcome-unknown" in out.shown


@pytest.mark.parametrize(
    "command",
    [
        *("audit calls", "audit events", "audit stats", "audit stats --by code", "audit stats --by description"),
        *("audit stats --by tenant --by stage", "audit versions", "session list", "review list", "tool list"),
    ],
)
def test_tables_fit_a_terminal_of_80_columns(world: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """No line is longer: times lose their year first, then the columns that say least go."""
    from ledger.cli import main
    from ledger.cli.text import width

    out, _ = terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main.main([*command.split(), "--no-color"])
    lines = out.shown.splitlines()
    assert len(lines) > 2
    assert max(map(width, lines)) <= 80


WRITES = (
    "INSERT INTO session_tag VALUES ('a', 'b', 'c')",
    "UPDATE call SET state = 'succeeded'",
    "DELETE FROM event",
    "DROP TABLE call",
    "CREATE TABLE x (y)",
    "REPLACE INTO session_head VALUES ('s', 1, x'', NULL, 0, '')",
    "PRAGMA user_version = 7",
    "VACUUM",
)


def write(reader: ReadOnlySqliteStore, statement: str, *, guarded: bool) -> None:
    """Try to write over a connection of the audit."""
    with reader._pool.connection() as connection:
        if not guarded:
            connection.execute("PRAGMA query_only=OFF")
        connection.execute(statement).fetchall()


@pytest.mark.parametrize("guarded", [True, False], ids=["as it is", "query_only switched off"])
def test_an_audit_cannot_write(world: Path, *, guarded: bool) -> None:
    """The connection of the audit commands refuses every write twice: query_only, and under it a read-only file."""
    shell = Shell(db="sqlite:///ledger.db")
    with reading(shell) as reader:
        assert isinstance(reader, ReadOnlySqliteStore)
        with pytest.raises(UsageError, match="reading only"):
            reader.release("mix", token=1)
        for statement in WRITES:
            with pytest.raises(StoreUnavailable, match=r"readonly|read-only"):
                write(reader, statement, guarded=guarded)


def test_audits_leave_the_ledger_as_it_is(world: Path) -> None:
    """Every command reads; the file's bytes and the files beside it are the same afterwards."""
    before = {path.name: path.read_bytes() for path in world.iterdir()}
    for noun in ("calls", "events", "stats", "versions", f"call {call_ids()['done 1.0']}"):
        assert ledger("audit", *noun.split()).exit_code == 0
    assert {path.name: path.read_bytes() for path in world.iterdir()} == before
