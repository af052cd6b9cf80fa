"""The JSON hazards, one table over every back end: the same verdict and the same bytes on each."""

from __future__ import annotations

import datetime as dt
import enum
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ledger import Ledger
from ledger.events import CallProposed, CallSucceeded
from ledger.strictjson import Encoding, canonical, decode_result
from tests.session.agents import asked, recorded
from tests.session.same import everywhere

CASES = json.loads((Path(__file__).parents[1] / "suite" / "json_table.json").read_text(encoding="utf-8"))
SERVER = "server"
BACK_ENDS = ["memory://", "sqlite:///{folder}/ledger.db", SERVER]


@pytest.fixture(params=BACK_ENDS, ids=["memory", "sqlite", "postgres"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    """A ledger on each back end, with a tool that gives back what it was given."""
    url = request.getfixturevalue("server_url") if request.param == SERVER else request.param.format(folder=tmp_path)
    with Ledger.open(url) as found:
        found.tool("echo", effect="write", schema={"type": "object", "required": ["value"]})(echo)
        yield found


def echo(**arguments: Any) -> Any:
    """Give back what it was given."""
    return arguments["value"]


def text_of(case: dict[str, Any]) -> str:
    """The arguments' text of a case; the large ones are made here."""
    if "nested" in case:
        depth = int(case["nested"])
        return f'{{"value": {"[" * depth}{"]" * depth}}}'
    if "long" in case:
        return f'{{"value": "{"x" * case["long"]}"}}'
    return str(case["arguments"])


def proposed(ledger: Ledger) -> CallProposed:
    """The intent as it is stored."""
    return next(e.body for e in recorded(ledger, "s") if isinstance(e.body, CallProposed))


@pytest.mark.parametrize("case", [case for case in CASES if "code" in case], ids=lambda case: case["fact"])
def test_what_is_no_strict_json_is_rejected_and_kept(ledger: Ledger, case: dict[str, Any]) -> None:
    """Nothing runs; the code and the exact raw text are recorded; the export holds valid arguments and an answer."""
    raw = text_of(case)
    session = ledger.session("s")
    results = session.dispatch(asked(("echo", raw)))
    (call,) = results.calls
    assert (call.state, call.call.gate, call.code) == ("rejected", "decode", case["code"])
    assert case.get("says", "") in (call.message or "")
    intent = proposed(ledger)
    assert (intent.raw_arguments, intent.arguments) == (raw, None)
    for messages in (results.messages, session.messages()):
        shown = json.loads(messages[0]["tool_calls"][0]["function"]["arguments"])
        assert isinstance(shown, dict)
        assert json.loads(messages[1]["content"])["status"] == "rejected"
        assert json.dumps(messages, ensure_ascii=False).encode()


@pytest.mark.parametrize("case", [case for case in CASES if "value" in case], ids=lambda case: case["fact"])
def test_what_is_strict_json_comes_back_exactly(ledger: Ledger, case: dict[str, Any]) -> None:
    """Raw text, parsed arguments and result are the same value, type for type, after storage."""
    (call,) = ledger.session("s").dispatch(asked(("echo", case["arguments"]))).calls
    intent = proposed(ledger)
    result = next(e.body for e in recorded(ledger, "s") if isinstance(e.body, CallSucceeded)).result
    assert intent.raw_arguments == case["arguments"]
    assert canonical(intent.arguments["value"]) == canonical(result) == canonical(json.loads(case["value"]))
    assert type(result) is type(json.loads(case["value"]))
    assert call.state == "succeeded"


class Colour(enum.Enum):
    """An Enum of the host."""

    RED = "red"


@dataclass
class Point:
    """A dataclass of the host."""

    x: int


RESULTS = {
    "nan": float("nan"),
    "bytes": b"\xff\x00",
    "datetime": dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
    "dataclass": Point(3),
    "enum": Colour.RED,
    "set": {3, 1, 2},
    "lone surrogate": "caf\udce9",
    "NUL": "a\x00b",
    "big": 2**70,
    "object": object(),
    "not a text key": {1: "one"},
}


@pytest.mark.parametrize("kind", RESULTS)
def test_a_result_that_is_not_json_is_a_success_and_kept(ledger: Ledger, kind: str) -> None:
    """Nothing a tool returns turns its effect into a failure; what can be given back is, the rest is marked."""
    ledger.tool("give", effect="external", schema={"type": "object"})(lambda: RESULTS[kind])
    results = ledger.session("s").dispatch(asked(("give", {})))
    assert results.calls[0].state == "succeeded"
    body = next(e.body for e in recorded(ledger, "s") if isinstance(e.body, CallSucceeded))
    encodings = tuple(Encoding.from_wire(mark) for mark in body.encodings)
    back = decode_result(body.result, encodings)
    if kind in ("bytes", "datetime", "set", "lone surrogate", "NUL", "big", "not a text key"):
        assert back == RESULTS[kind]
    else:
        assert encodings
    assert json.loads(results.messages[1]["content"])["status"] == "succeeded"
    assert json.dumps(results.messages, ensure_ascii=False).encode()


def test_a_result_above_the_limit_is_cut_and_stays_a_success(ledger: Ledger) -> None:
    """More than 16 MiB are not kept whole: size and digest are, and a head that is valid JSON."""
    ledger.tool("give", effect="external", schema={"type": "object"})(lambda: "x" * (17 * 2**20))
    results = ledger.session("s").dispatch(asked(("give", {})))
    assert results.calls[0].state == "succeeded"
    assert results.calls[0].result["bytes"] >= 17 * 2**20
    assert len(results.messages[1]["content"]) < 10_000


def test_records_are_the_same_bytes_on_every_back_end(tmp_path: Path, server_url: str) -> None:
    """The same events give the same records, and so the same digests, whatever keeps them."""
    first, second, third = everywhere([*(url.format(folder=tmp_path) for url in BACK_ENDS[:2]), server_url])
    assert first == second == third
    assert len(first) > 6
