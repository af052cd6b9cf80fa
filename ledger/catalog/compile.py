"""Compiles a schema once, and says of each value what is wrong with it; it never raises for a value."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from math import isfinite
from types import ModuleType
from typing import Any, Final

from ledger.catalog.equality import MAX_UNIQUE, TooManyToCompare
from ledger.catalog.explain import explain, wanted_type
from ledger.catalog.formats import FORMATS
from ledger.catalog.guard import LIMITS, Guarded, SchemaLimits, guard
from ledger.catalog.prepared import prepare
from ledger.catalog.quick import IsValid, quick_name, quick_of, says_valid
from ledger.catalog.violation import GATE_ERROR, MAX_VIOLATIONS, Violation
from ledger.catalog.vocabulary import Dialect
from ledger.errors import CatalogFault
from ledger.strictjson import Json, resolve, to_pointer

MAX_DEPTH: Final = 64
MAX_POINTER: Final = 500
MAX_ALTERNATIVES: Final = 10
"""So deep unions inside unions are explained; below that the message is general."""
_NOT_FINITE: Final = "NaN and Infinity are no JSON numbers"


class CompiledSchema:
    """
    A schema ready to check values; the schema it was made from can change without changing it.

    The validator that has the last word is made when the quick one does not say "valid" for the first time.
    """

    __slots__ = ("_formats", "_guarded", "_quick", "_validator")

    def __init__(self, guarded: Guarded, formats: frozenset[str], quick: IsValid | None = None) -> None:
        self._guarded = guarded
        self._formats = formats
        self._quick = quick
        self._validator: Any = None

    def _made(self) -> Any:
        if self._validator is None:
            self._validator = self._engine.validator_of(prepare(self._guarded, self._formats), self._guarded.dialect)
        return self._validator

    @property
    def _engine(self) -> ModuleType:
        from ledger.catalog import engine  # jsonschema costs some 60 ms: only who validates pays

        return engine

    def name_for(self, value: Json) -> str:
        """Return name and version of the validator that speaks of this value, as events record it."""
        return self.judged(value)[1]

    def judged(self, value: Json) -> tuple[tuple[Violation, ...], str]:
        """Return what is wrong with *value*, as `violations` does, and the name of the validator that says it."""
        if self._quick is not None and says_valid(self._quick, value):
            return (), quick_name()
        return self._explored(value), str(self._engine.validator_name())

    def violations(self, value: Json) -> tuple[Violation, ...]:
        """
        Return what is wrong with *value*, at most 20, in the order of their places; nothing means valid.

        An exception of the validator itself is one violation whose keyword is `gate_error`.
        """
        return self.judged(value)[0]

    def violations_at(self, place: str, value: Json) -> tuple[Violation, ...]:
        """Return what the schema at a place of this one (RFC 6901) says of a value, as `violations` does."""
        return self._explored(value, place)

    def _explored(self, value: Json, place: str = "") -> tuple[Violation, ...]:
        try:
            if hostile := _hostile(value):
                return (hostile,)
            self._engine.fill_budget()
            validator = self._made()
            if place:
                validator = validator.evolve(schema=resolve(validator.schema, place))
            if validator.is_valid(value):
                return ()
            self._engine.fill_budget()
            found = islice(self._explained(validator.iter_errors(value), (), 0), MAX_VIOLATIONS)
            return tuple(violation for _, violation in sorted(found, key=lambda pair: (pair[0], pair[1].keyword)))
        except TooManyToCompare as found:  # also inside of `not`: nobody says of such a list that its items are equal
            return (_too_long(value, found.items),)
        except Exception as error:  # noqa: BLE001 - whatever a validator raises is an outcome of this gate
            message = f"the schema gate itself failed ({type(error).__name__}); nothing is known about the arguments"
            return (Violation("", GATE_ERROR, message),)

    def _explained(self, errors: Any, above: tuple[str | int, ...], level: int) -> Any:
        """Yield a sortable place and the violation for each error; a union's is that of the alternative meant."""
        for error in errors:
            path = above + tuple(error.path)
            keyword = str(error.validator)
            if keyword in ("anyOf", "oneOf"):
                yield from self._union(error, path, level)
            else:
                name = str(path[-1]) if path else ""
                message = explain(keyword, error.validator_value, error.instance, error.schema or {}, name)
                yield _placed(path, keyword, message)

    def _union(self, error: Any, path: tuple[str | int, ...], level: int) -> Any:
        if error.message == self._engine.MANY:
            yield _placed(path, "oneOf", "matches more than one alternative, and may match one only")
            return
        value, nodes = error.instance, error.validator_value
        branches = [
            list(islice(self._engine.errors_of(self._validator, node, value), MAX_VIOLATIONS)) for node in nodes
        ]
        kin = [branch for branch in branches if not any(map(_of_another_kind, branch))]
        if all(len(branch) == 1 and _wrong_type(branch[0]) for branch in branches):
            types = [branch[0].validator_value for branch in branches]
            flat = [name for each in types for name in ([each] if isinstance(each, str) else each)]
            yield _placed(path, "type", wanted_type(list(dict.fromkeys(flat)), value))
        elif len(kin) == 1 and level < MAX_ALTERNATIVES:
            yield from self._explained(kin[0], path, level + 1)
        else:
            yield _placed(path, str(error.validator), explain(str(error.validator), nodes, value, {}, ""))


