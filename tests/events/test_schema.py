"""The published shape of every event."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from ledger.events import BODIES, Body, CallFailed, CallFlagged, CallStarted, Event, encode
from ledger.events.fields import fields_of
from ledger.events.meanings import BODY, ENVELOPE
from ledger.events.schema import FOLDER, files, main, schema_of
from ledger.strictjson import loads
from tests.events.samples import CALL, CLASSES, event, events, full, small

ROOT = Path(__file__).resolve().parents[2]
VALIDATORS = {name: Draft202012Validator(schema_of(name)) for name in BODIES}


def faults(record: dict[str, Any]) -> list[str]:
    """Return where a record does not fit the schema of its type."""
    return sorted(fault.json_path for fault in VALIDATORS[record["type"]].iter_errors(record))


def record_of(original: Event) -> dict[str, Any]:
    """Return an event as it is recorded."""
    record: dict[str, Any] = loads(encode(original).record(1))
    return record


def test_the_published_files_are_those_of_the_code() -> None:
    """`schemas/events/` holds exactly what the code makes; `make docs` writes it again."""
    found = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / FOLDER).iterdir()}
    assert found == files()


def test_the_files_can_be_written_anywhere(tmp_path: Path) -> None:
    """The folder is made where it is missing, with one file for each type."""
    main(tmp_path / "new")
    assert {path.name for path in (tmp_path / "new").iterdir()} == {f"{name}.schema.json" for name in BODIES}


@pytest.mark.parametrize("name", BODIES)
def test_every_schema_is_one(name: str) -> None:
    """Each schema is valid under the dialect that it names, and is known by type and format."""
    schema = schema_of(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:toolcall-ledger:event:{name}:1"
    assert schema["description"]


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("make", [small, full])
def test_samples_of_every_type_fit(cls: type[Body], make: Any) -> None:
    """An event with all of its fields and one with none but the required ones fit their schema."""
    assert faults(record_of(event(make(cls), **CALL))) == []


@given(events())
def test_any_recorded_body_fits(original: Event) -> None:
    """Whatever the body holds, what is recorded of it fits the schema."""
    assert [place for place in faults(record_of(original)) if place.startswith("$.body")] == []


@pytest.mark.parametrize("cls", CLASSES)
def test_schemas_know_every_key(cls: type[Body]) -> None:
    """No key of a full record is missing in its schema, around the body or in it."""
    record = record_of(event(full(cls), **CALL))
    properties = schema_of(record["type"])["properties"]
    assert record.keys() <= properties.keys()
    assert record["body"].keys() <= properties["body"]["properties"].keys()


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"sequence": 0}, "$.sequence"),
        ({"recordedAt": "yesterday"}, "$.recordedAt"),
        ({"type": "call.ended"}, "$.type"),
        ({"format": 2}, "$.format"),
        ({"turn": "1"}, "$.turn"),
        ({"sessionId": ""}, "$.sessionId"),
        ({"body": {"reason": "tired"}}, "$.body.reason"),
        ({"body": {"reason": "not-started", "duplicateOf": 5}}, "$.body.duplicateOf"),
        ({"body": {}}, "$.body"),
    ],
)
def test_what_does_not_fit_is_found(change: dict[str, Any], place: str) -> None:
    """A record that breaks the shape is refused at the place where it does."""
    record = record_of(event(CallFlagged(reason="not-started"))) | change
    found = VALIDATORS["call.flagged"].iter_errors(record)
    assert [fault.json_path for fault in found] == [place]


@pytest.mark.parametrize("key", ["callId", "tool", "turn", "index", "revision"])
def test_call_events_say_which_call(key: str) -> None:
    """An event of a call names its call, its tool and its place in the conversation."""
    record = record_of(event(CallFlagged(reason="not-started")))
    del record[key]
    assert faults(record) == ["$"]


def test_schemas_tell_the_defaults() -> None:
    """What an absent key reads as stands in the schema."""
    properties = schema_of("call.succeeded")["properties"]["body"]["properties"]
    assert (properties["status"]["default"], properties["encodings"]["default"]) == ("ok", [])
    assert "default" not in properties["result"]


def test_types_of_fields_are_told() -> None:
    """Texts, numbers, arrays and closed sets of the classes are those of the schema, null where it may stand."""
    body = schema_of("call.started")["properties"]["body"]["properties"]
    assert body["token"]["type"] == "integer"
    assert (body["resourceKeys"]["type"], body["resourceKeys"]["items"]) == (["array", "null"], {"type": "string"})
    failed = schema_of("call.failed")["properties"]["body"]["properties"]
    assert failed["retryAfter"]["type"] == ["number", "null"]
    assert failed["errorClass"]["enum"] == ["environment", "model", "policy", "tool"]
    late = schema_of("call.outcome_arrived_late")["properties"]["body"]["properties"]
    assert late["errorClass"]["enum"] == ["environment", "model", "policy", "tool", None]


def test_descriptions_use_the_names_of_the_wire() -> None:
    """The class's own words are published with camelCase keys; values are left as they are."""
    assert "`rawArguments`" in schema_of("call.proposed")["description"]
    assert "`not_found`" in schema_of("call.succeeded")["description"]
    assert "_" not in (schema_of("call.flagged")["description"])


def test_no_meaning_is_left_over() -> None:
    """Every key that is explained exists, and every key of the envelope is explained."""
    keys = {field.key for cls in CLASSES for field in fields_of(cls)}
    assert set(BODY) - keys == set()
    assert set(ENVELOPE) == set(schema_of("call.started")["properties"])


def test_catalog_events_name_their_tool() -> None:
    """An event of the catalog names the tool that it is about."""
    assert "tool" in schema_of("tool.stage_changed")["required"]
    assert "tool" not in schema_of("session.opened")["required"]


def test_a_start_fits() -> None:
    """A start with everything that the worker knows fits."""
    body = CallStarted(
        idempotency_key="k", worker="host:1", token=3, resource_keys=("a",), deadline="2026", arguments={}
    )
    assert faults(record_of(event(body, attempt=1))) == []
    assert faults(record_of(event(CallFailed(code="x", error_class="tool", message=""), attempt=1))) == []
