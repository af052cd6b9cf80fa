"""Files of upcasts: what they say, and what is wrong with them, told with its place; the shipped meta-schema agrees."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ledger.catalog import upcast_files
from ledger.catalog.steps import OPS, Question
from ledger.catalog.upcast_files import NAME, read_upcast
from ledger.errors import CatalogFault

ROOT = Path(__file__).parents[2]
META = json.loads((ROOT / "schemas/meta/upcast.schema.json").read_text(encoding="utf-8"))
EDITOR = Draft202012Validator(META)
SUITE = json.loads((ROOT / "tests/suite/upcasts.json").read_text(encoding="utf-8"))["cases"]
PURE: dict[str, Any] = {"tool": "t", "from": 1, "to": 2, "assertedBy": "ada@example.org", "ops": []}
SEMANTIC: dict[str, Any] = {"tool": "t", "from": 1, "to": 2, "semantic": "A subject has to be given."}


def reader(document: Any) -> Any:
    return read_upcast(document, "v1-v2.upcast.json", "t", (1, 2))


def op(**entry: Any) -> dict[str, Any]:
    return {**PURE, "ops": [entry]}


FAULTS: list[tuple[Any, str, str]] = [
    ([], "", "an object"),
    ({**PURE, "operations": []}, "/operations", "unknown"),
    ({**PURE, "tool": "other"}, "/tool", "folder of t"),
    ({**PURE, "from": 2}, "/from", "name says 1"),
    ({**PURE, "to": 3}, "/to", "name says 2"),
    ({**PURE, "from": True}, "/from", "whole number"),
    ({**PURE, "ask": []}, "/ask", "change of meaning"),
    ({**PURE, "carry": []}, "/carry", "change of meaning"),
    ({**SEMANTIC, "widens": []}, "/widens", "change of form"),
    ({**SEMANTIC, "assertedBy": "x"}, "/assertedBy", "change of form"),
    ({**PURE, "keepsApproval": "yes"}, "/keepsApproval", "true or false"),
    ({**PURE, "assertedBy": " "}, "/assertedBy", "a text"),
    ({**PURE, "widens": [""]}, "/widens", "cannot stand"),
    ({**PURE, "narrows": [5]}, "/narrows", "cannot stand"),
    ({**SEMANTIC, "carry": ["a"]}, "/carry", "cannot stand"),
    ({**SEMANTIC, "ask": ["/a"]}, "/ask/0", "an object"),
    ({**SEMANTIC, "ask": [{"pointer": "/a", "question": "?", "more": 1}]}, "/ask/0/more", "unknown"),
    ({**SEMANTIC, "ask": [{"pointer": "/a"}]}, "/ask/0", "a pointer and a text"),
    ({**SEMANTIC, "ask": [{"pointer": "a", "question": "?"}]}, "/ask/0", "a pointer and a text"),
    ({**PURE, "ops": {}}, "/ops", "list"),
    ({**PURE, "ops": [{"op": "restructure"}] * 101}, "/ops", "at most 100"),
    ({**PURE, "ops": ["restructure"]}, "/ops/0", "an object"),
    (op(op="split"), "/ops/0/op", "no operation"),
    (op(op=["rename"]), "/ops/0/op", "no operation"),
    (op(), "/ops/0/op", "no operation"),
    (op(op="wrap_array"), "/ops/0", "needs"),
    (op(op="wrap_array", path="/a", key="b"), "/ops/0/key", "unknown"),
    (op(op="wrap_array", path="a"), "/ops/0/path", "JSON Pointer"),
    (op(op="wrap_array", path=""), "/ops/0/path", "JSON Pointer"),
    (op(op="wrap_array", path=5), "/ops/0/path", "JSON Pointer"),
    (op(op="wrap_array", path="/a~2"), "/ops/0/path", "JSON Pointer"),
    (op(op="wrap_array", path="/a/"), "/ops/0/path", "JSON Pointer"),
    (op(op="null_to_absent", path="/a/*"), "/ops/0/path", "names a property"),
    (op(**{"op": "rename", "from": "/a", "to": "/o/b"}), "/ops/0/to", "stays in one object"),
    (op(**{"op": "rename", "from": "/a", "to": "/a"}), "/ops/0/to", "another name"),
    (op(**{"op": "move", "from": "/a", "to": "/a/b"}), "/ops/0/to", "into itself"),
    (op(**{"op": "move", "from": "/a/b", "to": "/a"}), "/ops/0/to", "into itself"),
    (op(**{"op": "move", "from": "/a/*/b", "to": "/c"}), "/ops/0/from", "JSON Pointer"),
    (op(op="wrap_object", path="/a", key=""), "/ops/0/key", "one property"),
    (op(op="wrap_object", path="/a", key=5), "/ops/0/key", "one property"),
    (op(op="tuple_to_object", path="/a", keys=[]), "/ops/0/keys", "different names"),
    (op(op="tuple_to_object", path="/a", keys=["x", "x"]), "/ops/0/keys", "different names"),
    (op(op="cast", path="/a", to="number"), "/ops/0/to", "integer"),
    (op(op="map_values", path="/a", values={}), "/ops/0/values", "one to one"),
    (op(op="map_values", path="/a", values=["x"]), "/ops/0/values", "one to one"),
    (op(op="map_values", path="/a", values={"x": 1}), "/ops/0/values", "one to one"),
    (op(op="map_values", path="/a", values={"x": "z", "y": "z"}), "/ops/0/values", "texts for texts, one to one"),
    (op(op="add_const", path="/a", value=float("nan")), "/ops/0/value", "no JSON"),
    (op(op="introduce_optional", path="/a", absentMeans=""), "/ops/0/absentMeans", "a text"),
    (op(**{"op": "rename_tool", "from": "t t", "to": "t"}), "/ops/0/from", "name"),
]
BEYOND = {
    "folder of t",
    "name says 1",
    "name says 2",
    "stays in one object",
    "another name",
    "into itself",
    "texts for texts, one to one",
    "no JSON",
}
"""What no JSON Schema says: it depends on the file's place, or compares two values."""


