"""What `tool check` says of a catalog: findings, which must be put right, and warnings, which a person weighs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from ledger.strictjson import JsonObject

FindingCode: TypeAlias = Literal[
    "quarantined",
    "schema_emptied",
    "beside_ref",
    "version_edited",
    "output_edited",
    "contract_edited",
    "upcast_edited",
    "upcast_refuted",
    "tool_missing",
    "version_missing",
    "upcast_missing",
    "name_reused",
    "name_released",
    "name_collision",
    "replacement_unfit",
    "default_refused",
    "example_refused",
    "example_accepted",
    "example_misplaced",
    "unreadable",
    "meta_schema",
]
WarningCode: TypeAlias = Literal[
    "not_locked",
    "description_changed",
    "words_changed",
    "formats_changed",
    "upcast_unproved",
    "beside_ref_locked",
    "stray_file",
    "left_over",
    "meta_schema_unnamed",
    "vague_name",
    "number_without_unit",
    "long_enum",
    "undescribed",
    "near_duplicate",
]
Code: TypeAlias = FindingCode | WarningCode
FINDINGS: Final[tuple[FindingCode, ...]] = get_args(FindingCode)
WARNINGS: Final[tuple[WarningCode, ...]] = get_args(WarningCode)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """
    One thing that was noticed: a stable code, the tool and version, the file and the place in it (RFC 6901).

    `tool` is empty where it is about the whole catalog, `version` None where it is about the whole tool.
    `before_lock`: nothing is locked while it stands, since what it misses is never added to a locked file.
    """

    code: Code
    message: str
    tool: str = ""
    version: int | None = None
    path: str = ""
    pointer: str = ""
    hint: str | None = None
    before_lock: bool = False

    @property
    def is_finding(self) -> bool:
        """Whether it must be put right before anything is published."""
        return self.code in FINDINGS

    def to_wire(self) -> JsonObject:
        """Return it as the command line prints it."""
        return {
            "level": "finding" if self.is_finding else "warning",
            "code": self.code,
            "tool": self.tool or None,
            "version": self.version,
            "path": self.path or None,
            "pointer": self.pointer,
            "message": self.message,
            "hint": self.hint,
        }
