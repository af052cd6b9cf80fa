"""A secret of one call in the plain arguments of another: what was proposed runs, and no disk holds the secret."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ledger import Allow, Ask, Invalid, Ledger
from ledger.errors import DivergentTurn, KeyConflict, UsageError
from ledger.events import CallStarted
from ledger.session import wiring
from ledger.session.redaction import MASK
from ledger.session.secrets import Secrets
from ledger.testing import crash
from tests.recovery.scenes import Gone, gone, let_go
from tests.session.agents import asked, opened, recorded

SECRET = "hunter2-canary"
ACCOUNT = f"at {SECRET}, 5678"
SHOWN = f"at {MASK}, 5678"
PIN = {"type": "object", "properties": {"pin": {"type": "string", "x-sensitive": True}}, "required": ["pin"]}
HIDE = ("set_pin", {"pin": SECRET})
PAY = ("pay", {"account": ACCOUNT, "amount": 7})


class Bank:
    """A program with a tool that has a secret, and one that has none, on one file; each opening is a new process."""

    def __init__(self, folder: Path, **contract: Any) -> None:
        self.folder, self.contract = folder, contract
        self.paid: list[Any] = []

    def open(self, **settings: Any) -> Ledger:
        ledger = opened(self.folder, **settings)
        ledger.tool("set_pin", effect="write", schema=PIN)(lambda pin: {"ok": True})

        @ledger.tool("pay", effect="external", **self.contract)
        def pay(account: str, amount: int, *, idempotency_key: str) -> dict[str, int]:
            """Pay."""
            self.paid.append(account)
            return {"paid": amount}

        @ledger.tool("look", effect="read")
        def look(account: str) -> str:
            """Look."""
            self.paid.append(account)
            return "seen"

        return ledger

    def told(self) -> bool:
        return any(SECRET.encode() in path.read_bytes() for path in self.folder.iterdir())


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return Bank(tmp_path, recovery="retry", supports_idempotency=True)


def step_by_step(ledger: Ledger) -> None:
    session = ledger.session("s")
    session.call(*HIDE)
    call = session.propose(*PAY)
    while call.state != "succeeded":
        call = session.advance(call)


def twice(ledger: Ledger) -> None:
    session, reply = ledger.session("s"), {"id": "r", "choices": [{"message": asked(PAY), "finish_reason": "stop"}]}
    session.call(*HIDE)
    assert [session.dispatch(reply).turn for _ in range(2)] == [2, 2]


def before_it_in_the_turn(ledger: Ledger) -> None:
    ledger.session("s").dispatch(asked(HIDE, PAY))


def behind_it_in_the_turn(ledger: Ledger) -> None:
    ledger.session("s").dispatch(asked(PAY, HIDE))


def under_a_key(ledger: Ledger) -> None:
    session = ledger.session("s")
    session.call(*HIDE)
    one, other = (session.call(*PAY, idempotency_key="k").call_id for _ in range(2))
    assert one == other
    with pytest.raises(KeyConflict, match="other arguments"):
        session.call("pay", {"account": f"at {SECRET}", "amount": 7}, idempotency_key="k")
    with pytest.raises(KeyConflict):
        session.call("pay", {"account": "at anywhere else, 5678", "amount": 7}, idempotency_key="k")
    assert ledger.session("t").call(*PAY, idempotency_key="k").call_id == one


def completed(ledger: Ledger) -> None:
    session = ledger.session("s")
    session.call(*HIDE)
    session.dispatch(asked(PAY, ids=("c",)))
    assert json.loads(session.complete([asked(PAY, ids=("c",))])[-1]["content"])["status"] == "succeeded"


def approved(ledger: Ledger) -> None:
    ledger.authorize(lambda call, principal: Ask() if call.tool == "pay" else Allow())
    session = ledger.session("s")
    session.call(*HIDE)
    ledger.approve(session.call(*PAY), by="ada")
    session.wait(0)


WAYS: list[Callable[[Ledger], None]] = [
    step_by_step,
    twice,
    before_it_in_the_turn,
    behind_it_in_the_turn,
    under_a_key,
    completed,
    approved,
]


@pytest.mark.parametrize("way", WAYS)
def test_what_runs_is_what_was_proposed(bank: Bank, way: Callable[[Ledger], None]) -> None:
    """Once, with the true arguments, while they are recorded masked as those of a call with a secret of its own."""
    with bank.open() as ledger:
        way(ledger)
        session = ledger.session("s")
        session.messages()
        [call] = [call for call in session.history.calls.values() if call.tool == "pay"]
        assert (call.state, call.redacted, call.arguments, call.raw_arguments) == (
            "succeeded",
            True,
            {"account": SHOWN, "amount": 7},
            None,
        )
        assert not ledger._wiring.secrets_of("s").truths
    assert (bank.paid, bank.told()) == ([ACCOUNT], False)


def test_what_stands_in_clear_goes_on_in_clear(bank: Bank) -> None:
    """The secret comes later: nothing can be taken back, and each later event is one of the call that is recorded."""
    with bank.open() as ledger:
        session = ledger.session("s")
        ledger.tool("tip", effect="external", schema=TIP, apply_defaults=True)(lambda **given: bank.paid.append(given))
        call, tip = session.propose(*PAY), session.propose("tip", {"who": ACCOUNT})
        session.call(*HIDE)
        while call.state != "succeeded":
            call, tip = session.advance(call), session.advance(tip)
        events = recorded(ledger, "s")
    assert bank.paid == [ACCOUNT, {"who": ACCOUNT, "much": 1}]
    assert [each.call.redacted for each in (call, tip)] == [False, False]
    started = [event.body.arguments for event in events if isinstance(event.body, CallStarted)]
    assert [arguments for arguments in started if arguments] == [{"who": ACCOUNT, "much": 1}]


TIP = {
    "type": "object",
    "properties": {"who": {"type": "string"}, "much": {"type": "integer", "default": 1}},
    "required": ["who"],
}


def test_defaults_stand_beside_the_mask(bank: Bank) -> None:
    """What runs with its defaults is recorded with them, and masked."""
    with bank.open() as ledger:
        session = ledger.session("s")
        ledger.tool("tip", effect="external", schema=TIP, apply_defaults=True)(lambda **given: bank.paid.append(given))
        session.call(*HIDE)
        one, two = session.call("tip", {"who": ACCOUNT}), session.propose("tip", {"who": ACCOUNT})
        while two.state != "succeeded":
            two = session.advance(two)
        assert [each.call.executed for each in (one, two)] == [{"who": SHOWN, "much": 1}] * 2
    assert (bank.paid, bank.told()) == ([{"who": ACCOUNT, "much": 1}] * 2, False)


@pytest.mark.parametrize("hidden_first", [False, True])
def test_a_copy_is_one_whatever_was_a_secret_when_it_came(bank: Bank, hidden_first: bool) -> None:
    """The original is in doubt, recorded in clear or masked; the same again is no second effect, another call runs."""
    with bank.open() as ledger:
        session = ledger.session("s")
        ledger.tool("send", effect="external")(failing)
        if hidden_first:
            session.call(*HIDE)
        session.call("send", {"to": ACCOUNT})
        session.call(*HIDE)
        [copy] = session.dispatch(asked(("send", {"to": ACCOUNT}))).calls
        [other] = session.dispatch(asked(("send", {"to": "at anywhere else, 5678"}))).calls
        assert (copy.call.reason, other.call.reason) == ("duplicate", "outcome-unknown")


def failing(to: str) -> None:
    """Send, and nobody knows."""
    raise TimeoutError


@pytest.mark.parametrize(("name", "state"), [("pay", "needs-review"), ("look", "failed")])
@pytest.mark.parametrize("point", ["call.started", "call.proposed"])
def test_with_the_process_the_arguments_are_gone(bank: Bank, name: str, state: str, point: str) -> None:
    """Neither a retry nor a read sends the mask; and who asks for the same write again repeats what is in doubt."""
    given = {"account": ACCOUNT} | ({"amount": 7} if name == "pay" else {})
    first = bank.open()
    session = first.session("s")
    session.call(*HIDE)
    crash.arm(first, crash.after(point), end=gone)
    with pytest.raises(Gone):
        session.dispatch(asked((name, given)))
    let_go(first)
    with bank.open(run_not_started=True) as ledger:
        session = ledger.session("s")
        session.messages()
        [call] = [call for call in session.history.calls.values() if call.tool == name]
        assert (call.state, bank.paid, bank.told()) == (state, [], False)
        assert "redacted before disk" in str(call.flag or call.message)
        if name == "pay" and point == "call.started":
            ledger.resolve(call.call_id, "happened", by="ada")
            assert session.dispatch(asked((name, given)), turn=2).calls[0].call_id == call.call_id


def test_another_process_does_not_run_what_it_cannot_know(bank: Bank) -> None:
    """Both live, and one has the secret: the other asks a person, and says why; what it records itself is its own."""
    with bank.open() as one, bank.open() as other:
        session = one.session("s")
        session.call(*HIDE)
        call = session.propose(*PAY)
        found = other.session("s").advance(call.call_id)
        assert (found.state, found.call.reason, bank.paid) == ("needs-review", "not-started", [])
        assert [each.session("s").call(*PAY).call_id for each in (one, other)] == [call.call_id] * 2
        own = other.session("s").propose("pay", {"account": SECRET, "amount": 1})
        while own.state != "succeeded":
            own = session.advance(own)
    assert (bank.paid, own.call.redacted) == ([SECRET], False)


def test_a_masked_name_is_any_name(bank: Bank) -> None:
    """A secret is a key of the arguments: who takes over finds the copy of what is in doubt all the same."""
    first = bank.open()
    first.tool("send", effect="external", schema={"type": "object"})(lambda **given: bank.paid.append(given))
    session = first.session("s")
    session.call(*HIDE)
    crash.arm(first, crash.after("call.started"), end=gone)
    given = {"to": {ACCOUNT: 1, "b": 2}}
    with pytest.raises(Gone):
        session.dispatch(asked(("send", given)))
    let_go(first)
    with bank.open() as ledger:
        ledger.tool("send", effect="external", schema={"type": "object"})(lambda **given: bank.paid.append(given))
        session = ledger.session("s")
        [same] = session.dispatch(asked(("send", given)), turn=3).calls
        [other] = session.dispatch(asked(("send", {"to": {"elsewhere": 1, "b": 2}}))).calls
        assert (same.call.reason, other.state) == ("duplicate", "succeeded")


def test_two_calls_that_look_alike_masked_are_two(bank: Bank) -> None:
    """At one place of the conversation another call is another content, and never answered by the first one's end."""
    with bank.open() as ledger:
        session = ledger.session("s")
        session.call(*HIDE)
        session.dispatch(asked(PAY), turn=2)
        with pytest.raises(DivergentTurn):
            session.dispatch(asked(("pay", {"account": "at anywhere else, 5678", "amount": 7})), turn=2)
        one, two = (session.propose(*PAY), session.propose("pay", {"account": f"at {SECRET}!, 5678", "amount": 7}))
        assert [session.advance(each).state for each in (one, two)] == ["validated", "validated"]


