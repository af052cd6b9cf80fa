"""What a tool's author promises about it: effect, resources, idempotency, limits. A model never declares any of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

from ledger.catalog.limit import MAX_LIMITS, RateLimit, is_list, read_limits
from ledger.catalog.resources import check_template
from ledger.catalog.words import listed, meant, shown
from ledger.errors import CatalogFault
from ledger.events.words import Effect, RecoveryPolicy
from ledger.strictjson import Json, JsonObject, digest, to_pointer

ExceptionRule: TypeAlias = Literal["unknown", "no-effect"]

MAX_RESULT: Final = 2**30
MAX_TIMEOUT: Final = 30 * 24 * 3600.0
MAX_TEXT: Final = 1_000
MAX_LIST: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """
    The words of the contract, with the cautious value where the author says nothing.

    `resource_keys`: constants, pointers or templates (see resources.py); None: unknown. `timeout_seconds`: None: no
    limit. `max_result_bytes`: of the result's JSON. `limits`: on how many calls start (see limit.py).
    `introduced_at`, `deprecated_at`: ISO 8601 dates. `replacement`: a tool's name.
    """

    effect: Effect = "external"
    resource_keys: tuple[str, ...] | None = None
    supports_idempotency: bool = False
    cancellable: bool = True
    recovery: RecoveryPolicy = "review"
    timeout_seconds: float | None = None
    max_result_bytes: int = 16 * 2**20
    scopes: tuple[str, ...] = ()
    exceptions: ExceptionRule = "unknown"
    apply_defaults: bool = False
    introduced_at: str | None = None
    deprecated_at: str | None = None
    replacement: str | None = None
    limits: tuple[RateLimit, ...] = ()

    @property
    def side_effecting(self) -> bool:
        """Whether running it twice may do something twice."""
        return self.effect != "read"

    def to_wire(self) -> JsonObject:
        """Return every word with its camelCase name; `limits` only where there are any, as before there were limits."""
        values = {wire: getattr(self, name) for wire, name in _BY_WIRE.items() if name != "limits"}
        if self.limits:
            values["limits"] = [limit.to_wire() for limit in self.limits]
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the wire form: two contracts with one digest promise the same."""
        return digest(self.to_wire())

    @classmethod
    def from_wire(cls, document: Json, *, path: str = "", pointer: str = "") -> Contract:
        """Read a `contract` object of a catalog file; raises CatalogFault at the first word that is wrong."""
        if not isinstance(document, dict):
            raise CatalogFault("a contract is an object", path=path, pointer=pointer, hint='Write {"effect": "read"}.')
        return cls(**_checked(document, _BY_WIRE, path, pointer))

    @classmethod
    def from_options(cls, options: Mapping[str, Any], *, path: str = "") -> Contract:
        """Read the snake_case options of a decorator; raises CatalogFault, *path* names the function."""
        return cls(**_checked(dict(options), {name: name for name in WORDS}, path, ""))


def camel(name: str) -> str:
    """Return the wire's spelling of a Python name."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _checked(document: dict[str, Any], known: Mapping[str, str], path: str, pointer: str) -> dict[str, Any]:
    values = {}
    for key, value in document.items():
        place = pointer + to_pointer([key])
        if key not in known:
            raise CatalogFault(f"unknown word {shown(key)}{meant(key, known)}", path=path, pointer=place)
        wanted, check = WORDS[known[key]]
        if not check(value):
            raise CatalogFault(f"{shown(key)} is {wanted}, not {shown(value)}", path=path, pointer=place)
        values[known[key]] = tuple(value) if isinstance(value, list | tuple) else value
    for template in values.get("resource_keys") or ():
        check_template(template, path=path, pointer=pointer + to_pointer(["resourceKeys"]))
    if "limits" in values:
        values["limits"] = read_limits(values["limits"], path=path, pointer=pointer + to_pointer(["limits"]))
    return values


def _flag(value: object) -> bool:
    return isinstance(value, bool)


def _text(value: object) -> bool:
    return value is None or (isinstance(value, str) and 0 < len(value) <= MAX_TEXT)


def _texts(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) <= MAX_LIST and all(part and _text(part) for part in value)


def _one_of(literal: Any) -> tuple[str, Callable[[Any], bool]]:
    choices = get_args(literal)
    return f"one of {listed(choices)}", lambda value: isinstance(value, str) and value in choices


def _seconds(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= MAX_TIMEOUT


def _bytes(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MAX_RESULT


WORDS: Final[dict[str, tuple[str, Callable[[Any], bool]]]] = {
    "effect": _one_of(Effect),
    "resource_keys": ("a list of constants, pointers or templates", lambda value: value is None or _texts(value)),
    "supports_idempotency": ("true or false", _flag),
    "cancellable": ("true or false", _flag),
    "recovery": _one_of(RecoveryPolicy),
    "timeout_seconds": ("a number of seconds above 0 (at most 30 days), or null", _seconds),
    "max_result_bytes": (f"a whole number from 1 to {MAX_RESULT}", _bytes),
    "scopes": ("a list of texts", _texts),
    "exceptions": _one_of(ExceptionRule),
    "apply_defaults": ("true or false", _flag),
    "introduced_at": ("a text or null", _text),
    "deprecated_at": ("a text or null", _text),
    "replacement": ("a text or null", _text),
    "limits": (f"a list of at most {MAX_LIMITS} limits", is_list),
}
"""Each word, by its Python name: what it must be, and the check."""

_BY_WIRE: Final = {camel(name): name for name in WORDS}
