"""A call as a flat row."""

import dataclasses

import pytest

from ledger.calls import Call, CallRow, call_row
from tests.calls.stories import tell

DUPLICATE = ["flagged", {"reason": "duplicate", "duplicateOf": "c0"}]


def test_a_row_has_the_calls_own_values() -> None:
    """Each column that is named like a field of the call holds that field's value."""
    own = {field.name for field in dataclasses.fields(Call)} - {"model_can_repair"}
    call = Call().changed(**{name: f"<{name}>" for name in own - {"flag"}})
    row = call_row(call)._asdict()
    assert {name: value for name, value in row.items() if name in own and name != "idempotency_key"} == {
        name: f"<{name}>" for name in row if name in own and name != "idempotency_key"
    }
    assert set(row) - own == {"idx", "duplicate_of", "model_can_repair"}
    assert row["idx"] == "<index>"


def test_the_key_of_a_row_is_the_hosts_own() -> None:
    """The column that is unique in a tenant holds the host's key, not the one that the tool was given."""
    call = tell(["proposed", {"idempotencyKey": "invoice-7"}], "validated", "authorized", "started")
    assert call_row(call).idempotency_key == "invoice-7"
    assert call.idempotency_key == "k"


def test_no_tenant_is_the_empty_text() -> None:
    """Null is never equal to null in a unique index: a call without a tenant has the empty one."""
    assert call_row(Call()).tenant == ""
    assert call_row(Call(tenant="acme")).tenant == "acme"


@pytest.mark.parametrize(("story", "original"), [(("proposed", DUPLICATE), "c0"), (("proposed",), None)])
def test_a_copy_names_its_original(story: tuple[str], original: str | None) -> None:
    """The row of a duplicate names the call that it copies."""
    assert call_row(tell(*story)).duplicate_of == original


def test_a_row_is_plain_values() -> None:
    """A row of a call that was told to the end holds only what a database column can."""
    row = call_row(tell("proposed", "validated", "authorized", "started", "succeeded"))
    assert isinstance(row, CallRow)
    assert {type(value) for value in row} <= {str, int, float, type(None)}
    assert (row.state, row.attempt, row.sequence) == ("succeeded", 1, 5)
