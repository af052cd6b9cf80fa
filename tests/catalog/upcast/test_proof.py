"""Proofs, and the records that they carry: the suite says what is right."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ledger.catalog import compile_schema
from ledger.catalog.contract import Contract
from ledger.catalog.diff import RULES, Settings
from ledger.catalog.steps import OPS
from ledger.catalog.upcast.certificate import Step
from ledger.catalog.upcast.proof import NARROWING, place_of, prove
from ledger.catalog.upcast.reading import closed
from ledger.catalog.upcast.records import Carried
from ledger.catalog.upcast_files import read_upcast
from tests.catalog.diff.test_difference import TRAPS
from tests.catalog.upcast.rounds import typed_equal
from tests.catalog.upcast.scenes import closed_object, step, upcast, version

SUITE = json.loads((Path(__file__).parents[2] / "suite/upcasts.json").read_text(encoding="utf-8"))["cases"]
TEXT = {"type": "string"}
RENAME = [{"op": "rename", "from": "/a", "to": "/b"}]


@cache
def steps() -> dict[str, Step]:
    """The steps of the suite by their facts; each is proved once."""
    return {
        case["fact"]: Step(
            read_upcast(case["file"], "f", "t", (1, 2)), version(1, case["old"]), version(2, case["new"])
        )
        for case in SUITE
    }


def made(case: dict[str, Any]) -> Step:
    return steps()[case["fact"]]


@pytest.mark.parametrize("case", SUITE, ids=lambda case: case["fact"])
def test_a_proof_and_its_records_come_out_right(case: dict[str, Any]) -> None:
    """Status, grade and codes are those of the suite; each record becomes exactly its new form, or has its code."""
    the_step, wanted = made(case), case["proof"]
    proof = the_step.proof
    assert (proof.status, proof.grade if proof.holds else None) == (wanted["status"], wanted.get("grade"))
    assert sorted({reason.code for reason in proof.reasons}) == wanted.get("codes", [])
    assert all(reason.message for reason in proof.reasons)
    assert (proof.counterexample is not None) == wanted.get("counterexample", False)
    for record in case.get("records", ()):
        found = the_step.carry(record["record"])
        if "code" in record:
            assert not isinstance(found, Carried)
            assert found.code == record["code"]
            assert found.message
        else:
            assert isinstance(found, Carried)
            assert typed_equal(found.arguments, record["carried"])


def test_what_is_to_be_written_is_all_that_is_missing() -> None:
    """Copied into the file as it stands, it makes the step a proved one; where more is missing, that is told then."""
    written = 0
    for case in SUITE:
        file, proof = case["file"], made(case).proof
        for _ in range(2):
            if proof.write is not None:
                written += 1
                assert not proof.holds
                file = file | json.loads(f"{{{proof.write}}}")
                ends = version(1, case["old"]), version(2, case["new"])
                proof = prove(read_upcast(file, "f", "t", (1, 2)), *ends)
        assert proof.holds or proof.write is None
        assert proof.holds or file == case["file"], case["fact"]
    assert written > 5


def test_a_long_list_of_places_is_cut() -> None:
    """Eight places one by one, then how many more there are."""
    old, new = (closed_object({f"p{at}": {"type": "string", "maxLength": most} for at in range(12)}) for most in (5, 9))
    proof = prove(upcast([]), version(1, old), version(2, new))
    assert proof.write is not None
    places = json.loads(f"{{{proof.write}}}")["widens"]
    assert (len(places), places[-1]) == (9, "4 more places")
    assert proof.write in proof.reasons[0].message
    assert proof.to_wire()["write"] == proof.write


def test_a_counterexample_was_valid_and_is_not_carried() -> None:
    """Each one shown is valid under the old form as it is read, and a step without proof carries nothing."""
    shown = 0
    for case in SUITE:
        proof = made(case).proof
        if proof.counterexample is not None:
            shown += 1
            assert compile_schema(closed(case["old"])).violations(proof.counterexample) == ()
            assert not proof.holds
            assert not isinstance(made(case).carry(proof.counterexample), Carried)
    assert shown > 30


def test_every_trap_is_stopped() -> None:
    """Twelve of twelve: refused by the proof, or, where the file is right, record by record."""
    cases = [case for case in SUITE if "trap" in case]
    assert {case["trap"] for case in cases} == TRAPS
    for case in cases:
        codes = [record.get("code") for record in case["records"]]
        assert case["proof"]["status"] in ("refuted", "unknown") or codes == [
            None,
            "not_the_constant",
            "invalid_before",
        ]
        assert any(codes)


def test_every_operation_is_proved_somewhere() -> None:
    """The suite proves each operation at least once, and stops each one that looks at a value at least once."""
    proved = {op["op"] for case in SUITE for op in case["file"]["ops"] if case["proof"]["status"] == "proved"}
    assert proved == set(OPS)


def test_what_narrows_only_refuses() -> None:
    """The rules that `narrows` may excuse are rules of the difference, and none that turns a meaning."""
    assert RULES.keys() >= NARROWING
    assert not any("default" in code or "description" in code or "property" in code for code in NARROWING)


@pytest.mark.parametrize(
    ("contract", "code"),
    [
        (Contract(effect="write"), "effect_changed"),
        (Contract(effect="read", scopes=("mail",)), "scopes_changed"),
        (Contract(effect="read", supports_idempotency=True), "idempotency_changed"),
        (Contract(effect="read", timeout_seconds=1.0), "contract_changed"),
    ],
)
def test_a_changed_contract_is_no_change_of_form(contract: Contract, code: str) -> None:
    """Another effect, other rights, another promise: a person decides, whatever the schemas say."""
    ends = version(1, closed_object({"a": TEXT})), version(2, closed_object({"b": TEXT}), contract=contract)
    proof = prove(upcast(RENAME, narrows=["all"], widens=["all"]), *ends)
    assert (proof.status, proof.reasons[0].code) == ("refuted", code)


def test_a_tool_may_get_another_name() -> None:
    """With rename_tool the two versions may have different names; without it, or with another one, they may not."""
    schema = closed_object({"a": TEXT})
    ends = version(1, schema, "old_t"), version(2, schema)
    assert prove(upcast([{"op": "rename_tool", "from": "old_t", "to": "t"}]), *ends).grade == "iso"
    for ops in ([], [{"op": "rename_tool", "from": "other", "to": "t"}]):
        assert [reason.code for reason in prove(upcast(ops), *ends).reasons] == ["tool_renamed"]


def test_annotations_that_the_catalog_lists_mean_something() -> None:
    """An annotation of the catalog's own is looked at where its settings name it."""
    old, new = (closed_object({"a": {**TEXT, "x-scale": scale}}) for scale in (1, 10))
    ends = version(1, old), version(2, new)
    assert prove(upcast([]), *ends).holds
    proof = prove(upcast([]), *ends, Settings(significant=frozenset({"x-scale"})))
    assert (proof.status, proof.reasons[0].code) == ("refuted", "significant_changed")


