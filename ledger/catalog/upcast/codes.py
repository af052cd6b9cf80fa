"""Why a step is not proved or a record not carried: each code has one meaning, and docs/upcasts.md is made of it."""

from __future__ import annotations

from typing import Final

PROOFS: Final[dict[str, str]] = {
    "semantic": "the file itself says that the meaning changes",
    "not_asserted": "nobody says in the file that every leaf keeps its meaning",
    "absence_not_asserted": "a new option, and nobody says what its absence means",
    "schema_refused": "a schema that cannot be read, or is too large with its references written out",
    "recursive": "the schema refers to itself where operations may reach",
    "path_missing": "there is no such place in the schema",
    "no_schema_there": "the schema says nothing about this place",
    "keyword_above": "a keyword above the place may look at what changes (a combinator, pattern, enum, default, count)",
    "keyword_there": "a keyword at the place looks at the form that changes",
    "parent_open": "the object lets undeclared properties through on purpose",
    "parent_optional": "an object on the way need not be there: absent and empty would become one",
    "undeclared_needed": "the object asks for a property that nothing may be called",
    "collision": "something stands at the new place already (refuted)",
    "exchanged": "what had another place, or was another choice, would stand where the old form had something else",
    "name_turned": "the two names of a rename name two units, or opposites",
    "not_one_key": "no closed object with exactly this required key",
    "not_one_item": "no array of one item, or its items are not described alike",
    "not_this_tuple": "no array of exactly so many described places",
    "not_these_keys": "no closed object with exactly these required keys",
    "not_a_string": "the schema does not say that it is a string",
    "not_an_integer": "no integer: the schema does not say it, or the value is 1.0, true, or has more than 4300 digits",
    "no_enum": "the schema lists no texts to choose from",
    "no_value_left": "no value of the choice has a place in the new form",
    "default_not_mapped": "the default is not among the values that are mapped",
    "default_there": "a default inside would come to speak of the whole",
    "no_type": "the schema names no type, so nobody can say whether it takes null",
    "not_nullable": "the schema does not take null, or nothing else",
    "null_and_absent": "it may be absent as well as null: the two would become one",
    "null_twice": "the other alternative takes null too",
    "null_already": "it takes null already",
    "never_absent": "it is always there",
    "no_constant": "the schema does not require exactly this constant",
    "not_the_same_shape": "a restructure of two forms that do not take the same (refuted)",
    "not_total": "some values of the old form have no image, and the file does not list what it `narrows`",
    "widening_not_listed": "the new form takes more, and the file does not list what it `widens`",
    "wider": "the new form takes more",
}
"""Of a step; beside them stand the codes of the difference between the image and the new form (docs/diff.md)."""

RECORDS: Final[dict[str, str]] = {
    "no_upcast": "no file leads on from this version",
    "not_locked": "the catalog has a lock, and the file does not stand there as it is",
    "invalid_before": "invalid under its own version",
    "undeclared": "it holds a property that its version does not declare",
    "invalid_after": "its image is invalid under the new version",
    "not_round_trip": "it does not come back as it was",
    "no_json": "it has no canonical form (an integer of more than 4300 digits)",
    "collision": "the new name is taken in this record",
    "parent_missing": "the object that it would move into is not there",
    "not_one_key": "no object with exactly this key",
    "not_one_item": "no array of exactly one item",
    "not_this_tuple": "no array of exactly so many items",
    "not_these_keys": "no object with exactly these keys",
    "not_canonical": 'a text that is no integer in its only spelling: "05", "+5", "-0", "5\\n", other digits, "1_000"',
    "not_an_integer": "1.0, true, or an integer of more than 4300 digits",
    "not_mapped": "a value that the file does not map",
    "absent": "absent, where the old form knows only null",
    "null": "null, where the old form knows only absence",
    "not_the_constant": "not exactly the constant: 1 is neither 1.0 nor true",
    "present": "it has what the old form cannot say",
}
"""Of a record; a record whose step is not proved has the first code of the step."""
