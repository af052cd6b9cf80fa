"""
Tool definitions: versions, contracts and schemas, from files, dicts, pydantic models or type hints.

Importing this loads no validator: jsonschema comes with the first compiled schema, pydantic with the first function
that uses it.
"""

from ledger.catalog.build import build_tool
from ledger.catalog.compile import CompiledSchema, compile_schema
from ledger.catalog.contract import Contract, ExceptionRule
from ledger.catalog.defaults import DefaultsWithoutEnd, with_defaults
from ledger.catalog.definition import Catalog, Fault, Replacement, ToolDefinition, ToolVersion, describe
from ledger.catalog.files import default_catalog_root, load_catalog
from ledger.catalog.hints import ArgumentsUnfit
from ledger.catalog.names import check_name, folder_of, is_name
from ledger.catalog.registry import Registry, exported
from ledger.catalog.resources import checked_keys
from ledger.catalog.shape import description_digest, shape, shape_digest
from ledger.catalog.tool import Tool, compiled
from ledger.catalog.violation import GATE_ERROR, Violation
from ledger.events.words import Effect, RecoveryPolicy, Stage

__all__ = [
    "GATE_ERROR",
    "ArgumentsUnfit",
    "Catalog",
    "CompiledSchema",
    "Contract",
    "DefaultsWithoutEnd",
    "Effect",
    "ExceptionRule",
    "Fault",
    "RecoveryPolicy",
    "Registry",
    "Replacement",
    "Stage",
    "Tool",
    "ToolDefinition",
    "ToolVersion",
    "Violation",
    "build_tool",
    "check_name",
    "checked_keys",
    "compile_schema",
    "compiled",
    "default_catalog_root",
    "describe",
    "description_digest",
    "exported",
    "folder_of",
    "is_name",
    "load_catalog",
    "shape",
    "shape_digest",
    "with_defaults",
]
