"""
The contract of a store as a test class: whatever keeps it can hold a ledger.

    class TestMyStore(StoreContract):
        def make_store(self, folder, clock):
            return MyStore(..., clock=clock)

pytest collects the inherited tests; `pytest.register_assert_rewrite("ledger.testing.contract")` in a conftest.py makes
their failures readable. Nothing is skipped: a back end that cannot do one of these cannot do the ledger's work.
"""

from ledger.testing.contract.appends import AppendContract
from ledger.testing.contract.calls import CallContract
from ledger.testing.contract.leases import LeaseContract
from ledger.testing.contract.limits import LimitContract
from ledger.testing.contract.lookups import LookUpContract
from ledger.testing.contract.odd_data import OddDataContract
from ledger.testing.contract.reads import ReadContract
from ledger.testing.contract.rebuilds import RebuildContract
from ledger.testing.contract.threads import ThreadContract

__all__ = ["StoreContract"]


class StoreContract(
    AppendContract,
    CallContract,
    LeaseContract,
    LimitContract,
    LookUpContract,
    OddDataContract,
    ReadContract,
    RebuildContract,
    ThreadContract,
):
    """Every test there is; give it `make_store`, and `let_pass` where the store has a clock of its own."""
