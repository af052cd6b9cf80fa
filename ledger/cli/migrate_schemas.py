"""The command `migrate-schemas`: which recorded calls a newer catalog carries over, and which need a person."""

from __future__ import annotations

from typing import Any

import click

from ledger.cli.frame import Command
from ledger.cli.shell import Shell


@click.command(
    cls=Command,
    examples=[
        "ledger migrate-schemas",
        "ledger migrate-schemas --strict --catalog schemas/tools",
        "ledger migrate-schemas --tool send_email --apply",
        "ledger migrate-schemas --suggest",
        "ledger migrate-schemas --all --json",
    ],
)
@click.option("--tool", metavar="TOOL", help="Only calls of this tool.")
@click.option("--session", metavar="SESSION", help="Only calls of this session.")
@click.option("--to", type=click.IntRange(min=1), metavar="N", help="Another version than the catalog's current one.")
@click.option("--dry-run", is_flag=True, help="Only plan, as without --apply.")
@click.option("--apply", is_flag=True, help="Record the upcasts of open calls; finished calls stay facts.")
@click.option("--strict", is_flag=True, help="Exit with 1 if anyone is needed: a check before a deploy.")
@click.option("--suggest", is_flag=True, help="Guess the missing upcast files and print drafts; none is applied.")
@click.option("--all", "every", is_flag=True, help="Report on every recorded call, finished ones too.")
@click.pass_obj
def command(shell: Shell, /, **options: Any) -> None:
    """
    Carry recorded calls to the newer versions of their tools.

    Plans by default and changes nothing. Only proved pure-format steps are ever applied, each call certified by itself:
    valid before, valid after, and back exactly as it was. What changes its meaning is a person's.
    """
    contradictions = {
        "--apply and --dry-run exclude each other.": options["apply"] and options["dry_run"],
        "--suggest only plans: leave --apply out.": options["apply"] and options["suggest"],
        "--apply carries open calls only: leave --all out.": options["apply"] and options["every"],
        "--to is for one tool: name it with --tool.": options["to"] is not None and options["tool"] is None,
    }
    for message, applies in contradictions.items():
        if applies:
            raise click.UsageError(message, click.get_current_context())
    from ledger.cli.migrating import Wanted, run

    del options["dry_run"]
    status = run(shell, Wanted(**options))
    if status:
        raise click.exceptions.Exit(status)
