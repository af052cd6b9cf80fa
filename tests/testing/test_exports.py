"""What a provider would refuse of an export, said before it is sent."""

from __future__ import annotations

from typing import Any

import pytest

from ledger import Ledger
from ledger.testing import assert_valid_export, check_export
from tests.session.agents import asked

DANGLING = [{"role": "user", "content": "Go."}, asked(("look", {}))]


def test_a_session_exports_what_every_provider_takes() -> None:
    """All formats that have a check, without naming them."""
    with Ledger.open("memory://") as ledger:
        session = ledger.session("s")
        session.messages(start=DANGLING[:1])
        session.dispatch(DANGLING[1])
        assert_valid_export(session)
        assert_valid_export(session.history, "anthropic")


@pytest.mark.parametrize("exported", [DANGLING, {"messages": DANGLING}], ids=["messages", "body"])
def test_what_would_be_refused_is_named(exported: Any) -> None:
    """A call without an answer, in the messages or in a request's body."""
    assert [problem.code for problem in check_export(exported)] == ["unanswered"]
    with pytest.raises(AssertionError, match="would be refused:\nopenai: "):
        assert_valid_export(exported, "openai")
