"""The noun `replay`: a session as it was; nothing is executed and nothing written."""

from __future__ import annotations

from typing import Final

import click

from ledger.cli.faults import FAILED
from ledger.cli.frame import Noun
from ledger.cli.shell import Shell, format_option

WIRES: Final = ("anthropic", "bedrock", "gemini", "mistral", "openai", "responses")
"""The providers' formats, by heart: help has no need of their parsers. A test compares them with those there are."""


@click.group(cls=Noun, default=None)
def command() -> None:
    """What was recorded, told again; nothing is executed."""


@command.command(
    "session",
    examples=[
        "ledger replay session support-1042",
        "ledger replay session support-1042 --at 17 --format openai",
        "ledger replay session support-1042 --diff support-1043",
        "ledger replay session support-1042 --as-version latest",
    ],
)
@click.argument("session")
@click.option("--at", type=click.IntRange(min=1), metavar="SEQ", help="As it was after this event (default: now).")
@click.option("--diff", "other", metavar="SESSION", help="What differs in this one; the exit status is 1 if anything.")
@click.option(
    "--as-version",
    type=click.Choice(["latest"]),
    help="Tell calls that ended in the newest form of their arguments, as far as it is proved to say the same.",
)
@format_option(*WIRES)
@click.pass_obj
def session(
    shell: Shell, /, session: str, at: int | None, other: str | None, as_version: str | None, format: str | None
) -> None:
    """Tell a session again: its events, or as one JSON document, or as the messages of a provider."""
    from ledger.cli.opening import reading
    from ledger.cli.replaying import Replay

    if shell.json and format is not None:
        raise click.UsageError("--json and --format exclude each other.", click.get_current_context())
    if other is not None and (at is not None or format in WIRES):
        raise click.UsageError("--diff compares whole sessions, as rows.", click.get_current_context())
    if other is not None and as_version is not None:
        raise click.UsageError("--diff and --as-version exclude each other.", click.get_current_context())
    with reading(shell) as reader:
        replay = Replay(shell, reader, session, at, shaped=as_version is not None)
        if other is None:
            replay.tell(format)
        elif not replay.equals(other, format):
            raise click.exceptions.Exit(FAILED)
