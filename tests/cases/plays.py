"""Plays the cases of `tests/suite/agent_faults.json`: what model, tools, people and crashes do, and what must be so."""

from __future__ import annotations

import contextlib
import datetime as dt
import decimal
import json
import math
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pydantic
import pytest

from ledger import Allow, Ask, Ledger, Session
from ledger.errors import DivergentTurn, VerdictRefused
from ledger.events import CallSucceeded
from ledger.providers.check import check
from ledger.replay.reading import session_at
from ledger.strictjson import Encoding, decode_result
from ledger.testing import crash
from tests.cases.scenes import SESSION, Desk, Gone, gone
from tests.providers.odd import FORMATS
from tests.session.agents import answers, asked, recorded

RAISED: Final[dict[str, type[BaseException]]] = {
    each.__name__: each for each in (DivergentTurn, Gone, KeyboardInterrupt, VerdictRefused)
}
PATIENCE: Final = 30


class Receipt(pydantic.BaseModel):
    """A result of values that JSON does not have."""

    at: dt.datetime
    number: uuid.UUID
    amount: decimal.Decimal
    tags: set[str]


RECEIPT: Final = Receipt(
    at=dt.datetime(2026, 1, 1),  # noqa: DTZ001 - as naive as the reported ones
    number=uuid.UUID(int=7),
    amount=decimal.Decimal("1.10"),
    tags={"a"},
)


