"""What a host hands in: plain texts and numbers go further, everything else is a clear error and records nothing."""

from __future__ import annotations

import enum
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from ledger import Allow, Ask, Deny, Happened, Invalid, Ledger, NotFound, Rejected, Unavailable
from ledger.catalog import default_catalog_root
from ledger.errors import KeyConflict, ToolMisfit, UsageError, VerdictRefused
from ledger.events import Event, SessionOpened, Unreadable, encode
from ledger.session.core import Core
from ledger.testing import crash
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


@pytest.mark.parametrize("forgotten", [False, True])
def test_a_call_with_a_secret_is_compared_however_it_is_spelled(ledger: Ledger, forgotten: bool) -> None:
    """Where the true arguments are gone, a digest tells only what is spelled as it was: the rest waits."""
    schema = dict[str, Any](SCHEMA)
    schema["properties"] = dict[str, Any](schema["properties"]) | {"tries": {"type": "integer", "default": 3}}
    ran: list[Any] = []

    def use(user: str, password: str, tries: int = 3) -> None:
        """Log in."""
        ran.append((password, tries))
        raise OSError(user)

    def call(**changes: Any) -> str | None:
        if forgotten:
            session._loop.core.secrets.truths.clear()
        return session.call("login", {"user": "u", "password": "first-one", "tries": 3} | changes).call.reason

    ledger.tool("login", effect="external", schema=schema)(use)
    session = ledger.session("s")
    assert [call(), call(tries=3.0), call(), call(tries=4)] == [
        "outcome-unknown",
        "duplicate",
        "duplicate",
        "outcome-unknown",
    ]
    left_out = session.call("login", {"user": "u", "password": "first-one"}).call
    assert left_out.reason == "duplicate"
    assert call(password="other-one") == "outcome-unknown"
    assert call(password="third-one", tries=3.0) == ("duplicate" if forgotten else "outcome-unknown")
    assert ran == [("first-one", 3), ("first-one", 4), ("other-one", 3), ("third-one", 3)][: 3 if forgotten else 4]


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


ODD_ANSWERS: dict[str, tuple[Any, Any]] = {
    "allow": (lambda: Allow(rule=5), ("denied", "gate_error")),  # type: ignore[arg-type]  # user code may
    "deny": (lambda: Deny("c", 5), ("denied", "gate_error")),  # type: ignore[arg-type]  # user code may
    "deny object": (lambda: Deny("c", object()), ("denied", "gate_error")),  # type: ignore[arg-type]  # user code may
    "ask": (lambda: Ask(message=5), ("denied", "gate_error")),  # type: ignore[arg-type]  # user code may
    "ask nobody": (lambda: Ask(who=()), ("denied", "gate_error")),
    "ask too late": (lambda: Ask(expires=-5), ("denied", "gate_error")),
}


@pytest.mark.parametrize("case", ODD_ANSWERS)
def test_an_answer_that_could_not_be_read_again_is_never_written(tmp_path: Path, case: str) -> None:
    """A policy's odd values deny: nothing runs, and every event can be read by the next process."""
    answer, expected = ODD_ANSWERS[case]
    with opened(tmp_path) as ledger:
        ledger.tool("do", effect="external")(lambda_tool)
        ledger.authorize(lambda call, principal: answer())
        found = ledger.session("s").call("do")
        assert (found.state, found.code) == expected
    assert_readable(tmp_path)


def assert_readable(folder: Path) -> None:
    """Another process reads every event of the session."""
    with opened(folder) as ledger:
        assert not [e for e in recorded(ledger, "s") if isinstance(e.body, Unreadable)]


def test_odd_words_of_a_tool_and_a_check_are_recorded_readably(tmp_path: Path) -> None:
    """A flag that is no flag, a code that is no text: the outcome stands, in words that can be read."""
    with opened(tmp_path) as ledger:

        @ledger.tool("do", effect="external")
        def do() -> None:
            """Refuse oddly."""
            raise Rejected("no", "No.", model_can_repair=1)  # type: ignore[arg-type]  # user code may

        session = ledger.session("s")
        found = session.call("do")
        assert (found.state, found.code) == ("failed", "tool_error")
        ledger.check("do")(lambda arguments, context: Invalid(5, "x"))  # type: ignore[arg-type]  # user code may
        assert session.call("do").code == "gate_error"
    assert_readable(tmp_path)


def test_a_host_cannot_write_what_it_could_not_read(tmp_path: Path) -> None:
    """A reason that there is not, a label that is none: nothing is recorded."""
    with opened(tmp_path) as ledger:
        ledger.session("s").dispatch(asked(text="hi"))
        with pytest.raises(UsageError, match=r"session\.closed cannot be recorded"):
            ledger.session("s").close("bogus")  # type: ignore[arg-type]  # the point of the test
        with pytest.raises(UsageError, match=r"session\.opened cannot be recorded"):
            ledger.session("t", agent=5).dispatch(asked(text="hi"))
        with pytest.raises(UsageError, match="unknown options: worker"):
            opened(tmp_path, worker=3)
    assert_readable(tmp_path)


