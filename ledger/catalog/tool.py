"""A tool that can run here: its version, its function, and everything in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ledger.catalog.binder import Binder
from ledger.catalog.compile import CompiledSchema, compile_schema
from ledger.catalog.contract import Contract
from ledger.catalog.definition import ToolDefinition, ToolVersion
from ledger.catalog.function import Function
from ledger.catalog.guard import CAPS
from ledger.catalog.resources import KeysFunction, keys_of
from ledger.strictjson import JsonObject


def compiled(version: ToolVersion) -> CompiledSchema:
    """Return the schema of a version compiled, as its catalog means it: its formats assert, its limits are allowed."""
    return compile_schema(version.schema, formats=version.formats, limits=CAPS, path=version.path or version.tool)


@dataclass(frozen=True, kw_only=True, repr=False)
class Tool:
    """
    One version of a tool, with the function that runs it.

    `reconcile(arguments, context)` looks what became of a call. `resource_keys_fn(arguments)` names what a call
    touches. `derived`: there are no catalog files, the function described it.
    """

    definition: ToolDefinition
    version: ToolVersion
    function: Callable[..., Any]
    signature: Function
    binder: Binder
    reconcile: Callable[..., Any] | None = None
    resource_keys_fn: KeysFunction | None = None
    derived: bool = False

    def __repr__(self) -> str:
        return f"<Tool {self.name} v{self.version.version}: {self.signature.place}>"

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.version.tool

    @property
    def contract(self) -> Contract:
        """What the author promises about this version."""
        return self.version.contract

    @property
    def wants_context(self) -> bool:
        """Whether the function has a parameter `context`."""
        return self.signature.wants_context

    @property
    def wants_idempotency_key(self) -> bool:
        """Whether the function has a parameter `idempotency_key`."""
        return self.signature.wants_idempotency_key

    @property
    def is_async(self) -> bool:
        """Whether calling the function gives a coroutine."""
        return self.signature.is_async

    @property
    def runs_user_code(self) -> bool:
        """Whether binding the arguments may run the host's code (pydantic models, `__post_init__`)."""
        return self.binder.runs_user_code

    @cached_property
    def validator(self) -> CompiledSchema:
        """The compiled schema; compiled when it is first needed."""
        return compiled(self.version)

    def bind(self, arguments: JsonObject) -> dict[str, Any]:
        """Return the keyword arguments without what the ledger fills; raises ArgumentsUnfit."""
        return self.binder.bind(arguments)

    def keywords(self, arguments: JsonObject, context: Any) -> dict[str, Any]:
        """Return all keyword arguments of one run; the key comes from `context.idempotency_key`."""
        keywords = self.bind(arguments)
        if self.wants_context:
            keywords["context"] = context
        if self.wants_idempotency_key:
            keywords["idempotency_key"] = context.idempotency_key
        return keywords

    def resource_keys(self, arguments: JsonObject) -> frozenset[str] | None:
        """Return what a call with these arguments touches; None: nobody can say, it conflicts with everything."""
        return keys_of(self.contract.resource_keys, self.resource_keys_fn, arguments)
