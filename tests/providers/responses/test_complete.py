"""A host's own list of Responses items, completed from the ledger."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from ledger.providers import complete, get_format
from ledger.providers.check import check
from tests.providers.recording import Recording, flagged, happened
from tests.providers.responses.making import REASONING, USER, call, output, said
from tests.providers.told import asked as run

WIRE = get_format("responses")
ASKED = [REASONING, call("a", '{"n":1}'), call("b", '{"n":2}')]


def completed(*items: Any) -> list[Any]:
    """Return the transcript, completed; it has nothing to refuse."""
    recording = Recording()
    run(recording, "responses", {"output": ASKED}, 1, 2)
    found = complete(recording.history, list(items), WIRE)
    assert check("responses", [item for item in found if isinstance(item, dict)]) == []
    return found


def says(item: Any) -> Any:
    """Return what an output says."""
    text = item["output"]
    return json.loads(text).get("data", json.loads(text).get("code")) if text.startswith("{") else text


def test_the_missing_outputs_come_behind_their_calls() -> None:
    """The host's own stay, in call order; the rest of the transcript is as it was."""
    found = completed(USER, *ASKED, output("b"), USER)
    assert [says(item) for item in found[4:6]] == [1, "seen"]
    assert found[6:] == [USER]
    assert [says(item) for item in completed(USER, *ASKED)[4:]] == [1, 2]


def test_an_output_that_came_too_late_is_moved() -> None:
    """Where another one is missing, those that stand further down move up to their calls."""
    found = completed(*ASKED, USER, output("b"), said("Hm."))
    assert [item.get("call_id") for item in found] == [None, "a", "b", "a", "b", None, None]


def test_a_stray_output_stays_where_it_is() -> None:
    """An output of no call in sight is the host's affair."""
    recording = Recording()
    found = complete(recording.history, [call("a"), output("z"), USER], WIRE)
    assert [item.get("call_id") for item in found] == ["a", "a", "z", None]


def test_what_lacks_nothing_stays_object_for_object() -> None:
    """Whole turns are left alone, between broken ones too."""
    items = [*ASKED, output("a"), output("b"), USER, call("c"), output("c")]
    assert all(one is other for one, other in zip(completed(*items), items, strict=True))
    found = completed(call("x"), USER, *items, call("z"))
    assert found[3] is items[0]
    assert next(says(item) for item in found if str(item.get("type")).endswith("_output")) == "not_recorded"


def test_a_call_without_an_id_gets_one_with_its_output() -> None:
    """The host's item is not changed."""
    sent = {"type": "function_call", "name": "own", "arguments": "{}"}
    found = completed(sent, SimpleNamespace(model_dump=lambda: USER))
    assert found[0]["call_id"] == found[1]["call_id"]
    assert "call_id" not in sent


def test_a_later_end_is_told_once() -> None:
    """What ended after the transcript was answered comes as a note, unless it stands there."""
    recording = Recording()
    (sent,) = recording.turn(WIRE.parse([call("a")]))
    recording.run(sent, flagged())
    recording.turn(WIRE.parse([said("I wait.")]))
    recording.add(happened({"id": 7}), sent)
    transcript = [call("a"), output("a", "under review"), said("I wait.")]
    found = complete(recording.history, transcript, WIRE)
    assert '"data":{"id":7}' in found[-1]["content"]
    assert complete(recording.history, found, WIRE) == found
    answered = complete(recording.history, [call("a"), said("I wait.")], WIRE)
    assert len(answered) == 3
    assert complete(recording.history, answered, WIRE) == answered
