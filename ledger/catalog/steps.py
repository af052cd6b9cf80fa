"""
The closed set of operations that carry arguments to another form without changing what they say, each with its inverse.

An upcast is a list of them, written by a person for one step from a version to the next. Everything that none of them
can express is a change of meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, get_args

from ledger.strictjson import Json, to_pointer

OpName: TypeAlias = Literal[
    "rename",
    "move",
    "wrap_object",
    "unwrap_object",
    "wrap_array",
    "unwrap_array",
    "tuple_to_object",
    "object_to_tuple",
    "cast",
    "map_values",
    "null_to_absent",
    "absent_to_null",
    "add_const",
    "drop_const",
    "introduce_optional",
    "rename_tool",
    "restructure",
]
OPS: Final[tuple[OpName, ...]] = get_args(OpName)

Kind: TypeAlias = Literal["integer", "string"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
Steps: TypeAlias = tuple[str, ...]

EACH: Final = "*"
"""The step of a path that stands for each item of an array."""

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_PAIRS: Final[dict[OpName, OpName]] = {
    "wrap_object": "unwrap_object",
    "wrap_array": "unwrap_array",
    "tuple_to_object": "object_to_tuple",
    "null_to_absent": "absent_to_null",
    "add_const": "drop_const",
}
_INVERSE: Final[dict[OpName, OpName]] = _PAIRS | {back: forth for forth, back in _PAIRS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """
    One operation; `path` is the place it works at, in the form that the operations before it left.

    `to` is the new place (rename, move), `keys` the object's keys (wrap_object: one; tuples: in their order), `kind`
    the type that a cast leads to, `values` what map_values puts for what, `value` the constant, `says` what the absence
    of a new optional property means, `names` a tool's old and new name.
    """

    op: OpName
    path: Steps = ()
    to: Steps = ()
    keys: tuple[str, ...] = ()
    kind: Kind = "integer"
    values: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    value: Json = None
    says: str = ""
    names: tuple[str, str] = ("", "")

    @property
    def pointer(self) -> str:
        """The place as a JSON Pointer, `*` for each item."""
        return to_pointer(self.path)

    @property
    def inverse(self) -> Op:
        """What undoes it."""
        match self.op:
            case "rename" | "move":
                return replace(self, path=self.to, to=self.path)
            case "cast":
                return replace(self, kind="string" if self.kind == "integer" else "integer")
            case "map_values":
                return replace(self, values={new: old for old, new in self.values.items()})
            case "rename_tool":
                return replace(self, names=(self.names[1], self.names[0]))
            case "introduce_optional" | "restructure":
                return self
            case _:
                return replace(self, op=_INVERSE[self.op])


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a person has to say for a new call: the place of the answer in the new arguments, and the question."""

    pointer: str
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Upcast:
    """
    The step from one version of a tool to a higher one, as its file says it.

    `asserted_by` is who says that every leaf keeps its meaning; `widens` what the new form can say beyond the old one,
    `narrows` what of the old form it cannot: each record that it can is carried, the others go to a person.
    `keeps_approval`: an approval of the old form holds for the new one (iso only). `semantic`: why it is no pure format
    at all; then `ops` draft the new arguments and `ask` is what a person adds. `digest` covers all of the file.
    """

    tool: str
    from_version: int
    to_version: int
    ops: tuple[Op, ...] = ()
    asserted_by: str | None = None
    widens: tuple[str, ...] = ()
    narrows: tuple[str, ...] = ()
    keeps_approval: bool = False
    semantic: str | None = None
    carry: tuple[str, ...] = ()
    ask: tuple[Question, ...] = ()
    digest: str
    path: str = ""

    @property
    def renames_tool(self) -> tuple[str, str] | None:
        """The tool's old and new name, where the step gives it another one."""
        return next((op.names for op in self.ops if op.op == "rename_tool"), None)
