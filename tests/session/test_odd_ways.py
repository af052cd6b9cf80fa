"""Ways through a session that are seldom gone: broken drives, odd schemas, pages, undelivered turns."""

from __future__ import annotations

import datetime as dt
import enum
import threading
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from ledger import Ledger, NotFound
from ledger.audit.torun import _filled, to_run
from ledger.calls import Call
from ledger.catalog import Catalog, default_catalog_root, load_catalog
from ledger.errors import CatalogFault, StoreUnavailable, ToolMisfit
from ledger.events import CallSucceeded
from ledger.execution.outcome import printable
from ledger.execution.requests import Io, UserCode
from ledger.providers.formats import FORMATS, get_format
from ledger.providers.plain import plain
from ledger.session import existing, publishing, redaction, worker
from ledger.session.intake import Terms
from ledger.session.redaction import MASK, sensitive
from ledger.store.memory import MemoryStore
from ledger.testing import crash
from tests.session.agents import asked, opened, types


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    with opened(tmp_path) as found:
        yield found


def sender(ledger: Ledger) -> list[str]:
    """Register a side-effecting tool that keeps what it was called with."""
    seen: list[str] = []

    @ledger.tool("send", effect="external")
    def send(to: str) -> str:
        """Send something."""
        seen.append(to)
        return to

    return seen


def test_a_drive_that_is_given_up_leaves_the_session_usable(ledger: Ledger) -> None:
    """Nobody drives any more: the lease lapses, the next handle reads the session anew and goes on."""
    seen = sender(ledger)
    ledger.check("send")(lambda arguments, context: None)
    session = ledger.session("s")
    loop = session._loop
    steps = loop.entered(loop.dispatch("openai", asked(("send", {"to": "a"})), Terms(), None))
    request: Any = next(steps)
    while not isinstance(request, UserCode):
        assert isinstance(request, Io)
        request = steps.send(request.work())
    held = [loop.core.held]
    steps.close()
    assert [*held, loop.core.held] == [True, False]
    again = session.dispatch(asked(("send", {"to": "a"})), turn=1)
    assert (again.calls[0].state, seen) == ("needs-review", [])


def test_a_drive_that_is_given_up_in_a_run_leaves_it_in_doubt(ledger: Ledger) -> None:
    """The start is durable and nobody heard the end: a person is asked."""
    sender(ledger)
    session = ledger.session("s")
    loop = session._loop
    steps = loop.entered(loop.dispatch("openai", asked(("send", {"to": "a"})), Terms(), None))
    request: Any = next(steps)
    while isinstance(request, Io):
        request = steps.send(request.work())
    steps.close()
    (call,) = session.dispatch(asked(("send", {"to": "a"})), turn=1).calls
    assert call.state == "needs-review"


