"""The contract as its users meet it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledger.ids import Clock
from ledger.testing.contract import StoreContract


def test_a_back_end_must_be_named(tmp_path: Path) -> None:
    """A subclass says how its store is made."""
    with pytest.raises(NotImplementedError):
        StoreContract().make_store(tmp_path, Clock())


def test_every_part_of_the_contract_is_run() -> None:
    """The class that users inherit holds each test of each part, none of them hidden by another."""
    parts = StoreContract.__mro__[1:-2]
    names = [name for part in parts for name in vars(part) if name.startswith("test_")]
    assert len(names) == len(set(names))
    assert len(names) > 80
