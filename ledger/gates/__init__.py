"""The checks between intent and execution, in order: lookup, decode, schema, business, authorization."""

from ledger.gates.authorization import Asked, authorize
from ledger.gates.business import business
from ledger.gates.decode import decode
from ledger.gates.lookup import Situation, lookup
from ledger.gates.schema import fill, validate

__all__ = ["Asked", "Situation", "authorize", "business", "decode", "fill", "lookup", "validate"]
