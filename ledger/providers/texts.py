"""The fixed sentences of answers that no tool wrote: what is unknown is told as neither success nor "not executed"."""

from __future__ import annotations

from typing import Final

OUTCOME_UNKNOWN: Final = (
    "OUTCOME UNKNOWN: this call was started and no outcome is recorded; it may or may not have happened."
)
NOT_EXECUTED: Final = "NOT EXECUTED: this call did not run and had no effect."

UNDER_REVIEW: Final = f"{OUTCOME_UNKNOWN} A person is looking at it. Do not send it again; query the state instead."
IN_FLIGHT: Final = (
    f"{OUTCOME_UNKNOWN} It runs elsewhere, or its end is not known yet. Do not send it again; query the state instead."
)
GIVEN_UP: Final = (
    f"{OUTCOME_UNKNOWN} A person closed the case without finding out. Do not send it again; query the state instead."
)
ONLY_PROPOSED: Final = f"{NOT_EXECUTED} It is recorded only."
HELD: Final = f"{NOT_EXECUTED} A person decides whether it will run. Do not send it again; its end will be told."
COPY: Final = (
    f"{NOT_EXECUTED} It repeats an earlier call whose end is not settled; that one counts. "
    "Do not send it again; query the state instead."
)
_COPIED: Final = f"{NOT_EXECUTED} It repeats an earlier call"
COPY_ENDED: Final = (
    f"{_COPIED}, which was ended; what is told of that one counts. Do not send it again; query the state instead."
)
COPY_REPLACED: Final = (
    f"{_COPIED}, and a person put another call in the place of that one: the end of the new call counts. "
    "Do not send it again; query the state instead."
)
ENDED_UNRUN: Final = f"{NOT_EXECUTED} A person ended it, and it will not run."
REPLACED: Final = f"{NOT_EXECUTED} A person put another call in its place."
CANCELLED: Final = "Send it again only if it is still needed."
UNRECORDED: Final = (
    "NOT EXECUTED: the ledger has no record of this call, so it did not run through the ledger. "
    "If it may have run in another way, query the state before you send it again."
)

UNCLEAR: Final = (
    "OUTCOME UNKNOWN: an equal call is recorded, and nothing tells whether it is this one; it may or may not have "
    "happened. Do not send it again; query the state instead."
)

APPROVAL: Final = (
    "A person has to approve this call. It has not run yet. Do not send it again: it runs once it is approved, "
    "and its end will be told."
)
DENIED: Final = "It is not allowed and was not executed. Do not send it again in any form."
DENIED_FOR_NOW: Final = "It was not executed. Do not send it again before the time in retryAfter (seconds) is over."
RESULT_UNKNOWN: Final = (
    "It happened; its result is not known. Do not send it again; query the state where the result is needed."
)
RESULT_LOST: Final = (
    "INTERRUPTED: this call was started and its result was lost. It only reads and changed nothing; "
    "it may be sent again."
)
MISSING: Final = "Missing: {names}. Do not guess: ask the user, or get it from a trusted tool."
REPAIRS_SPENT: Final = "This was tried too often. Do not try again: ask the user."
RETIRING: Final = "This tool is being retired; prefer another one."
RENAMED: Final = "{old} is called {new} now, and its arguments may have another form: use {new} as it is described."

NOTE: Final = "[Note from the tool-call ledger, not from the user]"
