"""What a schema calls sensitive is masked wherever its keyword stands, or the schema is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, field_validator

from ledger.catalog import Violation
from ledger.catalog.vocabulary import LIST, MAP, ONE
from ledger.session.redaction import MASK, hidden, sensitive
from tests.catalog.hostile import TEXT, holding
from tests.session.agents import asked, opened

SECRET: dict[str, Any] = {"x-sensitive": True}
CANARY = "canary4711"
TOLD = ("openai", "anthropic")
LONG = f"ab{CANARY}{'x' * 200}"
DRAFT_07 = {"$schema": "http://json-schema.org/draft-07/schema#"}


def deaf(_arguments: Any) -> Any:
    return "done"


def raising(arguments: Any) -> Any:
    raise ValueError(str(arguments))


@dataclass(frozen=True)
class Case:
    """A tool's schema, what it is called with, what it does with it, and where the call should end."""

    schema: Any
    arguments: Any
    tool: Callable[[Any], Any] = deaf
    state: str = "succeeded"
    canary: str = CANARY


def rejected(schema: Any, arguments: Any) -> Case:
    return Case(schema, arguments, state="rejected")


QUOTED = f"{CANARY}\"q'\n\u202e é&{CANARY}"
CASES: dict[str, Case] = {
    # where the mark stands
    "properties": Case(holding(a=SECRET), {"a": CANARY}),
    "writeOnly": Case(holding(a={"writeOnly": True}), {"a": CANARY}),
    "root": Case({"type": "object", **SECRET}, {"a": CANARY}),
    "root through allOf": Case({"type": "object", "allOf": [SECRET]}, {"a": CANARY}),
    "root through a reference": Case(
        {"type": "object", "$ref": "#/$defs/all", "$defs": {"all": SECRET}}, {"a": CANARY}
    ),
    "patternProperties": Case({"type": "object", "patternProperties": {"^a": SECRET}}, {"ab": CANARY}),
    "additionalProperties": Case({"type": "object", "additionalProperties": SECRET}, {"a": CANARY}),
    "unevaluatedProperties": Case({"type": "object", "unevaluatedProperties": SECRET}, {"a": CANARY}),
    "unevaluatedProperties beside additionalProperties": Case(
        {"type": "object", "additionalProperties": True, "unevaluatedProperties": SECRET}, {"a": CANARY}
    ),
    "propertyNames": Case({"type": "object", "propertyNames": SECRET}, {CANARY: 1}, tool=list),
    "propertyNames of a property": Case(
        holding(a={"type": "object", "propertyNames": {**TEXT, **SECRET}}), {"a": {CANARY: 1}}, tool=str
    ),
    "propertyNames through a reference": Case(
        {**holding(a={"propertyNames": {"allOf": [{"$ref": "#/$defs/s"}]}}), "$defs": {"s": SECRET}},
        {"a": {CANARY: {"b": "c"}}},
        tool=lambda arguments: {"names": list(arguments["a"])},
    ),
    "propertyNames inside of what is sensitive": Case(
        holding(a={**SECRET, "additionalProperties": {"propertyNames": SECRET}}), {"a": {"b": {CANARY: 1}}}, tool=str
    ),
    "items": Case(holding(a={"items": SECRET}), {"a": [CANARY]}),
    "prefixItems": Case(holding(a={"prefixItems": [TEXT, SECRET]}), {"a": ["x", CANARY]}),
    "items behind prefixItems": Case(holding(a={"prefixItems": [TEXT], "items": SECRET}), {"a": ["x", CANARY]}),
    "unevaluatedItems": Case(holding(a={"unevaluatedItems": SECRET}), {"a": [CANARY]}),
    "unevaluatedItems beside items": Case(holding(a={"items": {}, "unevaluatedItems": SECRET}), {"a": [CANARY]}),
    "additionalItems": Case(
        {**DRAFT_07, **holding(a={"items": [{}], "additionalItems": SECRET})}, {"a": ["x", CANARY]}
    ),
    "additionalItems alone": Case({**DRAFT_07, **holding(a={"additionalItems": SECRET})}, {"a": [CANARY]}),
    "contains": Case(holding(a={"contains": SECRET}), {"a": [CANARY]}),
    "not": Case(holding(a={"not": {"type": "integer", **SECRET}}), {"a": CANARY}),
    "if": Case(holding(a={"if": SECRET}), {"a": CANARY}),
    "then": Case(holding(a={"if": {"const": 1}, "then": SECRET}), {"a": CANARY}),
    "else": Case(holding(a={"if": TEXT, "else": SECRET}), {"a": CANARY}),
    "anyOf": Case(holding(a={"anyOf": [TEXT, {"type": "null", **SECRET}]}), {"a": CANARY}),
    "oneOf": Case(holding(a={"oneOf": [TEXT, {"type": "null", **SECRET}]}), {"a": CANARY}),
    "dependentSchemas": Case(
        {"type": "object", "dependentSchemas": {"b": {"properties": {"a": SECRET}}}}, {"a": CANARY}
    ),
    "dependencies": Case(
        {**DRAFT_07, "type": "object", "dependencies": {"b": {"properties": {"a": SECRET}}}}, {"a": CANARY}
    ),
    "a reference": Case({**holding(a={"$ref": "#/$defs/s"}), "$defs": {"s": SECRET}}, {"a": CANARY}),
    "beside a reference in draft 7": Case(
        {**DRAFT_07, **holding(a={"$ref": "#/definitions/s", **SECRET}), "definitions": {"s": TEXT}}, {"a": CANARY}
    ),
    "a recursive schema": Case(holding(a=SECRET, b={"$ref": "#"}), {"b": {"b": {"a": CANARY}}}),
    # what becomes of the value
    "a truth value": Case(holding(ill={"type": "boolean", **SECRET}), '{"ill" :true}', canary=" :t"),
    "a number as another one": Case(
        holding(a={"type": "integer", **SECRET}),
        {"a": 47114711},
        tool=lambda arguments: {"twice": float(arguments["a"]), "text": f"{arguments['a']:.1f}"},
        canary="47114711",
    ),
    "a text inside of JSON": Case(holding(a=SECRET), {"a": QUOTED}, tool=json.dumps),
    "a text as Python shows it": Case(holding(a=SECRET), {"a": QUOTED}, tool=str),
    "a text in an exception": Case(holding(a=SECRET), {"a": QUOTED}, tool=raising, state="needs-review"),
    "a text in a URL": Case(
        holding(a=SECRET), {"a": f"{CANARY} /é"}, tool=lambda _: f"https://x/{CANARY}%20/%C3%A9?a={CANARY}%20%2F%C3%A9"
    ),
    "a text in a query": Case(
        holding(a=SECRET), {"a": f"{CANARY} /é"}, tool=lambda _: f"https://x/?a={CANARY}+%2F%C3%A9"
    ),
    "a text with half of a pair, shown by the tool": Case(holding(a=SECRET), {"a": QUOTED}, tool=lambda a: [str(a)]),
    # what the gates say of it
    "too long": rejected(holding(a={"maxLength": 5, **SECRET}), {"a": LONG}),
    "cut in the words": rejected(holding(a={**TEXT, "pattern": "^a$", **SECRET}), {"a": LONG}),
    "escaped in the words": rejected(holding(a={"enum": ["b"], **SECRET}), {"a": QUOTED}),
    "of another type": rejected(holding(a={"type": "object", **SECRET}), {"a": LONG}),
    "below a name that is too long to be told": rejected(
        holding(a={"additionalProperties": {"type": "integer", **SECRET}}), {"a": {"k" * 600: LONG}}
    ),
    "an item of a sensitive list": rejected(holding(a={**SECRET, "items": {"enum": ["b"]}}), {"a": [LONG]}),
    "a name inside": rejected(holding(a={"additionalProperties": False, **SECRET}), {"a": {CANARY: 1}}),
    "a long name inside": rejected(holding(a={"additionalProperties": False, **SECRET}), {"a": {LONG: 1}}),
    "a name on the way": rejected(holding(a={"additionalProperties": TEXT, **SECRET}), {"a": {f"{CANARY}/~": 1}}),
    "a refused name": rejected(holding(a={"propertyNames": {"maxLength": 3, **SECRET}}), {"a": {CANARY: 1}}),
    "a root that does not fit": rejected({**holding(a=TEXT), **SECRET}, {"a": {CANARY: 1}}),
    "a key twice": rejected(holding(a=SECRET), f'{{"a": {{"{CANARY}": 1, "{CANARY}": 2}}}}'),
    "a number out of range": rejected(holding(a=SECRET), f'{{"a": 4711{"0" * 20}e999}}'),
    "half of a pair behind a name": rejected(holding(a=SECRET), f'{{"a": {{"{CANARY}": "\\ud800"}}}}'),
    "a text that was cut": rejected(holding(a=SECRET), f'{{"a": "{CANARY}'),
    "the secret is a word of ours": rejected(holding(a={"maxLength": 2, **SECRET}, b=TEXT), {"a": "keyword", "b": 1}),
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, set[str]]]:
    """How each case ended, and the places where its secret was found: files, and what is told."""
    folder = tmp_path_factory.mktemp("sensitive")
    found: dict[str, tuple[str, set[str]]] = {}
    with opened(folder) as ledger:
        for number, (name, case) in enumerate(CASES.items()):
            ledger.tool(f"tool_{number}", effect="external", schema=case.schema)(taking(case.tool))
            session = ledger.session(name)
            (call,) = session.dispatch(asked((f"tool_{number}", case.arguments))).calls
            records = b"".join(row.record for row in ledger.reader.read(name, limit=100))
            places = {"record": records, **{each: json.dumps(session.messages(each)).encode() for each in TOLD}}
            found[name] = call.state, {place for place, text in places.items() if case.canary.encode() in text}
        found["files"] = "", {path.name for path in folder.iterdir() if CANARY.encode() in path.read_bytes()}
    return found


