"""Reads `vA-vB.upcast.json`: one step from a version of a tool to a higher one, written by a person."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Final

from ledger.catalog.documents import Place
from ledger.catalog.names import check_name
from ledger.catalog.steps import EACH, KINDS, OPS, Op, OpName, Question, Steps, Upcast
from ledger.catalog.words import listed, shown
from ledger.errors import CatalogFault, JsonRejected
from ledger.strictjson import Json, check, digest, to_a_person
from ledger.strictjson.pointer import from_pointer

NAME: Final = re.compile(r"v([1-9][0-9]{0,5})-v([1-9][0-9]{0,5})\.upcast\.json")
"""The name of an upcast's file: the versions that it leads from and to."""

_KNOWN: Final = {
    *("$schema", "tool", "from", "to", "ops", "assertedBy", "widens", "narrows", "keepsApproval"),
    *("semantic", "carry", "ask"),
}
_PURE: Final = ("assertedBy", "widens", "narrows", "keepsApproval")
_MAX_OPS: Final = 100


def read_upcast(
    document: Json, path: str, tool: str, versions: tuple[int, int], *, earlier: Collection[str] = ()
) -> Upcast:
    """
    Return what an upcast's file says; *tool* and *versions* are what its folder and its name say.

    A file from when the tool had one of its *earlier* names says that one: what is published stays as it is.

    Raises CatalogFault with file and pointer: an unknown key, an operation that does not exist or lacks something, a
    map that is not one to one. Whether it is right is for the proof.
    """
    if not isinstance(document, dict):
        raise CatalogFault(f"the file holds an object, not {shown(document)}", path=path)
    place = Place(document, path, "")
    place.known(_KNOWN)
    _same_step(place, (tool, *earlier), versions)
    semantic, ops = place.text("semantic"), _ops(place)
    _one_kind(place, semantic)
    return Upcast(
        tool=tool,
        from_version=versions[0],
        to_version=versions[1],
        ops=ops,
        asserted_by=place.text("assertedBy"),
        widens=place.texts("widens", _says),
        narrows=place.texts("narrows", _says),
        keeps_approval=_flag(place, "keepsApproval"),
        semantic=semantic,
        carry=place.texts("carry", lambda each: bool(_steps_of(each) or each == "")),
        ask=tuple(_question(place, index) for index in range(len(place.entries("ask")))),
        digest=digest({key: value for key, value in document.items() if key != "$schema"}),
        path=path,
    )


def _same_step(place: Place, names: tuple[str, ...], versions: tuple[int, int]) -> None:
    if place.text("tool") not in names:
        raise place.fault("tool", f"this file stands in the folder of {names[0]}", f'Write "tool": "{names[0]}".')
    for key, version in zip(("from", "to"), versions, strict=True):
        if place.number(key) != version:
            raise place.fault(key, f"the file's name says {version}", f'Write "{key}": {version}.')
    if versions[0] >= versions[1]:
        raise place.fault("to", "a step leads to a higher version")


def _one_kind(place: Place, semantic: str | None) -> None:
    """A step is pure format, asserted by somebody, or a change of meaning with questions; never both."""
    if semantic is None:
        for key in ("carry", "ask"):
            if key in place.document:
                raise place.fault(key, f'"{key}" belongs to a change of meaning', 'Say why under "semantic".')
        return
    for key in _PURE:
        if key in place.document:
            raise place.fault(key, f'"{key}" belongs to a change of form, and the file says "semantic"')


def _says(text: str) -> bool:
    return bool(text.strip())


def _flag(place: Place, key: str) -> bool:
    value = place.document.get(key, False)
    if not isinstance(value, bool):
        raise place.fault(key, f'"{key}" is true or false, not {shown(value)}')
    return value


def _question(place: Place, index: int) -> Question:
    entry = _entry(place, "ask", index)
    entry.known({"pointer", "question"})
    pointer, question = entry.text("pointer"), entry.text("question")
    if not pointer or not _steps_of(pointer) or not question:
        raise entry.fault("", "a question has a pointer and a text", '{"pointer": "/subject", "question": "…"}')
    return Question(pointer=pointer, question=question)


def _entry(place: Place, key: str, index: int) -> Place:
    entry, pointer = place.document[key][index], f"{place.pointer}/{key}/{index}"
    if not isinstance(entry, dict):
        raise CatalogFault(f"this is an object, not {shown(entry)}", path=place.path, pointer=pointer)
    return Place(entry, place.path, pointer)


def _ops(place: Place) -> tuple[Op, ...]:
    if len(place.entries("ops")) > _MAX_OPS:
        raise place.fault("ops", f"a step has at most {_MAX_OPS} operations")
    return tuple(_op(_entry(place, "ops", index)) for index in range(len(place.entries("ops"))))


def _op(entry: Place) -> Op:
    name = entry.document.get("op")
    for op in OPS:
        if op == name:
            keys, read = _READERS[op]
            entry.known({"op", *keys})
            for key in keys:
                if key not in entry.document:
                    raise entry.fault("", f'{op} needs "{key}"', f"It has {listed(keys)}.")
            return read(entry, op)
    raise entry.fault("op", f"there is no operation {shown(name)}", f"There are {listed(OPS, 20)}.")


