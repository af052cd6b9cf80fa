"""The rules of a difference: each has a stable code, what it says, and the verdict that it leads to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from ledger.strictjson import Json, JsonObject

Verdict: TypeAlias = Literal[
    "identical", "annotation", "dialect", "iso", "embed", "widening", "semantic", "incompatible"
]
VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)
"""From nothing to the worst: a difference is as bad as its worst finding."""

ANNOTATION: Final[dict[str, str]] = {
    "title_changed": "another title",
    "description_changed": "another description, with no sign that the meaning turned",
    "examples_changed": "other examples",
    "annotation_changed": "another annotation that no catalog lists as significant",
    "metadata_changed": "other words of the tool beside its schema (icons, _meta, useWhen, runbook …)",
    "lifecycle_changed": "other dates or another replacement in the contract",
    "rewritten": "the same schema in another order, or under another $id",
}
DIALECT: Final[dict[str, str]] = {
    "draft_changed": "the same schema under another draft of JSON Schema",
    "spelling_changed": "the same values in another spelling (null, references, allOf, const, definitions)",
    "nullable_spelling": "OpenAPI's `nullable` became a real null; JSON Schema never read `nullable`",
}
ISO: Final[dict[str, str]] = {
    "bound_equivalent": "another bound that accepts exactly the same values",
    "pattern_equivalent": "another pattern that accepts exactly the same texts (decided on automata)",
}
EMBED: Final[dict[str, str]] = {
    "tool_added": "another tool in a list of tools",
    "property_added": "a new optional property without a default, where no other properties were allowed",
}
WIDENING: Final[dict[str, str]] = {
    "property_added_open": "a new optional property where undeclared ones were let through: old arguments that "
    "happen to carry that name are read now",
    "required_dropped": "a property need not be given any more",
    "enum_widened": "more values to choose from",
    "type_added": "another type is accepted too",
    "null_added": "null is accepted too",
    "number_widened": "an integer became any number",
    "bound_widened": "a wider bound",
    "pattern_widened": "the pattern accepts more texts (decided on automata), or is gone",
    "object_opened": "properties that nobody declared are let through now",
    "items_added": "an array takes more items than it had places for",
    "alternative_added": "another alternative of a union",
    "condition_dropped": "a condition is gone (not, if, contains, oneOf …)",
    "dependency_dropped": "a property no longer needs another one",
}
SEMANTIC: Final[dict[str, str]] = {
    "required_added": "a property has to be given now: old arguments have no value for it, and none is invented",
    "required_added_with_default": "a property has to be given now; a `default` is an annotation and fills nothing in",
    "absent_became_null": "a property may no longer be left out, but may be null now, as a provider's strict mode "
    "wants it: an upcast can carry that, a validator cannot",
    "property_added_with_default": "a new optional property with a default: absent means something new",
    "property_ignored": "a property is gone where undeclared ones are let through: it still validates and is ignored",
    "property_undeclared": "a property is covered only by a rule for all other names now",
    "property_claimed": "a name that was free data is a property of its own now",
    "default_added": "absent means something new",
    "default_removed": "absent means something else",
    "default_changed": "absent means something else",
    "format_added": "a text is read in a format now, which validators need not check",
    "format_removed": "a text is no longer read in a format",
    "format_changed": "a text is read in another format",
    "encoding_changed": "contentEncoding, contentMediaType or contentSchema changed",
    "significant_changed": "an annotation, or a condition, changed what values mean (x-unit, those of catalog.json)",
    "write_only_changed": "the value is kept secret, or no longer is",
    "enum_narrowed": "values are gone from the choice, or a choice was introduced",
    "number_spelling": "an integer became a float, or the other way round (1 and 1.0 are different values here)",
    "number_narrowed": "a number must be whole now",
    "bound_narrowed": "a tighter bound",
    "pattern_narrowed": "a pattern refuses texts that were right",
    "pattern_changed": "another pattern; which texts it refuses was not decided",
    "null_removed": "null is refused now",
    "null_absent_merged": "null and absent were two answers; only one of them is left",
    "object_closed": "properties that nobody declared are refused now",
    "patterns_changed": "other rules for names of properties",
    "condition_added": "a condition was added that is compared by its text only (not, if, contains, oneOf …)",
    "dependency_added": "a property needs another one now",
    "description_reversed": "a description or title says the opposite: a negation came or went, a word became its "
    "opposite, or two parts changed places",
    "description_unit": "a description or title names another unit, currency or form of date",
    "description_default": "a description or title names another default",
    "effect_changed": "the tool's effect changed (read, write, external)",
    "idempotency_changed": "whether the tool takes an idempotency key changed",
    "scopes_changed": "the tool needs other rights",
    "contract_changed": "another word of the contract changed",
    "hint_changed": "an MCP hint changed (readOnlyHint, destructiveHint, idempotentHint, openWorldHint)",
    "tool_renamed": "the tool has another name",
    "output_changed": "the schema of the tool's result changed",
    "schema_added": "there was no schema, and now there is one: nothing is known of the old arguments",
    "not_proved": "no rule found fault, but that every old value stays valid could not be proved",
}
INCOMPATIBLE: Final[dict[str, str]] = {
    "property_removed": "a property is gone and other ones are refused: what it said has no place any more",
    "type_changed": "no old type is left",
    "type_removed": "a type is refused now",
    "type_cast": 'a text became an integer or the other way round; "05" and 5 are not each other\'s spelling',
    "array_wrapped": "a value became an array of such values",
    "array_unwrapped": "an array became one value: two items have no place",
    "items_removed": "a place of an array takes nothing any more",
    "alternative_removed": "an alternative of a union is gone",
    "schema_missing": "there was a schema and now there is none: an error, not a version",
    "tool_removed": "the tool is gone",
}

_TABLE: Final[tuple[tuple[Verdict, dict[str, str]], ...]] = (
    ("annotation", ANNOTATION),
    ("dialect", DIALECT),
    ("iso", ISO),
    ("embed", EMBED),
    ("widening", WIDENING),
    ("semantic", SEMANTIC),
    ("incompatible", INCOMPATIBLE),
)
RULES: Final[dict[str, tuple[Verdict, str]]] = {
    code: (verdict, meaning) for verdict, rules in _TABLE for code, meaning in rules.items()
}
"""Verdict and meaning by code. A code is never used for something else; docs/diff.md is made of this table."""


@dataclass(frozen=True, slots=True)
class Finding:
    """
    One difference: `pointer` (RFC 6901) is its place in the new schema, in the old one for what is gone.

    `old` and `new` are what stood and stands there; None for nothing (and for null).
    """

    code: str
    pointer: str
    old: Json
    new: Json
    message: str

    @property
    def verdict(self) -> Verdict:
        """What this finding alone leads to."""
        return RULES[self.code][0]

    def to_wire(self) -> JsonObject:
        """Return it as the command line prints it."""
        return {
            "code": self.code,
            "pointer": self.pointer,
            "old": self.old,
            "new": self.new,
            "message": self.message,
        }


def worst(verdicts: list[Verdict]) -> Verdict:
    """Return the worst of *verdicts*; of none, `identical`."""
    return max(verdicts, key=VERDICTS.index, default="identical")
