"""Which tools a model may choose from: named by the host, found by the model, kept by a resumed session."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ledger import Ledger
from ledger.catalog import Catalog, ToolDefinition, build_tool
from ledger.catalog.finding import FIND_TOOLS, find
from ledger.errors import SessionOwned, UsageError
from ledger.events import TurnRecorded
from ledger.providers.estimate import estimated_tokens
from ledger.testing.empty import open_fresh
from tests.session.agents import asked, recorded

ALL = ["cancel_order", "find_order", "refund_order", "send_email"]

NO_TOOLS = Catalog(tools={}, digest="")
"""Instead of the catalog of the folder that the tests run in."""


def with_tools(ledger: Ledger) -> Ledger:
    """Register four tools, as every process of this host does."""

    @ledger.tool("find_order", effect="read", use_when="a customer asks where a parcel is")
    def find_order(number: int) -> int:
        """Look an order up."""
        return number

    @ledger.tool("refund_order", effect="read")
    def refund_order(number: int) -> int:
        """Give the customer the money back."""
        return number

    @ledger.tool("cancel_order", effect="read")
    def cancel_order(number: int) -> int:
        """Stop an order before it is sent."""
        return number

    @ledger.tool("send_email", effect="read")
    def send_email(body: str) -> str:
        """Write to the customer."""
        return body

    return ledger


def reopen_fresh(folder: Path) -> Ledger:
    """The same host in its next process."""
    return with_tools(open_fresh(folder, catalog=NO_TOOLS))


@pytest.fixture
def ledger() -> Any:
    """A host that is never resumed."""
    with with_tools(Ledger.open("memory://", catalog=NO_TOOLS)) as found:
        yield found


def names(definitions: list[dict[str, Any]]) -> list[str]:
    return [each["function"]["name"] for each in definitions]


def offers(ledger: Ledger) -> list[list[str] | None]:
    """What each turn records as offered."""
    bodies = [event.body for event in recorded(ledger, "s") if isinstance(event.body, TurnRecorded)]
    return [None if body.offered is None else [each["tool"] for each in body.offered] for body in bodies]


def test_without_names_every_tool_is_offered_and_none_to_search(ledger: Ledger) -> None:
    """A model that has all tools has nothing to find and nothing to read on in."""
    assert names(ledger.session("s").tools()) == ALL


def test_only_the_named_tools_are_offered(ledger: Ledger) -> None:
    """In each provider's form; a call of another one is `not_offered` and runs nothing."""
    session = ledger.session("s")
    assert [each["name"] for each in session.tools("anthropic", only={"find_order"})] == ["find_order"]
    results = session.dispatch(asked(("find_order", {"number": 1}), ("refund_order", {"number": 1})))
    assert [call.code or call.state for call in results.calls] == ["succeeded", "not_offered"]
    assert offers(ledger) == [["find_order"]]


def test_no_tool_at_all_may_be_offered(ledger: Ledger) -> None:
    """An empty list is an offer too: every call of that turn is refused."""
    session = ledger.session("s")
    assert session.tools(only=[]) == []
    assert session.tools_tokens == 0
    assert session.dispatch(asked(("find_order", {"number": 1}))).calls[0].code == "not_offered"


@pytest.mark.parametrize(
    ("only", "why"),
    [
        (["find_ordre"], "nobody knows"),
        (["idle"], "no function"),
        ("find_order", "a list of tools' names, not str"),
        (3, "a list of tools' names, not int"),
        ([3], "a tool's name is a text"),
    ],
)
def test_a_wrong_name_is_refused(only: Any, why: str) -> None:
    """What nobody knows, or cannot run here, is a mistake of the program; the offer before stays."""
    with with_tools(Ledger.open("memory://", catalog=catalog("active"))) as ledger:
        session = ledger.session("s")
        session.tools(only=["send_email"])
        with pytest.raises(UsageError, match=why):
            session.tools(only=only)
        assert session.dispatch(asked(("find_order", {"number": 1}))).calls[0].code == "not_offered"


# -- what definitions take


def test_an_estimate_is_a_quarter_of_the_canonical_bytes() -> None:
    """Rounded up; bytes, not characters; nothing takes nothing."""
    assert estimated_tokens([]) == 0
    assert estimated_tokens([{"a": 1}]) == 3  # [{"a":1}] is 9 bytes
    assert estimated_tokens([{"a": "日"}]) == 4  # 13 bytes


