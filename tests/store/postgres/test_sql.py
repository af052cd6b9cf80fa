"""The statements fit the declared tables."""

from __future__ import annotations

import pytest

from ledger.store import columns, tables
from ledger.store.chains import COLUMNS
from ledger.store.postgres import door


def test_columns_are_those_of_the_tables() -> None:
    """Nothing is left out, and the order is the declared one."""
    assert ("position", *columns.EVENT_COLUMNS) == tuple(tables.EventRow.__table__.columns.keys())  # type: ignore[attr-defined]  # SQLModel's own
    assert (*COLUMNS, "record", "digest") == columns.EVENT_COLUMNS
    names = set(tables.CallTableRow.__table__.columns.keys())  # type: ignore[attr-defined]  # SQLModel's own
    assert {"position", *columns.CALL_COLUMNS} == names


@pytest.mark.parametrize("count", [0, 1, 2, 3, 63, 64, 65, 1000])
def test_many_rows_go_in_few_kinds_of_statements(count: int) -> None:
    """Powers of two, the largest first, make up any number."""
    parts = list(door.parts(count))
    assert sum(parts) == count
    assert parts == sorted(parts, reverse=True)
    assert all(part & (part - 1) == 0 and part <= door.MOST_ROWS for part in parts)