@pytest.mark.parametrize(
    ("document", "pointer", "said"), FAULTS, ids=[f"{index} {each[2]}" for index, each in enumerate(FAULTS)]
)
def test_a_fault_is_told_with_its_place(document: Any, pointer: str, said: str) -> None:
    """The reader names file, pointer and what would be right; an editor with the meta-schema sees it too."""
    with pytest.raises(CatalogFault) as refused:
        reader(document)
    assert (refused.value.path, refused.value.pointer) == ("v1-v2.upcast.json", pointer)
    assert said in str(refused.value)
    assert EDITOR.is_valid(document) == (said in BEYOND)


def test_a_step_leads_upwards() -> None:
    """A file from a version to itself or to an older one is none."""
    with pytest.raises(CatalogFault, match="higher version"):
        read_upcast({**PURE, "to": 1}, "f", "t", (1, 1))


def test_a_file_is_read_whole() -> None:
    """Both kinds: a change of form with all its words, a change of meaning with its questions."""
    pure = reader({**PURE, "widens": ["a"], "narrows": ["b"], "keepsApproval": True, "$schema": "x"})
    assert (pure.tool, pure.from_version, pure.to_version, pure.path) == ("t", 1, 2, "v1-v2.upcast.json")
    assert (pure.asserted_by, pure.widens, pure.narrows) == ("ada@example.org", ("a",), ("b",))
    assert (pure.keeps_approval, pure.semantic) == (True, None)
    semantic = reader({**SEMANTIC, "carry": ["", "/a"], "ask": [{"pointer": "/s", "question": "Which subject?"}]})
    assert (semantic.semantic, semantic.carry) == ("A subject has to be given.", ("", "/a"))
    assert semantic.ask == (Question(pointer="/s", question="Which subject?"),)


def test_a_name_of_a_file_says_its_versions() -> None:
    """v1-v2.upcast.json; no zero, no sign."""
    found = NAME.fullmatch("v1-v20.upcast.json")
    assert found is not None
    assert found.groups() == ("1", "20")
    assert not any(map(NAME.fullmatch, ("v0-v1.upcast.json", "v1-2.upcast.json", "v01-v2.upcast.json", "v1-v2.json")))


def test_the_meta_schema_knows_what_the_reader_knows() -> None:
    """Every key of a file, every operation with exactly its keys; every file of the suite is valid under it."""
    Draft202012Validator.check_schema(META)
    assert set(META["properties"]) == upcast_files._KNOWN
    described: dict[str, set[str]] = {}
    for choice in META["$defs"]["op"]["oneOf"]:
        node = META["$defs"][choice["$ref"].rsplit("/", 1)[1]]
        names = node["properties"]["op"]
        for name in names.get("enum", [names.get("const")]):
            described[name] = set(node["properties"]) - {"op"}
            assert set(node.get("required", ())) == described[name]
    assert described == {name: set(upcast_files._READERS[name][0]) for name in OPS}
    for case in SUITE:
        assert list(EDITOR.iter_errors(case["file"])) == []
