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
    """Print where the ledger's file is, or would be; of a server its URL."""
    from ledger.store.maintenance import is_server, locate

    if is_server(shell.db):
        url = mask_url(shell.db)
        shell.out.show({"url": url, "path": None, "exists": None, "size": None}, [url])
        return
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


@command.command("check", examples=["ledger db check", "ledger db check --rebuild", "ledger db check --ready"])
@click.option("--rebuild", is_flag=True, help="Write the table of calls again where it differs from the events.")
@click.option("--ready", is_flag=True, help="Only ask whether a host's work can begin: for probes, quick.")
@click.pass_obj
def check(shell: Shell, *, rebuild: bool, ready: bool) -> None:
    """
    Check that nothing recorded was damaged, changed, or lost.

    Every recorded upcast is held to its file again, where the catalog at hand has it, and to its digests where not.
    Exits with 4 where the file or a chain of digests is broken, with 1 for any other finding, repaired or not. With
    --ready it looks at nothing that is recorded: it exits with 0 where the ledger can be reached, its tables are those
    that this release works on, and this user may write it as a host does.
    """
    if ready:
        from ledger.store.maintenance import ready as revision_of

        revision = revision_of(shell.db)
        shell.out.show({"ready": True, "revision": revision}, [f"Ready: tables {revision}."])
        return
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

    It is for a file: a ledger on PostgreSQL is backed up with pg_dump. Nothing is ever overwritten. Exits with 4
    where the copy is damaged, as the ledger is then, with 1 for what else `db check` would find.
    """
    from ledger.cli.backups import backed_up

    data, lines, status = backed_up(shell.db, file)
    shell.out.show(data, lines)
    raise click.exceptions.Exit(status)


@command.command("roles", examples=["ledger db roles", "ledger db roles --prefix agents --schema ledger"])
@click.option("--prefix", default="ledger", show_default=True, metavar="NAME", help="What the roles' names begin with.")
@click.option(
    "--schema",
    metavar="NAME",
    help="The schema of the tables (default: the one that the ledger's URL names, or public).",
)
@click.pass_obj
def roles(shell: Shell, *, prefix: str, schema: str | None) -> None:
    """
    Print the SQL for the roles of a ledger on PostgreSQL: app, reviewer, reader.

    None of them can change or remove an event. An administrator runs it, after `db upgrade`, which makes the tables:
    `ledger db roles | psql -v ON_ERROR_STOP=1 URL`. It may be run again.
    """
    from ledger.store.roles import roles as written
    from ledger.store.roles import schema_of

    lines = written(prefix, schema=schema or schema_of(shell.db))
    shell.out.show({"sql": "\n".join(lines)}, lines)
