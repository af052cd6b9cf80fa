"""Recorded upcasts, held to their files and their arguments long after; whoever changed one of them is named."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ledger import Ledger
from ledger.catalog import load_catalog
from ledger.events import read_event
from ledger.events.wire import chain
from ledger.schema_migration import confirming as module
from ledger.schema_migration.confirming import Confirmed, confirming
from ledger.schema_migration.plan import Scope
from ledger.session.existing import open_existing
from ledger.session.migrating import migrate
from ledger.store.port import Reader, StoredEvent
from ledger.store.urls import open_store
from ledger.strictjson import canonical, digest, loads
from tests.cli.running import data, ledger
from tests.helpers import postgres
from tests.recovery.deploys import Deploy

CALLS = 3
STANDS = {"recorded": CALLS, "confirmed": CALLS, "reworded": 0, "beyond": 0, "doubted": 0, "doubts": []}
Change = Callable[[dict[str, Any]], None]


def carried(url: str, folder: Path) -> Deploy:
    """A ledger in which three calls were carried from v1 to v2."""
    deploy = Deploy(folder)
    deploy.write(1)
    with Ledger.open(url, catalog=folder / "catalog") as old:

        @old.tool("charge", version=1)
        def charge(amt: int) -> None:
            """Charge."""

        for number in range(CALLS):
            old.session(f"s{number}").propose("charge", {"amt": number})
    deploy.write(2)
    with open_existing(url, catalog=folder / "catalog") as here:
        assert [each.carried for each in migrate(here, Scope())] == [1] * CALLS
    return deploy


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with such a ledger and its catalog; tests change copies of it."""
    folder = tmp_path_factory.mktemp("carried")
    carried(f"sqlite:///{folder}/ledger.db", folder)
    return folder


