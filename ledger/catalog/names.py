"""Names of tools: what is allowed, and the folder that a name stands for."""

from __future__ import annotations

import re
from typing import Final

from ledger.errors import CatalogFault
from ledger.strictjson import printable

_NAME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9_./-]{0,127}")
SLASH: Final = "~"
"""Stands for `/` in a folder's name; no tool name has it, so the mapping is one to one and never leaves the root."""


def is_name(name: object) -> bool:
    """Whether *name* may be a tool's: ASCII, a letter first, 1 to 128 characters (MCP's limit)."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def check_name(name: object, *, path: str = "", pointer: str = "") -> str:
    """Return *name* if it may be a tool's name; raises CatalogFault. Look-alikes are not ASCII."""
    if isinstance(name, str) and _NAME.fullmatch(name):
        return name
    raise CatalogFault(
        f'"{printable(str(name), 60)}" is no tool name',
        path=path,
        pointer=pointer,
        hint="A name is 1 to 128 of the ASCII characters a-z A-Z 0-9 _ . / - and begins with a letter.",
    )


def folder_of(name: str) -> str:
    """Return the one path segment under the catalog's root that belongs to *name*."""
    return check_name(name).replace("/", SLASH)
