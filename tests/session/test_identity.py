"""Which recorded turn a reply is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ledger import Ledger
from tests.session.agents import asked, opened
from tests.session.test_dispatch import reader


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    """Return a ledger on a file of its own."""
    with opened(tmp_path) as found:
        yield found


def completion(message: dict[str, Any], response_id: str) -> dict[str, Any]:
    """Return a completion around a message."""
    return {"id": response_id, "choices": [{"message": message, "finish_reason": "stop"}]}


def test_an_empty_response_id_is_not_the_same_one_again(ledger: Ledger) -> None:
    """A server that gives none asks twice, and is answered twice."""
    seen = reader(ledger)
    session = ledger.session("s")
    poll = asked(("look", {"number": 1}))
    assert [session.dispatch(completion(poll, "")).turn for _ in range(2)] == [1, 2]
    assert seen == [1, 1]