def test_what_still_runs_when_the_store_fails_is_told_as_late(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """One read's outcome cannot be recorded; the other one's end is kept once the store is well again."""
    leave, late = threading.Event(), threading.Event()
    store = ledger._wiring.store
    append = store.append

    @ledger.tool("quick", effect="read")
    def quick() -> str:
        """End at once."""
        return "quick"

    @ledger.tool("slow", effect="read")
    def slow() -> str:
        """Run on."""
        leave.wait(10)
        return "slow"

    def fails(request: Any) -> Any:
        kinds = [draft.type for draft in request.drafts]
        if "call.succeeded" in kinds:
            raise StoreUnavailable("disk full")
        found = append(request)
        if kinds[-1] == "call.outcome_arrived_late":
            late.set()
        return found

    monkeypatch.setattr(store, "append", fails)
    session = ledger.session("s")
    with pytest.raises(StoreUnavailable):
        session.dispatch(asked(("slow", {}), ("quick", {})))
    leave.set()
    assert late.wait(10)
    assert types(ledger, "s")[-1] == "call.outcome_arrived_late"


@dataclass
class Careful:
    """A host's class that refuses some values."""

    number: int

    def __post_init__(self) -> None:
        if self.number < 0:
            raise RuntimeError


def test_arguments_that_cannot_be_bound_are_refused(ledger: Ledger) -> None:
    """A day that there is not, a class of the host that raises: the call stops before it starts."""

    @ledger.tool("day", effect="read")
    def day(on: dt.date) -> str:
        """Say which day."""
        return on.isoformat()

    @ledger.tool("careful", effect="read")
    def careful(item: Careful) -> int:
        """Take an instance."""
        return item.number

    session = ledger.session("s")
    assert session.call("day", {"on": "2026-02-28"}).result == "2026-02-28"
    wrong = session.call("day", {"on": "2026-02-31"})
    assert (wrong.state, wrong.call.gate) == ("rejected", "schema")
    assert session.call("careful", {"item": {"number": 1}}).result == 1
    broken = session.call("careful", {"item": {"number": -1}})
    assert (broken.state, broken.code) == ("rejected", "gate_error")


def test_an_undelivered_turn_is_known_again_by_its_text_or_its_calls(ledger: Ledger) -> None:
    """The same text is the same turn; another tool or another text is a new one."""
    seen = sender(ledger)
    ledger.tool("look", effect="read")(lambda: "seen")
    ledger.session("s").dispatch(asked(text="hello"))
    assert ledger.session("s").dispatch(asked(text="hello")).turn == 1
    assert ledger.session("s").dispatch(asked(("look", {}))).turn == 2
    assert ledger.session("s").dispatch(asked(("send", {"to": "a"}))).turn == 3
    assert seen == ["a"]


def test_a_copy_of_what_was_only_proposed_is_a_copy(ledger: Ledger) -> None:
    """The earlier call has passed no gate yet: their arguments are compared as they were sent."""
    seen = sender(ledger)
    session = ledger.session("s")
    session.propose("send", {"to": "a"})
    assert session.call("send", {"to": "a"}).call.reason == "duplicate"
    assert session.call("send", {"to": "b"}).state == "succeeded"
    assert seen == ["b"]


def test_a_cut_text_of_a_tool_with_secrets_is_the_same_turn_again(ledger: Ledger) -> None:
    """Its raw text was not kept, so it does not tell the turns apart."""
    schema = {"type": "object", "properties": {"pin": {"type": "string", "writeOnly": True}}}

    @ledger.tool("open", effect="external", schema=schema)
    def open_(pin: str = "") -> None:
        """Never run."""
        pytest.fail("ran")

    session = ledger.session("s")
    for _ in range(2):
        assert session.dispatch(asked(("open", '{"pin": "12')), turn=1).turn == 1


def test_sensitive_places_are_found_wherever_the_schema_says() -> None:
    """Behind references that lead nowhere, conditions, objects and lists; numbers and truth values too."""
    schema = {
        "if": {"properties": {"kind": {"const": "card"}}},
        "then": {"properties": {"card": {"x-sensitive": True}}},
        "else": {"$ref": "#/$defs/none"},
        "properties": {"list": {"items": {"writeOnly": True}}, "odd": {"$ref": "https://elsewhere"}},
    }
    card = {"number": 4111, "names": ["Ada", None], "ok": True}
    masked, secrets = sensitive(schema, {"card": card, "list": ["one", "two"], "odd": 1})
    assert masked == {"card": "[redacted]", "list": ["[redacted]", "[redacted]"], "odd": 1}
    assert set(secrets) == {"4111", "Ada", "one", "two"}


SECRET: dict[str, Any] = {"x-sensitive": True}


@pytest.mark.parametrize(
    ("schema", "arguments", "masked"),
    [
        ({"patternProperties": {"^p": SECRET}}, {"pw": "hush", "user": "ada"}, {"pw": MASK, "user": "ada"}),
        ({"patternProperties": {"^p": {}}, "additionalProperties": SECRET}, {"p": 1, "x": "hush"}, {"p": 1, "x": MASK}),
        ({"patternProperties": {"(?=p)": SECRET}}, {"user": "hush"}, {"user": MASK}),
        ({"unevaluatedProperties": SECRET}, {"pw": "hush"}, {"pw": MASK}),
        ({"dependentSchemas": {"a": {"properties": {"pw": SECRET}}}}, {"pw": "hush"}, {"pw": MASK}),
        ({"not": {"properties": {"pw": SECRET}}}, {"pw": "hush"}, {"pw": MASK}),
        ({"properties": {"a": {"prefixItems": [{}, SECRET]}}}, {"a": ["x", "hush", "y"]}, {"a": ["x", MASK, "y"]}),
        ({"properties": {"a": {"items": [{}], "additionalItems": SECRET}}}, {"a": ["x", "hush"]}, {"a": ["x", MASK]}),
        ({"properties": {"a": {"unevaluatedItems": SECRET}}}, {"a": ["hush"]}, {"a": [MASK]}),
        ({"properties": {"a": {"contains": SECRET}}}, {"a": ["hush"]}, {"a": [MASK]}),
        ({"properties": {"a": {"$ref": "#"}, "pw": SECRET}}, {"a": {"a": {"pw": "hush"}}}, {"a": {"a": {"pw": MASK}}}),
        ({"properties": {"a": {"$ref": "#/$defs/b%20c"}}, "$defs": {"b c": SECRET}}, {"a": "hush"}, {"a": MASK}),
        ({"allOf": [{"$ref": "#"}, {"$ref": "#"}, {"properties": {"pw": SECRET}}]}, {"pw": "hush"}, {"pw": MASK}),
        ({"properties": {"a": {"allOf": [SECRET, SECRET]}}}, {"a": "hush"}, {"a": MASK}),
    ],
)
def test_every_keyword_that_reaches_a_value_may_call_it_sensitive(schema: Any, arguments: Any, masked: Any) -> None:
    """A secret behind a keyword that nobody follows would be written to the disk."""
    assert sensitive(schema, arguments) == (masked, ("hush",))


def test_no_schema_is_taken_for_one_that_was_looked_at_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known of schemas is bounded, and a new one in the place of an old one is looked at anew."""
    monkeypatch.setattr(redaction, "_MOST", 2)
    for _ in range(5):
        assert redaction.has_sensitive({"properties": {"pw": SECRET}})
        assert not redaction.has_sensitive({"properties": {"pw": {"type": "string"}}})
        assert len(redaction._LOOKED_AT) <= 2


def test_a_ledger_may_be_given_a_catalog_that_was_read_before(tmp_path: Path) -> None:
    """The same tools are known as from its folder."""
    catalog = load_catalog(default_catalog_root())
    with opened(tmp_path, catalog=catalog) as ledger:
        assert ledger.registry.definition("edit_file") is not None


def test_what_was_published_is_read_by_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second opening writes nothing again, however small the pages."""
    monkeypatch.setattr(publishing, "PAGE", 1)
    for _ in range(2):
        with opened(tmp_path) as ledger:
            sender(ledger)
            ledger.tool("look", effect="read")(lambda: "seen")
            assert types(ledger, "_catalog") == ["tool.version_published"] * 2


@pytest.mark.parametrize("other", [int, str], ids=["the same shape", "another shape"])
def test_two_programs_publish_one_version_at_once(tmp_path: Path, other: type) -> None:
    """The second finds it recorded: it is not recorded twice, and another shape under the same number is refused."""

    def look(number: int) -> int:
        """Look."""
        return number

    def looks(number: Any) -> Any:
        """Look."""
        return number

    looks.__annotations__["number"] = other
    with opened(tmp_path) as first, opened(tmp_path) as second:
        crash.arm(first, crash.before(1), end=lambda: second.tool("look", effect="read", version=1)(looks))
        with nullcontext() if other is int else pytest.raises(ToolMisfit, match="Raise the version"):
            first.tool("look", effect="read", version=1)(look)
        assert types(first, "_catalog") == ["tool.version_published"]


def test_two_programs_record_a_stage_at_once(tmp_path: Path) -> None:
    """A stage that another program recorded at the same moment is not recorded again."""
    catalog = load_catalog(default_catalog_root())
    edit = replace(catalog.tools["edit_file"], stage="hidden")
    retired = Catalog(tools={"edit_file": edit}, digest="")
    with opened(tmp_path) as first, opened(tmp_path) as second:
        crash.arm(first, crash.before(1), end=lambda: second._publisher.stages(retired))
        first._publisher.stages(retired)
        assert types(first, "_catalog") == ["tool.stage_changed"]


def test_sessions_are_swept_by_pages(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each session with open calls is found once, however small the pages."""
    monkeypatch.setattr(worker, "PAGE", 1)
    sender(ledger)
    for name in "abc":
        ledger.session(name).propose("send", {"to": name})
    assert list(worker.with_open_calls(ledger)) == ["a", "b", "c"]


def test_a_recorded_tool_that_cannot_be_read_is_left_out(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that a newer release recorded does not hide the others."""
    sender(ledger)
    assert "send" in existing.with_recorded_tools(ledger.reader, None).tools

    def newer(tool: Any) -> Any:
        raise CatalogFault("of a newer release", path=tool.name)

    monkeypatch.setattr(existing, "_definition", newer)
    assert existing.with_recorded_tools(ledger.reader, None).tools == {}


def test_arguments_that_would_run_are_shown_as_sent_where_nothing_better_is_known() -> None:
    """No recorded version, or a schema that is none: the intent is shown."""
    call = Call(tool="gone", arguments={"a": 1}, arguments_digest="other")
    assert to_run(MemoryStore(), call) == {"a": 1}
    assert _filled({"properties": 5}, {"a": 1}, "other") == {"a": 1}


def test_every_format_is_there_under_its_name() -> None:
    """`format=` takes each of them."""
    assert [get_format(name).name for name in FORMATS] == list(FORMATS)


class Odd(enum.Enum):
    """An enum of a provider's SDK."""

    ONE = 1


def test_anything_of_a_reply_becomes_json() -> None:
    """Enums, numbers that are none, bytes, sets, unknown objects: plain values or texts."""
    assert plain(Odd.ONE) == 1
    assert plain(b"a") == "YQ=="
    assert plain({"a": (1.5, float("inf"), {1})})["a"][0] == 1.5
    assert isinstance(plain(object()), str)


def test_a_missing_thing_with_odd_words_is_still_missing(ledger: Ledger) -> None:
    """`NotFound` with a message that is no text: the outcome stands."""

    @ledger.tool("find", effect="read")
    def find() -> None:
        """Find nothing, oddly."""
        raise NotFound(object())  # type: ignore[arg-type]  # user code may

    found = ledger.session("s").call("find")
    assert (found.state, found.call.status) == ("succeeded", "not_found")
    assert printable(CallSucceeded(result=1)) == CallSucceeded(result=1)


def test_giving_up_before_anything_was_held_changes_nothing(ledger: Ledger) -> None:
    """A drive that is closed while it reads, or while it waits for another one, takes nothing away from anybody."""
    sender(ledger)
    session, other = ledger.session("s"), ledger.session("s", wait=60)
    reading = session._loop.entered(session._loop.recover())
    assert isinstance(next(reading), Io)
    waiting = other._loop.entered(other._loop.recover())
    assert not isinstance(next(waiting), Io)
    waiting.close()
    reading.close()
    assert session.call("send", {"to": "a"}).state == "succeeded"