def test_a_schema_that_cannot_be_read_is_unknown() -> None:
    """Neither side makes a proof raise."""
    good = closed_object({"a": TEXT})
    for old, new in (({}, good), (good, {"type": "object", "properties": {"a": {"$ref": "https://x"}}})):
        proof = prove(upcast([]), version(1, old), version(2, new))
        assert (proof.status, proof.reasons[0].code) == ("unknown", "schema_refused")


def test_a_counterexample_without_an_origin_is_looked_for_elsewhere() -> None:
    """The integer just above the bound has too many digits for a text; another text shows the same."""
    old, new = closed_object({"a": TEXT}), closed_object({"a": {"type": "integer", "maximum": 10**4300 - 1}})
    proof = step([{"op": "cast", "path": "/a", "to": "integer"}], old, new).proof
    assert (proof.status, proof.counterexample) == ("refuted", {"a": "example"})


def test_the_default_dialect_is_the_catalogs() -> None:
    """A schema without $schema is read in the catalog's draft."""
    old = closed_object({"a": {"type": "array", "items": [TEXT], "additionalItems": False, "minItems": 1}})
    ends = version(1, old), version(2, closed_object({"a": closed_object({"n": TEXT})}))
    ops = upcast([{"op": "tuple_to_object", "path": "/a", "keys": ["n"]}])
    assert prove(ops, *ends, Settings(dialect="draft-07")).grade == "iso"
    assert prove(ops, *ends).status == "unknown"


def test_the_wire_form_says_everything() -> None:
    """What the command line prints: status, grade, reasons, counterexample and what became of it."""
    wrong = step(RENAME, closed_object({"a": TEXT}), closed_object({"c": TEXT})).proof.to_wire()
    assert list(wrong) == ["status", "grade", "reasons", "counterexample", "image", "write"]
    assert (wrong["status"], wrong["counterexample"], wrong["image"]) == ("refuted", {"a": ""}, {"b": ""})
    assert list(wrong["reasons"][0]) == ["code", "pointer", "message"]


def test_a_place_in_values_has_a_place_in_the_schema() -> None:
    """Names stand under properties, items under items."""
    assert place_of(("a", "*", "b/c")) == "/properties/a/items/properties/b~1c"
