"""The docs' picture of a call's life, drawn from the table and the fold themselves."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, get_args

from ledger.calls.call import Approval, Call, State
from ledger.calls.evolve import evolve
from ledger.calls.follows import FOLLOWS, TERMINAL
from ledger.calls.guards import GUARDS
from ledger.errors import IllegalTransition
from ledger.events import (
    BODIES,
    CallApprovalRequested,
    CallAttemptFailed,
    CallAuthorized,
    CallBody,
    CallDenied,
    CallFailed,
    CallFlagged,
    CallOutcomeArrivedLate,
    CallProposed,
    CallRejected,
    CallReviewed,
    CallStarted,
    CallSucceeded,
    CallSuperseded,
    CallValidated,
    Event,
    type_of,
)

PAGE: Final = Path("docs/states.md")
BEGIN: Final = "<!-- generated from the code by `make docs`: -->"
END: Final = "<!-- end of what is generated -->"

STATES: Final[tuple[State, ...]] = get_args(State)

_EXAMPLES: Final[tuple[tuple[str, CallBody], ...]] = (
    ("", CallProposed()),
    ("", CallValidated(gates=(), validator="", arguments_digest="d")),
    ("", CallRejected(gate="schema", code="", error_class="model", message="")),
    ("", CallDenied(code="", message="")),
    ("", CallApprovalRequested(arguments_digest="d")),
    (" by a policy", CallAuthorized(by="policy", arguments_digest="d")),
    (" by a person", CallAuthorized(by="person", arguments_digest="d")),
    ("", CallStarted(idempotency_key="k", worker="", token=1)),
    ("", CallAttemptFailed(code="", message="", backoff_seconds=0.0)),
    ("", CallSucceeded()),
    ("", CallFailed(code="", error_class="environment", message="")),
    (" (not started)", CallFailed(code="", error_class="environment", message="", not_started=True)),
    ("", CallFlagged(reason="outcome-unknown")),
    ("", CallFlagged(reason="not-started")),
    (" happened", CallReviewed(verdict="happened", by="")),
    (" did-not-happen", CallReviewed(verdict="did-not-happen", by="")),
    (" did-not-happen + run", CallReviewed(verdict="did-not-happen", by="", run=True)),
    (" run", CallReviewed(verdict="run", by="")),
    (" abandon", CallReviewed(verdict="abandon", by="")),
    ("", CallSuperseded(superseded_by="", by="")),
    (" (settles)", CallOutcomeArrivedLate(ended="succeeded", token=1, settles=True)),
    (" (settles)", CallOutcomeArrivedLate(ended="failed", token=1, settles=True)),
)


def edges() -> dict[tuple[State, State], list[str]]:
    """Return which state leads to which by which events; to itself only by a new attempt."""
    found: dict[tuple[State, State], list[str]] = {}
    for state in STATES:
        for label, body in _EXAMPLES:
            for after in sorted(_afters(state, body)):
                if after == state and not isinstance(body, CallStarted | CallAttemptFailed):
                    continue
                labels = found.setdefault((state, after), [])
                name = _short(type_of(body))
                if name not in labels and name + label not in labels:
                    labels.append(name + label)
    return found


def _short(name: str) -> str:
    return name.removeprefix("call.")


def _afters(state: State, body: CallBody) -> set[State]:
    """Return where the event leads from any call in this state."""
    event = Event(session_id="s", event_id="e", recorded_at="", body=body, call_id="c")
    found = set()
    for call in _calls(state):
        try:
            found.add(evolve(call, event).state)
        except IllegalTransition:
            continue
    return found


def _calls(state: State) -> Iterator[Call]:
    call = Call(state=state, arguments_digest="d", idempotency_key="k", attempt=int(state == "started"))
    if state in ("awaiting-approval", "authorized"):
        approval = Approval(arguments_digest="d", by="policy" if state == "authorized" else None)
        call = call.changed(approval=approval)
    yield call
    yield call.changed(effect="read")
    yield call.changed(imported=True, in_doubt=True)


def diagram() -> str:
    """Return the mermaid state diagram."""
    lines = ["stateDiagram-v2"]
    lines += [f'    state "{state}" as {_id(state)}' for state in STATES if "-" in state]
    for (before, after), labels in edges().items():
        lines.append(f"    {_id(before)} --> {_id(after)}: {', '.join(labels)}")
    lines += [f"    {_id(state)} --> [*]" for state in STATES if state in TERMINAL]
    return "\n".join(lines)


def _id(state: State) -> str:
    return "[*]" if state == "unknown" else state.replace("-", "_")


def table() -> str:
    """Return the table of what may follow, and the conditions besides the state."""
    names = {body: _short(name) for name, body in BODIES.items()}
    lines = ["| state | may be followed by |", "|---|---|"]
    for state in STATES:
        follow = ", ".join(f"`{names[body]}`" for body in FOLLOWS[state])
        lines.append(f"| {f'**{state}**' if state in TERMINAL else state} | {follow} |")
    lines += ["", "| event | needs besides |", "|---|---|"]
    for body, guard in GUARDS.items():
        lines.append(f"| `{names[body]}` | {' '.join((inspect.getdoc(guard) or '').split())} |")
    return "\n".join(lines)


def page(text: str) -> str:
    """Return the page with its generated part made anew. Raises `ValueError` where the page has no place for it."""
    made = f"{BEGIN}\n\n```mermaid\n{diagram()}\n```\n\n{table()}\n\n{END}"
    found, count = re.subn(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: made, text, flags=re.DOTALL)
    if count != 1:
        raise ValueError(f"the page needs {BEGIN!r} and {END!r} once")
    return found


def main(path: Path = PAGE) -> None:
    """Write the generated part of the page."""
    path.write_text(page(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":  # pragma: no cover - `make docs`
    main(*map(Path, sys.argv[1:]))