def taking(tool: Callable[[Any], Any]) -> Any:
    def taker(**arguments: Any) -> Any:
        """Take anything."""
        return tool(arguments)

    return taker


@pytest.mark.parametrize("name", CASES)
def test_no_sensitive_value_is_kept(kept: dict[str, tuple[str, set[str]]], name: str) -> None:
    """Behind each keyword, in each spelling, in the words of each gate: no file and no export holds it."""
    assert kept[name] == (CASES[name].state, set())


def test_every_keyword_that_holds_schemas_is_among_the_cases() -> None:
    """A keyword that comes later is masked behind or refused, too (those that are not here are in test_marks)."""
    assert (ONE | LIST | MAP | {"dependencies"}) - CASES.keys() == {"contentSchema", "$defs", "definitions", "allOf"}


def test_no_file_of_the_ledger_holds_a_secret(kept: dict[str, tuple[str, set[str]]]) -> None:
    """Neither the database nor its write-ahead log, whatever the pages were used for before."""
    assert kept["files"][1] == set()


@pytest.mark.parametrize(
    ("pointer", "keyword", "told"),
    [
        ("/a", "maxLength", "/a"),
        ("/a/0/name", "type", "/a"),
        ("/a/b", "required", None),
        ("/a/b/c", "required", "/a"),
        ("/b/0", "type", None),
        ("/b/1", "type", "/b/1"),
        ("/b/1/x", "type", "/b/1"),
        ("/c", "required", None),
        ("/b/0/x", "required", None),
        ("", "minProperties", None),
    ],
)
def test_a_violation_is_told_as_far_as_it_is_no_secret(pointer: str, keyword: str, told: str | None) -> None:
    """None: as it is. A place is cut at what is masked; a name that the schema requires inside of it may be told."""
    found = Violation(pointer, keyword, "words")
    hid = hidden(found, {"a": MASK, "b": ["x", MASK]})
    assert hid == (found if told is None else Violation(told, keyword, hid.message))
    assert (hid.message == "words") == (told is None)