def test_step_by_step_knows_a_copy(ledger: Ledger) -> None:
    """What is in doubt is not proposed and advanced a second time."""
    effects: list[str] = []

    @ledger.tool("pay", effect="external")
    def pay() -> None:
        """Lose the reply."""
        effects.append("paid")
        raise TimeoutError

    session = ledger.session("s")
    first = session.call("pay")
    copy = session.advance(session.propose("pay"))
    assert (copy.state, copy.call.reason) == ("needs-review", "duplicate")
    ledger.resolve(first, "happened")
    assert (ledger.find(copy).state, effects) == ("succeeded", ["paid"])


def test_step_by_step_needs_the_tools_code(tmp_path: Path) -> None:
    """A tool without a function here is not started, however far its call has come."""
    with opened(tmp_path, catalog=default_catalog_root()) as ledger:
        call = ledger.session("s").propose("edit_file", {"path": "a", "old_text": "b", "new_text": "c"})
        with pytest.raises(UsageError, match="no code for edit_file"):
            ledger.session("s").advance(call)
    with opened(tmp_path) as ledger:
        ledger.tool("do", effect="external")(lambda_tool)
        call = ledger.session("t").propose("do")
    with opened(tmp_path) as ledger, pytest.raises(UsageError, match="no code for do"):
        ledger.session("t").advance(call.call_id)


def test_reconcile_gets_the_recorded_key_and_attempt(tmp_path: Path) -> None:
    """After a crash the service is asked under the key that it was given."""
    asked_with: list[tuple[str, int]] = []

    def look(arguments: dict[str, Any], context: Any) -> Happened:
        asked_with.append((context.idempotency_key, context.attempt))
        return Happened("paid")

    def use(ledger: Ledger, body: Any) -> None:
        ledger.tool("pay", effect="external", reconcile=look, supports_idempotency=True)(body)

    def dies(*, idempotency_key: str) -> None:
        """Die inside."""
        raise SystemError

    def pays(*, idempotency_key: str) -> None:
        """Never run again."""
        pytest.fail("ran")

    with opened(tmp_path) as first:
        use(first, dies)
        crash.arm(first, crash.before("call.succeeded"), end=stop)
        with pytest.raises(CutOff):
            first.session("s").call("pay", idempotency_key="order-17")
    asked_with.clear()
    with opened(tmp_path) as second:
        use(second, pays)
        second.session("s").messages()
        assert asked_with == [("order-17", 1)]


class CutOff(BaseException):
    """The process is gone, as far as the ledger can tell."""


def stop() -> None:
    """Cut off."""
    raise CutOff


@pytest.mark.parametrize(
    ("register", "because"),
    [
        (lambda ledger: ledger.authorize(lambda call: None), r"authorize calls .*lambda.* with 2 arguments"),
        (lambda ledger: ledger.authorize(Allow()), "authorize takes a function, not Allow"),
        (lambda ledger: ledger.check("send")(lambda arguments: None), r"check\('send'\) calls .* with 2 arguments"),
        (lambda ledger: ledger.check("send")(None), "takes a function, not NoneType"),
        (lambda ledger: ledger.check(lambda arguments, context: None), "check takes a tool's name"),
        (lambda ledger: ledger.safe_error(lambda: ""), "safe_error calls .* with 1 argument,"),
        (lambda ledger: ledger.on_resolved(lambda a, b: None), "on_resolved calls .* with 1 argument,"),
    ],
)
def test_a_function_that_could_not_be_called_is_refused_when_it_is_given(
    ledger: Ledger, register: Any, because: str
) -> None:
    """Not at the first call, where it would deny everything without a word to its author."""
    with pytest.raises((UsageError, ToolMisfit), match=because):
        register(ledger)
    assert (ledger._wiring.policies, ledger._wiring.checks, ledger._wiring.listeners) == ([], {}, [])


def test_a_function_that_does_not_say_what_it_takes_is_taken_at_its_word(ledger: Ledger) -> None:
    """Some functions written in C have no signature, and methods and partials are counted as they are called."""

    class Policy:
        def __call__(self, call: Any, principal: Any) -> Allow:
            return Allow()

        def check(self, arguments: Any, context: Any, strict: bool = True) -> None:
            """Let it pass."""

    assert ledger.authorize(Policy()) is ledger._wiring.policies[0]
    ledger.check("")(Policy().check)
    ledger.safe_error(dict)
    assert len(ledger._wiring.checks[""]) == 1
