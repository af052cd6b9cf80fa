"""
Upcasts: recorded arguments carried to a newer version of their tool, where that is proved to change only the form.

    from ledger.catalog.upcast import Upcasts, prove, read_upcast

`prove(upcast, old, new)` says from the schemas alone whether a file's step is pure format; `Step.carry(arguments)`
certifies one record; `Upcasts(catalog).carry(...)` goes from step to step. All pure.
"""

from ledger.catalog.upcast.certificate import Carried, NotCarried, Step
from ledger.catalog.upcast.chain import Journey, Upcasts
from ledger.catalog.upcast.proof import NARROWING, Grade, Proof, Reason, Status, prove

__all__ = [
    "NARROWING",
    "Carried",
    "Grade",
    "Journey",
    "NotCarried",
    "Proof",
    "Reason",
    "Status",
    "Step",
    "Upcasts",
    "prove",
]