def test_a_session_says_what_its_tools_take(ledger: Ledger) -> None:
    """Of the last `tools`, in the form that was asked for; nothing before."""
    session = ledger.session("s")
    assert session.tools_tokens == 0
    assert session.tools_tokens < estimated_tokens(session.tools()) == session.tools_tokens
    assert estimated_tokens(session.tools("anthropic", only=["find_order"])) == session.tools_tokens


@pytest.mark.parametrize(("budget", "warned"), [(None, 0), (10_000, 0), (20, 2)])
def test_an_offer_above_the_budget_is_logged(caplog: pytest.LogCaptureFixture, budget: int | None, warned: int) -> None:
    """Once for each offer, with ids and numbers only."""
    with (
        with_tools(Ledger.open("memory://", catalog=NO_TOOLS, tools_budget=budget)) as ledger,
        caplog.at_level(logging.WARNING, "ledger"),
    ):
        session = ledger.session("s")
        for only in (None, None, ["send_email"], []):
            session.tools(only=only)
    told = [record for record in caplog.records if record.name == "ledger.session"]
    said = [record.getMessage().partition(" tools")[0] for record in told]
    assert said == ["session s is offered 4", "session s is offered 1"][:warned]
    assert all("email" not in record.getMessage() for record in told)


# -- finding


def test_what_is_found_is_offered_from_the_next_turn_on(ledger: Ledger) -> None:
    """Not in the turn that searches; the search is recorded like every other read."""
    session = ledger.session("s")
    assert names(session.tools(only=["find_tools", "send_email"])) == ["find_tools", "send_email"]
    both = asked(("find_tools", {"query": "refund money"}), ("refund_order", {"number": 1}))
    search, early = session.dispatch(both).calls
    assert search.result == {
        "tools": [{"name": "refund_order", "description": "Give the customer the money back."}],
    }
    assert early.code == "not_offered"
    assert names(session.tools(only=["find_tools"])) == ["find_tools", "refund_order"]
    assert session.dispatch(asked(("refund_order", {"number": 2}))).calls[0].result == 2
    assert offers(ledger) == [["find_tools", "send_email"], ["find_tools", "refund_order"]]
    assert names(session.tools(only=["send_email"])) == ["send_email"]  # a stage that may not search


def test_a_search_has_bounds(ledger: Ledger) -> None:
    """A limit outside 1 to 20 is refused, a query that fits nothing finds nothing, built-in tools are not found."""
    session = ledger.session("s")
    codes = [session.call("find_tools", {"query": "order", "limit": limit}).code for limit in (0, 21)]
    assert codes == ["out_of_range", "out_of_range"]
    assert session.call("find_tools", {"query": "!"}).result == {"tools": []}
    assert session.call("find_tools", {"query": "find tools read result"}).result["tools"][0]["name"] == "find_order"
    assert len(session.call("find_tools", {"query": "order", "limit": 2}).result["tools"]) == 2


def test_long_descriptions_are_cut(ledger: Ledger) -> None:
    """A search tells what a tool is for; the definition tells the rest."""

    @ledger.tool("essay", effect="read", description="word " * 100)
    def essay() -> None: ...

    (found,) = ledger.session("s").call("find_tools", {"query": "essay"}).result["tools"]
    assert len(found["description"]) == 300
    assert found["description"].endswith("…")


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("refund_order", ["refund_order", "cancel_order", "find_order"]),  # a whole name first
        ("REFUND", ["refund_order"]),
        ("parcel", ["find_order"]),  # when to use it
        ("orders", ["cancel_order", "find_order", "refund_order"]),  # half a word, by name
        ("emails for the customer", ["send_email", "refund_order", "find_order"]),
        ("sendEmail", ["send_email"]),
        ("customer stop", ["cancel_order", "find_order", "refund_order"]),  # what is rare counts more
        ("", []),
        ("nothing here", []),
    ],
)
def test_a_search_has_one_order(ledger: Ledger, query: str, best: list[str]) -> None:
    """By name, when to use it, description; what is rare counts more; the same each time."""
    tools = [version for version in ledger.registry.offered() if version.tool in ALL]
    assert [version.tool for version in find(tools, query, 3)] == best
    assert find(tools[::-1], query, 3) == find(tools, query, 3)


