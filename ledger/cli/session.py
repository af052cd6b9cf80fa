"""The noun `session`: runs of agents, open and closed."""

from __future__ import annotations

from typing import Any, Final

import click

from ledger.cli.frame import Noun
from ledger.cli.looks import at
from ledger.cli.output import Format
from ledger.cli.shell import Shell, format_option
from ledger.cli.table import Column

REASONS: Final = ("final_answer", "max_turns", "deadline", "budget", "aborted", "error")
COLUMNS: Final = (
    Column(key="sessionId", title="SESSION", keep="start"),
    Column(key="state", keep="all", tone=lambda state: "warn" if state == "waiting" else None),
    Column(key="closed", title="END", leave=2),
    at("openedAt", "OPENED (UTC)"),
    at("lastAt", "LAST (UTC)"),
    Column(key="events", keep="all", leave=1),
    Column(key="calls", keep="all"),
    Column(key="open", keep="all"),
    Column(key="waiting", keep="all", tone=lambda count: "warn" if count else None),
)


@click.group(cls=Noun)
def command() -> None:
    """Runs of agents, open and closed."""


@command.command("list", examples=["ledger session", "ledger session list --limit 20 --json"])
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most so many rows (default: all).")
@click.option("--after", default="", metavar="ID", help="Only sessions behind this id.")
@format_option()
@click.pass_obj
def list_(shell: Shell, limit: int | None, after: str, format: Format | None) -> None:
    """List the sessions by id."""
    from ledger.cli.opening import reading
    from ledger.cli.paging import Page
    from ledger.cli.sessions import session_rows

    with reading(shell) as reader:
        page = Page(session_rows(reader, after=after), limit, key="sessionId")
        shell.out.rows(page, COLUMNS, format=format, next=page.cursor, empty="No session is recorded.")


@command.command("show", examples=["ledger session show support-1042"])
@click.argument("session")
@click.pass_obj
def show(shell: Shell, session: str) -> None:
    """Show one session: who runs it, what it did, what is open."""
    from ledger.cli.opening import reading
    from ledger.cli.sessions import session_lines, session_story

    with reading(shell) as reader:
        story = session_story(reader, session)
    shell.out.show(story, session_lines(story))


@command.command("close", examples=["ledger session close support-1042 --reason aborted --message 'started anew'"])
@click.argument("session")
@click.option(
    "--reason", type=click.Choice(REASONS), help="Why (default: final_answer behind an answer, else aborted)."
)
@click.option("--message", metavar="TEXT", help="More about it.")
@click.option("--wait", type=click.FloatRange(min=0), default=0.0, metavar="SECONDS", help="Wait for another owner.")
@click.pass_obj
def close(shell: Shell, /, session: str, **how: Any) -> None:
    """
    Close a session: nothing of it runs any more.

    A write without an outcome goes to a person, what waits for one goes on waiting, the rest ends as cancelled.
    """
    from ledger.cli.answering import answering
    from ledger.cli.sessions import closed

    with answering(shell) as ledger:
        row, words = closed(ledger, session, **how)
    shell.out.show(row, words)