def _path(entry: Place, key: str, *, each: bool = True, root: bool = False) -> Steps:
    value = entry.document[key]
    steps = _steps_of(value) if isinstance(value, str) else None
    if steps is None or (not steps and not root) or (not each and EACH in steps) or (steps and steps[-1:] == ("",)):
        what = "a JSON Pointer such as /to" + ("" if not each else " or /items/*/id (* is each item)")
        raise entry.fault(key, f'"{key}" is {what}, not {shown(value)}')
    return steps


def _steps_of(pointer: str) -> Steps | None:
    try:
        return from_pointer(pointer)
    except LookupError:
        return None


def _property(entry: Place, key: str, *, each: bool = True) -> Steps:
    steps = _path(entry, key, each=each)
    if steps[-1] == EACH:
        raise entry.fault(key, f'"{key}" names a property, not each item of an array')
    return steps


def _rename(entry: Place, op: OpName) -> Op:
    old, new = _property(entry, "from"), _property(entry, "to")
    if old[:-1] != new[:-1] or old == new:
        raise entry.fault("to", "a rename stays in one object and gives another name", 'Use "move" for another place.')
    return Op(op=op, path=old, to=new)


def _move(entry: Place, op: OpName) -> Op:
    old, new = _property(entry, "from", each=False), _property(entry, "to", each=False)
    if new[: len(old)] == old or old[: len(new)] == new:
        raise entry.fault("to", "a part is not moved into itself, nor over what holds it")
    return Op(op=op, path=old, to=new)


def _wrapping(entry: Place, op: OpName) -> Op:
    key = entry.document["key"]
    if not isinstance(key, str) or not key:
        raise entry.fault("key", f'"key" is the name of the one property, not {shown(key)}')
    path = _path(entry, "path", root=True)
    return Op(op=op, path=path, keys=(key,))


def _tuples(entry: Place, op: OpName) -> Op:
    keys = entry.texts("keys")
    if not keys or len(set(keys)) < len(keys):
        raise entry.fault("keys", "the keys are different names, in the order of the places")
    return Op(op=op, path=_path(entry, "path"), keys=keys)


def _cast(entry: Place, op: OpName) -> Op:
    for kind in KINDS:
        if entry.document["to"] == kind:
            return Op(op=op, path=_path(entry, "path"), kind=kind)
    raise entry.fault("to", f'a cast leads to "integer" or "string", not {shown(entry.document["to"])}')


def _map_values(entry: Place, op: OpName) -> Op:
    values = entry.document["values"]
    texts = isinstance(values, dict) and bool(values) and all(isinstance(value, str) for value in values.values())
    if not texts or len(set(values.values())) < len(values):
        raise entry.fault("values", "the values are an object of texts for texts, one to one")
    return Op(op=op, path=_path(entry, "path"), values=dict(values))


def _const(entry: Place, op: OpName) -> Op:
    try:
        value = check(entry.document["value"])
    except JsonRejected as rejected:
        raise entry.fault("value", *to_a_person(rejected)) from None
    return Op(op=op, path=_property(entry, "path"), value=value)


def _optional(entry: Place, op: OpName) -> Op:
    says = entry.text("absentMeans")
    return Op(op=op, path=_property(entry, "path"), says=says or "")


def _rename_tool(entry: Place, op: OpName) -> Op:
    old, new = (
        check_name(entry.document[key], path=entry.path, pointer=f"{entry.pointer}/{key}") for key in ("from", "to")
    )
    return Op(op=op, names=(old, new))


def _plain(entry: Place, op: OpName) -> Op:
    array = op in ("wrap_array", "unwrap_array")
    return Op(op=op, path=_path(entry, "path") if array else _property(entry, "path"))


_PATH: Final = ("path",)
_READERS: Final[Mapping[str, tuple[tuple[str, ...], Callable[[Place, OpName], Op]]]] = {
    "rename": (("from", "to"), _rename),
    "move": (("from", "to"), _move),
    "wrap_object": (("path", "key"), _wrapping),
    "unwrap_object": (("path", "key"), _wrapping),
    "wrap_array": (_PATH, _plain),
    "unwrap_array": (_PATH, _plain),
    "tuple_to_object": (("path", "keys"), _tuples),
    "object_to_tuple": (("path", "keys"), _tuples),
    "cast": (("path", "to"), _cast),
    "map_values": (("path", "values"), _map_values),
    "null_to_absent": (_PATH, _plain),
    "absent_to_null": (_PATH, _plain),
    "add_const": (("path", "value"), _const),
    "drop_const": (("path", "value"), _const),
    "introduce_optional": (("path", "absentMeans"), _optional),
    "rename_tool": (("from", "to"), _rename_tool),
    "restructure": ((), lambda _entry, op: Op(op=op)),
}
"""For each operation the keys that its entry has, all of them needed, and who reads it."""
