"""The statements fit the declared tables."""

from __future__ import annotations

import pytest

from ledger.store import tables
from ledger.store.chains import COLUMNS
from ledger.store.postgres import filters, sql
from ledger.store.sqlite import filters as file_filters


def test_columns_are_those_of_the_tables() -> None:
    """Nothing is left out, and the order is the declared one."""
    assert ("position", *sql.EVENT_COLUMNS) == tuple(tables.EventRow.__table__.columns.keys())  # type: ignore[attr-defined]  # SQLModel's own
    assert (*COLUMNS, "record", "digest") == sql.EVENT_COLUMNS
    names = set(tables.CallTableRow.__table__.columns.keys())  # type: ignore[attr-defined]  # SQLModel's own
    assert {"position", *sql.CALL_COLUMNS} == names


def test_partial_indexes_are_asked_for_in_their_own_words() -> None:
    """Both adapters say what the tables say."""
    for name in ("IS_OPEN", "IS_BAD_END", "IS_RARE"):
        assert getattr(filters, name) == getattr(tables, name) == getattr(file_filters, name)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 63, 64, 65, 1000])
def test_many_events_go_in_few_kinds_of_statements(count: int) -> None:
    """Powers of two, the largest first, make up any number."""
    parts = list(sql.parts(count))
    assert sum(parts) == count
    assert parts == sorted(parts, reverse=True)
    assert all(part & (part - 1) == 0 and part <= sql.MOST_ROWS for part in parts)
