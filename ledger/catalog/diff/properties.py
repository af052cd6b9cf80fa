"""Compares what two cells say of an object's properties: gone, new, required, let through undeclared."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ledger.catalog.diff.cells import Child, Objects
from ledger.catalog.diff.leaves import sizes
from ledger.catalog.diff.notes import Below, Note, Outcome, Pair, Said
from ledger.catalog.diff.prove import is_open, regions
from ledger.catalog.diff.space import Space
from ledger.catalog.diff.texts import Undecided, shortest
from ledger.catalog.words import shown
from ledger.strictjson import Json

_FIELDS = ("properties",)


def objects(pair: Pair) -> Said:
    """Compare every property that one of both declares, then the undeclared ones, then sizes and dependencies."""
    old, new = pair.old.objects, pair.new.objects
    for name in sorted(old.names | new.names | old.required | new.required):
        yield from _Property(pair, name).said()
    yield from _undeclared(pair, old, new)
    yield from sizes(pair, ("minProperties", "maxProperties"), lambda count: _sized(pair, count))
    yield from _needs(pair, old, new)


class _Property:
    """One name on both sides."""

    def __init__(self, pair: Pair, name: str) -> None:
        self.pair = pair
        self.name = name
        self.old, self.new = pair.old.objects, pair.new.objects
        self.here, self.there = pair.here.named(self.old, name), pair.there.named(self.new, name)
        self.possible = pair.here.leaf(self.here), pair.there.leaf(self.there)
        self.needed = name in self.old.needed(), name in self.new.needed()

    def said(self) -> Said:
        declared = (
            self.name in self.old.names and self.possible[0],
            self.name in self.new.names and self.possible[1],
        )
        match declared:
            case True, True:
                yield from self._both()
            case True, False:
                yield from self._gone()
            case False, True:
                yield from self._came()
            case _:
                yield from self._required()
                if self.possible[0] and not self.possible[1]:
                    yield self._refused()
                elif self.possible[1] and self.name in self.old.names and not self.possible[0]:
                    message = f"{shown(self.name)} was refused by name and is let through now"
                    yield Note(code="object_opened", message=message, keywords=_FIELDS, name=self.name)

    def _both(self) -> Said:
        nullable = _nullable(self.pair.here, self.here), _nullable(self.pair.there, self.there)
        yield from self._required(nullable=nullable)
        yield Below(old=self.here, new=self.there, step=self.name, optional=not self.needed[0] and not self.needed[1])

    def _required(self, *, nullable: tuple[bool, bool] = (False, False)) -> Said:
        if self.needed[1] and not self.needed[0]:
            code, message = "required_added", f"{shown(self.name)} has to be given now"
            if nullable == (True, True):
                code = "null_absent_merged"
                message = f"{shown(self.name)} was null, absent or a value; absent is refused now"
            elif nullable == (False, True):
                code = "absent_became_null"
                message = f"{shown(self.name)} has to be given now, as null where it was left out"
            elif has_default(self.pair.there, self.there):
                code = "required_added_with_default"
                message += "; its default fills nothing in"
            yield Note(
                code=code,
                message=message,
                keywords=("required",),
                old=False,
                new=True,
                outcome="refused",
                tries=self._without,
            )
        elif self.needed[0] and not self.needed[1]:
            message = f"{shown(self.name)} need not be given any more"
            yield Note(code="required_dropped", message=message, keywords=("required",), old=True, new=False)

    def _gone(self) -> Said:
        name = shown(self.name)
        outcome: Outcome = "refused"
        if not self.possible[1]:
            code, message = "property_removed", f"{name} is refused now{self._alike()}"
        elif self.pair.there.free(self.there):
            code, outcome = "property_ignored", "ignored"
            message = f"{name} still validates, and nobody reads it{self._alike()}"
        else:
            code, outcome = "property_undeclared", "reinterpreted"
            message = f"{name} is covered only by a rule for all other names now"
            yield Below(old=self.here, new=self.there, step=self.name)
        yield Note(
            code=code,
            message=message,
            keywords=_FIELDS,
            name=self.name,
            step=self.name,
            outcome=outcome,
            tries=partial(_one, self.pair, self.here),
        )

    def _alike(self) -> str:
        """Name a new property that may be this one: a hint for a person, never a reason to carry anything."""
        come = sorted(self.new.names - self.old.names)
        near = [other for other in come if _folded(other) == _folded(self.name)]
        if _described(self.pair.here, self.here):
            near += [other for other in come if self.pair.here.same(self.here, self.pair.there, self._of(other))]
        return f"; {shown(near[0])} looks like it" if near else ""

    def _of(self, name: str) -> Child:
        return self.pair.there.named(self.new, name)

    def _came(self) -> Said:
        name, default = shown(self.name), has_default(self.pair.there, self.there)
        if self.needed[1] and not self.needed[0]:
            yield from self._required()
        elif self.needed[0]:
            yield self._new("property_claimed", f"{name} had to be given undeclared, and is declared now")
        elif default:
            message = f"{name} is new, and absent means its default now"
            yield self._new("property_added_with_default", message)
        elif not self.possible[0]:
            yield self._new("property_added", f"{name} can be given now")
        elif is_open(self.old, self.name):
            message = f"{name} can be given now; old arguments that carried it undeclared are read"
            yield self._new("property_added_open", message)
        else:
            message = f"{name} was free data, and is a property of its own now"
            yield self._new("property_claimed", message)

    def _refused(self) -> Note:
        return Note(
            code="object_closed",
            message=f"{shown(self.name)} was let through undeclared and is refused now",
            keywords=_FIELDS,
            name=self.name,
            step=self.name,
            outcome="refused",
            tries=partial(_one, self.pair, self.here),
        )

    def _new(self, code: str, message: str) -> Note:
        absent = code == "property_added_with_default"
        return Note(
            code=code,
            message=message,
            keywords=_FIELDS,
            name=self.name,
            step=None if absent else self.name,
            outcome="reinterpreted",
            tries=self._without if absent else _anything,
        )

    def _without(self) -> Iterator[Json]:
        yield self.pair.examples.cell(self.pair.old)


def _anything() -> Iterator[Json]:
    """Yield values that an undeclared property may have."""
    yield from ({}, [], "", 0, None, True)


def _folded(name: str) -> str:
    """Return a name without what conventions differ in: `perPage` and `per_page` are one."""
    return "".join(char for char in name.casefold() if char not in "_-. ")


def _one(pair: Pair, child: Child) -> Iterator[Json]:
    yield pair.examples.of(child)


def _nullable(space: Space, child: Child) -> bool:
    return any(cell.kind == "null" for cell in space.cells(child))


def _described(space: Space, child: Child) -> bool:
    return any(isinstance(node := space.nodes[pointer], dict) and "description" in node for pointer in child)


def has_default(space: Space, child: Child) -> bool:
    """Whether one of the schemas that look at a value has a default for it."""
    sources = {source for cell in space.cells(child) for source in cell.sources} | child
    return any(isinstance(node := space.nodes[source], dict) and "default" in node for source in sources)


def _undeclared(pair: Pair, old: Objects, new: Objects) -> Said:
    if old.patterns != new.patterns:
        yield Note(
            code="patterns_changed",
            message="names of properties are sorted by other patterns",
            keywords=("patternProperties",),
            outcome="refused",
            tries=lambda: _sorted(pair, old, new),
        )
        return
    keywords = ("additionalProperties", "unevaluatedProperties")
    for matching in regions(old.patterns):
        here, there = old.under(matching), new.under(matching)
        name = _name(matching, old.patterns, old.names | new.names)
        before, after = pair.here.leaf(here), pair.there.leaf(there)
        if before and not after:
            yield Note(
                code="object_closed",
                message="properties that are not declared are refused now",
                keywords=keywords,
                step=name,
                outcome="refused",
                tries=partial(_one, pair, here),
            )
        elif after and not before:
            yield Note(code="object_opened", message="properties that are not declared pass now", keywords=keywords)
        elif not matching and old.declares and pair.here.free(here) and not pair.there.free(there):
            yield Note(
                code="object_closed",
                message="properties that are not declared are held to a schema now",
                keywords=keywords,
                step=name,
                outcome="refused",
                tries=_anything,
            )
        elif not (pair.here.free(here) and pair.there.free(there)):
            yield Below(old=here, new=there, step=name)


def _sorted(pair: Pair, old: Objects, new: Objects) -> Iterator[Json]:
    """Yield an object for each combination of patterns."""
    patterns = old.patterns | new.patterns
    for matching in regions(patterns):
        value = pair.examples.of(old.under(matching & old.patterns))
        yield pair.examples.cell(pair.old, 0, {_name(matching, patterns, old.names | new.names): value})


def _name(matching: frozenset[str], patterns: frozenset[str], taken: frozenset[str]) -> str:
    """Return a name that matches just these patterns."""
    if not patterns:
        name = "undeclared"
        while name in taken:
            name += "_"
        return name
    try:
        return shortest(matching, patterns - matching) or ""
    except Undecided:
        return ""


def _sized(pair: Pair, count: int) -> Iterator[Json]:
    names = sorted(pair.old.objects.names - pair.old.objects.needed())
    given: dict[str | int, Json] = {}
    for name in names[: max(count - len(pair.old.objects.needed()), 0)]:
        given[name] = pair.examples.of(pair.here.named(pair.old.objects, name))
    yield pair.examples.cell(pair.old, 0, given)


def _needs(pair: Pair, old: Objects, new: Objects) -> Said:
    keywords = ("dependentRequired", "dependencies")
    for name, wanted in sorted(new.needs, key=lambda each: (each[0], sorted(each[1]))):
        missing = sorted(wanted - old.needed(frozenset([name])))
        if missing:
            yield Note(
                code="dependency_added",
                message=f"{shown(name)} needs {', '.join(map(shown, missing))} now",
                keywords=keywords,
                step=name,
                outcome="refused",
                tries=partial(_one, pair, pair.here.named(old, name)),
            )
    for name, wanted in sorted(old.needs, key=lambda each: (each[0], sorted(each[1]))):
        if not wanted <= new.needed(frozenset([name])):
            message = f"{shown(name)} no longer needs {', '.join(map(shown, sorted(wanted)))}"
            yield Note(code="dependency_dropped", message=message, keywords=keywords)
