"""The noun `review`: calls that wait for a person, and a person's word on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

import click

from ledger.cli.commands import copyable
from ledger.cli.faults import WAITS
from ledger.cli.frame import Noun
from ledger.cli.looks import CALL, SESSION, TOOL, VERSION, WHY, called
from ledger.cli.output import Format
from ledger.cli.rows import Row
from ledger.cli.shell import Shell, format_option
from ledger.cli.table import Column
from ledger.cli.when import age_option, span
from ledger.ids import moment

_Function = TypeVar("_Function", bound=Callable[..., Any])

COLUMNS: Final = (
    CALL,
    Column(key="age", keep="all", tone=lambda text: "bad" if text.endswith("!") else None),
    Column(key="kind", keep="all", leave=3),
    replace(TOOL, keep="all"),  # with what it is called now
    replace(VERSION, leave=1),
    replace(SESSION, apart=2),
    Column(key="why", wants=WHY),
    Column(key="expires", title="EXPIRES", keep="all", tone=lambda text: "bad" if text == "expired" else None),
    Column(key="arguments", leave=2),
)


@click.group(cls=Noun)
def command() -> None:
    """Calls that wait for a person, and a person's word on them."""


@command.command("list", examples=["ledger review", "ledger review list --kind approval --max-age 15m"])
@click.option(
    "--kind",
    type=click.Choice(["approval", "doubt", "change"]),
    help="Only one kind of question; doubt is all the rest, `never ran` in the list too.",
)
@age_option("--max-age", "Exit with 3 only if something waits longer than this.")
@click.option("--session", metavar="ID", help="Of one session.")
@click.option("--tool", metavar="NAME", help="Of one tool; what was carried to this name too.")
@format_option()
@click.pass_obj
def list_(shell: Shell, /, max_age: timedelta | None, format: Format | None, **filters: Any) -> None:
    """
    List what waits for a person, the oldest question first.

    The exit status is 3 if anything waits; with --max-age only if something waits longer than that. Of a call whose
    process was killed nobody is asked before `ledger resume` looked at it: a note tells of such sessions.
    """
    from ledger.audit import review_rows
    from ledger.cli.opening import names_of, reading
    from ledger.cli.stranded import stranded_hint

    with reading(shell) as reader:
        rows = review_rows(reader, max_age=max_age, names=names_of(shell, reader), **filters)
        late = _Late(_renamed(shell, rows))
        people = format in (None, "table") and not shell.json
        shown = map(_for_people, late) if people else iter(late)
        shell.out.rows(shown, COLUMNS, format=format, empty="Nothing waits.")
        stranded = stranded_hint(shell, reader, filters) if people else None
    if people and late.any:
        shell.out.note(f"Look at one with `{copyable(shell, 'review', 'show', 'CALL')}`.")
    if stranded is not None:
        shell.out.note(stranded)
    if late.any if max_age is None else late.overdue:
        raise click.exceptions.Exit(WAITS)


