"""Resource keys say which calls conflict; in doubt a call conflicts with everything."""

from typing import Any

import pytest

from ledger.catalog import build_tool
from ledger.catalog.guard import guard_input
from ledger.catalog.resources import MAX_KEYS, check_reach, check_template, keys_of
from ledger.errors import CatalogFault, ToolMisfit

ARGUMENTS = {
    "path": "a.py",
    "n": 5,
    "paths": ["a", "b"],
    "to": {"id": 7},
    "none": None,
    "on": True,
    "x": {"y": [1]},
    "whole": [7.0, 7.5],
}


@pytest.mark.parametrize(
    ("templates", "keys"),
    [
        (("workspace",), {"workspace"}),
        ((), set()),
        (("/path",), {"path:a.py"}),
        (("/to/id", "/n"), {"to/id:7", "n:5"}),
        (("/paths",), {"paths:a", "paths:b"}),
        (("file:{path}",), {"file:a.py"}),
        (("{to/id}:{n}",), {"7:5"}),
        (("{paths}-{paths}",), {"a-a", "a-b", "b-a", "b-b"}),
        (("/on",), {"on:true"}),
        (("/whole", "n:{whole}"), {"whole:7", "n:7", "whole:7.5", "n:7.5"}),
        (("/to",), {'to:{"id":7}'}),
        (None, None),
        (("/gone",), None),
        (("a", "file:{gone}"), None),
        (("/none",), None),
    ],
)
def test_templates_are_filled_from_the_arguments(templates: Any, keys: Any) -> None:
    """Constants, pointers and templates; a field that is absent or null makes the resource unknown."""
    assert keys_of(templates, None, ARGUMENTS) == keys


@pytest.mark.parametrize(
    ("answer", "keys"),
    [
        (["a", "b"], {"a", "b"}),
        ("a", {"a"}),
        ((), set()),
        (None, None),
        (5, None),
        ([5], None),
        (map(str, range(5_000)), None),
    ],
)
def test_a_function_wins_over_templates(answer: Any, keys: Any) -> None:
    """What it returns is taken if it is a list of texts, not too many; anything else is unknown."""
    assert keys_of(("workspace",), lambda _: answer, ARGUMENTS) == keys


def test_a_function_gets_a_copy_and_may_fail() -> None:
    """Its exceptions mean unknown, and what it does to the arguments stays with it."""

    def fails(arguments: Any) -> Any:
        arguments["x"]["y"].append(2)
        raise RuntimeError

    assert keys_of((), fails, ARGUMENTS) is None
    assert ARGUMENTS["x"] == {"y": [1]}


def test_keys_are_bounded() -> None:
    """A product of long lists is unknown, not a million keys."""
    many = [str(n) for n in range(MAX_KEYS)]
    assert keys_of(("/a",), None, {"a": many}) == frozenset(f"a:{n}" for n in many)
    assert keys_of(("{a}{a}",), None, {"a": many}) is None


@pytest.mark.parametrize("template", ["{", "a}", "{a}{", "{}"])
def test_a_stray_brace_is_a_fault(template: str) -> None:
    """A template that would never be filled is refused when the catalog is read."""
    with pytest.raises(CatalogFault, match="stray brace"):
        check_template(template)
    check_template("/{")


TEXT: dict[str, Any] = {"type": "string"}
NOTE: dict[str, Any] = {
    "type": "object",
    "required": ["asked"],
    "properties": {
        "path": TEXT,
        "to": {"$ref": "#/$defs/to"},
        "tags": {"type": "array", "items": TEXT},
        "free": {},
        "map": {"type": "object", "additionalProperties": TEXT},
        "none": False,
    },
    "allOf": [{"properties": {"also": {"anyOf": [TEXT, {"type": "object", "properties": {"id": TEXT}}]}}}],
    "$defs": {"to": {"type": "object", "additionalProperties": False, "properties": {"id": TEXT}}},
}


@pytest.mark.parametrize(
    "template",
    [
        "constant",
        "/path",
        "file:{path}",
        "/to",
        "/to/id",
        "{to/id}:{path}",
        "/tags/0",
        "/free/any",
        "/map/any",
        "/also/id",
        "/asked",
        "/asked/any",
    ],
)
def test_a_place_that_the_arguments_may_have_is_fine(template: str) -> None:
    """Through references and combinators; anything below what says nothing or is open; what is required."""
    check_reach([template], guard_input(NOTE))


@pytest.mark.parametrize(
    ("template", "because"),
    [
        ("/nope", "names no property of the schema"),
        ("/pth", 'did you mean "path"?'),
        ("file:{pth}", 'did you mean "path"?'),
        ("/to/ix", 'There is "id".'),
        ("/to/id/more", "names no property"),
        ("/path/0", "names no property"),
        ("/none/x", "names no property"),
        ("/", "names no property"),
        ("/a~2", "no JSON pointer"),
    ],
)
def test_a_place_that_no_arguments_have_is_refused(template: str, because: str) -> None:
    """It would make the resource unknown, so that the tool runs alone, and nobody would be told."""
    with pytest.raises(CatalogFault) as fault:
        check_reach(["constant", template], guard_input(NOTE), path="tool.json", pointer="/p")
    assert because in f"{fault.value.fault}. {fault.value.hint}"
    assert (fault.value.path, fault.value.pointer) == ("tool.json", "/p")


def test_a_schema_that_declares_nothing_lets_any_key_be() -> None:
    """An open object may hold the field; a closed one, or one without any field, cannot."""
    check_reach(["/any"], guard_input({"type": "object"}))
    check_reach(["/any"], guard_input({"type": "object", "properties": {"a": TEXT}, "additionalProperties": True}))
    check_reach(["/any"], guard_input({"type": "object", "patternProperties": {"^a": TEXT}}))
    with pytest.raises(CatalogFault, match="A constant has no slash"):
        check_reach(["/any"], guard_input({"type": "object", "additionalProperties": False}))


def test_a_function_with_a_wrong_key_is_refused_when_it_is_registered() -> None:
    """Both ways to name keys: a pointer that leads nowhere, a function that takes no arguments."""

    def put(path: str) -> None:
        """Put."""

    with pytest.raises(CatalogFault, match="names no property") as fault:
        build_tool(put, effect="write", resource_keys=("/nope",))
    assert fault.value.pointer == "/resource_keys"
    with pytest.raises(ToolMisfit, match=r"resource_keys= calls .* with 1 argument, and it takes others"):
        build_tool(put, effect="write", resource_keys=lambda: ["a"])