def test_arguments_that_are_masked_as_a_whole_hide_every_place() -> None:
    """Not even the names of the fields that do not fit are told, but for one that the schema requires."""
    masked, secrets = sensitive({"type": "object", **SECRET}, {"a": 1, "b": None})
    assert (masked, secrets) == ({MASK: MASK}, ("1",))
    assert hidden(Violation("/a/b", "type", "words"), masked).pointer == ""
    assert hidden(Violation("/a", "required", "words"), masked).pointer == "/a"
    assert sensitive({"type": "object", **SECRET}, {"b": None})[1] == ("",)


def test_a_declared_name_is_no_secret() -> None:
    """Where names are sensitive the schema's own are not: alone they mask nothing, beside others they stay words."""
    schema = {"type": "object", "properties": {"kind": TEXT}, "propertyNames": SECRET}
    assert sensitive(schema, {"kind": "x"}) == ({"kind": "x"}, ())
    assert sensitive(schema, {"kind": "x", CANARY: True}) == ({MASK: MASK}, (CANARY, "x"))


def test_a_secret_that_is_a_word_of_ours_breaks_no_record(tmp_path: Path) -> None:
    """The keys of a violation stay what they are; its values are masked."""
    with opened(tmp_path) as ledger:
        ledger.tool("look", schema=holding(a={"enum": ["b"], **SECRET}))(taking(deaf))
        call = ledger.session("s").call("look", {"a": "keyword"}).call
        assert [sorted(each) for each in call.violations] == [["keyword", "message", "pointer"]]


class Login(BaseModel):
    """Arguments with a validator of the host's own, which quotes them."""

    pin: Annotated[str, Field(json_schema_extra=SECRET)]

    @field_validator("pin")
    @classmethod
    def is_refused(cls, pin: str) -> str:
        """Refuse it."""
        raise ValueError(f"not {pin}")


def test_what_a_model_class_quotes_is_masked(tmp_path: Path) -> None:
    """In the printable form of its words, too: a control character is written as an escape there."""
    with opened(tmp_path) as ledger:
        ledger.tool("login", schema=Login)(taking(deaf))
        call = ledger.session("s").call("login", {"pin": f"hunter2\x1b'\"{CANARY}"}).call
        assert (call.code, MASK in (call.message or ""), CANARY in str(call)) == ("schema_validation", True, False)


def test_what_runs_with_its_defaults_is_recorded_masked(tmp_path: Path) -> None:
    """Under `applyDefaults` what runs is not what was asked for; what is recorded of it holds the mask, too."""
    schema = holding(a=SECRET, b={"default": 7}) | {"required": ["a"]}
    with opened(tmp_path) as ledger:

        @ledger.tool("act", effect="external", schema=schema, apply_defaults=True)
        def act(a: str, b: int) -> str:
            """Act."""
            return f"{b} {a == CANARY}"

        found = ledger.session("s").call("act", {"a": CANARY})
        assert (found.result, found.call.executed) == ("7 True", {"a": MASK, "b": 7})