def compile_schema(
    schema: Json,
    *,
    formats: frozenset[str] = frozenset(),
    limits: SchemaLimits = LIMITS,
    dialect: Dialect = "2020-12",
    path: str = "",
) -> CompiledSchema:
    """
    Return *schema* compiled; raises CatalogFault with the pointer of what is wrong with it.

    *formats* names the values of `format` that assert (none by default, see formats.py). *dialect* is what a schema
    means that names none. *path* names the file in messages.
    """
    if unknown := sorted(formats - FORMATS.keys()):
        raise CatalogFault(f"these formats cannot assert: {', '.join(unknown)}", path=path)
    guarded = guard(schema, limits=limits, dialect=dialect, path=path)
    from ledger.catalog import engine  # jsonschema costs some 60 ms: only who validates pays

    engine.check_meta_schema(guarded.schema, guarded.dialect)
    return compile_guarded(guarded, formats)


def compile_guarded(guarded: Guarded, formats: frozenset[str] = frozenset()) -> CompiledSchema:
    """
    Return a schema that passed the guard compiled, without asking the published meta-schema once more.

    For schemas that are only tried on: the guard is as strict, and the meta-schema takes most of the time.
    """
    return CompiledSchema(guarded, formats, quick_of(guarded, formats))


def _placed(path: tuple[str | int, ...], keyword: str, message: str) -> tuple[Any, Violation]:
    """Return a key that sorts indexes as numbers, and the violation."""
    order = tuple((isinstance(step, str), 0 if isinstance(step, str) else step, str(step)) for step in path)
    pointer = to_pointer(path)
    while len(pointer) > MAX_POINTER:  # a name that a model made up may be as long as all its arguments
        path = path[:-1]
        pointer = to_pointer(path)
    return order, Violation(pointer, keyword, message, cut=len(path) < len(order))


def _wrong_type(error: Any) -> bool:
    return error.validator == "type" and not error.path


def _of_another_kind(error: Any) -> bool:
    """Whether this error says that its alternative was not meant: another type, or another tag in a tagged union."""
    return _wrong_type(error) or (error.validator in ("const", "enum", "false") and len(error.path) <= 1)


def _hostile(value: Json) -> Violation | None:
    """Look for what a decoder never lets through, before anything recurses: NaN, infinity, a depth above 64."""
    if isinstance(value, float) and not isfinite(value):
        return Violation("", "finite", _NOT_FINITE)
    for path, each in _containers(value):
        if len(path) >= MAX_DEPTH:
            return Violation(to_pointer(path[:3]), "depth", f"nested deeper than {MAX_DEPTH}")
        for place, below in each.items() if isinstance(each, dict) else enumerate(each):
            if isinstance(below, float) and not isfinite(below):
                return Violation(to_pointer((*path, place)), "finite", _NOT_FINITE)
    return None


def _too_long(value: Json, items: list[Json]) -> Violation:
    """Return the violation of a list that is too long to be compared; the validator names the list, not its place."""
    place = next((path for path, each in _containers(value) if each is items), ())
    message = f"has {len(items)} items that must all differ; at most {MAX_UNIQUE} are allowed, send fewer at a time"
    return _placed(place, "uniqueItems", message)[1]


def _containers(value: Json) -> Iterator[tuple[tuple[str | int, ...], Json]]:
    """Yield each object and list with its path, without recursion."""
    waiting: list[tuple[tuple[str | int, ...], Json]] = [((), value)] if isinstance(value, dict | list) else []
    while waiting:
        path, each = waiting.pop()
        yield path, each
        entries = each.items() if isinstance(each, dict) else enumerate(each)
        waiting.extend(((*path, place), below) for place, below in entries if isinstance(below, dict | list))
