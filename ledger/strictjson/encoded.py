"""What becomes of a tool's result: a JSON value, and beside it what was not JSON before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast, get_args

from ledger.strictjson.limits import Json

Kind: TypeAlias = Literal[
    "array",
    "bytearray",
    "bytes",
    "cycle",
    "dataclass",
    "date",
    "datetime",
    "decimal",
    "enum",
    "float",
    "incomplete",
    "int",
    "iterator",
    "json",
    "keys",
    "mapping",
    "model",
    "namedtuple",
    "number",
    "pairs",
    "path",
    "repr",
    "sequence",
    "set",
    "frozenset",
    "text",
    "time",
    "timedelta",
    "too-deep",
    "truncated",
    "tuple",
    "uuid",
]
"""
How a value that is not JSON stands in the data.

Given back by `decode_result`:
bytes, bytearray  base64 (RFC 4648, padded) · float  "NaN", "Infinity", "-Infinity" · int  an integer with more digits
than allowed, hexadecimal · datetime, date, time  ISO 8601, a named zone appended as in RFC 9557 (`[Europe/Berlin]`),
and `[_fold=1]` to the second of two equal hours (the name of a fixed offset is not kept) · timedelta  ISO 8601, days
and seconds · decimal, uuid, path  its text · tuple  an array · set, frozenset  an array sorted by the elements'
canonical bytes · pairs  an object with keys that are no text: an array of [key, value] · json  a part nested deeper
than allowed: its JSON as text

Data kept, class not (the type is named):
enum  its value · text, number, mapping, sequence  a subclass or look-alike as the plain type · keys  an object whose
keys were of a subclass of str · namedtuple, dataclass  an object of the fields · model  what `model_dump()` gave ·
array  what `tolist()` gave (numpy) · iterator  what it yielded, as an array

Lost in part:
incomplete  an iterator that raised (the type names the exception) or did not end · cycle  a text instead of a container
inside itself · too-deep  a text instead of what is nested too deep · repr  the beginning of the object's repr ·
truncated  more bytes than allowed: see `encode_result`
"""

LOSSY: Final[frozenset[Kind]] = frozenset({"cycle", "incomplete", "repr", "too-deep", "truncated"})


@dataclass(frozen=True, slots=True)
class Encoding:
    """
    One place of the data that was something else: where it stands (RFC 6901), how it is written, its Python type.

    Several at one place: the first is the outermost (an enum whose value is a tuple: enum, tuple).
    """

    pointer: str
    kind: Kind
    type: str

    @property
    def lossy(self) -> bool:
        """Whether something was lost."""
        return self.kind in LOSSY

    def to_wire(self) -> dict[str, str]:
        """Return the JSON object that an event carries."""
        return {"pointer": self.pointer, "kind": self.kind, "type": self.type}

    @classmethod
    def from_wire(cls, wire: Mapping[str, Json]) -> Encoding:
        """Return the encoding of such an object. Raises ValueError if it is none, or of a kind unknown here."""
        pointer, kind, name = wire.get("pointer"), wire.get("kind"), wire.get("type")
        if not isinstance(pointer, str) or kind not in _KINDS or not isinstance(name, str):
            raise ValueError("an encoding has a pointer, a known kind and a type")
        return cls(pointer, cast("Kind", kind), name)


@dataclass(frozen=True, slots=True)
class Encoded:
    """A result as it is recorded; `size`: bytes of the value's canonical form. No encodings: it was plain JSON."""

    value: Json
    encodings: tuple[Encoding, ...]
    size: int

    @property
    def lossy(self) -> bool:
        """Whether something was lost."""
        return any(encoding.lossy for encoding in self.encodings)


_KINDS: Final[frozenset[str]] = frozenset(get_args(Kind))