def test_a_whole_name_comes_first(ledger: Ledger) -> None:
    """Also before a tool whose name has the same words and comes first in the alphabet."""
    (email,) = (version for version in ledger.registry.offered() if version.tool == "send_email")
    both = [replace(email, tool="email_send_all"), email]
    assert [version.tool for version in find(both, " Send_Email ", 2)] == ["send_email", "email_send_all"]


@pytest.mark.parametrize(
    "result", [None, "send_email", {"tools": 1}, {"tools": [1, {"name": 2}, {}]}, {"tools": [{"name": "gone"}]}]
)
def test_a_search_that_a_person_answered_finds_what_it_holds(ledger: Ledger, result: Any) -> None:
    """A recorded result may be anything; a name that nobody knows is not offered."""
    session = ledger.session("s")
    call = session.propose("find_tools", {"query": "order"})
    ledger.resolve(flagged(ledger, call.call_id), "happened", by="ada", result=result)
    assert names(session.tools(only=["find_tools"])) == ["find_tools"]


def flagged(ledger: Ledger, call_id: str) -> str:
    """Let a person decide about a proposed read, as where its tool is gone."""
    from ledger.events import CallFlagged
    from ledger.execution.drive import drive
    from ledger.session.core import Item

    core = ledger._cores["s"]
    drive(core.commit([Item(CallFlagged(reason="not-started", evidence={}), core.history.calls[call_id])]))
    return call_id


# -- after a resume


def test_a_resumed_session_keeps_its_offer(tmp_path: Path) -> None:
    """Where the host of the next process does not offer anew, the record says what its model chose from."""
    with reopen_fresh(tmp_path) as ledger:
        session = ledger.session("s")
        session.tools(only=["find_tools", "send_email"])
        session.dispatch(asked(("find_tools", {"query": "refund"})))
        session.call("cancel_order", {"number": 1})  # neither the host's own call nor an answer changes the offer
        session.structured(asked(text="1"), {"type": "integer"})
    for number in (1, 2):
        with reopen_fresh(tmp_path) as ledger:
            reply = asked(*((name, {"number": number}) for name in ("refund_order", "cancel_order")))
            results = ledger.session("s").dispatch(reply)
            assert [call.code or call.state for call in results.calls] == ["succeeded", "not_offered"]
            assert offers(ledger)[-1] == ["find_tools", "refund_order", "send_email"]


def test_a_resumed_session_offers_what_it_found(tmp_path: Path) -> None:
    """Also before its first message is asked for; without `find_tools` only what is named."""
    with reopen_fresh(tmp_path) as ledger:
        session = ledger.session("s")
        session.tools(only=["find_tools"])
        session.dispatch(asked(("find_tools", {"query": "refund"})))
    with reopen_fresh(tmp_path) as ledger:
        assert names(ledger.session("s").tools(only=["find_tools"])) == ["find_tools", "refund_order"]
        assert names(ledger.session("s").tools(only=["send_email"])) == ["send_email"]


def test_an_offer_that_was_never_made_binds_nobody(tmp_path: Path) -> None:
    """A host that builds its definitions itself is not checked, after a resume neither."""
    for number in (1, 2):
        with reopen_fresh(tmp_path) as ledger:
            results = ledger.session("s").dispatch(asked(("find_order", {"number": number})))
            assert results.calls[0].state == "succeeded"
            assert offers(ledger)[-1] is None


def test_once_a_host_has_offered_its_own_word_counts(tmp_path: Path) -> None:
    """A turn without `tools` before it is not checked in a process that has offered before."""
    with reopen_fresh(tmp_path) as ledger:
        session = ledger.session("s")
        session.tools(only=["send_email"])
        session.dispatch(asked(("send_email", {"body": "Hi."})))
        assert session.dispatch(asked(("find_order", {"number": 1}))).calls[0].state == "succeeded"


