"""The page of one call, for people: what was asked, what ran, how it ended, what speaks of it besides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from json import dumps
from typing import Any, Final

from ledger.calls import TERMINAL
from ledger.cli.decided import decision, note, who_and_when
from ledger.cli.layout import block, bullets, facts, heading
from ledger.cli.looks import called, place, tone_of, version
from ledger.cli.rows import Row
from ledger.cli.table import plain, tail
from ledger.cli.text import Ink, Line
from ledger.cli.when import instant
from ledger.errors import owner_name
from ledger.ids import iso

_UNKNOWN: Final = (
    "These are not all: what would run has another digest. The ledger fills in defaults, and no recorded schema says "
    "which. Ask the program that has the tool before you allow it."
)
_LONGEST: Final = 4_000
"""Characters of one value that a page shows; `--json` has the whole."""


def title(story: Row) -> list[Line]:
    """Return the first lines of a call's page: its id, what it is, where it stands."""
    where = f"session {story['sessionId']}, turn {place(story['turn'], story['index'])}"
    number = "" if story["schemaVersion"] is None else f" {version(story['schemaVersion'])}"
    tool = called(story["tool"], now=story.get("renamedTo"), carried=story["carriedTo"], version=number)
    what = f"{tool}, {story['effect']}; {where}"
    return [(Ink(f"Call {story['callId']}", "strong"), "  ", Ink(story["state"], tone_of(story["state"]))), what]


def call_page(story: Row) -> Iterator[Line]:
    """Yield the lines of a call's page, before its events."""
    yield from title(story)
    yield from arguments(story)
    yield from outcome(story)
    yield from known(story)
    yield from besides(story)
    yield ""


def arguments(story: Row) -> Iterator[Line]:
    """Yield what was asked, and what ran where that is something else."""
    intent, ran = story["arguments"], story["executed"]
    if intent is None:
        yield from heading("Asked with, not parsable")
        yield from block(_clipped(plain(story["rawArguments"])))
        return
    yield from heading("Arguments" if intent == ran else "Asked with")
    yield from value(intent)
    if intent != ran:
        waits = story.get("neverRan") and story["state"] not in TERMINAL  # its earlier attempts did nothing
        yield from heading("Arguments that ran" if story["startedAt"] and not waits else "Arguments that would run")
        yield from value(ran)
    if not story["executedKnown"]:
        yield Ink(_UNKNOWN, "bad")


def outcome(story: Row) -> Iterator[Line]:
    """Yield how the call ended, if it did."""
    if story["state"] == "succeeded":
        yield from heading("Result")
        yield from (
            value(story["result"]) if story["resultKnown"] else block("It happened; what it returned is unknown.")
        )
    elif story["code"] is not None:
        yield from heading("How it ended" if story["endedAt"] else "Last attempt")
        yield from block(f"{story['code']}: {plain(story['message'])}")
        yield from bullets(
            f"{broken.get('pointer')}: {broken.get('message')}" for broken in _objects(story["violations"])
        )


def known(story: Row) -> Iterator[Line]:
    """Yield the facts that have a value."""
    approval = story["approval"] or {}
    named: dict[str, object] = {
        "asked": _when(story["proposedAt"]),
        "on behalf of": story["principal"],
        "tenant": story["tenant"],
        "who may say": ", ".join(approval["who"]) if approval.get("who") else None,
        "expires": _expires(approval.get("expiresAt"), over=story["endedAt"] is not None),
        "allowed by": _lapsed(story, _allowed(approval)),
        "started": _when(story["startedAt"]),
        "attempt": story["attempt"] or None,
        "worker": owner_name(story["worker"]) if story["worker"] else None,
        "key": story["idempotencyKey"],
        "waits since": _when(story["waitingSince"]),
        "ended": _when(story["endedAt"]),
        "flag": story["reason"],
        "duplicate of": story["duplicateOf"],
        "superseded by": _heir(story),
        "takes the place of": story["takesPlaceOf"],
        "digest": story["argumentsDigest"],
    }
    yield from heading("What is known")
    yield from facts({name: fact for name, fact in named.items() if fact is not None})


def _heir(story: Row) -> str | None:
    """Return the call that has this one's place, and who said so when."""
    heir = story["supersededBy"]
    said = next((f", says {who_and_when(each)}" for each in story["decisions"] if each["supersededBy"]), "")
    return f"{heir}{said}" if heir is not None else None


def _allowed(approval: Mapping[str, Any]) -> str | None:
    """Return who let the call run; that no policy was registered is nobody's word."""
    by, policy = approval.get("by"), approval.get("policy")
    if by != "policy":
        return approval.get("person") or by
    if policy == "none":
        return "nobody: no policy is registered"
    return f"policy {policy}" if policy else by


def _lapsed(story: Row, allowed: str | None) -> str | None:
    """Return who allowed a call, and whether that holds no more: then it waits for another word."""
    lapsed = story["state"] == "needs-review" and story["reason"] == "approval-mismatch"
    return f"{allowed}, which does not hold any more" if allowed is not None and lapsed else allowed


def besides(story: Row) -> Iterator[Line]:
    """Yield evidence, a late outcome, what people decided, notes and look-alikes, where there are any."""
    for name, key in (("Evidence", "evidence"), ("Late outcome", "lateOutcome")):
        if story[key] is not None:
            yield from heading(name)
            yield from value(_without_nothing(story[key]))
    for each in story["decisions"]:
        yield from decision(each)
    if story["notes"]:
        yield from heading("Notes")
        yield from bullets(map(note, story["notes"]))
    if story["copies"]:
        yield from heading("Copies, settled by this call's end")
        yield from bullets(story["copies"])
    if story["lookAlikes"]:
        yield from heading("Look-alikes: the same tool and arguments in this session")
        yield from bullets(_alike(other) for other in story["lookAlikes"])


def value(found: Any) -> list[Line]:
    """Return the lines of a JSON value: an object's members below each other, a text without quotes."""
    if isinstance(found, dict) and found:
        return facts({name: _clipped(plain(member)) for name, member in found.items()})
    return block(_clipped(found if isinstance(found, str) else dumps(found, ensure_ascii=False)))


def _alike(other: Row) -> str:
    ended = f", ended {instant(other['endedAt'])}" if other["endedAt"] else ""
    code = f" ({other['code']})" if other["code"] else ""
    return f"{tail(other['callId'])}, turn {place(other['turn'], other['index'])}: {other['state']}{code}{ended}"


def _expires(stamp: str | None, *, over: bool) -> str | None:
    expired = not over and stamp is not None and stamp <= iso(datetime.now(UTC))
    return f"{_when(stamp)}, expired" if expired else _when(stamp)


def _when(stamp: str | None) -> str | None:
    return f"{instant(stamp)} UTC" if stamp else None


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text)} characters; --json has them all)"


def _without_nothing(found: Any) -> Any:
    return (
        {key: part for key, part in found.items() if part not in (None, [], ())} if isinstance(found, dict) else found
    )


def _objects(found: Iterable[Any]) -> list[Mapping[str, Any]]:
    return [each for each in found if isinstance(each, dict)]
