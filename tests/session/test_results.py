"""How the library's objects look in a log or at a prompt."""

from pathlib import Path

from ledger import Ledger
from tests.audit.world import opened, reply


def test_reprs_are_short(tmp_path: Path) -> None:
    """A ledger, a result and a turn's end say which they are and how they stand, and hold no data."""
    with opened(tmp_path) as ledger, ledger.session("s") as session:
        assert repr(ledger) == f"<Ledger sqlite:///{tmp_path}/ledger.db>"
        results = session.dispatch(reply(("find", {"q": "x" * 5000})))
        (call,) = results.calls
        assert repr(call) == f"<CallResult 'find' succeeded {call.call_id}>"
        assert repr(results) == f"<Results turn 1: {call!r}>"
        assert repr(session.dispatch(reply(text="Done."))) == "<Results turn 2: no calls>"


def test_a_ledgers_password_is_not_shown() -> None:
    """Its URL is told without it."""
    with Ledger.open("memory://ada:s3cr3t@host") as ledger:
        assert repr(ledger) == "<Ledger memory://ada:***@host>"
        assert "s3cr3t" not in repr(ledger) + ledger.url + repr(ledger._wiring)
