"""The life of one call: which event may follow which state, and what it leads to."""

from ledger.calls.call import NEW_CALL, Approval, Call, State
from ledger.calls.copies import ends_with, settled_by, stranded
from ledger.calls.evolve import evolve, fold
from ledger.calls.follows import FOLLOWS, TERMINAL, WAITING
from ledger.calls.guards import refusal
from ledger.calls.kinds import CHANGES, Kind, kind_of
from ledger.calls.row import CallRow, call_row

__all__ = [
    "CHANGES",
    "FOLLOWS",
    "NEW_CALL",
    "TERMINAL",
    "WAITING",
    "Approval",
    "Call",
    "CallRow",
    "Kind",
    "State",
    "call_row",
    "ends_with",
    "evolve",
    "fold",
    "kind_of",
    "refusal",
    "settled_by",
    "stranded",
]
