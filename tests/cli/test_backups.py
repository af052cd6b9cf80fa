"""`ledger db backup`: the copy, as the command line tells it."""

from pathlib import Path

from ledger.store.maintenance import check
from tests.cli.running import data, failure, ledger
from tests.cli.test_db import tampered


def test_a_ledger_is_copied(world: Path) -> None:
    """The page says what was copied and that it is whole; programs get the counts."""
    result = ledger("db", "backup", "copy.db")
    assert result.exit_code == 0
    assert f"Copied {world}/ledger.db to {world}/copy.db: " in result.stdout
    assert "The copy is whole, and so is every chain of digests in it.\n" in result.stdout
    found = data("db", "backup", "other.db")
    health = check(f"{world}/other.db")
    assert (found["source"], found["path"]) == (f"{world}/ledger.db", f"{world}/other.db")
    assert (found["sound"], found["found"], found["size"]) == (True, [], health.size)
    assert (found["sessions"], found["events"]) == (health.chains.sessions, health.chains.events)
    assert failure("db", "backup", "copy.db") == (
        2,
        "usage",
        f"{world}/copy.db is there already; a backup overwrites nothing",
    )


def test_a_damaged_ledger_is_copied_and_told(world: Path) -> None:
    """Damage ends with 4 and names the event, another finding with 1; the copy is there in both cases."""
    tampered(world, "DELETE FROM call WHERE rowid = 1")
    found = data("db", "backup", "less.db")
    assert (found["sound"], found["found"]) == (False, ["0 calls without a proposal, 1 proposal without a row"])
    assert ledger("db", "backup", "again.db").exit_code == 1
    tampered(world, "UPDATE event SET digest = x'00' WHERE session_id = 'done' AND sequence = 7")
    result = ledger("db", "backup", "bad.db")
    assert result.exit_code == 4
    assert "The copy is as it was read, but it is not sound" in result.stdout
    assert "  - done, event 7: the digest does not fit" in result.stdout
    assert check(f"{world}/bad.db").chains.bad == 1


def test_the_page_says_what_backs_up_a_server() -> None:
    """Who has a ledger on PostgreSQL reads there what copies it."""
    assert "a ledger on PostgreSQL is backed up with pg_dump" in " ".join(
        ledger("db", "backup", "--help").stdout.split()
    )
