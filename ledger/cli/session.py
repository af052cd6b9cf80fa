"""The noun `session`: runs of agents, open and closed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import click

from ledger.cli.faults import FAILED
from ledger.cli.frame import Noun
from ledger.cli.looks import SESSION, at
from ledger.cli.output import Format
from ledger.cli.seconds import SECONDS
from ledger.cli.shell import Shell, format_option
from ledger.cli.table import Column

READABLE: Final = ("auto", "openai", "responses", "anthropic", "bedrock", "gemini", "claude-code", "ledger")
WIRES: Final = ("anthropic", "bedrock", "gemini", "mistral", "openai", "responses")
REASONS: Final = ("final_answer", "max_turns", "deadline", "budget", "aborted", "error")
COLUMNS: Final = (
    replace(SESSION, apart=6),
    Column(key="state", keep="all", tone=lambda state: "warn" if state == "waiting" else None),
    Column(key="closed", title="END", leave=2),
    replace(at("openedAt", "OPENED (UTC)"), leave=3),
    replace(at("lastAt", "LAST (UTC)"), leave=5),
    Column(key="events", keep="all", leave=1),
    Column(key="calls", keep="all", leave=4),
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
@click.option("--wait", type=SECONDS, default=0.0, metavar="SECONDS", help="Wait for another owner.")
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


@command.command(
    "import",
    examples=[
        "ledger session import transcript.jsonl",
        "ledger session import sessions.jsonl.gz --format openai --json",
        "ledger session import chat.json --session support-1042 --tenant acme",
    ],
)
@click.argument("file")
@click.option(
    "--format", type=click.Choice(READABLE), default="auto", help="What the file is in (default: auto, by its begin)."
)
@click.option("--session", "session_id", metavar="ID", help="The session's id, instead of that of the file.")
@click.option("--principal", metavar="WHO", help="For whom the agent worked.")
@click.option("--tenant", metavar="TENANT", help="Whose session it is.")
@click.option(
    "--skip-bad", is_flag=True, help="Records that cannot be read are no failure; they are named all the same."
)
@click.pass_obj
def import_(shell: Shell, /, file: str, format: str, session_id: str | None, skip_bad: bool, **about: Any) -> None:  # noqa: FBT001 - click's
    """
    Import a transcript (- reads from a pipe), made by any program; a ledger is made where there is none.

    Importing it again adds nothing, a longer state of it adds what is new. What was recorded is never changed: a
    transcript that differs is refused. The status is 1 where anything could not be taken in.
    """
    from ledger.cli.transcripts import report_lines, report_row, source_of, take_in, warn_of
    from ledger.importing import Wanted

    wanted = Wanted(session_id=session_id, **about)
    report = take_in(shell, source_of(shell, file, format), wanted)
    shell.out.show(report_row(shell, report), report_lines(report))
    warn_of(shell, report)
    if report.refused or (report.problem_count and not skip_bad):
        raise click.exceptions.Exit(FAILED)


@command.command(
    "repair",
    examples=["ledger session repair broken.json", "ledger session repair broken.jsonl --to anthropic"],
)
@click.argument("file")
@click.option(
    "--format", type=click.Choice(READABLE), default="auto", help="What the file is in (default: auto, by its begin)."
)
@click.option("--to", type=click.Choice(WIRES), help="Whose request to print (default: that of the file).")
@click.option(
    "--skip-bad", is_flag=True, help="Records that cannot be read are no failure; they are named all the same."
)
@click.pass_obj
def repair(shell: Shell, file: str, format: str, to: str | None, skip_bad: bool) -> None:  # noqa: FBT001 - click's
    """
    Print a transcript that a provider refuses so that it takes it; nothing is kept (- reads from a pipe).

    Every call gets exactly one answer, at its place. Where there was none, the model reads that the outcome is unknown.
    """
    from ledger.cli.transcripts import Repair, source_of

    repair = Repair(shell, source_of(shell, file, format), to)
    repair.tell()
    if repair.faults or (repair.problems and not skip_bad):
        raise click.exceptions.Exit(FAILED)


@command.command(
    "export",
    examples=[
        "ledger session export support-1042 --format anthropic --check",
        "ledger session export support-1042 --format ledger",
    ],
)
@click.argument("session")
@click.option(
    "--format",
    type=click.Choice([*WIRES, "ledger"]),
    help="As a provider's request, or whole, to be imported again (default: its last provider's).",
)
@click.option("--check", is_flag=True, help="Print it only if the provider would take it, else say why not.")
@click.pass_obj
def export(shell: Shell, session: str, format: str | None, check: bool) -> None:  # noqa: FBT001 - click's
    """Print a session as the body of a request to a provider, or whole as the ledger's own export."""
    from ledger.cli.exporting import print_bundle, print_request
    from ledger.cli.opening import reading

    with reading(shell) as reader:
        if format == "ledger":
            print_bundle(shell, reader, session, checked=check)
        else:
            print_request(shell, reader, session, format, checked=check)
