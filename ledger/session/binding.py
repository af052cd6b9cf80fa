"""What a person's word that a call shall run is bound to, where no gate has recorded it: what would run then."""

from __future__ import annotations

from ledger.audit import RecordedVersion, recorded_tools
from ledger.calls import Call
from ledger.catalog import Contract, ToolVersion
from ledger.schema_migration.judging import to_run
from ledger.session.core import Core
from ledger.session.work import definition_of
from ledger.strictjson import digest


def bound(core: Core, call: Call) -> str | None:
    """
    Return the digest of the arguments that would run, the defaults of the call's own version included; None: unknown.

    That version is the program's, the catalog's, or what the ledger recorded of it. What was masked is nowhere whole.
    """
    if call.arguments_digest is not None:
        return call.arguments_digest
    version = None if call.redacted else _version_of(core, call)
    return digest(to_run(version, call.to_run)) if version is not None else None


def _version_of(core: Core, call: Call) -> ToolVersion | None:
    """Return the version that the call was recorded with, in the shape that it had then."""
    number, registry = call.schema_version or 0, core.wiring.registry
    tool, definition = registry.get(registry.home(call.tool), number), definition_of(core, call)
    known = [tool.version] if tool is not None else []
    known += [definition.versions[number]] if definition is not None and number in definition.versions else []
    same = [each for each in known if each.shape_digest == call.schema_digest]
    if same:
        return same[0]
    recorded = recorded_tools(core.wiring.store).get(call.tool)
    version = recorded.versions.get(number) if recorded is not None else None
    if version is None or version.schema_digest != call.schema_digest:
        return None
    return recorded_version(call.tool, number, version)


def recorded_version(name: str, number: int, version: RecordedVersion) -> ToolVersion:
    """Return a version of a tool as the ledger recorded it."""
    body = version.body
    return ToolVersion(
        tool=name,
        version=number,
        schema=body.schema,
        output_schema=body.output_schema,
        contract=Contract.from_wire(body.contract),
        description=body.description,
        shape_digest=version.schema_digest,
        description_digest=body.description_digest,
        path=f"the ledger's record of {name}",
    )
