"""SIGTERM and Ctrl-C."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.cli.draining import SIGNALS, draining
from ledger.cli.resuming import _until
from ledger.session.worker import Interrupted, Report
from tests.audit.world import opened


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_stops_what_has_not_started(
    tmp_path: Path, number: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    """The ledger is told to stop, whoever sleeps wakes up, and a person is told what a second signal does."""
    kept = signal.getsignal(number)
    with opened(tmp_path) as ledger, draining(ledger) as drain:
        assert (drain.signal, drain.wait(0)) == (None, False)
        os.kill(os.getpid(), number)
        assert drain.wait(60)
        assert drain.signal == number
        assert ledger._wiring.stopping
    assert signal.getsignal(number) is kept
    told = "Stopping: calls that have started may end within 30 s. Once more leaves at once.\n"
    assert capfd.readouterr().err == told


def test_the_second_signal_leaves_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever still runs is left behind, as a crash would leave it."""
    left: list[int] = []
    monkeypatch.setattr(os, "_exit", left.append)
    with opened(tmp_path) as ledger, draining(ledger) as drain:
        drain.asked(signal.SIGTERM, None)
        assert left == []
        drain.asked(signal.SIGTERM, None)
    assert left == [143]


def test_behind_a_signal_no_other_session_is_begun(tmp_path: Path) -> None:
    """A sweep ends with the session that it was working on."""
    begun = []

    def reports() -> Iterator[Report]:
        for name in ("a", "b"):
            begun.append(name)
            yield Report(name)

    with opened(tmp_path) as ledger, draining(ledger) as drain:
        for report in _until(drain, reports()):
            assert report.session_id == "a"
            os.kill(os.getpid(), signal.SIGTERM)
            assert drain.wait(60)
    assert begun == ["a"]


def test_a_session_that_was_cut_short_is_told_behind_a_signal(tmp_path: Path) -> None:
    """What the limit interrupts is the last report; an interruption that nobody asked for is one."""

    def interrupt(name: str) -> Report:
        raise Interrupted(Report(name)) if name else KeyboardInterrupt

    def reports(name: str = "a") -> Iterator[Report]:
        yield interrupt(name)

    with opened(tmp_path) as ledger, draining(ledger) as drain:
        with pytest.raises(KeyboardInterrupt):
            list(_until(drain, reports()))
        os.kill(os.getpid(), signal.SIGTERM)
        assert drain.wait(60)
        assert list(_until(drain, reports())) == [Report("a")]
        assert list(_until(drain, reports(""))) == []  # nothing was decided yet
