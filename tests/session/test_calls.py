"""Calls of the host's own: one at a time, by key, step by step; waiting, listeners, secrets, large results."""

from __future__ import annotations

import asyncio
import inspect
import threading
from pathlib import Path
from typing import Any

import pytest

from ledger import Allow, Ask, Invalid, Ledger, Session
from ledger.errors import KeyConflict, SessionOwned, StoreUnavailable, ToolMisfit, UnknownCall, UsageError
from ledger.events import CallStarted, SessionOpened, ToolStageChanged, ToolVersionPublished, read_event
from ledger.testing import crash
from tests.catalog.shelf import SCHEMA, Shelf
from tests.session.agents import answers, asked, opened, recorded, types


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    with opened(tmp_path) as found:
        yield found


def writer(ledger: Ledger) -> list[str]:
    """Register a side-effecting tool that keeps what it was called with."""
    seen: list[str] = []

    @ledger.tool
    def send(to: str) -> str:
        """Send something."""
        seen.append(to)
        return to

    return seen


def test_a_call_of_the_hosts_own(ledger: Ledger) -> None:
    """`call` gives the outcome, and the answer that a model would read."""
    writer(ledger)
    result = ledger.session("s").call("send", {"to": "a"})
    assert (result.tool, result.state, result.result, result.waiting) == ("send", "succeeded", "a", False)
    assert (result.code, result.message) == (None, None)
    assert result.answer == {"status": "succeeded", "data": "a", "next": "none"}
    assert ledger.find(result.call_id[-12:]).state == "succeeded"
    assert ledger.find(result.call_id).call_id == result.call_id


def test_find_names_what_is_missing_or_ambiguous(ledger: Ledger) -> None:
    """A head or tail that fits none or several calls is refused with a hint."""
    writer(ledger)
    session = ledger.session("s")
    ids = [session.call("send", {"to": str(n)}).call_id for n in range(2)]
    with pytest.raises(UnknownCall, match="no call"):
        ledger.find("ffffffff")
    with pytest.raises(UnknownCall, match="several"):
        ledger.find(ids[0][:6])


def test_an_idempotency_key_of_the_host_is_unique_in_its_tenant(ledger: Ledger) -> None:
    """Same tool and arguments get the recorded call; other arguments or another tool are refused, naming both."""
    seen = writer(ledger)
    ledger.tool("other", effect="external")(lambda_tool)
    session = ledger.session("s")
    first = session.call("send", '{"to": "a"}', idempotency_key="K")
    assert session.call("send", '{ "to":"a" }', idempotency_key="K").call_id == first.call_id
    assert ledger.session("elsewhere").call("send", {"to": "a"}, idempotency_key="K").call_id == first.call_id
    for name, arguments in (("send", {"to": "b"}), ("other", {"to": "a"}), ("send", "not json")):
        with pytest.raises(KeyConflict, match=first.call_id):
            session.call(name, arguments, idempotency_key="K")
    assert seen == ["a"]
    assert ledger.session("t", tenant="acme").call("send", {"to": "b"}, idempotency_key="K").result == "b"
    started = next(e.body for e in recorded(ledger, "s") if isinstance(e.body, CallStarted))
    assert started.idempotency_key == "K"


def test_a_default_that_is_written_out_is_the_same_under_a_key(ledger: Ledger) -> None:
    """What would run with the same arguments is no other call: told to take a new key, it would run twice."""
    paid = []

    @ledger.tool("pay", effect="external", apply_defaults=True)
    def pay(cents: int, currency: str = "EUR") -> None:
        """Pay."""
        paid.append((cents, currency))

    session = ledger.session("s")
    full = {"cents": 5, "currency": "EUR"}
    for key, first, again in (("A", {"cents": 5}, full), ("B", full, {"cents": 5})):
        called = session.call("pay", first, idempotency_key=key)
        assert session.call("pay", again, idempotency_key=key).call_id == called.call_id
        with pytest.raises(KeyConflict):
            session.call("pay", {"cents": 5, "currency": "USD"}, idempotency_key=key)
    assert paid == [(5, "EUR")] * 2


def lambda_tool(to: str) -> str:
    """Do something else."""
    return to


