"""For whom a call is: whatever people and recovery make of it, it stays its principal's, on behalf of whom it was."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from ledger import Allow, Ask, Deny, Ledger
from ledger.importing import Wanted, import_file
from ledger.schema_migration.plan import Scope
from ledger.session.existing import open_existing
from ledger.session.migrating import migrate
from tests.recovery.deploys import Deploy
from tests.recovery.scenes import SESSION
from tests.session.agents import asked, recorded

WHO: Final[dict[str, Any]] = {"principal": "guest", "on_behalf_of": "ann", "tenant": "acme"}
RECORDED: Final = ("guest", "ann", "acme")
HOURLY: Final = {"max": 1, "per": "hour", "scope": "principal"}
FAILS: Final = 7
"""The amount whose payment ends in doubt, as long as the service is down."""


@dataclass(slots=True)
class Payments:
    """One file and one tool: a person is asked about what guests pay, and more than 10 they may not pay at all."""

    folder: Path
    limits: list[dict[str, Any]] = field(default_factory=list)
    down: bool = False
    asks: bool = True
    told: list[tuple[Any, ...]] = field(default_factory=list)
    paid: list[tuple[Any, Any, int]] = field(default_factory=list)
    opened: list[Ledger] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"sqlite:///{self.folder}/ledger.db"

    def program(self) -> Ledger:
        """The ledger with the program's code, as a process of its own has it."""
        ledger = Ledger.open(self.url)
        self.opened.append(ledger)

        @ledger.tool("pay", effect="external", limits=self.limits)
        def pay(amount: int, *, context: Any) -> dict[str, int]:
            """Pay."""
            if self.down and amount == FAILS:
                raise RuntimeError
            self.paid.append((context.principal, context.tenant, amount))
            return {"paid": amount}

        @ledger.authorize
        def policy(call: Any, principal: Any) -> Any:
            """Let guests pay a little, and others all they want."""
            self.told.append((principal, call.principal, call.on_behalf_of, call.tenant))
            if principal == "guest" and call.arguments["amount"] > 10:
                return Deny("too_much", "Guests pay at most 10.")
            return Ask() if principal == "guest" and self.asks else Allow()

        return ledger

    def desk(self) -> Ledger:
        """The ledger as the command line has it: the tools that it recorded, without their code."""
        ledger = open_existing(self.url, recorded=True)
        self.opened.append(ledger)
        return ledger

    def asked(self, amount: int = FAILS) -> str:
        """A guest's call, which waits for a person."""
        return self.program().session(SESSION, **WHO).call("pay", {"amount": amount}).call_id

    def doubted(self) -> str:
        """A guest's call whose end nobody knows."""
        self.down, self.asks = True, False
        call_id = self.asked()
        self.down, self.asks = False, True
        return call_id

    def replaced(self, call_id: str, amount: int = 5, *, verdict: str | None = None) -> str:
        """The call that a person put in the place of this one, at the command line."""
        return self.desk().resolve(call_id, verdict, arguments={"amount": amount}, by="rev").call.call_id


@pytest.fixture
def payments(tmp_path: Path, empty: Path) -> Iterator[Payments]:
    """A ledger file and its tool."""
    shutil.copy(empty, tmp_path)
    found = Payments(tmp_path)
    yield found
    for ledger in found.opened:
        ledger.close()


def approved(payments: Payments) -> str:
    call_id = payments.asked()
    payments.desk().approve(call_id, by="rev")
    return call_id


def replaced_at_the_desk(payments: Payments) -> str:
    return payments.replaced(payments.asked())


def replaced_in_a_program(payments: Payments) -> str:
    call_id = payments.asked()
    return payments.program().resolve(call_id, arguments={"amount": 5}, by="rev").call.call_id


def replaced_in_doubt(payments: Payments) -> str:
    return payments.replaced(payments.doubted(), verdict="did-not-happen")


def sent_again(payments: Payments) -> str:
    call_id = payments.doubted()
    payments.desk().resolve(call_id, "did-not-happen", run=True, by="rev")
    return call_id


def run_as_it_never_started(payments: Payments) -> str:
    call_id = payments.program().session(SESSION, **WHO).propose("pay", {"amount": 5}).call_id
    payments.asks = False
    payments.program().session(SESSION).resume()  # it is flagged: a person is asked
    payments.desk().resolve(call_id, "run", by="rev")
    return call_id


