"""How many calls of a tool may start: the limits of a contract, counted in the store for all who share it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

from ledger.catalog.words import listed, meant, shown
from ledger.errors import CatalogFault
from ledger.strictjson import JsonObject, to_pointer

Per: TypeAlias = Literal["running", "minute", "hour"]
Scope: TypeAlias = Literal["tool", "principal", "tenant", "service"]

SECONDS: Final[dict[Per, float | None]] = {"running": None, "minute": 60.0, "hour": 3600.0}
"""How long a call takes a place; None: as long as it runs."""
MAX_PLACES: Final = 1_000_000
MAX_LIMITS: Final = 20
MAX_TEXT: Final = 200
RATE_LIMITED: Final = "rate_limited"


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """
    At most `max` calls at once (`per` "running"), or started within any minute or hour.

    `scope` says which calls count together: those of the tool, of the tool for one principal or one tenant, or of all
    tools that name the same `service`. `code` is what a call that found no place is denied with.
    """

    max: int
    per: Per
    scope: Scope = "tool"
    service: str | None = None
    code: str = RATE_LIMITED

    def to_wire(self) -> JsonObject:
        """Return the limit as it stands in a contract, without what it need not say."""
        wire: JsonObject = {"max": self.max, "per": self.per, "scope": self.scope}
        if self.service is not None:
            wire["service"] = self.service
        return wire if self.code == RATE_LIMITED else wire | {"code": self.code}

    def __str__(self) -> str:
        who = {"tool": "", "service": f" of {self.service}"}.get(self.scope, f" for each {self.scope}")
        return f"{self.max} running{who}" if self.per == "running" else f"{self.max} each {self.per}{who}"


def is_list(value: object) -> bool:
    """Return whether this may be a list of limits."""
    return isinstance(value, list | tuple) and len(value) <= MAX_LIMITS


def read_limits(values: Any, *, path: str = "", pointer: str = "") -> tuple[RateLimit, ...]:
    """Read a list of limits; raises CatalogFault at the first word that is wrong, *pointer* is the list's place."""
    if not is_list(values):
        raise CatalogFault(f"limits are a list of at most {MAX_LIMITS}", path=path, pointer=pointer)
    return tuple(_read(value, path, f"{pointer}/{index}") for index, value in enumerate(values))


def _read(value: Any, path: str, pointer: str) -> RateLimit:
    if isinstance(value, RateLimit):
        value = value.to_wire()
    if not isinstance(value, dict):
        hint = 'Write {"max": 100, "per": "hour", "scope": "principal"}.'
        raise CatalogFault(f"a limit is an object, not {shown(value)}", path=path, pointer=pointer, hint=hint)
    for key, given in value.items():
        place = pointer + to_pointer([key])
        if key not in _WORDS:
            raise CatalogFault(f"unknown word {shown(key)}{meant(key, _WORDS)}", path=path, pointer=place)
        wanted, check = _WORDS[key]
        if not check(given):
            raise CatalogFault(f"{shown(key)} is {wanted}, not {shown(given)}", path=path, pointer=place)
    for key in ("max", "per"):
        if key not in value:
            raise CatalogFault(f"a limit says its {shown(key)}", path=path, pointer=pointer)
    limit = RateLimit(**value)
    if (limit.scope == "service") != (limit.service is not None):
        message = 'the name of the "service" goes with the scope "service"'
        raise CatalogFault(message, path=path, pointer=pointer, hint='Write {"scope": "service", "service": "mail"}.')
    return limit


def _is_max(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MAX_PLACES


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MAX_TEXT and value.isprintable()


_WORDS: Final = {
    "max": (f"a whole number from 1 to {MAX_PLACES:,}", _is_max),
    "per": (f"one of {listed(get_args(Per))}", lambda value: value in get_args(Per)),
    "scope": (f"one of {listed(get_args(Scope))}", lambda value: value in get_args(Scope)),
    "service": (f"a text of 1 to {MAX_TEXT} printable characters", _is_text),
    "code": (f"a text of 1 to {MAX_TEXT} printable characters", _is_text),
}