@pytest.fixture
def place(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(made, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    monkeypatch.setenv("LEDGER_CATALOG", "catalog")
    return tmp_path / "copy"


def held(reader: Reader, catalog: Path | None) -> dict[str, Any]:
    """Hold every upcast; return what is told of it."""
    found = Confirmed()
    events = list(confirming(reader, lambda: load_catalog(catalog) if catalog is not None else None, found))
    assert len(events) == found.recorded
    return found.to_wire()


@pytest.fixture
def reader(place: Path) -> Iterator[Reader]:
    store = open_store(f"sqlite:///{place}/ledger.db", create=False)
    yield store
    store.close()


def tampered(place: Path, change: Change, event: str = "call.upcast", *, again: bool = True) -> None:
    """Change the event of s1 as somebody may who can write the file; `again`: and chain what follows anew."""
    with closing(sqlite3.connect(place / "ledger.db", isolation_level=None)) as connection:
        kept = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in kept:
            connection.execute(f"DROP TRIGGER {name}")
        before = b""
        rows = connection.execute("SELECT sequence, type, record, digest FROM event WHERE session_id = 's1' ORDER BY 1")
        for sequence, kind, record, old in rows.fetchall():
            wire = loads(record)
            assert isinstance(wire, dict)
            if kind == event:
                change(wire["body"])
            now = canonical(wire)
            before = chain(before, now) if again else old
            connection.execute(
                "UPDATE event SET record = ?, digest = ? WHERE session_id = 's1' AND sequence = ?",
                (now, before, sequence),
            )
        if again:
            connection.execute("UPDATE session_head SET digest = ? WHERE session_id = 's1'", (before,))
        for _, statement in kept:
            connection.execute(statement)


def put(**words: Any) -> Change:
    return lambda said: said.update(words)


def forged(said: dict[str, Any]) -> None:
    """Put other arguments in their place, with their own digest."""
    said["arguments"] = {"amount": 1_000}
    said["digestAfter"] = digest(said["arguments"])


def astray(said: dict[str, Any]) -> None:
    """Name another file as well."""
    forged(said)
    said["upcastDigest"] = "0" * 64


def test_what_was_carried_stands(place: Path, reader: Reader) -> None:
    """Each upcast is held to its file and to the arguments it carried; without the catalog, to its digests."""
    assert held(reader, place / "catalog") == STANDS
    assert held(reader, None) == STANDS | {"confirmed": 0, "beyond": CALLS}


CHANGES: dict[str, tuple[Change, list[str]]] = {
    "arguments": (put(arguments={"amount": 1_000}), ["after", "image", "origin"]),
    "arguments with their digest": (forged, ["image", "origin"]),
    "another type": (put(arguments={"amount": 1.0}), ["after", "image", "origin"]),
    "digest before": (put(digestBefore="0" * 64), ["before"]),
    "digest after": (put(digestAfter="0" * 64), ["after"]),
    "arguments and file": (astray, ["file", "image", "origin"]),
    "version": (put(toVersion=3), ["version"]),
    "approval": (put(keepsApproval=True), ["approval"]),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_recorded_upcast_that_was_changed_is_named(place: Path, name: str) -> None:
    """Also where the chain was made anew behind the change, so that no digest of an event tells it."""
    change, doubts = CHANGES[name]
    tampered(place, change)
    result = ledger("db", "check", "--json")
    found = json.loads(result.stdout)["data"]
    [doubted] = found["upcasts"]["doubts"]
    assert (result.exit_code, found["sound"], found["brokenChains"]) == (1, False, 0)
    assert (doubted["sessionId"], doubted["tool"], doubted["fromVersion"]) == ("s1", "charge", 1)
    assert doubted["toVersion"] == (3 if name == "version" else 2)
    assert (doubted["doubts"], found["upcasts"]["confirmed"]) == (doubts, CALLS - 1)


def test_the_intent_is_what_an_upcast_is_held_to(place: Path, reader: Reader) -> None:
    """Whoever changes what the model asked for is seen too."""
    tampered(place, put(arguments={"amt": 99}), "call.proposed")
    [doubted] = held(reader, place / "catalog")["doubts"]
    assert doubted["doubts"] == ["before", "image", "origin"]


def test_without_its_file_an_upcast_is_held_to_its_digest(place: Path, reader: Reader) -> None:
    """What it says it made is what it holds."""
    tampered(place, put(arguments={"amount": 1_000}))
    found = held(reader, None)
    assert (found["beyond"], found["doubts"][0]["doubts"]) == (CALLS - 1, ["after"])


def test_another_file_that_begins_at_the_same_version_is_not_the_one(place: Path, reader: Reader) -> None:
    """A longer step took its place: what was carried by the shorter one is held to its digest only."""
    tool = place / "catalog/charge"
    document = json.loads((tool / "tool.json").read_text())
    document["versions"]["3"] = document["versions"]["2"]
    (tool / "tool.json").write_text(json.dumps(document))
    (tool / "v3.json").write_text((tool / "v2.json").read_text())
    step = json.loads((tool / "v1-v2.upcast.json").read_text())
    (tool / "v1-v2.upcast.json").unlink()
    (tool / "v1-v3.upcast.json").write_text(json.dumps(step | {"to": 3}))
    assert held(reader, place / "catalog") == STANDS | {"confirmed": 0, "beyond": CALLS}


def test_people_read_what_does_not_stand(place: Path) -> None:
    """Where, of which call, and why; how many were confirmed; nothing is said where there are no upcasts."""
    lines = ledger("db", "check").stdout.splitlines()
    assert "  upcasts   3 of 3 confirmed against their files" in lines
    assert not any("do not stand" in line for line in lines)
    tampered(place, put(arguments={"amount": 1_000}))
    lines = ledger("db", "check").stdout.splitlines()
    assert "Recorded upcasts that do not stand: 1" in lines
    [line] = [each for each in lines if "s1, event" in each]
    assert "charge v1 to v2: the carried arguments have another digest; the file makes something else" in line
    tampered(place, put(digestAfter="1" * 64), again=False)
    result = ledger("db", "check")
    assert (result.exit_code, "Recorded upcasts that do not stand: 1" in result.stdout) == (4, True)


def test_a_catalog_without_the_file_is_told(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ledger is sound as far as it is known, and the note says how to know more."""
    (place / "catalog/charge/v1-v2.upcast.json").unlink()
    result = ledger("db", "check")
    assert (result.exit_code, "0 of 3 confirmed" in result.stdout) == (0, True)
    told = " ".join(result.stdout.split())
    assert "3 of 3 recorded upcasts were held to their digests only" in told
    assert "--catalog" in told
    monkeypatch.delenv("LEDGER_CATALOG")
    assert data("db", "check")["upcasts"]["beyond"] == CALLS
    result = ledger("db", "check", "--catalog", "nowhere")
    told = " ".join(result.stdout.split())
    assert (result.exit_code, "the catalog cannot be read (nowhere: there is no such catalog folder)" in told) == (
        0,
        True,
    )


def edited(place: Path, **words: Any) -> None:
    """Edit the upcast file, long after it carried calls."""
    file = place / "catalog/charge/v1-v2.upcast.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | words))


def test_a_file_of_other_words_confirms_what_it_carried(place: Path) -> None:
    """Who asserts it, or what it widens, may be put better: it makes of the arguments what it made, forth and back."""
    edited(place, assertedBy="eve@example.org", widens=["Nothing."])
    result = ledger("db", "check")
    assert (result.exit_code, "3 of 3 confirmed" in result.stdout, "do not stand" in result.stdout) == (0, True, False)
    assert "3 recorded upcasts name a file that was edited since" in " ".join(result.stdout.split())
    assert data("db", "check")["upcasts"] == STANDS | {"reworded": CALLS, "catalogFault": None}


def test_a_file_that_does_something_else_is_told_with_the_way_out(place: Path) -> None:
    """It is put back; another meaning is another version's."""
    edited(place, ops=[{"op": "rename", "from": "/amt", "to": "/sum"}])
    result = ledger("db", "check")
    told = " ".join(result.stdout.split())
    assert (result.exit_code, "its upcast file is another one now" in told) == (1, True)
    assert "put it back as it was, and let a new version (`ledger tool new-version`)" in told


def test_a_file_that_speaks_of_meaning_by_now_confirms_nothing(place: Path, reader: Reader) -> None:
    """Not even a record whose arguments no operation changed: it was carried as a change of form."""
    tampered(place, put(arguments={"amt": 1}, digestAfter=digest({"amt": 1})))
    said = {"tool": "charge", "from": 1, "to": 2, "semantic": "Another currency."}
    (place / "catalog/charge/v1-v2.upcast.json").write_text(json.dumps(said))
    found = held(reader, place / "catalog")
    assert (found["reworded"], found["doubted"]) == (0, CALLS)
    assert [each["doubts"] for each in found["doubts"]][1] == ["file"]


def test_only_the_first_are_named_and_all_are_counted(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the ledger's size, the answer has one."""
    edited(place, ops=[{"op": "rename", "from": "/amt", "to": "/sum"}])
    monkeypatch.setattr(module, "MOST_SHOWN", 1)
    found = data("db", "check")["upcasts"]
    assert (found["doubted"], len(found["doubts"]), found["confirmed"]) == (CALLS, 1, 0)
    assert found["doubts"][0]["doubts"] == ["file", "image", "origin"]


def test_a_tool_that_has_another_name_by_now_has_the_file(place: Path, reader: Reader) -> None:
    """Its calls keep the name that they were recorded under; only the file is another one here."""
    (place / "catalog/charge").rename(place / "catalog/pay")
    for name in ("tool.json", "v1-v2.upcast.json"):
        file = place / "catalog/pay" / name
        words = json.loads(file.read_text())
        words |= {"tool": "pay"} if "tool" in words else {"name": "pay", "reserved": ["charge"]}
        if "ops" in words:
            words["ops"] = [{"op": "rename_tool", "from": "charge", "to": "pay"}, *words["ops"]]
        file.write_text(json.dumps(words))
    assert held(reader, place / "catalog") == STANDS | {"reworded": CALLS}


@pytest.mark.parametrize("name", ["unreadable", "redacted"])
def test_what_came_before_must_be_known(place: Path, reader: Reader, name: str) -> None:
    """Of an upcast whose call cannot be folded up to there, or was masked, only the digest can be asked."""
    tampered(place, put(redacted=True) if name == "redacted" else put(stage=7), "call.proposed")
    assert held(reader, place / "catalog") == STANDS | {"confirmed": CALLS - 1, "beyond": 1}


def test_an_event_that_cannot_be_read_is_no_upcast(place: Path, reader: Reader) -> None:
    """Others name it."""
    tampered(place, dict.clear)
    assert held(reader, place / "catalog") == STANDS | {"recorded": CALLS - 1, "confirmed": CALLS - 1}


def test_a_call_that_does_not_follow_up_to_its_upcast_is_not_judged(place: Path, reader: Reader) -> None:
    """Its proposal stands there twice: what its arguments were is not known."""

    class Doubling:
        """Shows the first event of every call twice."""

        def __getattr__(self, name: str) -> Any:
            return getattr(reader, name)

        def events(self, where: Any, **options: Any) -> list[StoredEvent]:
            rows = list(reader.events(where, **options))
            return rows if where.call_id is None else [rows[0], *rows]

    doubling: Any = Doubling()
    assert held(doubling, place / "catalog") == STANDS | {"confirmed": 0, "beyond": CALLS}


def test_defaults_that_would_have_run_are_part_of_it(tmp_path: Path) -> None:
    """The digests cover them; so does the confirmation."""
    deploy = Deploy(tmp_path)
    tool = tmp_path / "catalog/charge"

    def release(current: int) -> None:
        deploy.write(current)
        words = json.loads((tool / "tool.json").read_text())
        words["versions"] = {
            str(n): {"contract": {"effect": "external", "applyDefaults": True}} for n in (1, 2)[:current]
        }
        (tool / "tool.json").write_text(json.dumps(words))
        for number, name in zip((1, 2)[:current], ("amt", "amount"), strict=False):
            node = {
                "type": "object",
                "properties": {name: {"type": "integer", "default": 3}},
                "additionalProperties": False,
            }
            (tool / f"v{number}.json").write_text(json.dumps(node))

    release(1)
    deploy.open(1).session("s").propose("charge", {})
    release(2)
    url = f"sqlite:///{tmp_path}/ledger.db"
    with open_existing(url, catalog=tmp_path / "catalog") as here:
        assert [each.carried for each in migrate(here, Scope())] == [1]
        assert held(here.reader, tmp_path / "catalog")["confirmed"] == 1
        [stored] = [each for each in here.reader.read("s", limit=99) if each.type == "call.upcast"]
    assert read_event(stored.record).body.arguments == {"amount": 3}  # type: ignore[union-attr]  # an upcast
    deploy.close()


def test_a_server_is_asked_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`db check` over PostgreSQL confirms what was carried there."""
    with postgres.database() as url:
        carried(url, tmp_path)
        monkeypatch.setenv("LEDGER_DB", url)
        monkeypatch.setenv("LEDGER_CATALOG", str(tmp_path / "catalog"))
        assert data("db", "check")["upcasts"] == STANDS | {"catalogFault": None}
