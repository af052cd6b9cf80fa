"""A verdict that a call shall run is bound to what would run, whoever flagged the call, and taken only if it holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger import Ledger
from ledger.errors import VerdictRefused
from ledger.session.existing import open_existing
from ledger.session.worker import resume_one
from tests.session.agents import opened

Open = Callable[[str, int], Ledger]


def schema(**defaults: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"amt": {"type": "integer"}, **defaults}, "required": ["amt"]}


SCHEMAS = (schema(note={"type": "string", "default": "n"}), schema(memo={"type": "string", "default": "m"}))
V1, V2 = {"amt": 5, "note": "n"}, {"amt": 5, "memo": "m"}


def write(folder: Path, current: int, have: int, *, secret: bool = False) -> None:
    """Write the catalog's files: what is above `current` is a draft."""
    tool = folder / "catalog" / "charge"
    tool.mkdir(parents=True, exist_ok=True)
    versions = {str(n): {"contract": {"effect": "external", "applyDefaults": True}} for n in range(1, have + 1)}
    document = {"name": "charge", "description": "Charge.", "current": current, "versions": versions}
    (tool / "tool.json").write_text(json.dumps(document))
    for later in tool.glob("v*.json"):
        later.unlink()
    for n, each in enumerate(SCHEMAS[:have], 1):
        amount = {"amt": {"type": "integer", "x-sensitive": True}} if secret else {}
        (tool / f"v{n}.json").write_text(json.dumps(each | {"properties": each["properties"] | amount}))


@pytest.fixture
def ran() -> list[dict[str, Any]]:
    return []


@pytest.fixture
def program(tmp_path: Path, ran: list[dict[str, Any]]) -> Iterator[Open]:
    """Start a program whose tool has this version (0: it has no code of the tool)."""
    running: list[Ledger] = []

    def start(name: str, version: int) -> Ledger:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        catalog = folder / "catalog"
        found = opened(folder, catalog=str(catalog) if catalog.exists() else None)
        running.append(found)
        if version:

            @found.tool("charge", version=version)
            def charge(**given: Any) -> None:
                """Charge."""
                ran.append(given)

        return found

    yield start
    for each in running:
        each.close()


def proposed(ledger: Ledger) -> str:
    return str(ledger.session("s").propose("charge", {"amt": 5}).call_id)


def flagged(ledger: Ledger, call_id: str) -> None:
    """Resume: a person is asked then, and nothing is recorded of what another version would run."""
    resume_one(ledger, "s", execute=True)
    call = ledger.find(call_id)
    assert (call.state, call.reason, call.arguments_digest) == ("needs-review", "not-started", None)


WAYS = {
    "resumed without the tool's code": ((1, 1), (1, 1), 0, V1),
    "resumed by a program of a draft": ((1, 1), (1, 2), 2, V1),
    "resumed by an older program": ((2, 2), (1, 1), 1, V2),
}
"""The catalog as the call was made and as it was resumed (current, versions), who resumed it, what it runs with."""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("at_home", [True, False])
def test_it_runs_by_one_word(tmp_path: Path, program: Open, ran: list[Any], way: str, at_home: bool) -> None:
    """Also where the word is given without catalog and code: the ledger recorded the tool's versions itself."""
    first, then, version, runs = WAYS[way]
    (tmp_path / "a").mkdir()
    write(tmp_path / "a", *first)
    call_id = proposed(program("a", first[0]))
    write(tmp_path / "a", *then)
    flagged(program("a", version), call_id)
    write(tmp_path / "a", *first)
    own = program("a", first[0])
    with open_existing(f"sqlite:///{tmp_path}/a/ledger.db") as desk:
        (own if at_home else desk).resolve(call_id, "run", by="ada")
    resume_one(own, "s", execute=True)
    assert (own.find(call_id).state, ran) == ("succeeded", [runs])


def imported(tmp_path: Path, program: Open, *, secret: bool = False) -> str:
    """Take an open proposal over into another ledger, which has never seen its tool; return its id."""
    from tests.cli.running import ledger

    (tmp_path / "a").mkdir()
    write(tmp_path / "a", 1, 1, secret=secret)
    call_id = proposed(program("a", 1))
    (tmp_path / "b").mkdir()
    done = ledger("session", "export", "s", "--format", "ledger", "--db", f"sqlite:///{tmp_path}/a/ledger.db")
    (tmp_path / "b" / "export").write_text(done.stdout)
    into = f"sqlite:///{tmp_path}/b/ledger.db"
    assert (
        ledger("session", "import", str(tmp_path / "b" / "export"), "--format", "ledger", "--db", into).exit_code == 0
    )
    return call_id


def test_a_word_that_could_not_hold_is_refused_with_what_to_do(tmp_path: Path, program: Open, ran: list[Any]) -> None:
    """Nobody knows the tool here, nor its version in the shape of then; the program that does takes the word."""
    call_id = imported(tmp_path, program)
    with pytest.raises(VerdictRefused, match="with which arguments") as told:
        program("b", 0).resolve(call_id, "run", by="ada")
    assert "charge v1" in (told.value.hint or "")
    write(tmp_path / "b", 1, 1)
    own = program("b", 1)
    own.resolve(call_id, "run", by="ada")
    resume_one(own, "s", execute=True)
    assert (own.find(call_id).state, ran) == ("succeeded", [V1])


def test_of_what_was_masked_nobody_knows_what_would_run(tmp_path: Path, program: Open) -> None:
    """The mask has a digest too, but no program would ever run with it."""
    call_id = imported(tmp_path, program, secret=True)
    write(tmp_path / "b", 1, 1, secret=True)
    with pytest.raises(VerdictRefused) as told:
        program("b", 0).resolve(call_id, "run", by="ada")
    assert "redacted" in (told.value.hint or "")


def test_a_call_whose_tool_nobody_knew_is_made_anew(tmp_path: Path, program: Open) -> None:
    """It has no version whose defaults could be filled in: `run` could only end in another question."""
    call_id = proposed(program("a", 0))
    (tmp_path / "a").joinpath("catalog").mkdir()
    write(tmp_path / "a", 1, 1)
    own = program("a", 1)
    flagged(own, call_id)
    with pytest.raises(VerdictRefused) as told:
        own.resolve(call_id, "run", by="ada")
    assert "--arguments" in (told.value.hint or "")
