"""The noun `db`: the database as a whole."""

from __future__ import annotations

import click

from ledger.cli.commands import copyable
from ledger.cli.frame import Noun
from ledger.cli.masking import mask_url
from ledger.cli.shell import Shell


@click.group(cls=Noun, default="path")
def command() -> None:
    """The database as a whole: where it is, its tables, its health."""


@command.command("path", examples=["ledger db path"])
@click.pass_obj
def path(shell: Shell) -> None:
    """Print where the ledger's file is, or would be."""
    from ledger.store.maintenance import locate

    found = locate(shell.db)
    there = found.is_file()
    size = found.stat().st_size if there else None
    data = {"url": mask_url(shell.db), "path": str(found), "exists": there, "size": size}
    shell.out.show(data, [str(found)])
    if not there:
        shell.out.note("There is no ledger yet.")


@command.command("current", examples=["ledger db current"])
@click.pass_obj
def current(shell: Shell) -> None:
    """Say which revision the tables have, and which one this release works on."""
    from ledger.store.maintenance import current as tables_of

    found = tables_of(shell.db)
    words = {
        "current": "They are those of this release.",
        "older": f"They are older than this release: run `{copyable(shell, 'db', 'upgrade')}`.",
        "newer": "They were made by a newer release.",
    }
    data = {"path": str(found.path), "revision": found.revision, "head": found.head, "state": found.state}
    shell.out.show(data, [f"The tables of {found.path} have revision {found.revision}.", words[found.state]])


@command.command("upgrade", examples=["ledger db upgrade", "ledger db upgrade --db sqlite:///new.db"])
@click.pass_obj
def upgrade(shell: Shell) -> None:
    """Make the ledger's tables, or bring them up to this release. Events are never touched."""
    from ledger.store.maintenance import upgrade as brought

    found = brought(shell.db)
    line = f"{found.path} is current: revision {found.after}."
    if found.before is None:
        line = f"Made {found.path}, revision {found.after}."
    elif found.before != found.after:
        line = f"Upgraded {found.path} from revision {found.before} to {found.after}."
    shell.out.show({"path": str(found.path), "before": found.before, "after": found.after}, [line])


@command.command("check", examples=["ledger db check", "ledger db check --rebuild"])
@click.option("--rebuild", is_flag=True, help="Write the table of calls again where it differs from the events.")
@click.pass_obj
def check(shell: Shell, *, rebuild: bool) -> None:
    """
    Check that nothing recorded was damaged, changed, or lost.

    Exits with 4 where the file or a chain of digests is broken, with 1 for any other finding, repaired or not.
    """
    from ledger.cli.checking import checked, health_lines

    data, status = checked(shell, rebuild=rebuild)
    shell.out.show(data, health_lines(data, copyable(shell, "db", "check", "--rebuild")))
    raise click.exceptions.Exit(status)


@command.command("backup", examples=["ledger db backup copy.db", "ledger db backup copy.db --json"])
@click.argument("file")
@click.pass_obj
def backup(shell: Shell, *, file: str) -> None:
    """
    Copy the ledger into a new FILE while it is being written, and check the copy.

    Nothing is ever overwritten. Exits with 4 where the copy is damaged, as the ledger is then, with 1 for what else
    `db check` would find.
    """
    from ledger.cli.backups import backed_up

    data, lines, status = backed_up(shell.db, file)
    shell.out.show(data, lines)
    raise click.exceptions.Exit(status)
