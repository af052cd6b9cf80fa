"""The command `demo`: a scripted agent is killed in the middle of a write, resumed, reviewed, replayed."""

from __future__ import annotations

from pathlib import Path

import click

from ledger.cli.frame import Command
from ledger.cli.shell import Shell


@click.command(cls=Command, examples=["ledger demo", "ledger demo --folder story", "ledger demo --json"])
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Where it happens: a new or an empty folder (default: a new one among the temporary files).",
)
@click.pass_context
def command(context: click.Context, folder: Path | None) -> None:
    """
    See an agent killed in the middle of a write, and what follows.

    The model is a script; the tools, the files, the process, the signal and the ledger are real. It needs no network
    and leaves one folder, in which the commands that it shows can be tried. Exits with 1 if anything came out
    otherwise than it is told.
    """
    shell = context.ensure_object(Shell)
    for option in ("db", "catalog"):
        if option in shell.given:
            raise click.UsageError(f"The demo brings its own ledger: leave --{option} out.", context)
    from ledger.cli.acts import play

    root = context.find_root().command
    assert isinstance(root, click.Group)  # noqa: S101 - a command line with commands
    play(shell, root, folder)
