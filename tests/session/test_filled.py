"""What the ledger fills in (`applyDefaults`) runs only where the schema accepts it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledger import Ask, Ledger
from ledger.errors import UsageError
from ledger.schema_migration.judging import to_run
from tests.session.agents import opened

CLOSED: dict[str, Any] = {"type": "object", "additionalProperties": False}
FEE = CLOSED | {"properties": {"fee": {"type": "integer", "maximum": 50, "default": "5000"}, "n": {"type": "integer"}}}
CARD = CLOSED | {
    "properties": {"iban": {"type": "string"}, "n": {"type": "integer"}, "currency": {"default": "EUR"}},
    "dependentRequired": {"currency": ["iban"]},
}
ENDLESS = CLOSED | {
    "properties": {"n": {"type": "integer"}, "in": {"$ref": "#/$defs/in"}},
    "$defs": {"in": CLOSED | {"properties": {"in": {"$ref": "#/$defs/in", "default": {}}}}},
}


class World:
    """A ledger file and a tool whose schema may change between two processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ran: list[Any] = []

    def open(self, schema: Any, *, ask: bool = False, filled: bool = True, **settings: Any) -> Ledger:
        """Open the ledger as another process would."""
        ledger = opened(self.folder, **settings)
        ledger.tool("pay", effect="external", schema=schema, apply_defaults=filled)(self.pay)
        if ask:
            ledger.authorize(lambda call, principal: Ask())
        return ledger

    def pay(self, **arguments: Any) -> None:
        """Pay."""
        self.ran.append(arguments)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A fresh one."""
    return World(tmp_path)


@pytest.mark.parametrize(
    ("schema", "arguments", "places"),
    [(FEE, {}, ["/fee"]), (CARD, {}, ["/iban"]), (ENDLESS, {"in": {}}, [])],
    ids=["its own type", "another field", "without an end"],
)
def test_a_default_that_does_not_fit_stops_the_call(world: World, schema: Any, arguments: Any, places: Any) -> None:
    """It is the schema's fault, and its places are told; the same with all that it needs runs."""
    with world.open(schema) as ledger:
        call = ledger.session("s").call("pay", arguments).call
        assert (call.state, call.code, call.error_class, call.model_can_repair) == (
            "rejected",
            "gate_error",
            "tool",
            False,
        )
        assert [each["pointer"] for each in call.violations or ()] == places
        fits = {"iban": "x"} if schema is CARD else {"fee": 5} if schema is FEE else {}
        assert ledger.session("s").call("pay", fits).state == "succeeded"
    assert world.ran == [fits | ({"currency": "EUR"} if schema is CARD else {})]


def test_a_person_gives_no_arguments_that_run_with_such_defaults(world: World) -> None:
    """Theirs go through the same gate."""
    with world.open(FEE, ask=True) as ledger:
        call = ledger.session("s").call("pay", {"fee": 1}).call_id
        with pytest.raises(UsageError, match="fills in do not fit it"):
            ledger.resolve(call, arguments={"n": 1})
        ledger.resolve(call, arguments={"fee": 2})
        ledger.session("s").messages()
    assert world.ran == [{"fee": 2}]


@pytest.mark.parametrize("way", ["resume", "advance"])
@pytest.mark.parametrize("steps", [0, 1, 2], ids=["proposed", "validated", "authorized"])
def test_what_was_recorded_before_its_defaults_went_wrong_does_not_run(world: World, steps: int, way: str) -> None:
    """The same schema, whose defaults nobody filled in then: it is refused before its start, wherever it stands."""
    with world.open(FEE, filled=False) as ledger:
        session = ledger.session("s")
        call_id = session.propose("pay", {"n": 1}).call_id
        for _ in range(steps):
            session.advance(call_id)
    with world.open(FEE, run_not_started=True) as ledger:
        session = ledger.session("s")
        if way == "resume":
            session.messages()
        else:
            assert [session.advance(call_id).state for _ in range(3)][-1] == "rejected"
        call = ledger.find(call_id)
        assert (call.state, call.code, call.attempt, world.ran) == ("rejected", "gate_error", 0, [])


def test_a_person_is_held_to_the_formats_of_the_catalog(tmp_path: Path) -> None:
    """Without the program's code their arguments are checked as the catalog says; what fits runs there."""
    catalog, schema = tmp_path / "catalog", CLOSED | {"properties": {"day": {"type": "string", "format": "date"}}}
    tool = {"name": "pay", "description": "Pay.", "versions": {"1": {"contract": {"effect": "external"}}}}
    (catalog / "pay").mkdir(parents=True)
    for name, document in (("catalog.json", {"formats": ["date"]}), ("pay/tool.json", tool), ("pay/v1.json", schema)):
        (catalog / name).write_text(json.dumps(document))
    with opened(tmp_path, catalog=catalog) as ledger:
        ledger.tool("pay")(lambda day="": day)
        ledger.authorize(lambda call, principal: Ask())
        call_id = ledger.session("s").call("pay", {"day": "2026-02-28"}).call_id
    with opened(tmp_path, catalog=catalog) as desk:
        with pytest.raises(UsageError, match="is no date"):
            desk.resolve(call_id, arguments={"day": "2026-02-31"})
        assert desk.resolve(call_id, arguments={"day": "2026-03-01"}).call.state == "authorized"


def test_defaults_without_an_end_are_judged_as_they_were_sent(world: World) -> None:
    """Who compares or reports what would run gets an answer: nothing of it runs."""
    with world.open(ENDLESS) as ledger:
        tool = ledger._wiring.registry.get("pay")
        assert tool is not None
        assert to_run(tool.version, {"in": {}}) == {"in": {}}
        call = ledger.session("s").call("pay", {"in": {}}, idempotency_key="k").call
        assert ledger.session("s").call("pay", {"in": {}}, idempotency_key="k").state == call.state == "rejected"
