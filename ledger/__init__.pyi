from ledger.answers import Allow as Allow
from ledger.answers import Ask as Ask
from ledger.answers import CantTell as CantTell
from ledger.answers import Deny as Deny
from ledger.answers import DidNotHappen as DidNotHappen
from ledger.answers import Failed as Failed
from ledger.answers import Happened as Happened
from ledger.answers import Invalid as Invalid
from ledger.answers import NotFound as NotFound
from ledger.answers import OutcomeUnknown as OutcomeUnknown
from ledger.answers import Rejected as Rejected
from ledger.answers import Unavailable as Unavailable
from ledger.errors import LedgerError as LedgerError
from ledger.execution.context import Context as Context
from ledger.session.budget import Limits as Limits
from ledger.session.handle import Session as Session
from ledger.session.ledger import Ledger as Ledger
from ledger.session.results import CallResult as CallResult
from ledger.session.results import Results as Results
from ledger.session.structured import Structured as Structured

__version__: str
__all__ = [
    "Allow",
    "Ask",
    "CallResult",
    "CantTell",
    "Context",
    "Deny",
    "DidNotHappen",
    "Failed",
    "Happened",
    "Invalid",
    "Ledger",
    "LedgerError",
    "Limits",
    "NotFound",
    "OutcomeUnknown",
    "Rejected",
    "Results",
    "Session",
    "Structured",
    "Unavailable",
    "__version__",
]