def taken_on_by_another(payments: Payments) -> str:
    call_id = payments.program().session(SESSION, **WHO).propose("pay", {"amount": 5}).call_id
    payments.asks = False
    other = payments.program().session(SESSION, principal="root", on_behalf_of="nobody")
    for _ in range(3):
        other.advance(call_id)
    return call_id


WAYS: Final = (
    approved,
    replaced_at_the_desk,
    replaced_in_a_program,
    replaced_in_doubt,
    sent_again,
    run_as_it_never_started,
    taken_on_by_another,
)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__.replace("_", " "))
def test_a_call_stays_whose_it_was(payments: Payments, way: Callable[[Payments], str]) -> None:
    """Policies, the tool, the record and whoever looks for it are told the same, whoever let it run and ran it."""
    call_id = way(payments)
    payments.program().session(SESSION).resume()
    ledger = payments.desk()
    call = ledger.find(call_id)
    assert (call.state, call.principal, call.on_behalf_of, call.tenant) == ("succeeded", *RECORDED)
    events = [event for event in recorded(ledger, SESSION) if event.call_id is not None]
    assert {(event.principal, event.on_behalf_of, event.tenant) for event in events} == {RECORDED}
    assert set(payments.told) == {("guest", *RECORDED)}
    assert [who for *who, _ in payments.paid] == [["guest", "acme"]]
    assert call_id in {row["callId"] for row in ledger.calls(principal="guest", tenant="acme")}


def test_what_takes_the_place_of_an_imported_call_is_its_importers(payments: Payments) -> None:
    """A transcript says of nobody for whom it is: who imports it does."""
    program = payments.program()
    told = [{"role": "user", "content": "Pay."}, asked(("pay", {"amount": 1}))]
    wanted = Wanted(session_id=SESSION, principal="guest", tenant="acme")
    import_file(io.BytesIO(json.dumps(told).encode()), payments.url, format="openai", wanted=wanted)
    [row] = program.reviews()
    call_id = payments.replaced(row["callId"], verdict="did-not-happen")
    program.session(SESSION).resume()
    call = program.find(call_id)
    assert (call.state, call.principal, call.on_behalf_of, call.tenant) == ("succeeded", "guest", None, "acme")
    assert payments.paid == [("guest", "acme", 5)]


def test_a_carried_call_stays_whose_it_was(deploy: Deploy) -> None:
    """A migration has no principal, and neither has the worker that goes on with the call."""
    told: list[tuple[Any, ...]] = []

    def policy(call: Any, principal: Any) -> Any:
        told.append((principal, call.principal, call.on_behalf_of, call.tenant))
        return Allow()

    deploy.effect, deploy.policy = "read", policy
    deploy.write(1)
    call_id = deploy.open(1).session("s", **WHO).propose("charge", {"amt": 5}).call_id
    deploy.write(2)
    desk = open_existing(f"sqlite:///{deploy.folder}/ledger.db", catalog=deploy.folder / "catalog")
    deploy.opened.append(desk)
    assert [each.carried for each in migrate(desk, Scope())] == [1]
    deploy.open(2).session("s").resume()
    assert (desk.find(call_id).state, deploy.effects, told) == ("succeeded", [(2, 5)], [("guest", *RECORDED)])
    events = [event for event in recorded(desk, "s") if event.call_id is not None]
    assert {(event.principal, event.on_behalf_of, event.tenant) for event in events} == {RECORDED}


def test_a_policy_denies_what_a_person_wrote_for_a_guest(payments: Payments) -> None:
    """The command line cannot ask the policies: they see the same guest before the call starts."""
    call_id = payments.replaced(payments.asked(), 5000)
    payments.program().session(SESSION).resume()
    call = payments.desk().find(call_id)
    assert (call.state, call.code, payments.paid) == ("denied", "too_much", [])


def test_what_a_person_wrote_counts_for_the_guest(payments: Payments) -> None:
    """Under a limit on each principal it takes the guest's place, and nobody else's."""
    payments.limits = [HOURLY]
    replaced_at_the_desk(payments)
    ledger = payments.program()
    ledger.session(SESSION).resume()
    payments.asks = False
    guest, other = (ledger.session(who, principal=who, tenant="acme") for who in ("guest", "other"))
    assert [each.call("pay", {"amount": 1}).state for each in (guest, other)] == ["denied", "succeeded"]
