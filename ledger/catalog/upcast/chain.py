"""From a recorded version to a later one: adjacent steps, one after the other, up to the first that needs a person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ledger.catalog.definition import Catalog, ToolDefinition, ToolVersion
from ledger.catalog.equality import key_of
from ledger.catalog.steps import Upcast
from ledger.catalog.upcast.published import Published, Recorded
from ledger.catalog.upcast.records import Carried, Carrier, Journey, NotCarried
from ledger.catalog.upcast.values import as_far, at_both
from ledger.strictjson import Json


class Upcasts:
    """The steps of a catalog, each proved once; shared by everybody who carries records of it."""

    def __init__(self, catalog: Catalog | None) -> None:
        self._catalog = catalog
        self._steps: dict[tuple[str, int], Carrier] = {}
        self._published = Published(catalog)

    def step(self, definition: ToolDefinition, version: int) -> Carrier | None:
        """Return the step that begins at this version, or None where no file describes one."""
        key = (definition.name, version)
        if key not in self._steps:
            upcast = definition.upcasts.get(version)
            if upcast is None or version not in definition.versions or upcast.to_version not in definition.versions:
                return None
            old, new = definition.versions[version], definition.versions[upcast.to_version]
            self._steps[key] = _proved(upcast, old, new, self._catalog)
        return self._steps[key]

    def version(self, tool: str, number: int) -> ToolVersion:
        """Return a version that a journey went over. Raises KeyError for another one."""
        return (self._catalog.tools if self._catalog else {})[tool].versions[number]

    def is_draft(self, tool: str, number: int) -> bool:
        """Whether a version of a tool is not published; one that no catalog has is nobody's draft."""
        definition = self._definition(tool)
        return definition is not None and self._published.is_draft(definition, number)

    def stand(self, tool: str, carried: Iterable[Recorded]) -> bool:
        """Whether each file that carried a call of a tool is published, and still the one that its event names."""
        return self._published.stand(self._definition(tool), carried)

    def _definition(self, tool: str) -> ToolDefinition | None:
        return self._catalog.tools.get(tool) if self._catalog else None

    def carry(self, tool: str, version: int, to_version: int, arguments: Json) -> Journey:
        """
        Carry a record of a tool from its version as far as to *to_version*. No record makes it raise.

        A file that is published carries as it was published only. One that leads to a draft shows what it would make
        of the record: nothing may run over it (`is_draft`).
        """
        definition = self._definition(tool)
        done: list[Carried] = []
        while version != to_version:
            step = self.step(definition, version) if definition is not None else None
            if step is None or step.upcast.to_version > to_version:
                message = f"no upcast file leads from v{version} towards v{to_version}"
                if to_version < version:
                    message = f"versions only go forward: nothing carries a call of v{version} back to v{to_version}"
                missing = NotCarried(code="no_upcast", pointer="", message=message)
                return Journey(steps=tuple(done), reached=version, stopped=missing)
            found = self._refused(definition, step.upcast) or step.carry(arguments)
            if isinstance(found, NotCarried):
                return Journey(steps=tuple(done), reached=version, stopped=found, at=step.upcast)
            done.append(found)
            arguments, version = found.arguments, step.upcast.to_version
        return Journey(steps=tuple(done), reached=version)

    def _refused(self, definition: ToolDefinition | None, upcast: Upcast) -> NotCarried | None:
        if definition is None or self._published.is_draft(definition, upcast.to_version):
            return None
        return self._published.missing(definition, upcast)

    def reshape(self, tool: str, version: int, to_version: int, arguments: Json) -> Json:
        """
        Return arguments in the form of a later version, to compare them with others: nothing that is made here can run.

        So nothing is proved or certified: what is masked fits no schema, and a file that nobody signed still says which
        calls may be the same. An operation leaves what it knows nothing of; without a file they stay as they are.
        """
        found, reached = arguments, version
        for upcast in self._files(tool, version, to_version):
            found, reached = as_far(upcast.ops, found), upcast.to_version
        return found if reached == to_version else arguments

    def apart(self, tool: str, version: int, to_version: int, older: Json, newer: Json) -> bool:
        """
        Return whether arguments of two versions surely ask for different things, where `reshape` found them different.

        Over changes of form alone they do. Over a change of meaning they do if its file carries a value as it is, and
        the newer arguments have another one there. Nobody can say what no file, or more than that one, lies between.
        """
        found, reached = older, version
        for upcast in self._files(tool, version, to_version):
            found, reached = as_far(upcast.ops, found), upcast.to_version
            if upcast.semantic is not None:
                return reached == to_version and any(_differ(found, newer, pointer) for pointer in upcast.carry)
        return reached == to_version

    def _files(self, tool: str, version: int, to_version: int) -> Iterator[Upcast]:
        """Yield what leads from a version towards a later one, signed or not, as far as there are files."""
        definition = self._definition(tool)
        while definition is not None and version != to_version:
            upcast = definition.upcasts.get(version)
            if upcast is None or upcast.to_version > to_version:
                return
            yield upcast
            version = upcast.to_version


def _differ(one: Json, other: Json, pointer: str) -> bool:
    """Whether both have a value at this place, and not the same; the root as a whole says nothing of its parts."""
    found = at_both(one, other, pointer)
    return found is not None and pointer != "" and key_of(found[0]) != key_of(found[1])


def _proved(upcast: Upcast, old: ToolVersion, new: ToolVersion, catalog: Catalog | None) -> Carrier:
    from ledger.catalog.diff import Settings  # the prover: only who meets a record of another version pays for it
    from ledger.catalog.upcast.certificate import Step

    if catalog is None:
        return Step(upcast, old, new)
    return Step(upcast, old, new, Settings(significant=catalog.significant, formats=catalog.formats))
