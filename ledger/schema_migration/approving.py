"""What an approval would not do: where a newer version of the tool keeps the form that a person sees from running."""

from __future__ import annotations

from dataclasses import dataclass

from ledger.calls import WAITING, Approval, Call
from ledger.catalog import Registry
from ledger.schema_migration.drafting import Draft, draft_of
from ledger.schema_migration.judging import APPROVAL_BOUND, Judged, judge, may_be_carried


@dataclass(frozen=True, slots=True)
class Foreseen:
    """
    Why a call that a person is asked about would not run by their word, under the catalog at hand.

    `draft`: the new call that a change of meaning asks for; None where something else stops it. `carried_first`: it may
    be carried before anybody allows it, and then runs in the new form.
    """

    words: str
    draft: Draft | None = None
    carried_first: bool = False


def foreseen(registry: Registry, call: Call) -> Foreseen | None:
    """Return what keeps a call from running once it is allowed; None: nothing, or its tool is unknown."""
    asked = call.state == "awaiting-approval"
    judged = judge(registry, call if asked else _allowed(call))
    definition = registry.defined_now(call.tool)
    if call.state not in WAITING or definition is None or judged.status not in ("needs-person", "invalid"):
        return None
    reached = _reached(call, judged)
    draft = draft_of(definition, reached) if judged.code == "semantic" else None
    words = (
        f"{'Approving it' if asked else 'A verdict with --run'} will not run it as it is: version {definition.current}"
        f" of {definition.name} is current in the catalog here, and {_why(judged)}. Where that version runs, it is put"
        " to a person once more"
    )
    asks = (
        f", who is asked: {' '.join(each.question for each in draft.ask)}" if draft is not None and draft.ask else "."
    )
    first = not asked and may_be_carried(call) and judge(registry, call).status == "migratable"
    return Foreseen(words + asks, draft, carried_first=first)


def _allowed(call: Call) -> Call:
    """Return a call in review as it would be once a person let it run: nothing of it happened, by their word."""
    word = Approval(arguments_digest=call.arguments_digest or "", by="verdict")
    return call.changed(state="authorized", approval=word, in_doubt=False, attempt_failed=True, late=None)


def _reached(call: Call, judged: Judged) -> Call:
    """Return the call in the form that its proved steps lead to: from there on a person is needed."""
    steps = judged.journey.steps if judged.journey is not None else ()
    return call.changed(schema_version=judged.reached, executed=steps[-1].arguments) if steps else call


def _why(judged: Judged) -> str:
    if judged.code == "semantic":
        return f'the meaning changed: "{judged.message}"'
    if judged.code == APPROVAL_BOUND:
        return "no file says that an approval of this form holds for that one"
    return str(judged.message)
