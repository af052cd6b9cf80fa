"""A misspelt option is refused by its name: nothing is opened, registered or recorded with a setting that is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ledger import Ledger
from ledger.errors import CatalogFault, UsageError
from tests.session.agents import asked, opened


def test_a_ledger_is_not_opened_with_an_option_that_there_is_not(tmp_path: Path) -> None:
    """The refusal names it and those that there are, before a file is made."""
    with pytest.raises(UsageError, match=r"unknown options: lease_second, wrkers\. A ledger has .*lease_seconds.*"):
        opened(tmp_path, wrkers=3, lease_second=5)
    assert list(tmp_path.iterdir()) == []


def test_a_session_is_not_opened_with_an_option_that_there_is_not(tmp_path: Path) -> None:
    """The refusal names it and those that there are; the session does not exist then."""
    with opened(tmp_path) as ledger:
        for options in ({"tennant": "acme"}, {"label": {"a": "b"}}, {"wait_seconds": 1}):
            with pytest.raises(
                UsageError, match=rf"unknown options: {next(iter(options))}\. A session has .*principal"
            ):
                ledger.session("s", **options)
        assert ledger.reader.head("s") is None
        with ledger.session("s", tenant="acme") as session:
            session.dispatch(asked(text="Hi."))
            with pytest.raises(UsageError, match="unknown options: tennant"):  # the open one too
                ledger.session("s", tennant="acme")


@pytest.mark.parametrize(("option", "meant"), [("efect", 'did you mean "effect"'), ("colour", "unknown word")])
def test_a_tool_is_not_registered_with_an_option_that_there_is_not(option: str, meant: str) -> None:
    """The refusal names it, the function and the word that was meant; the tool is not there."""

    def pay(amount: int) -> int:
        """Pay."""
        return amount

    with Ledger.open("memory://") as ledger:
        with pytest.raises(CatalogFault, match=meant) as fault:
            ledger.tool("pay", **{option: "read"})(pay)
        assert f'unknown word "{option}"' in str(fault.value)
        assert "pay" in str(fault.value)
        assert ledger.registry.get("pay") is None


def test_a_quarantined_tool_is_not_registered_without_its_contract(tmp_path: Path) -> None:
    """Its type hints would make another tool of it, external and without limits; the fault of its file is raised."""
    home = tmp_path / "tools" / "pay"
    home.mkdir(parents=True)
    (home / "tool.json").write_text(
        json.dumps({"name": "pay", "description": "Pay.", "current": 1, "versions": {"1": {"contract": {}}}})
    )
    (home / "v1.json").write_text('{"type": "objct"}')

    def pay(amount: int) -> int:
        """Pay."""
        return amount

    with Ledger.open("memory://", catalog=tmp_path / "tools") as ledger:
        with pytest.raises(CatalogFault) as refused:
            ledger.tool(pay)
        assert (refused.value.path, refused.value.pointer) == (str(home / "v1.json"), "/type")
        assert ledger.registry.get("pay") is None
        ledger.tool("refund")(pay)  # the others work