class _Late:
    """The rows, and behind the last of them whether there was any, and one that waits too long."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self._rows = rows
        self.any = False
        self.overdue = False

    def __iter__(self) -> Iterator[Row]:
        for row in self._rows:
            self.any = True
            self.overdue = self.overdue or bool(row["overdue"])
            yield row


def _renamed(shell: Shell, rows: Iterator[Row]) -> Iterator[Row]:
    """Say of each row what its tool is called now, where that is another name; the catalog is read for the first."""
    from ledger.cli.opening import names_now

    now: Mapping[str, str] | None = None
    for row in rows:
        now = names_now(shell) if now is None else now
        yield {**row, "renamedTo": now.get(row["tool"])}


def _for_people(row: Row) -> Row:
    asked = f"asks {', '.join(row['who'])}" if row["who"] else row["message"]
    age = span(row["ageSeconds"]) + (" !" if row["overdue"] else "")
    return {
        **row,
        "age": age,
        "tool": called(row["tool"], now=row["renamedTo"], carried=row["carriedTo"]),
        "kind": "never ran" if row["kind"] == "doubt" and row["neverRan"] else row["kind"],
        "why": row["reason"] or asked,
        "expires": _expires(row["expiresAt"]),
    }


def _expires(until: str | None) -> str | None:
    """Return in what time a question can be answered no more; None: it waits as long as it takes."""
    if until is None:
        return None
    left = (moment(until, datetime.now(UTC)) - datetime.now(UTC)).total_seconds()
    return f"in {span(left)}" if left > 0 else "expired"


@command.command("show", examples=["ledger review show 3f2a91c0"])
@click.argument("call")
@click.pass_obj
def show(shell: Shell, call: str) -> None:
    """
    Show all that helps to decide about one call.

    The question, what ran or would run, what is known, the tool's runbook, and the commands that answer.
    """
    from ledger.audit import call_of, find_call
    from ledger.cli.opening import reading
    from ledger.cli.question import question_lines, question_of

    with reading(shell) as reader:
        row = find_call(reader, call)
        found = question_of(shell, reader, call_of(reader, row.session_id, row.call_id))
    shell.out.show(found, question_lines(found))


def _reviewer(function: _Function) -> _Function:
    for option in (
        click.option(
            "--evidence", multiple=True, metavar="FILE|URL", help="What you looked at; a file's digest is kept."
        ),
        click.option("--note", metavar="TEXT", help="Why, in your words."),
        click.option("--by", metavar="WHO", help="Who says it (default: the user of this machine)."),
    ):
        function = option(function)
    return function


def _word(by: str | None, note: str | None, evidence: tuple[str, ...]) -> dict[str, Any]:
    from ledger.cli.verdicts import evidence_of

    return {"by": by, "note": note, "evidence": evidence_of(evidence)}


_DIGEST: Final = click.option(
    "--digest", metavar="HEX", help="Only if the arguments are still those with this digest (8 or more characters)."
)


@command.command("approve", examples=["ledger review approve 3f2a91c0 --digest 9b1c04d7 --note 'amount checked'"])
@click.argument("call")
@_DIGEST
@_reviewer
@click.pass_obj
def approve(shell: Shell, /, call: str, digest: str | None, **word: Any) -> None:
    """
    Let a call run that waits for approval.

    Once, and with exactly the arguments it has now. It starts in its owner's loop, or at the next resume.
    """
    from ledger.cli.answering import answering
    from ledger.cli.verdicts import answered, check_shown, whole_digest

    said = _word(**word)
    with answering(shell) as ledger:
        found = ledger.find(call)
        check_shown(shell, ledger, found, digest)
        verdict = ledger.approve(found.call_id, digest=whole_digest(found, digest), **said)
        answered(shell, ledger, verdict, "approved", word["by"])


@command.command("deny", examples=["ledger review deny 3f2a91c0 --by ada --note 'wrong account'"])
@click.argument("call")
@_reviewer
@click.pass_obj
def deny(shell: Shell, /, call: str, **word: Any) -> None:
    """
    Refuse a call that waits for approval.

    It will not run, and the model is told.
    """
    from ledger.cli.answering import answering
    from ledger.cli.verdicts import answered

    said = _word(**word)
    with answering(shell) as ledger:
        answered(shell, ledger, ledger.deny(call, **said), "denied", word["by"])


@command.command(
    "resolve",
    examples=[
        "ledger review resolve 3f2a91c0 --happened '{\"id\": 17}' --evidence mail.log",
        "ledger review resolve 3f2a91c0 --did-not-happen --run",
        "ledger review resolve 3f2a91c0 --abandon --note 'not needed any more'",
    ],
)
@click.argument("call")
@click.option(
    "--happened",
    is_flag=False,
    flag_value="",
    metavar="[JSON|@FILE|-]",
    help="It happened, with this result; without one it is unknown, or that of the late outcome.",
)
@click.option("--did-not-happen", is_flag=True, help="It surely did not happen; with --run it is sent again.")
@click.option("--run", is_flag=True, help="Let it run; alone only where it surely never ran.")
@click.option("--abandon", is_flag=True, help="Give it up.")
@click.option("--arguments", metavar="JSON|@FILE|-", help="Let a new call with these arguments take its place.")
@_DIGEST
@_reviewer
@click.pass_obj
def resolve(
    shell: Shell, /, call: str, by: str | None, note: str | None, evidence: tuple[str, ...], **verdict: Any
) -> None:
    """
    Say what became of a call in review, or let it run.

    One verdict, once: a wrong one is corrected by a note and a new call. --run alone is refused where the call may have
    run already; --arguments needs --did-not-happen there. A copy is settled by its original's end.
    """
    from ledger.cli.answering import answering
    from ledger.cli.verdicts import answered, whole_digest

    word, given = _verdict(**verdict)
    said = _word(by, note, evidence) | given
    with answering(shell, recorded="arguments" in given) as ledger:
        found = ledger.find(call)
        if verdict["digest"] is not None and "arguments" not in given:
            said["digest"] = whole_digest(found, verdict["digest"])
        answered(shell, ledger, ledger.resolve(found.call_id, word, **said), _told(word, given), by, asked=found)


def _verdict(
    *, happened: str | None, did_not_happen: bool, run: bool, abandon: bool, arguments: str | None, **_rest: Any
) -> tuple[str | None, dict[str, Any]]:
    """Return the verdict's word and what belongs to it; raises UsageError where the options do not make one verdict."""
    from ledger.cli.verdicts import UNKNOWN, json_value

    words = [("happened", happened is not None), ("did-not-happen", did_not_happen), ("abandon", abandon)]
    said = [word for word, is_said in words if is_said]
    settled = len(said) == 1 and said[0] != "did-not-happen"
    if settled and arguments is not None:
        message = f"Give one verdict: with --{said[0]} nothing runs, and a new call with --arguments would."
        raise click.UsageError(message, click.get_current_context())
    if len(said) > 1 or (settled and run):
        raise click.UsageError("Give one verdict.", click.get_current_context())
    if run and arguments is not None:
        raise click.UsageError(
            "--arguments makes a new call, which runs: leave --run out.", click.get_current_context()
        )
    given: dict[str, Any] = {}
    if happened is not None and happened != UNKNOWN:
        given["result"] = json_value("--happened", happened)
    if arguments is not None:
        given["arguments"] = json_value("--arguments", arguments)
    if said:
        return said[0], given | ({"run": True} if run else {})
    if run or arguments is not None:
        return ("run" if run else None), given
    message = "No verdict: give --happened, --did-not-happen, --run, --abandon or --arguments."
    raise click.UsageError(message, click.get_current_context())


def _told(word: str | None, given: dict[str, Any]) -> str:
    if "arguments" in given:
        return "superseded"
    return "did-not-happen, run" if given.get("run") else str(word)


@command.command("note", examples=["ledger review note 3f2a91c0 'asked the bank, they call back on Monday'"])
@click.argument("call")
@click.argument("text")
@click.option("--evidence", multiple=True, metavar="FILE|URL", help="What you looked at; a file's digest is kept.")
@click.option("--by", metavar="WHO", help="Who says it (default: the user of this machine).")
@click.pass_obj
def note(shell: Shell, /, call: str, text: str, evidence: tuple[str, ...], by: str | None) -> None:
    """Add a note to a call, in any state; it changes nothing else."""
    from ledger.cli.answering import answering
    from ledger.cli.verdicts import answered, evidence_of

    said = evidence_of(evidence)
    with answering(shell) as ledger:
        answered(shell, ledger, ledger.note(call, text, by=by, evidence=said), "noted", by)
