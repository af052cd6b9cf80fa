"""The noun `tool`: what the tools are, by the catalog's files and by what the ledger recorded of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from ledger.cli.faults import FAILED
from ledger.cli.frame import Noun
from ledger.cli.looks import TOOL
from ledger.cli.output import Format
from ledger.cli.shell import Shell, format_option
from ledger.cli.table import Column

if TYPE_CHECKING:
    from ledger.events.words import Stage


def _both(known: list[str]) -> str:
    return "both" if len(known) > 1 else " ".join(known)


COLUMNS: Final = (
    TOOL,
    Column(key="current", title="V", show=lambda number: "-" if number is None else f"v{number}", keep="all"),
    Column(key="stage", keep="all", tone=lambda stage: None if stage == "active" else "warn"),
    Column(key="effect", keep="all", leave=3),
    Column(key="known", title="KNOWN BY", show=" and ".join, short=_both, keep="all", leave=1),
    Column(key="description", leave=2),
)


@click.group(cls=Noun)
def command() -> None:
    """Tools: their versions, what their authors promise, their stages."""


@command.command("list", examples=["ledger tool", "ledger tool list --catalog schemas/tools --json"])
@format_option()
@click.pass_obj
def list_(shell: Shell, format: Format | None) -> None:
    """List the tools of the catalog and those that only the ledger knows."""
    from ledger.cli.tools import known_tools, stage_of, tool_row

    tools, faults = known_tools(shell)
    rows = map(tool_row, tools)
    people = format in (None, "table") and not shell.json
    shown = ({**row, "stage": stage_of(row)} for row in rows) if people else rows
    shell.out.rows(shown, COLUMNS, format=format, empty="No tool is known.")
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


@command.command(
    "diff",
    examples=[
        "ledger tool diff send_email 1 2",
        "ledger tool diff send_email 1 2 --suggest --write",
        "ledger tool diff old.json new.json --json",
    ],
)
@click.argument("what", nargs=-1, metavar="TOOL A B | OLD.json NEW.json")
@click.option("--suggest", is_flag=True, help="Guess the upcast file between two versions and print the draft instead.")
@click.option("--write", is_flag=True, help="Write that draft into the catalog, which must not have the file.")
@click.pass_obj
def diff(shell: Shell, what: tuple[str, ...], *, suggest: bool, write: bool) -> None:
    """Compare two versions of a tool, or two files: what changes for calls that were recorded under the old one."""
    from ledger.cli import differing

    if write and not suggest:
        raise click.UsageError("--write writes what --suggest drafts: give both.", click.get_current_context())
    match what:
        case name, old, new if suggest:
            from ledger.cli import drafting

            guess = drafting.draft(shell, name, old, new, write=write)
            raise click.exceptions.Exit(drafting.told(shell, guess))
        case name, old, new:
            found, upcast = differing.versions(shell, name, old, new), differing.upcast(shell, name, old, new)
        case old, new if not suggest and not differing.names_version(old, new):
            found, upcast = differing.files(shell, old, new), None
        case _:
            said = differing.two_versions(shell, what[0] if what else None)
            raise click.UsageError(said, click.get_current_context())
    differing.told(shell, found, upcast)
    if status := differing.status(found):
        raise click.exceptions.Exit(status)


@command.command("check", examples=["ledger tool check", "ledger tool check --strict --json"])
@click.option("--strict", is_flag=True, help="Warnings count as findings: exit 1 for them too.")
@click.pass_obj
def check(shell: Shell, *, strict: bool) -> None:
    """Check the catalog: its files, its examples, what was published, and how well a model can read it."""
    from ledger.cli.upkeep import checked, report_lines

    _, report = checked(shell)
    shell.out.show(report.to_wire(), report_lines(shell, report))
    if report.findings or (strict and report.warnings):
        raise click.exceptions.Exit(FAILED)


@command.command("lock", examples=["ledger tool lock", "ledger tool lock --dry-run"])
@click.option("--dry-run", is_flag=True, help="Show what would be added, and write nothing.")
@click.pass_obj
def lock(shell: Shell, *, dry_run: bool) -> None:
    """
    Publish all versions up to the current ones: their digests are written to catalog.lock.json, once and for all.

    Nothing is published while a check finds something wrong, or an upcast wants a person's word: nobody signed it, say.
    """
    from ledger.cli.upkeep import checked, lock_lines, locked

    sources, report = checked(shell)
    data = locked(sources, report, write=not dry_run)
    shell.out.show(data, lock_lines(shell, data, report))
    if report.findings or report.incomplete:
        raise click.exceptions.Exit(FAILED)


@command.command(
    "new-version", examples=["ledger tool new-version send_email", "ledger tool new-version send_email --current"]
)
@click.argument("tool")
@click.option("--current", is_flag=True, help="Make it the current version: the draft that is there, or the new one.")
@click.pass_obj
def new_version(shell: Shell, tool: str, *, current: bool) -> None:
    """Copy a tool's current version to a new one to be edited; the current one stays what it is."""
    from ledger.cli.growing import change_lines, changed

    data = changed(shell, tool, current=current)
    shell.out.show(data, change_lines(data))


