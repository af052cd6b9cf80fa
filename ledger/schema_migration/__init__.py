"""Which recorded calls a newer catalog carries over by itself, and which need a person; it decides, it never writes."""

from ledger.schema_migration.judging import Judged, Status, judge, may_be_carried
from ledger.schema_migration.newest import Newest
from ledger.schema_migration.plan import Plan, planned

__all__ = ["Judged", "Newest", "Plan", "Status", "judge", "may_be_carried", "planned"]
