"""The package's own names, which are imported when they are first asked for."""

from __future__ import annotations

import ledger
from ledger.version import VERSION


def test_every_public_name_is_there() -> None:
    """`dir` lists what `__all__` does, the version among it, and each can be had."""
    assert dir(ledger) == sorted(ledger.__all__)
    assert all(hasattr(ledger, name) for name in dir(ledger))
    assert ledger.__version__ == VERSION


def test_another_name_is_none() -> None:
    """What is not public is no attribute."""
    assert not hasattr(ledger, "nothing_of_the_kind")