def test_a_policy_reads_what_would_run(bank: Bank) -> None:
    """Taken step by step as well: who is refused by an argument is not let through by its mask."""
    seen: list[Any] = []
    with bank.open() as ledger:

        @ledger.authorize
        def policy(call: Any, principal: Any) -> Allow:
            """See what would run."""
            seen.append(call.arguments)
            return Allow()

        session = ledger.session("s")
        session.call(*HIDE)
        session.advance(session.advance(session.propose(*PAY)))
    assert seen == [HIDE[1], PAY[1]]


@pytest.mark.parametrize(
    ("account", "masked"), [("12345678", False), ("to 1234", True), ("to_1234", True), (1234, True)]
)
def test_a_short_secret_is_a_word_of_its_own(bank: Bank, account: Any, masked: bool) -> None:
    """A PIN is no part of a longer number: such a call stays plain, and can be resumed as any other."""
    schema = {"type": "object", "properties": {"account": {}}, "required": ["account"]}
    with bank.open() as ledger:
        ledger.tool("send", effect="external", schema=schema)(lambda account: bank.paid.insert(0, account))
        session = ledger.session("s")
        session.call("set_pin", {"pin": "1234"})
        call = session.call("send", {"account": account}).call
        assert (call.redacted, call.state, bank.paid) == (masked, "succeeded", [account])