def test_a_call_that_surely_never_ran_frees_its_key(ledger: Ledger) -> None:
    """A rejected call does not hold the key: the corrected one may use it."""
    writer(ledger)
    session = ledger.session("s")
    assert session.call("send", {"too": "a"}, idempotency_key="K").state == "rejected"
    assert session.call("send", {"to": "a"}, idempotency_key="K").state == "succeeded"


def test_two_threads_with_one_key_make_one_call(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key taken between the look-up and the append is answered with the call that took it."""
    seen = writer(ledger)
    winner = ledger.session("winner")
    keyed = ledger._wiring.store.keyed
    raced: list[str] = []

    def late(tenant: str, key: str) -> Any:
        if not raced:
            raced.append("now")
            row = keyed(tenant, key)
            raced.append(winner.call("send", {"to": "a"}, idempotency_key="K").call_id)
            return row
        return keyed(tenant, key)

    monkeypatch.setattr(ledger._wiring.store, "keyed", late)
    assert ledger.session("loser").call("send", {"to": "a"}, idempotency_key="K").call_id == raced[1]
    assert seen == ["a"]


def test_step_by_step(ledger: Ledger) -> None:
    """`propose` records the intent only; each `advance` takes one gate or the run; an ended call stays."""
    seen = writer(ledger)
    session = ledger.session("s")
    call = session.propose("send", {"to": "a"})
    states = [call.state]
    for _ in range(4):
        call = session.advance(call)
        states.append(call.state)
    assert states == ["proposed", "validated", "authorized", "succeeded", "succeeded"]
    assert seen == ["a"]
    assert session.advance(session.propose("send", {"two": "a"})).state == "rejected"
    with pytest.raises(UnknownCall, match="has no call"):
        session.advance("nothing")


def test_step_by_step_obeys_the_turn(ledger: Ledger) -> None:
    """Proposing at a recorded turn gives the recorded call back."""
    writer(ledger)
    session = ledger.session("s")
    call = session.propose("send", {"to": "a"})
    assert session.propose("send", {"to": "a"}, turn=1).call_id == call.call_id


def test_an_approved_call_runs_in_its_loop_and_the_host_learns_it(ledger: Ledger) -> None:
    """`wait` runs what was approved, tells it as a note, and calls the listeners once."""
    seen = writer(ledger)
    heard: list[str] = []
    ledger.authorize(lambda call, principal: Ask("ada"))

    @ledger.on_resolved
    def broken(call: Any) -> None:
        raise RuntimeError

    ledger.on_resolved(lambda call: heard.append(call.state))
    session = ledger.session("s")
    call = session.call("send", {"to": "a"})
    assert (call.state, call.waiting) == ("awaiting-approval", True)
    assert [found.state for found in session.wait(0).calls] == ["awaiting-approval"]
    verdict = ledger.approve(call.call_id, by="ada", note="fine")
    assert (verdict.call.state, seen) == ("authorized", [])
    results = session.wait()
    assert [(found.state, found.result) for found in results.calls] == [("succeeded", "a")]
    assert "call that you read as open has ended" in results.messages[0]["content"]
    session.messages()
    assert (heard, seen) == (["succeeded"], ["a"])


def test_wait_looks_again_until_a_person_has_answered(ledger: Ledger) -> None:
    """`wait` returns when somebody else denies the call meanwhile."""
    writer(ledger)
    ledger.authorize(lambda call, principal: Ask())
    session = ledger.session("s")
    call = session.call("send", {"to": "a"})
    waits = threading.Thread(target=lambda: ledger.deny(call.call_id, by="bob"))
    waits.start()
    (found,) = session.wait(30).calls
    waits.join()
    assert (found.state, found.code) == ("denied", "denied_by_person")


def test_a_session_that_another_thread_works_on_is_owned(ledger: Ledger) -> None:
    """A second handle is told so at once, or waits as long as it was asked to."""
    entered, leave = threading.Event(), threading.Event()

    @ledger.tool("block", effect="read")
    def block() -> str:
        """Wait to be let go."""
        entered.set()
        leave.wait(10)
        return "done"

    thread = threading.Thread(target=lambda: ledger.session("s").call("block"))
    first = ledger.session("s")  # keeps the session's core, so that both handles share it
    thread.start()
    assert entered.wait(10)
    with pytest.raises(SessionOwned, match="another thread"):
        first.messages()
    patient = ledger.session("s", wait=30)
    leave.set()
    assert [m["role"] for m in patient.messages()] == ["assistant", "tool"]
    thread.join()


def test_sensitive_values_never_reach_the_disk(tmp_path: Path) -> None:
    """Masked in the intent, the start, the result, the failure and the raw text; the tool gets the true ones."""
    canary, number = "canary-4711-secret", 987654321012
    seen = []
    schema = {
        "type": "object",
        "properties": {
            "user": {"type": "string"},
            "password": {"type": "string", "x-sensitive": True},
            "cards": {"type": "array", "items": {"$ref": "#/$defs/card"}},
            "more": {"anyOf": [{"type": "object", "additionalProperties": {"writeOnly": True}}]},
        },
        "required": ["user"],
        "$defs": {"card": {"type": "object", "properties": {"number": {"type": "integer", "x-sensitive": True}}}},
    }
    with opened(tmp_path) as ledger:

        @ledger.tool("login", effect="external", schema=schema)
        def login(user: str, password: str = "", cards: list[Any] | None = None, more: Any = None) -> Any:
            """Log in."""
            seen.append((password, cards))
            if user == "bad":
                raise ValueError(password)
            return {"echo": f"<{password}>", password: [number, "ok"], "pair": (password,)}

        ledger.safe_error(str)
        arguments = {"user": "u", "password": canary, "cards": [{"number": number}], "more": {"x": canary}}
        session = ledger.session("s")
        result = session.call("login", arguments)
        assert result.state == "succeeded"
        assert session.call("login", arguments | {"user": "bad"}).state == "needs-review"
        assert seen[0] == (canary, [{"number": number}])
    for path in tmp_path.iterdir():
        stored = path.read_bytes()
        assert canary.encode() not in stored
        assert str(number).encode() not in stored


def test_a_call_with_lost_secrets_never_runs_after_a_crash(tmp_path: Path) -> None:
    """Its true arguments died with the process that had them: an approved one goes back to a person."""
    schema = {"type": "object", "properties": {"pin": {"type": "string", "x-sensitive": True}}, "required": ["pin"]}

    def use(ledger: Ledger) -> list[Any]:
        seen: list[Any] = []

        @ledger.tool("open", effect="external", schema=schema)
        def open_(pin: str) -> str:
            """Open."""
            seen.append(pin)
            return "ok"

        ledger.authorize(lambda call, principal: Ask())
        return seen

    with opened(tmp_path) as first:
        use(first)
        call = first.session("s").call("open", {"pin": "1234"})
        first.approve(call.call_id)
    with opened(tmp_path) as second:
        seen = use(second)
        second.resume("s")
        found = second.find(call.call_id)
        assert (found.state, found.reason, seen) == ("needs-review", "not-started", [])


def test_a_large_result_is_cut_for_the_model_and_read_on_by_pages(ledger: Ledger) -> None:
    """50 KB are kept whole; the answer is valid JSON with a pointer; `read_result` gives the rest, recorded."""
    text = "".join(f"line {n}\n" for n in range(6000))

    @ledger.tool("log", effect="read")
    def log() -> dict[str, Any]:
        """Read the log."""
        return {"text": text, "lines": 6000}

    session = ledger.session("s")
    assert "read_result" not in [tool["function"]["name"] for tool in session.tools()]
    results = session.dispatch(asked(("log", {})))
    (answer,) = answers(results.messages)
    assert answer["truncated"] is True
    assert len(results.messages[-1]["content"].encode()) <= 10_000
    assert "read_result" in [tool["function"]["name"] for tool in session.tools()]
    pointer = f"result:{results.calls[0].call_id}/text"
    read = ""
    offset: int | None = 0
    while offset is not None:
        page = session.call("read_result", {"pointer": pointer, "offset": offset, "limit": 6000}).result
        read, offset = read + page["text"], page["nextOffset"]
    assert read == text
    whole = session.call("read_result", {"pointer": f"result:{results.calls[0].call_id}"}).result
    assert whole["total"] > len(text)
    wrong = [{"pointer": "result:nothing"}, {"pointer": f"{pointer}/no"}, {"pointer": pointer, "limit": 0}]
    assert [session.call("read_result", each).code for each in wrong] == ["not_found", "not_found", "out_of_range"]


def test_a_tool_may_name_its_source_and_see_the_sessions_results(ledger: Ledger) -> None:
    """`context` has the call's id, the principal, the recorded results; what it cites is recorded."""

    @ledger.tool("first", effect="read")
    def first(*, context: Any) -> str:
        """Cite."""
        context.source = {"uri": "doc:1", "version": 3}
        return "one"

    @ledger.check("second")
    def known(arguments: dict[str, Any], context: Any) -> Invalid | None:
        known_ids = {entry["result"] for entry in context.results}
        return None if arguments["ref"] in known_ids else Invalid("unknown_reference", "Nobody returned that.", "/ref")

    @ledger.tool("second", effect="read")
    def second(ref: str, *, context: Any) -> dict[str, Any]:
        """Look."""
        return {"call": context.call_id, "who": context.principal, "attempt": context.attempt, "off": context.cancelled}

    session = ledger.session("s", principal="ada")
    cited = session.call("first")
    assert cited.answer["source"] == {"uri": "doc:1", "version": 3}
    assert session.call("second", {"ref": "two"}).code == "unknown_reference"
    found = session.call("second", {"ref": "one"})
    assert found.result == {"call": found.call_id, "who": "ada", "attempt": 1, "off": False}


@pytest.mark.parametrize("answer", ["yes", 0, ValueError("x")])
def test_a_check_or_policy_that_fails_fails_closed(ledger: Ledger, answer: Any) -> None:
    """What is neither None nor Invalid, neither Allow, Deny nor Ask, or raises, runs nothing."""
    seen = writer(ledger)

    def say(*_: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    ledger.check("send")(say)
    session = ledger.session("s")
    rejected = session.call("send", {"to": "a"})
    assert (rejected.state, rejected.call.gate, rejected.code) == ("rejected", "business", "gate_error")
    ledger._wiring.checks.clear()
    ledger.authorize(say)
    denied = session.call("send", {"to": "a"})
    assert (denied.state, denied.code) == ("denied", "gate_error")
    assert seen == []


def test_async_checks_and_policies_work_in_both_spellings(ledger: Ledger) -> None:
    """An async check is awaited by the sync API as well, and a sync one by the async API."""
    seen = writer(ledger)

    @ledger.check("")
    async def slow(arguments: dict[str, Any], context: Any) -> None:
        await asyncio.sleep(0)

    @ledger.authorize
    async def policy(call: Any, principal: Any) -> Allow:
        await asyncio.sleep(0)
        return Allow(rule="r1")

    ledger.check("send")(lambda arguments, context: None)
    ledger.session("s").call("send", {"to": "a"})

    async def main() -> Any:
        async with ledger.asession("t") as session:
            return await session.acall("send", {"to": "b"})

    assert asyncio.run(main()).state == "succeeded"
    assert seen == ["a", "b"]


def test_every_method_of_a_session_has_its_twin() -> None:
    """Whatever reads or writes the store has an async spelling: an event loop is never blocked."""
    public = {name: found for name, found in vars(Session).items() if inspect.isfunction(found) and name[0] != "_"}
    names = public.keys() - {"run_steps"}  # for the ledger's own modules
    sync = {name for name in names if not inspect.iscoroutinefunction(public[name])}
    assert names - sync == {"await_" if name == "wait" else f"a{name}" for name in sync}


def test_every_async_twin(ledger: Ledger, tmp_path: Path) -> None:
    """The async API does what the sync one does, method for method."""
    writer(ledger)

    async def main() -> None:
        async with ledger.asession("s") as session:
            start = [{"role": "user", "content": "hi"}]
            assert await session.atools() == session.tools()
            assert await session.amessages(start=start) == start
            assert await session.atools() == session.tools()
            await session.aadd({"role": "user", "content": "again"})
            results = await session.adispatch(asked(("send", {"to": "a"})))
            assert results.calls[0].state == "succeeded"
            call = await session.apropose("send", {"to": "b"})
            assert (await session.aadvance(call)).state == "validated"
            assert (await session.aadvance(call.call_id)).state == "authorized"
            assert (await session.await_(0)).messages == []
            assert len(await session.acomplete(start)) == 1
            await session.aclose("aborted")
        await ledger.aclose()

    asyncio.run(main())


def test_about_a_session(ledger: Ledger) -> None:
    """What the host says of a session is in its first event; without an id one is minted."""
    writer(ledger)
    session = ledger.session(agent="helper", model="m-1", labels={"team": "a"}, principal={"id": 7}, parent="p")
    session.call("send", {"to": "a"})
    assert repr(session) == f"<Session {session.id!r} at {session.history.sequence}>"
    opened_event = recorded(ledger, session.id)[0]
    assert isinstance(opened_event.body, SessionOpened)
    assert (opened_event.body.agent, opened_event.body.labels, opened_event.principal) == ("helper", {"team": "a"}, "7")


@pytest.mark.parametrize("wrong", ["", "_catalog", "a\nb", "x" * 256, 7])
def test_a_session_id_has_its_rules(ledger: Ledger, wrong: Any) -> None:
    """None begins with _ (the ledger's own streams), is empty, too long or unprintable."""
    with pytest.raises(UsageError, match="session id"):
        ledger.session(wrong)


def test_another_tenants_session_is_refused(tmp_path: Path) -> None:
    """The tenant comes from the host and stays what it was."""
    with opened(tmp_path) as ledger:
        ledger.session("s", tenant="acme").dispatch(asked(text="x"))
    with opened(tmp_path) as ledger:
        with pytest.raises(UsageError, match="another tenant"):
            ledger.session("s", tenant="evil").messages()
        assert len(ledger.session("s").messages()) == 1


def test_a_principal_needs_an_id(ledger: Ledger) -> None:
    """A text, or something with an id."""
    with pytest.raises(UsageError, match="an object with an id"):
        ledger.session("s", principal={"name": "x"})


def test_unknown_words_are_refused(ledger: Ledger) -> None:
    """Misspelt verdicts and options of the review API record nothing."""
    writer(ledger)
    ledger.authorize(lambda call, principal: Ask())
    call = ledger.session("s").call("send", {"to": "a"})
    with pytest.raises(UsageError, match="unknown verdict"):
        ledger.resolve(call.call_id, "maybe")
    with pytest.raises(UsageError, match="no verdict"):
        ledger.resolve(call.call_id)
    with pytest.raises(UsageError, match=r"unknown options: reason\. All take by, note"):
        ledger.deny(call.call_id, reason="x")
    assert types(ledger, "s")[-1] == "call.approval_requested"


def test_the_ledger_explains_its_tools_by_itself(tmp_path: Path) -> None:
    """A version is published once; the same version with another shape is refused with both shapes."""
    with opened(tmp_path) as first:
        writer(first)
    with opened(tmp_path) as second:
        writer(second)
        published = [e for e in recorded(second, "_catalog") if isinstance(e.body, ToolVersionPublished)]
        assert [e.tool for e in published] == ["send"]
    with opened(tmp_path) as third:
        third.tool("other", version=7, effect="external")(lambda_tool)
        with pytest.raises(ToolMisfit, match=r"Raise the version: `version=2` in `@ledger\.tool`"):

            @third.tool("send")
            def send(to: str, subject: str) -> str:
                """Send something."""
                return to

        @third.tool("send", version=2)
        def send_two(to: str, subject: str) -> str:
            """Send something."""
            return to

        assert third.registry.version("send") is not None


def test_the_version_that_a_refusal_names_is_free(tmp_path: Path) -> None:
    """In the catalog and in the ledger, under any name that the tool had."""
    shelf = Shelf(tmp_path / "tools")
    with opened(tmp_path) as found:
        found.tool("look_at", version=1, effect="read")(lambda_tool)
        found.tool("sent", version=6, effect="read")(lambda_tool)
    shelf.tool(schemas=(SCHEMA, SCHEMA, SCHEMA), current=1)
    with (
        opened(tmp_path, catalog=shelf.root) as found,
        pytest.raises(ToolMisfit, match=r"`version=4` in `@ledger\.tool`"),
    ):
        found.tool("look_at", version=1)(lambda path: path)
    shelf.tool("send", schemas=(SCHEMA, SCHEMA), reserved=["sent"])
    names = {"op": "rename_tool", "from": "sent", "to": "send"}
    shelf.write("send/v1-v2.upcast.json", {"tool": "send", "from": 1, "to": 2, "ops": [names]})
    with opened(tmp_path) as found:
        found.tool("send", version=2, effect="read")(lambda_tool)
    with (
        opened(tmp_path, catalog=shelf.root) as found,
        pytest.raises(ToolMisfit, match=r"`version=7` in `@ledger\.tool`"),
    ):
        found.tool("send")(lambda path: path)


def test_a_stage_that_changed_is_recorded_at_open(tmp_path: Path) -> None:
    """The files rule; opening a ledger records a stage that differs from what was last recorded, once."""
    folder = tmp_path / "tools" / "old"
    folder.mkdir(parents=True)
    (folder / "v1.json").write_text('{"type": "object", "properties": {}}')
    versions = '{"1": {"contract": {"effect": "read"}}}'
    words = f'{{"name": "old", "description": "Do.", "current": 1, "stage": "%s", "versions": {versions}}}'
    for stage in ("active", "hidden", "hidden"):
        (folder / "tool.json").write_text(words % stage)
        with opened(tmp_path, catalog=tmp_path / "tools") as ledger:
            rows = ledger.reader.read("_catalog", limit=10)
            stages = [
                body.stage for body in (read_event(r.record).body for r in rows) if isinstance(body, ToolStageChanged)
            ]
    assert stages == ["hidden"]


def test_a_call_keeps_its_principal(ledger: Ledger) -> None:
    """What one asked for before a crash is not run with the rights of another one who opens the session after it."""
    seen: list[Any] = []

    @ledger.tool("look", effect="read")
    def look(number: int, *, context: Any) -> int:
        """Look."""
        seen.append(("tool", context.principal))
        return number

    @ledger.authorize
    def policy(call: Any, principal: Any) -> Allow:
        seen.append(("policy", principal))
        return Allow()

    ann, bob = {"id": "ann", "roles": ["reader"]}, {"id": "bob", "roles": ["root"]}
    for number, (after, told) in enumerate(((bob, "ann"), (None, "ann"), (ann, ann))):
        seen.clear()
        ledger.session(f"s{number}", principal=ann).propose("look", {"number": 1})
        ledger.session(f"s{number}", principal=after).messages()
        assert seen == [("policy", told), ("tool", told)]


def test_a_write_that_another_principal_repeats_behind_a_crash_is_not_made_twice(tmp_path: Path) -> None:
    """A host may name who asks, or the process that works: the turn that its last one recorded is that turn."""
    with opened(tmp_path) as first:
        sent = writer(first)
        first.session("s", principal="alice").dispatch(asked(("send", {"to": "ada"}), ids=("a",)))
    with opened(tmp_path) as second:
        again = writer(second)
        results = second.session("s", principal="bob").dispatch(asked(("send", {"to": "ada"}), ids=("b",)))
    assert (sent, again, results.turn, results.calls[0].state) == (["ada"], [], 1, "succeeded")


def test_a_listener_hears_of_a_verdict_given_while_the_store_was_unwell(ledger: Ledger) -> None:
    """The session is read anew after a fault; what ended meanwhile is told all the same, and once."""
    heard: list[str] = []

    @ledger.on_resolved
    def on_resolved(call: Any) -> None:
        heard.append(call.state)

    @ledger.tool("pay", effect="external")
    def pay() -> None:
        """Pay."""
        raise TimeoutError

    session = ledger.session("s")
    call = session.call("pay")
    ledger.resolve(call, "happened", by="ada")

    def unwell() -> None:
        raise StoreUnavailable("the disk is full")

    crash.arm(ledger, crash.before(1), end=unwell)
    with pytest.raises(StoreUnavailable):
        session.add({"role": "user", "content": "?"})
    session.messages()
    session.messages()
    assert heard == ["succeeded"]
