"""A host's idempotency key: the same tool and arguments get the recorded call, anything else is refused."""

from __future__ import annotations

from ledger.calls import Call
from ledger.errors import KeyConflict
from ledger.execution.requests import Steps, io
from ledger.gates import decode
from ledger.providers.port import ProposedCall
from ledger.replay import call_at, session_at
from ledger.schema_migration.judging import to_run
from ledger.session.carrying import same_intent, same_masked, same_run, told_apart
from ledger.session.core import Core
from ledger.session.redaction import sensitive

_NOW = 2**62  # behind every event


def recorded_under(core: Core, call: ProposedCall, key: str) -> Steps[Call | None]:
    """
    Return the call that holds this key in the tenant, or None.

    Arguments that differ only in key order, white space or defaults that are written out are the same. Raises
    `KeyConflict` where tool or arguments differ (https://github.com/nensii21/devlink/pull/1200: keyed by the key alone,
    another request got its response), or where nobody can compare them; its hint is to take another key only where they
    surely differ.
    """
    store = core.wiring.store
    row = yield from io(lambda: store.keyed(core.tenant or "", key))
    if row is None:
        return None
    found = core.history.calls.get(row.call_id)
    if found is None:
        found = yield from io(lambda: call_at(store, row.session_id, row.call_id, _NOW))
    home = core.wiring.registry.home
    if home(found.tool) != home(call.name):
        raise KeyConflict(key, call_id=found.call_id, other=f"{call.name}, another tool than {found.tool}")
    if _same(core, found, call):
        return found
    asked = [found, *(yield from _replaced(core, found))]
    if not any(_same(core, each, call) for each in asked):
        raise _conflict(core, asked, call, key)
    return found


def _replaced(core: Core, found: Call) -> Steps[list[Call]]:
    """Return the calls whose place this one took by a person's word: the host asked for the first of them."""
    history, store = core.history, core.wiring.store
    if found.call_id not in history.calls:
        history = yield from io(lambda: session_at(store, found.session_id))
    replaced, place = list[Call](), found.call_id
    for each in reversed(history.calls.values()):
        if each.superseded_by == place:
            replaced.append(each)
            place = each.call_id
    return replaced


def _conflict(core: Core, asked: list[Call], call: ProposedCall, key: str) -> KeyConflict:
    """
    Return the refusal of other arguments than those under this key, which the first of these calls holds.

    A host that takes another key makes the call run. So that is said only where nobody can doubt that it is another.
    """
    found, version = asked[0], core.wiring.registry.form(call.name)
    given = decode(call.raw, call.arguments, needs_arguments=False)
    named, stub = call.name, found.changed(schema_version=None, schema_digest=None)
    if version is not None and version.tool == call.name:  # of a name that was given up nobody knows the version
        named = f"{call.name} v{version.version}"
        stub = found.changed(schema_version=version.version, schema_digest=version.shape_digest)
    if all(told_apart(core, each, stub, given if isinstance(given, dict) else None) for each in asked):
        return KeyConflict(key, call_id=found.call_id, other=f"{call.name} with other arguments")
    held = f"{found.tool} v{found.schema_version} ({found.state})"
    return KeyConflict(key, call_id=found.call_id, other=named, held=held)


def _same(core: Core, found: Call, call: ProposedCall) -> bool:
    decoded = decode(call.raw, call.arguments, needs_arguments=False)
    if not isinstance(decoded, dict):
        return found.arguments is None and (found.redacted or found.raw_arguments == call.raw)
    version = core.wiring.registry.form(call.name)
    shown = sensitive(version.schema if version else {}, decoded)[0]
    number = version.version if version is not None and version.tool == call.name else None
    run = [to_run(version, each) if version is not None else each for each in (decoded, shown)]
    known = same_masked(core, found, number, (decoded, run[0]))
    if known is not None:
        return known
    # Who writes a default out asks for what ran: told to take another key, it would run twice.
    return same_intent(core, found, number, decoded, shown) or same_run(core, found, number, *run)