def test_what_cannot_be_decoded_is_not_kept(bank: Bank) -> None:
    """Of a tool without a secret as well; the same reply is known again all the same."""
    with bank.open() as ledger:
        session = ledger.session("s")
        session.call(*HIDE)
        broken = f'{{"account": "{ACCOUNT}'
        found = [session.dispatch(asked(("pay", broken)), turn=2).calls[0] for _ in range(2)]
        assert [each.call_id for each in found] == [found[0].call_id] * 2
        assert (found[0].code, found[0].call.redacted) == ("invalid_json", True)
    assert not bank.told()


def test_what_the_provider_ran_is_masked(bank: Bank) -> None:
    """Its arguments, too; and of the blocks beside it, what the provider checks stays whole."""
    thinking = {"type": "thinking", "thinking": "t", "signature": "s"}
    code = {"type": "server_tool_use", "id": "h", "name": "code", "input": {"code": f"pay({SECRET!r})"}}
    hide = {"type": "tool_use", "id": "a", "name": "set_pin", "input": {"pin": SECRET}}
    with bank.open() as ledger:
        session = ledger.session("s")
        reply = {"role": "assistant", "stop_reason": "tool_use", "content": [thinking, code, hide]}
        session.dispatch(reply, format="anthropic")
        [hosted] = [call for call in session.history.calls.values() if call.executor == "provider"]
        assert (hosted.redacted, hosted.arguments) == (True, {"code": f"pay('{MASK}')"})
        assert session.messages("anthropic")[1]["content"][0] == thinking
    assert not bank.told()


