"""What a model's answer without a tool must look like: a schema, or a type that its value is built as."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ledger.catalog.compile import CompiledSchema, compile_schema
from ledger.catalog.guard import guard
from ledger.catalog.hints import Hint, HintReader, NoSchema
from ledger.catalog.marks import check_marks
from ledger.errors import UsageError
from ledger.strictjson import Json, JsonObject


@dataclass(frozen=True, slots=True)
class OutputSchema:
    """A schema for answers, compiled; `hint` builds the value where a type was given."""

    schema: JsonObject
    compiled: CompiledSchema
    hint: Hint | None = None

    def build(self, value: Json) -> Any:
        """Return what the host gets for a valid value; raises `ArgumentsUnfit`, and whatever a model class raises."""
        return value if self.hint is None else self.hint.build(value, ())


def output_schema(schema: object) -> OutputSchema:
    """
    Return a schema for answers: from a dict, or from a type (a pydantic model, a dataclass, `list[str]` …).

    The root may be of any type, unlike a tool's arguments. Raises `CatalogFault` for a bad schema, `UsageError` for
    what is none.
    """
    if isinstance(schema, dict):
        return OutputSchema(schema, _compiled(schema))
    if schema is None or isinstance(schema, str | bytes | list | tuple):
        raise UsageError(f"schema= is a JSON Schema as a dict, or a type, not {type(schema).__name__}")
    try:
        hint, described = root_schema(schema)
    except NoSchema as error:
        raise UsageError(f"schema=: {error}", hint="Give a JSON Schema as a dict, or a pydantic model.") from None
    return OutputSchema(described, _compiled(described), hint)


def _compiled(schema: JsonObject) -> CompiledSchema:
    check_marks(guard(schema, path="schema=").nodes, "schema=")
    return compile_schema(schema, path="schema=")


def root_schema(kind: Any) -> tuple[Hint, JsonObject]:
    """Return a type's hint, and its schema with the definitions it refers to; raises `NoSchema`."""
    reader = HintReader()
    hint = reader.hint(kind)
    schema = hint.schema
    if "$ref" in schema:  # a model that contains itself: its own fields belong to the root
        schema = reader.definitions[schema["$ref"].removeprefix("#/$defs/")]
    return hint, {**schema, "$defs": reader.definitions} if reader.definitions else schema