@dataclass(slots=True)
class Play:
    """One case on one ledger: `case` is its entry, `desk` its folder."""

    case: dict[str, Any]
    desk: Desk
    ran: list[list[Any]] = field(default_factory=list)
    noticed: list[str] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)
    late: threading.Event = field(default_factory=threading.Event)
    told: dict[str, Any] = field(default_factory=dict)
    on: threading.Event = field(default_factory=threading.Event)
    ledger: Ledger = field(init=False)
    session: Session = field(init=False)

    def run(self) -> None:
        """Play every step."""
        self.restart({})
        try:
            for step in self.case["steps"]:
                (verb,) = step.keys() & STEPS.keys()
                with pytest.raises(RAISED[step["raises"]]) if "raises" in step else contextlib.nullcontext():
                    STEPS[verb](self, step)
        finally:
            self.on.set()

    # -- what happens

    def restart(self, step: dict[str, Any]) -> None:
        """Open the ledger as the next process does; its tools may have other options, or be removed."""
        settings: dict[str, Any] = {}
        removed = step.get("removed", ())
        if "catalog" in self.case:
            settings["catalog"] = catalog(self.desk.folder, self.case["catalog"], removed)
        self.ledger = self.desk.open(tools=False, **settings)
        for name, given in self.case["tools"].items():
            options = {"schema": {"type": "object"}} | given | step.get("options", {})
            function = self.tool(name, options.pop("does", "answer"))
            if "catalog" in self.case:
                del options["schema"]
            if options.pop("byKey", False):
                options["resource_keys"] = lambda arguments: [str(arguments["key"])]
            if name not in removed:
                self.ledger.tool(name, **options)(function)
        asks = self.case.get("asks", ())
        if asks or self.case.get("policy"):
            self.ledger.authorize(lambda call, principal: Ask() if call.tool in asks else Allow())
        crash.arm(self.ledger, crash.after("call.outcome_arrived_late"), end=self.late.set)
        crash.arm(self.ledger, crash.after("call.succeeded"), end=self.ended.set)
        self.session = self.ledger.session(SESSION)

    def ask(self, step: dict[str, Any]) -> None:
        """Let the model ask for calls: `[tool, arguments, provider's id]` each, or a provider's own reply."""
        if "crash" in step:
            crash.arm(self.ledger, getattr(crash, step["when"])(step["crash"]), end=gone)
        options = {"turn": step["turn"]} if "turn" in step else {}
        try:
            if "reply" in step:
                self.session.dispatch(step["reply"], format=step["format"], **options)
            else:
                calls = [(tool, arguments) for tool, arguments, _ in step["ask"]]
                self.session.dispatch(asked(*calls, ids=tuple(each[2] for each in step["ask"])), **options)
        except Gone:
            store: Any = self.ledger.reader
            store.release(SESSION, token=store.head(SESSION).token)
            raise

    def decide(self, step: dict[str, Any]) -> None:
        """Let a person speak about the call of that number: approve, deny, edit its arguments, or a verdict."""
        word, number = step["person"]
        call_id = self.ids()[number]
        if word == "approve":
            self.ledger.approve(call_id, by="ada", digest=step.get("digest"))
        elif word == "deny":
            self.ledger.deny(call_id, by="ada")
        elif word == "edit":
            self.ledger.resolve(call_id, arguments=step["arguments"], by="ada")
        else:
            self.ledger.resolve(call_id, word, by="ada")

    def say(self, step: dict[str, Any]) -> None:
        """Let the user speak."""
        self.session.add({"role": "user", "content": step["say"]})

    def go_on(self, _step: dict[str, Any]) -> None:
        """Let the host ask for the conversation, as it does before the model's next turn."""
        self.session.messages()

    def let_go(self, _step: dict[str, Any]) -> None:
        """Let the slow tool come to its end, and wait until that is recorded."""
        self.on.set()
        assert self.late.wait(PATIENCE)

    def tool(self, name: str, does: str) -> Callable[..., Any]:
        """Return the body of a tool: it notes that it ran, and does what its word says."""

        def body(**arguments: Any) -> Any:
            if does == "wait for its sibling":
                assert self.ended.wait(PATIENCE)
            if does == "wait":
                self.on.wait(PATIENCE)
            if does == "look and raise":
                assert self.ended.wait(PATIENCE)
                self.noticed += [call.state for call in self.calls()]
                raise ConnectionResetError("the reply is lost")
            self.ran.append([name, arguments])
            if does == "interrupt":
                raise KeyboardInterrupt
            return RESULTS.get(does, arguments)

        return body

    # -- what must be so

    def calls(self) -> list[Any]:
        """Return the calls as they are recorded, in the order asked."""
        return list(session_at(self.ledger.reader, SESSION).calls.values())

    def ids(self) -> list[str]:
        """Return their ids."""
        return [call.call_id for call in self.calls()]

    def expect(self, step: dict[str, Any]) -> None:
        """Compare what is recorded and told with what the step names; every format takes the conversation."""
        told = {"openai": self.session.messages()}
        before = len(recorded(self.ledger, SESSION))
        told |= {name: self.session.messages(name) for name in FORMATS}
        assert {name: check(name, messages) for name, messages in told.items()} == {name: [] for name in told}
        assert len(recorded(self.ledger, SESSION)) == before  # telling is not recording
        for what, wanted in step["expect"].items():
            found = SEEN[what](self, told, wanted)
            assert {what: found} == {what: wanted}
        self.told = told


def catalog(folder: Path, names: list[str], removed: list[str]) -> Path:
    """Write a catalog of these tools, and return its folder; a removed one names its successor."""
    for name in names:
        place = folder / "tools" / name
        place.mkdir(parents=True, exist_ok=True)
        retired = {"retirement": {"replacements": [{"tool": "look"}]}} if name in removed else {}
        document = {"name": name, "description": "Do.", "current": 1, "stage": "removed" if retired else "active"}
        versions = {"versions": {"1": {"contract": {"effect": "read"}}}}
        (place / "tool.json").write_text(json.dumps(document | versions | retired), encoding="utf-8")
        (place / "v1.json").write_text('{"type": "object", "properties": {}}', encoding="utf-8")
    return folder / "tools"


