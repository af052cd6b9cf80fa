"""The command `resume`: what a crash left open is decided, and what may run runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from ledger.cli.frame import Command
from ledger.cli.seconds import SECONDS
from ledger.cli.shell import Shell


@click.command(
    cls=Command,
    examples=[
        "ledger resume support-1042",
        "ledger resume support-1042 --app app:ledger",
        "ledger resume --all --dry-run",
        "ledger resume --all --follow --app app:ledger",
    ],
)
@click.argument("session", required=False)
@click.option("--all", "every", is_flag=True, help="Every session that has open calls.")
@click.option(
    "--app", metavar="MODULE:LEDGER", help="The program's own code, so that calls can run; it names the ledger."
)
@click.option("--follow", is_flag=True, help="Go on: run what people approve, until SIGTERM or Ctrl-C.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("--wait", type=SECONDS, default=0.0, metavar="SECONDS", help="Wait for another owner.")
@click.option(
    "--grace",
    type=SECONDS,
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long started calls may take to end after SIGTERM or Ctrl-C.",
)
@click.pass_obj
def command(shell: Shell, /, **options: Any) -> None:
    """
    Decide what becomes of the calls that a crash left open.

    Without --app it flags what a person must look at and names what needs the program's code. Exits with 3 if something
    waits for a person, or for code that this process lacks. SIGTERM or Ctrl-C lets started calls end within
    --grace seconds and starts no others; a second one leaves at once. That is how --follow ends: with 0, while without
    it the status is 143 or 130.
    """
    _check(shell, options)
    from ledger.cli.resuming import Wanted, resume

    raise click.exceptions.Exit(resume(shell, Wanted(**options)))


def _check(shell: Shell, options: Mapping[str, Any]) -> None:
    """Raise UsageError where the options contradict each other."""
    one, code, on = options["session"] is not None, options["app"] is not None, options["follow"]
    bad = {
        "Name a session, or give --all.": not (one or options["every"] or on),
        "--follow goes on with all sessions: give --all instead of a session.": one and on and not options["every"],
        "Name a session or give --all, not both.": one and options["every"],
        "--follow needs --app MODULE:LEDGER: without code there is nothing to go on with.": on and not code,
        "--follow and --dry-run exclude each other.": on and options["dry_run"],
        "--wait is for one session.": options["wait"] > 0 and not one,
        "--app brings its own catalog: leave --catalog out.": code and "catalog" in shell.given,
    }
    for message, applies in bad.items():
        if applies:
            raise click.UsageError(message, click.get_current_context())
