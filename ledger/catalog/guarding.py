"""The schemas of versions as the guard let them pass, for those who look into them; most were guarded when read."""

from __future__ import annotations

from ledger.catalog.definition import ToolVersion
from ledger.catalog.guard import CAPS, Guarded, guard
from ledger.catalog.vocabulary import Dialect


def guarded_of(version: ToolVersion, dialect: Dialect = "2020-12") -> Guarded:
    """
    Return the guarded schema of a version: its copy, and each schema in it by its pointer.

    *dialect* is what a schema means that names none. A version of a catalog has passed the guard already; our own
    limits are never above its catalog's. Raises CatalogFault for a version that nobody guarded, and that is bad.
    """
    known, schema = version.guarded, version.schema
    if known is not None and known.schema is schema and (known.dialect == dialect or "$schema" in schema):
        return known
    return guard(schema, limits=CAPS, dialect=dialect)