def test_what_no_model_chose_uses_no_offer_up(ledger: Ledger) -> None:
    """The host's own call, and an answer under a schema, come between an offer and the turn that it was made for."""
    session = ledger.session("s")
    session.tools(only=["find_order"])
    session.call("send_email", {"body": "Hello."})
    session.propose("send_email", {"body": "Hello again."})
    answer = session.structured(asked(text='{"a": 1}'), {"type": "object"})
    assert answer.valid
    refund = ("refund_order", {"number": 1})
    refused = session.dispatch(asked(("find_order", {"number": 1}), refund))
    assert [(call.state, call.code) for call in refused.calls] == [("succeeded", None), ("rejected", "not_offered")]
    assert session.dispatch(asked(refund)).calls[0].state == "succeeded"  # the offer is used up by that


def test_a_cut_result_can_be_read_on_whatever_is_named(tmp_path: Path) -> None:
    """The answer tells the model to use `read_result`, so it is offered, and kept after a resume."""
    with reopen_fresh(tmp_path) as ledger:
        session = ledger.session("s")
        session.tools(only=["send_email"])
        cut = session.dispatch(asked(("send_email", {"body": "x" * 50_000}))).calls[0]
        assert names(session.tools(only=["send_email"])) == ["read_result", "send_email"]
    with reopen_fresh(tmp_path) as ledger:
        page = asked(("read_result", {"pointer": f"result:{cut.call_id}", "limit": 3}))
        assert ledger.session("s").dispatch(page).calls[0].result["text"] == "xxx"


def catalog(idle: Any, nap: Any = "active") -> Catalog:
    """A catalog of two tools at these stages."""
    tools = {}
    for name, stage in (("idle", idle), ("nap", nap)):

        def nothing() -> None:
            """Do nothing."""

        version = build_tool(nothing, name=name, effect="read").version
        tools[name] = ToolDefinition(name=name, current=1, versions={1: version}, stage=stage)
    return Catalog(tools=tools, digest=f"{idle} {nap}")


def idling(folder: Path, idle: Any, nap: Any = "active") -> Ledger:
    """A host with the catalog's tools, as they stand now."""
    ledger = with_tools(open_fresh(folder, catalog=catalog(idle, nap)))
    for name in ("idle", "nap"):
        ledger.tool(name)(nothing)
    return ledger


def nothing() -> None: ...


@pytest.mark.parametrize(("size", "cut"), [(20_000, True), (20, False)])
def test_a_persons_result_can_be_read_on_too(ledger: Ledger, size: int, cut: bool) -> None:
    """Where it is too large for the answer, as with a tool's own; a small one leaves nothing to read on."""

    @ledger.tool("pay", effect="external")
    def pay() -> None:
        """Pay."""
        raise OSError

    session = ledger.session("s")
    call_id = session.dispatch(asked(("pay", {}))).calls[0].call_id
    ledger.resolve(call_id, "happened", result={"log": "y" * size}, by="ada")
    assert session.wait(0).calls[0].state == "succeeded"
    assert ("read_result" in names(session.tools())) is cut
    page = session.dispatch(asked(("read_result", {"pointer": f"result:{call_id}/log", "offset": size - 5}))).calls[0]
    assert (page.result["text"] if cut else page.code) == ("yyyyy" if cut else "not_offered")


def test_a_tool_that_was_hidden_stays_with_its_sessions(tmp_path: Path) -> None:
    """The resumed one is offered it and may call it; a new one is not, even by name; a retired one is left out."""
    with idling(tmp_path, "active") as ledger:
        session = ledger.session("s")
        assert {"idle", "nap"} <= set(names(session.tools()))
        session.dispatch(asked(("idle", {})))
    with idling(tmp_path, "hidden", "compat") as ledger:
        session = ledger.session("s")
        assert names(session.tools(only=["idle", "nap"])) == ["idle"]
        assert {"idle", "nap"} & set(names(session.tools())) == {"idle"}
        assert session.dispatch(asked(("idle", {}))).calls[0].state == "succeeded"
        assert ledger.session("new").tools(only=["idle", "nap"]) == []
        assert not {"idle", "nap"} & set(names(ledger.session("new").tools()))


def test_tools_waits_for_nobody(ledger: Ledger) -> None:
    """Before the session is read, another thread that works on it is told of instead of guessed about."""
    core = ledger.session("s")._loop.core
    steps = ledger.session("s")._loop.entered(iter_forever())
    next(steps)
    core.loaded = False
    with pytest.raises(SessionOwned):
        ledger.session("s").tools()
    steps.close()
    assert FIND_TOOLS in ledger.registry


def iter_forever() -> Any:
    while True:
        yield None