@command.command(
    "rename", examples=["ledger tool rename charge pay", "ledger tool rename charge pay --asserted-by ada@example.org"]
)
@click.argument("old")
@click.argument("new")
@click.option("--asserted-by", metavar="WHO", help="Who says that every argument means what it meant.")
@click.option("--dry-run", is_flag=True, help="Check and show it, and write nothing.")
@click.pass_obj
def rename(shell: Shell, old: str, new: str, *, asserted_by: str | None, dry_run: bool) -> None:
    """
    Give a tool another name; its recorded calls go along.

    Moves its folder, copies the newest version to the next one, which becomes the current one, keeps the old name from
    use, and writes the upcast file with `rename_tool`. Nothing is carried by that file until somebody asserts it, with
    --asserted-by or as "assertedBy" in the file; until then `ledger tool lock` refuses it.
    A name that any tool ever had is refused. What was cut short is finished by the same command.
    """
    from ledger.cli.renaming import rename_lines, renaming

    data = renaming(shell, old, new, asserted_by=asserted_by, write=not dry_run)
    shell.out.show(data, rename_lines(data))


@command.command("infer", examples=["ledger tool infer send_email", "ledger tool infer send_email --write"])
@click.argument("tool")
@click.option("--write", is_flag=True, help="Write the draft into the catalog, which must not have the tool.")
@click.pass_obj
def infer(shell: Shell, tool: str, *, write: bool) -> None:
    """Draft a schema from the arguments that the ledger recorded; without --write it is only printed."""
    from ledger.cli.inferring import inferred, inferred_lines, inferred_notes

    data = inferred(shell, tool, write=write)
    shell.out.show(data, inferred_lines(data))
    for note in () if shell.json else inferred_notes(data):
        shell.out.note(note)


@command.command("import", examples=["ledger tool import tools.json --dry-run", "ledger tool import tools.json --json"])
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--trust-hints", is_flag=True, help="Take the effect from MCP's hints; else a new tool is external.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@click.pass_obj
def import_(shell: Shell, file: str, *, trust_hints: bool, dry_run: bool) -> None:
    """Take a list of tools (of MCP or a provider) into the catalog; another shape is a new version, a draft."""
    from ledger.cli.growing import import_lines, imported

    data = imported(shell, file, trust_hints=trust_hints, write=not dry_run)
    shell.out.show(data, import_lines(data))
    if any(each["what"] == "refused" for each in data["tools"]):
        raise click.exceptions.Exit(FAILED)


@command.command(
    "retire",
    examples=[
        "ledger tool retire search_code --stage hidden --use grep --use glob",
        "ledger tool retire deploy --stage compat --use prepare_release --hint 'Prepare first, then publish.'",
        "ledger tool retire search_code --stage removed --dry-run",
    ],
)
@click.argument("tool")
@click.option(
    "--stage",
    type=click.Choice(["hidden", "compat", "removed"]),
    required=True,
    help="hidden: not offered; compat: answered with its replacement; removed: never runs again.",
)
@click.option("--use", multiple=True, metavar="NEW|JSON", help="What is there instead; several times for several.")
@click.option("--when", multiple=True, metavar="NEW=TEXT", help="For which part of what the tool did.")
@click.option("--example", multiple=True, metavar="NEW=JSON", help="Arguments of the replacement.")
@click.option("--no-replacement", is_flag=True, help="Nothing is there instead: drop what the file names.")
@click.option("--hint", metavar="TEXT", help="What models read beside it.")
@click.option(
    "--retention-days",
    type=click.IntRange(1, 999_999),
    metavar="N",
    help="An open session keeps it from being removed until this long after its last event (default: for ever).",
)
@click.option("--dry-run", is_flag=True, help="Check and show it, and write nothing.")
@click.pass_obj
def retire(shell: Shell, /, tool: str, stage: Stage, *, dry_run: bool, **said: Any) -> None:
    """
    Take a tool out of use, stage by stage: hidden, compat, removed.

    What the flags leave out stays as its tool.json says. A stage is not skipped while calls of the tool are open, and
    it is not removed while an open session knows it. Its name is never free again.
    """
    from ledger.cli.retiring import retire, retired_lines, retirement_of

    if said["use"] and said["no_replacement"]:
        raise click.UsageError("--use and --no-replacement exclude each other.", click.get_current_context())
    data = retire(shell, tool, retirement_of(stage, said), write=not dry_run)
    shell.out.show(data, retired_lines(data))
