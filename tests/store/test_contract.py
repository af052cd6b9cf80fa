"""The contract as its users meet it."""

from __future__ import annotations

import pytest

from ledger.testing.contract import StoreContract


def test_a_back_end_must_be_named() -> None:
    """A subclass says how its store is made."""
    with pytest.raises(TypeError, match="make_store"):
        StoreContract()  # type: ignore[abstract]  # that is the fact


def test_every_part_of_the_contract_is_run() -> None:
    """The class that users inherit holds each test of each part, none of them hidden by another."""
    parts = [part for part in StoreContract.__mro__ if part.__module__.startswith("ledger.")]
    names = [name for part in parts for name in vars(part) if name.startswith("test_")]
    assert len(names) == len(set(names))
    assert len(names) > 80
