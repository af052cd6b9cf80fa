"""What a host hands in: plain texts and numbers go further, everything else is a clear error and records nothing."""

from __future__ import annotations

import enum
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from ledger import Ask, Deny, Invalid, Ledger, NotFound, Rejected, Unavailable
from ledger.errors import KeyConflict, UsageError, VerdictRefused
from ledger.events import Event, SessionOpened, Unreadable, encode
from ledger.session.core import Core
from tests.session.agents import asked, opened, recorded, types


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    with opened(tmp_path) as found:
        yield found


class Role(enum.StrEnum):
    """A host's enum of texts."""

    ADMIN = "admin"


class Shouting(str):
    """A text that writes itself in another way."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"NOT JSON {self.upper()}"


@pytest.mark.parametrize("word", [Role.ADMIN, Shouting("admin")], ids=["enum", "subclass"])
def test_a_text_of_another_class_is_recorded_as_the_text_it_is(tmp_path: Path, word: str) -> None:
    """Principal, tenant, tool name and key stay readable for ever: the record is JSON."""
    with opened(tmp_path) as first:
        first.tool("admin", effect="external")(lambda_tool)
        session = first.session("s", principal=word, tenant=word)
        assert session.call(word, {}, idempotency_key=word).state == "succeeded"
    with opened(tmp_path) as second:
        events = recorded(second, "s")
        assert not [e for e in events if isinstance(e.body, Unreadable)]
        assert {(e.principal, e.tenant) for e in events} == {("admin", "admin")}


def lambda_tool() -> str:
    """Do it."""
    return "done"


def test_an_envelope_holds_plain_values_only() -> None:
    """Whoever comes past the border is stopped before the record is written."""
    wrong = Event(session_id="s", event_id="e", recorded_at="t", body=SessionOpened(), principal=Role.ADMIN)
    with pytest.raises(TypeError, match="texts and numbers"):
        encode(wrong)


WRONG: dict[str, Any] = {
    "principal": lambda ledger, session: ledger.session("t", principal={"id": 1.5}),
    "principal's id": lambda ledger, session: ledger.session("t", principal={"id": 10**5000}),
    "tenant": lambda ledger, session: ledger.session("t", tenant=5),
    "wait": lambda ledger, session: ledger.session("t", wait="x"),
    "wait nan": lambda ledger, session: ledger.session("t", wait=float("nan")),
    "about": lambda ledger, session: ledger.session("t", colour="red"),
    "session": lambda ledger, session: ledger.session(5),
    "turn": lambda ledger, session: session.dispatch(asked(text="x"), turn="1"),
    "format": lambda ledger, session: session.messages([]),
    "start": lambda ledger, session: session.messages(start=5),
    "start text": lambda ledger, session: session.messages(start="hi"),
    "complete": lambda ledger, session: session.complete(None),
    "key": lambda ledger, session: session.add({"role": "user", "content": "x"}, key=[]),
    "long key": lambda ledger, session: session.call("look", {}, idempotency_key="k" * 2000),
    "name": lambda ledger, session: session.call(None),
    "timeout": lambda ledger, session: session.wait("x"),
    "advance": lambda ledger, session: session.advance(5),
    "find": lambda ledger, session: ledger.find(5),
    "approve": lambda ledger, session: ledger.approve([]),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_kind_of_value_is_a_clear_error(ledger: Ledger, case: str) -> None:
    """Only `LedgerError`s reach the host, and nothing is recorded."""
    session = ledger.session("s")
    with pytest.raises(UsageError):
        WRONG[case](ledger, session)
    assert types(ledger, "s") == []
    assert types(ledger, "t") == []


def test_two_threads_that_open_one_session_share_it(ledger: Ledger) -> None:
    """Both handles have one core, however close they come; so conflicting calls cannot overlap."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for name in map(str, range(200)):
            met = threading.Barrier(2)
            cores: list[Core] = []

            def work(met: threading.Barrier = met, name: str = name, cores: list[Core] = cores) -> None:
                met.wait(10)
                cores.append(ledger.session(name)._loop.core)

            threads = [threading.Thread(target=work) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert cores[0] is cores[1]
    finally:
        sys.setswitchinterval(before)


def test_each_policy_judges_what_would_run(ledger: Ledger) -> None:
    """A policy that changes what it was given changes nothing for the next one."""

    @ledger.tool("pay", effect="external")
    def pay(amount: int) -> None:
        """Never run."""
        pytest.fail("ran")

    @ledger.authorize
    def careless(call: Any, principal: Any) -> Any:
        call.arguments["amount"] = 1
        return Ask()

    ledger.authorize(lambda call, principal: Deny("too_much", "No.") if call.to_run["amount"] > 10 else Ask())
    assert ledger.session("s").call("pay", {"amount": 1000}).code == "too_much"


def test_nothing_that_is_handed_out_reaches_back(ledger: Ledger) -> None:
    """A host, a tool or a listener that changes a result changes no answer to the model."""
    heard: list[Any] = []

    @ledger.tool("look", effect="read")
    def look(*, context: Any) -> dict[str, Any]:
        """Spoil what was found before."""
        for entry in context.results:
            entry["result"]["v"] = "forged"
        return {"v": "true"}

    ledger.authorize(lambda call, principal: Ask() if not heard else None)
    ledger._wiring.policies.clear()
    ledger.on_resolved(lambda call: heard.append(call.result.update(v="forged")))
    session = ledger.session("s")
    first = session.call("look")
    first.result["v"] = first.call.arguments["v"] = "forged"
    session.call("look")
    assert '"v":"true"' in session.messages()[1]["content"]
    ledger.authorize(lambda call, principal: Ask())
    asked_for = session.call("look")
    ledger.approve(asked_for.call_id)
    session.wait()
    assert heard == [None]
    assert "forged" not in str(session.messages())


@pytest.mark.parametrize(
    ("given", "expected"),
    [("5", 5.0), (float("nan"), None), (float("inf"), None), (-1, None), ("soon", None), (None, None)],
)
def test_a_services_retry_after_may_be_anything(ledger: Ledger, given: Any, expected: float | None) -> None:
    """HTTP headers are texts: a number of seconds is understood, the rest is nothing."""

    @ledger.tool("call", effect="external")
    def call() -> None:
        """Be unavailable."""
        raise Unavailable("Down.", retry_after=given)

    found = ledger.session("s").call("call")
    assert (found.state, found.call.retry_after) == ("failed", expected)


def test_odd_words_of_tools_and_policies_end_a_call_as_they_should(ledger: Ledger) -> None:
    """A message that is no text, names that are none: the call ends, the host sees no raw exception."""

    @ledger.tool("call", effect="read")
    def call() -> None:
        """Be unavailable in an odd way."""
        raise Unavailable(object(), retryable=False)  # type: ignore[arg-type]  # user code may

    session = ledger.session("s")
    assert session.call("call").code == "unavailable"
    ledger.authorize(lambda found, principal: Ask(who=7))  # type: ignore[arg-type]  # user code may
    assert session.call("call").code == "gate_error"


SECRET = "hunter2-canary"
SCHEMA = {
    "type": "object",
    "properties": {"user": {"type": "string"}, "password": {"type": "string", "x-sensitive": True}},
    "required": ["user", "password"],
}


@pytest.mark.parametrize(
    "raw",
    ['{"user": "u", "password": "%s', '{"user": "u", "user": "u", "password": "%s"}', '["%s"]', '{"password": "%s"}'],
)
def test_no_secret_of_arguments_that_do_not_fit_reaches_the_disk(tmp_path: Path, raw: str) -> None:
    """A text cut by the provider, or refused by the schema, may hold the secret: it is not kept."""
    with opened(tmp_path) as ledger:
        ledger.tool("login", effect="external", schema=SCHEMA)(login)
        results = ledger.session("s").dispatch(asked(("login", raw % SECRET)))
        assert results.calls[0].state == "rejected"
    assert_absent(tmp_path)


def login(user: str, password: str) -> str:
    """Log in."""
    return user


def assert_absent(folder: Path) -> None:
    """No file of the ledger holds the secret."""
    for path in folder.iterdir():
        assert SECRET.encode() not in path.read_bytes(), path.name


@pytest.mark.parametrize(
    "word",
    [
        lambda: Unavailable(SECRET),
        lambda: Rejected(f"no_{SECRET}", SECRET),
        lambda: NotFound(SECRET, code=SECRET),
        type(f"Error{SECRET}", (Exception,), {}),
    ],
    ids=["unavailable", "rejected", "not found", "exception"],
)
def test_no_word_of_a_tool_carries_a_secret_to_the_disk(tmp_path: Path, word: Any) -> None:
    """Whatever a tool says, its source, its resource keys, the checks' and policies' words: one door masks them all."""
    with opened(tmp_path, jitter=lambda: 0.0) as ledger:

        @ledger.tool("login", effect="read", schema=SCHEMA, resource_keys=lambda arguments: [arguments["password"]])
        def tool(user: str, password: str, *, context: Any) -> None:
            """Log in."""
            context.source = {"uri": password}
            raise word()

        arguments = {"user": "u", "password": SECRET}
        ledger.session("s").dispatch(asked(("login", arguments), ("login", arguments), text=f"I use {SECRET}"))
        ledger.check("login")(lambda arguments, context: Invalid(arguments["password"], arguments["password"]))
        ledger.session("t").call("login", arguments)
        ledger._wiring.checks.clear()
        ledger.authorize(lambda call, principal: Deny(call.arguments["password"], call.arguments["password"]))
        ledger.session("u").call("login", arguments)
        ledger._wiring.policies.clear()
        ledger.authorize(lambda call, principal: Ask(message=call.arguments["password"]))
        ledger.session("v").call("login", arguments)
    assert_absent(tmp_path)


def test_two_secrets_are_told_apart(ledger: Ledger) -> None:
    """Another password is another intent: under the same key it is refused, and it is no duplicate."""
    ledger.tool("login", effect="external", schema=SCHEMA)(login)
    session = ledger.session("s")
    one, other = {"user": "u", "password": "first-one"}, {"user": "u", "password": "other-one"}
    first = session.call("login", one, idempotency_key="K")
    assert session.call("login", one, idempotency_key="K").call_id == first.call_id
    with pytest.raises(KeyConflict):
        session.call("login", other, idempotency_key="K")
    ledger.authorize(lambda call, principal: Ask())
    assert session.call("login", one).state == "awaiting-approval"
    assert session.call("login", one).call.reason == "duplicate"
    assert session.call("login", other).state == "awaiting-approval"


def test_sensitive_arguments_of_a_person_are_refused(ledger: Ledger) -> None:
    """They would be kept by nobody, so the call that carries them could never run."""
    ledger.tool("login", effect="external", schema=SCHEMA)(login)
    ledger.authorize(lambda call, principal: Ask())
    call = ledger.session("s").call("login", {"user": "u", "password": "first-one"})
    with pytest.raises(UsageError, match="kept by nobody"):
        ledger.resolve(call.call_id, arguments={"user": "u", "password": "new"})


@pytest.mark.parametrize("state", ["proposed", "authorized"])
def test_advance_takes_on_only_what_recovery_would(tmp_path: Path, state: str) -> None:
    """After a restart lost secrets are not run as `[redacted]`; the call goes to a person."""
    seen: list[str] = []

    def use(ledger: Ledger) -> None:
        @ledger.tool("login", effect="external", schema=SCHEMA)
        def tool(user: str, password: str) -> None:
            """Log in."""
            seen.append(password)

    with opened(tmp_path) as first:
        use(first)
        session = first.session("s")
        call = session.propose("login", {"user": "u", "password": "first-one"})
        while call.state != state:
            call = session.advance(call)
    with opened(tmp_path) as second:
        use(second)
        found = second.session("s").advance(call.call_id)
        assert (found.state, found.call.reason, seen) == ("needs-review", "not-started", [])


def test_advance_looks_at_expiry_version_and_stage(tmp_path: Path) -> None:
    """What was approved is what runs, in time, under its version; else a person is asked again."""
    with opened(tmp_path) as first:

        @first.tool("send", effect="external")
        def send(to: str) -> None:
            """Never run."""
            pytest.fail("ran")

        first.authorize(lambda call, principal: Ask(expires=0.000001))
        session = first.session("s")
        late = session.advance(session.advance(session.propose("send", {"to": "a"})))
        with pytest.raises(VerdictRefused, match="expired"):
            first.approve(late.call_id)
        first._wiring.policies.clear()
        changed = session.advance(session.advance(session.propose("send", {"to": "b"})))
        assert changed.state == "authorized"
    with opened(tmp_path) as second:

        @second.tool("send", version=2, effect="external")
        def send_two(to: str, everybody: bool = True) -> None:
            """Never run."""
            pytest.fail("ran")

        assert second.session("s").advance(changed.call_id).call.reason == "schema-changed"


def test_a_conflict_holds_over_turns_and_attempts(ledger: Ledger) -> None:
    """While a write still runs past its deadline nothing that conflicts starts: not next turn, not the same call."""
    leave = threading.Event()
    runs: list[int] = []

    @ledger.tool("put", effect="write", resource_keys=("a",), timeout_seconds=0.05)
    def put(number: int) -> int:
        """Write slowly, the first time."""
        runs.append(number)
        if len(runs) == 1:
            leave.wait(10)
        return number

    session = ledger.session("s")
    first = session.call("put", {"number": 1})
    assert first.call.reason == "outcome-unknown"
    second = session.call("put", {"number": 2})
    assert (second.state, second.code, second.call.not_started) == ("failed", "cancelled", True)
    ledger.resolve(first.call_id, "did-not-happen", run=True)
    session.messages()
    assert (ledger.find(first.call_id).state, runs) == ("authorized", [1])
    leave.set()
    while session._loop.core.adrift:
        session.messages()
    assert (ledger.find(first.call_id).late is not None, runs) == (True, [1])