def test_secrets_outlive_a_handle(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each request opens its own, and what was allowed meanwhile runs; the sessions used last are kept."""
    monkeypatch.setattr(wiring, "KEPT_SECRETS", 1)
    with bank.open() as ledger:
        ledger.authorize(lambda call, principal: Ask() if call.tool == "pay" else Allow())
        ledger.session("s").call(*HIDE)
        ledger.approve(ledger.session("s").call(*PAY), by="ada")
        ledger.session("s").wait(0)
        assert (bank.paid, bank.told()) == ([ACCOUNT], False)
        ledger.session("t").call(*HIDE)
        assert list(ledger._wiring._kept) == ["t"]


def test_a_person_of_this_process_writes_no_secret(bank: Bank) -> None:
    """New arguments that hold one could never run, and are refused; a note is masked."""
    with bank.open() as ledger:
        ledger.authorize(lambda call, principal: Ask())
        session = ledger.session("s")
        session.call(*HIDE)
        call = session.call("pay", {"account": "b", "amount": 7})
        with pytest.raises(UsageError, match="kept by nobody"):
            ledger.resolve(call, arguments=PAY[1])
        ledger.note(call, f"not {SECRET}", by="ada")
    assert not bank.told()


def test_no_gate_quotes_a_part_of_it(bank: Bank) -> None:
    """The words of a violation are cut, and half of a secret is no text that could be found."""
    schema = {"type": "object", "properties": {"account": {"pattern": "^a$"}}, "required": ["account"]}
    with bank.open() as ledger:
        ledger.tool("send", effect="external", schema=schema)(lambda account: None)
        call = ledger.session("s").dispatch(asked(("send", {"account": "x" * 90 + SECRET * 9}), HIDE)).calls[0]
        assert (call.state, "hunter" in str(recorded(ledger, "s"))) == ("rejected", False)


def test_a_check_may_quote_by_its_code(bank: Bank) -> None:
    """A host's code is masked as a word; one of ours is read again, and stays."""
    with bank.open() as ledger:
        ledger.check("look")(lambda arguments, context: Invalid("has_1234", "no"))
        session = ledger.session("s")
        for pin in ("1234", "error", "schema"):
            session.call("set_pin", {"pin": pin})
        assert session.call("look", {"account": "a"}).code == f"has_{MASK}"
        assert session.call("look", {}).call.code == "schema_validation"


def test_a_message_that_holds_a_secret_is_added_once(tmp_path: Path) -> None:
    """It is recorded masked, and known again by its key: before the secret was known, and behind it."""
    with opened(tmp_path) as ledger:
        ledger.tool("set_pin", effect="write", schema=PIN)(lambda pin: {"ok": True})
        session = ledger.session("s")
        early, late = ({"role": "user", "content": f"{word} {SECRET}"} for word in ("early", "late"))
        session.add(early, key="1")
        session.call("set_pin", {"pin": SECRET})
        session.add(late, key="2")
        for _ in range(2):
            session.add(early, key="1")
            session.add(late, key="2")
        with pytest.raises(UsageError, match="another message"):
            session.add(late, key="1")
        assert [message["content"] for message in session.messages() if message["role"] == "user"] == [
            f"early {SECRET}",
            f"late {MASK}",
        ]


def test_what_two_threads_learn_is_all_masked() -> None:
    """A verdict takes no seat: it learns beside the session's handle, and nothing of either is lost."""
    secrets = Secrets()
    words = [[f"secret-{side}-{number}" for number in range(200)] for side in "ab"]

    def learn(texts: list[str]) -> None:
        for text in texts:
            secrets.learn((text,))
            assert secrets.scrubbed(text) == MASK

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(learn, words))
    assert {secrets.scrubbed(text) for texts in words for text in texts} == {MASK}


def test_a_scrubber_made_of_fewer_texts_is_made_anew() -> None:
    """Where another thread was slower, what it made is not taken for the newest."""
    secrets = Secrets()
    secrets.learn(("secret-a",))
    secrets.scrubbed("")
    old = secrets._made
    secrets.learn(("secret-b",))
    secrets.scrubbed("")
    secrets._made = old
    assert secrets.scrubbed("secret-b") == MASK