def rows(play: Play, wanted: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return of each call as the audit shows it, its arguments beside it, what is asked for."""
    found = []
    for row, call in zip(play.ledger.calls(session=SESSION), play.calls(), strict=True):
        whole = dict(row) | {"arguments": call.arguments, "raw": call.raw_arguments, "executed": call.to_run}
        whole["approvedBy"] = call.approval.person if call.approval else None
        found.append(whole)
    keys = [each.keys() for each in wanted] + [row.keys() for row in found[len(wanted) :]]
    return [{key: row[key] for key in some} for row, some in zip(found, keys, strict=True)]


def kept(play: Play) -> list[str]:
    """Return the results as Python writes them, of what they were before they were stored."""
    bodies = [event.body for event in recorded(play.ledger, SESSION) if isinstance(event.body, CallSucceeded)]
    found = [decode_result(body.result, tuple(map(Encoding.from_wire, body.encodings))) for body in bodies]
    return [repr(dict(sorted(each.items())) if isinstance(each, dict) else each) for each in found]


def shape(message: dict[str, Any]) -> str:
    """Return who speaks in a message, and the kinds of its blocks."""
    blocks = message.get("content")
    kinds = [str(block["type"]) for block in blocks] if isinstance(blocks, list) else []
    return " ".join([message["role"], *kinds])


def count(told: dict[str, Any], wanted: dict[str, dict[str, int]]) -> dict[str, dict[str, Any]]:
    """Return how often each text is told in each format; under `*` in all of them, one by one where they differ."""
    texts = {name: json.dumps(messages, ensure_ascii=False, allow_nan=False) for name, messages in told.items()}
    found: dict[str, dict[str, Any]] = {}
    for name, words in wanted.items():
        formats = FORMATS if name == "*" else (name,)
        counts = {word: {each: texts[each].count(word) for each in formats} for word in words}
        found[name] = {word: all_of(each) for word, each in counts.items()}
    return found


def all_of(counts: dict[str, int]) -> Any:
    """Return the number that all have, or each one's."""
    return next(iter(counts.values())) if len(set(counts.values())) == 1 else counts


def types(play: Play, wanted: dict[str, int]) -> dict[str, int]:
    """Return how many events of each type are recorded."""
    found = [event.type for event in recorded(play.ledger, SESSION)]
    return {name: found.count(name) for name in wanted}


def waiting(play: Play) -> list[int]:
    """Return the numbers of the calls that a person is asked about."""
    return [play.ids().index(row["callId"]) for row in play.ledger.reviews()]


RESULTS: Final[dict[str, Any]] = {"nan": math.nan, "nul": "a\0b", "typed": RECEIPT}
STEPS: Final[dict[str, Callable[[Play, dict[str, Any]], None]]] = {
    "ask": Play.ask,
    "reply": Play.ask,
    "restart": lambda play, step: play.restart(step["restart"]),
    "person": Play.decide,
    "say": Play.say,
    "go on": Play.go_on,
    "let go": Play.let_go,
    "expect": Play.expect,
}
SEEN: Final[dict[str, Callable[[Play, dict[str, Any], Any], Any]]] = {
    "ran": lambda play, told, wanted: play.ran,
    "noticed": lambda play, told, wanted: play.noticed,
    "calls": lambda play, told, wanted: rows(play, wanted),
    "kept": lambda play, told, wanted: kept(play),
    "events": lambda play, told, wanted: types(play, wanted),
    "waiting": lambda play, told, wanted: waiting(play),
    "answers": lambda play, told, wanted: [each["status"] for each in answers(told["openai"])],
    "data": lambda play, told, wanted: [each.get("data") for each in answers(told["openai"])],
    "shape": lambda play, told, wanted: {name: list(map(shape, told[name])) for name in wanted},
    "counts": lambda play, told, wanted: count(told, wanted),
    "begins": lambda play, told, wanted: {name: told[name][: len(begun)] for name, begun in wanted.items()},
    "same": lambda play, told, wanted: told == play.told,
}
