"""The arguments that would run."""

from pathlib import Path
from typing import Any

import pytest

from ledger import Ask, Ledger
from ledger.audit.torun import to_run
from ledger.events import ToolVersionPublished, encode
from ledger.store.port import Append
from tests.audit.odd import of_call
from tests.audit.world import opened, reply


@pytest.fixture
def asking(tmp_path: Path) -> Any:
    """A ledger in which calls wait whose arguments get defaults filled in."""
    with opened(tmp_path) as ledger:

        @ledger.tool("count", effect="external", apply_defaults=True)
        def count(of: str, upto: int = 10) -> int:
            """Count."""
            return upto

        assert count("x") == 10
        ledger.authorize(lambda call, principal: Ask())
        with ledger.session("s") as session:
            session.dispatch(reply(("count", {"of": "x"}), ("count", {"of": "x", "upto": 3})))
        yield ledger


def test_a_person_sees_what_would_run(asking: Ledger) -> None:
    """The defaults are part of what is approved: they are filled in by the recorded schema."""
    assert [row["arguments"] for row in asking.reviews()] == [{"of": "x", "upto": 10}, {"of": "x", "upto": 3}]


def test_what_ran_is_recorded(asking: Ledger) -> None:
    """Behind the start nothing is worked out any more."""
    first = next(iter(asking.reviews()))["callId"]
    asking.approve(first)
    asking.resume("s")
    assert to_run(asking.reader, asking.find(first)) == {"of": "x", "upto": 10}


def test_nothing_is_guessed(asking: Ledger) -> None:
    """Where the digest is that of something else, or the schema is not known, the intent is shown as it is."""
    call = asking.find(next(iter(asking.reviews()))["callId"])
    for other in (
        call.changed(arguments_digest="f" * 64),
        call.changed(tool="nobody knows"),
        call.changed(schema_version=None),
        call.changed(arguments_digest=None),
    ):
        assert to_run(asking.reader, other) == {"of": "x"}
    assert to_run(asking.reader, call.changed(arguments=None)) is None


def test_a_schema_that_is_none_fills_in_nothing(asking: Ledger) -> None:
    """A row that nobody of ours wrote keeps no question from being shown."""
    call = asking.find(next(iter(asking.reviews()))["callId"])
    body = ToolVersionPublished(
        schema={"properties": {"of": {"$ref": "#/nowhere"}}}, contract={}, description="", description_digest=""
    )
    place = call.changed(session_id="_catalog", call_id=None, schema_version=2)
    asking._wiring.store.append(Append(session_id="_catalog", drafts=(encode(of_call(place, body, event_id="odd")),)))
    assert to_run(asking.reader, call.changed(schema_version=2)) == {"of": "x"}
