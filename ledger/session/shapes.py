"""What of a proposed call is compared with what is recorded, to know a turn again."""

from __future__ import annotations

from typing import Any

from ledger.calls import Call
from ledger.gates import decode
from ledger.providers.port import ProposedCall
from ledger.schema_migration.judging import to_run
from ledger.session.carrying import same_intent
from ledger.session.core import Core
from ledger.session.identity import Shape
from ledger.session.redaction import has_sensitive, sensitive
from ledger.session.work import truly_same


def shape_of(core: Core, call: ProposedCall, key: str | None) -> Shape:
    """Return what of a proposed call counts for sameness, by the catalog of this process; `key`: the host's own."""
    home = core.wiring.registry.home
    version, name = core.wiring.registry.form(call.name), home(call.name)
    needs = version is not None and bool(version.schema.get("required"))
    decoded = decode(call.raw, call.arguments, needs_arguments=needs)
    if not isinstance(decoded, dict):
        return Shape(name, None, None if version and has_sensitive(version.schema) else call.raw, home=home, key=key)
    shown = sensitive(version.schema if version else {}, decoded)[0]
    number = version.version if version is not None and name == call.name else None
    run = to_run(version, decoded) if version is not None else decoded

    def same(found: Call, masked: Any) -> bool:
        known = truly_same(core, found, number, decoded, run)
        return same_intent(core, found, number, decoded, masked) if known is None else known

    return Shape(name, shown, call.raw, same, home, key)
