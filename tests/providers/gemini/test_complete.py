"""A host's own Gemini transcript, completed from the ledger."""

from __future__ import annotations

from typing import Any

from ledger.providers import complete, get_format
from ledger.providers.check import check
from tests.providers.gemini.making import USER, asked, call, response, said, text
from tests.providers.recording import Recording
from tests.providers.told import asked as run

WIRE = get_format("gemini")
ASKED = said(call("f", {"n": 1}), call("g"), call("f", {"n": 2}))


def completed(*messages: Any) -> list[Any]:
    """Return the transcript, completed; it has nothing to refuse."""
    recording = Recording()
    run(recording, "gemini", ASKED, 1, 2, 3)
    found = complete(recording.history, list(messages), WIRE)
    assert check("gemini", found) == []
    return found


def datas(content: Any) -> list[Any]:
    """Return what the responses in a content say."""
    found = [part["functionResponse"]["response"] for part in content["parts"] if "functionResponse" in part]
    return [each["output"]["data"] if isinstance(each.get("output"), dict) else each["output"] for each in found]


def test_the_missing_responses_come_in_order() -> None:
    """The host's own stay, matched by name and order; the missing ones get their places between them."""
    found = completed(USER, ASKED, asked(text("And?"), response("g"), response("f")))
    assert datas(found[2]) == ["seen", "seen", 3]
    assert found[2]["parts"][-1] == text("And?")
    assert datas(completed(USER, ASKED)[2]) == [1, 2, 3]


def test_responses_out_of_order_are_put_right() -> None:
    """Gemini matches by place: another order is no whole answer."""
    found = completed(USER, ASKED, asked(response("g"), response("f"), response("f")))
    assert [part["functionResponse"]["name"] for part in found[2]["parts"]] == ["f", "g", "f"]


def test_what_lacks_nothing_stays_object_for_object() -> None:
    """A whole answer, with or without ids, is not touched; neither are contents of other roles."""
    messages = [USER, ASKED, asked(response("f"), response("g"), response("f")), said(text("Done.")), USER]
    assert all(one is other for one, other in zip(completed(*messages), messages, strict=True))
    named = [USER, said(call("f", given_id="a")), asked(response("f", given_id="a"))]
    assert completed(*named) == named


def test_what_the_ledger_does_not_know_is_an_error_that_says_so() -> None:
    """A call from elsewhere is answered as not recorded, under `error`, with the id it came with."""
    found = completed(USER, said(call("own", given_id="x")))
    body = found[2]["parts"][0]["functionResponse"]
    assert body["response"]["error"]["code"] == "not_recorded"
    assert body["id"] == "x"
