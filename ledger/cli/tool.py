"""The noun `tool`: what the tools are, by the catalog's files and by what the ledger recorded of them."""

from __future__ import annotations

from typing import Final

import click

from ledger.cli.faults import FAILED
from ledger.cli.frame import Noun
from ledger.cli.output import Format
from ledger.cli.shell import Shell, format_option
from ledger.cli.table import Column

COLUMNS: Final = (
    Column(key="tool", keep="all"),
    Column(key="current", title="V", show=lambda number: "-" if number is None else f"v{number}", keep="all"),
    Column(key="stage", keep="all", tone=lambda stage: None if stage == "active" else "warn"),
    Column(key="effect", keep="all"),
    Column(key="known", title="KNOWN BY", show=" and ".join, keep="all"),
    Column(key="description"),
)


@click.group(cls=Noun)
def command() -> None:
    """Tools: their versions, what their authors promise, their stages."""


@command.command("list", examples=["ledger tool", "ledger tool list --catalog schemas/tools --json"])
@format_option()
@click.pass_obj
def list_(shell: Shell, format: Format | None) -> None:
    """List the tools of the catalog and those that only the ledger knows."""
    from ledger.cli.tools import known_tools, tool_row

    tools, faults = known_tools(shell)
    shell.out.rows(map(tool_row, tools), COLUMNS, format=format, empty="No tool is known.")
    for fault in faults:
        place = f"{fault.path}#{fault.pointer}" if fault.pointer else fault.path
        shell.out.warn(f"{fault.tool} is quarantined: {place}: {fault.message}")


@command.command("show", examples=["ledger tool show send_email", "ledger tool show send_email --version 2"])
@click.argument("tool")
@click.option("--version", type=int, metavar="N", help="Another version than the current one.")
@click.pass_obj
def show(shell: Shell, tool: str, version: int | None) -> None:
    """Show one tool: what the model reads, its schema, its contract, its versions."""
    from ledger.cli.tools import tool_lines, tool_story

    story = tool_story(shell, tool, version)
    shell.out.show(story, tool_lines(story))


@command.command("diff", examples=["ledger tool diff send_email 1 2", "ledger tool diff old.json new.json --json"])
@click.argument("what", nargs=-1, metavar="TOOL A B | OLD.json NEW.json")
@click.pass_obj
def diff(shell: Shell, what: tuple[str, ...]) -> None:
    """Compare two versions of a tool, or two files: what changes for calls that were recorded under the old one."""
    from ledger.cli import differing

    match what:
        case name, old, new:
            found = differing.versions(shell, name, old, new)
        case old, new:
            found = differing.files(shell, old, new)
        case _:
            raise click.UsageError("Give a tool and two of its versions, or two files.", click.get_current_context())
    differing.told(shell, found)
    if status := differing.status(found):
        raise click.exceptions.Exit(status)


@command.command("check", examples=["ledger tool check", "ledger tool check --strict --json"])
@click.option("--strict", is_flag=True, help="Warnings count as findings: exit 1 for them too.")
@click.pass_obj
def check(shell: Shell, *, strict: bool) -> None:
    """Check the catalog: its files, its examples, what was published, and how well a model can read it."""
    from ledger.cli.upkeep import checked, report_lines

    _, report = checked(shell)
    shell.out.show(report.to_wire(), report_lines(report))
    if report.findings or (strict and report.warnings):
        raise click.exceptions.Exit(FAILED)


@command.command("lock", examples=["ledger tool lock", "ledger tool lock --dry-run"])
@click.option("--dry-run", is_flag=True, help="Show what would be added, and write nothing.")
@click.pass_obj
def lock(shell: Shell, *, dry_run: bool) -> None:
    """Publish all versions up to the current ones: their digests are written to catalog.lock.json, once and for all."""
    from ledger.cli.upkeep import checked, lock_lines, locked

    sources, report = checked(shell)
    data = locked(sources, report, write=not dry_run)
    shell.out.show(data, lock_lines(data, report.findings))
    if report.findings:
        raise click.exceptions.Exit(FAILED)
