"""Values of the standard library that become one text, and the way back."""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from math import isnan
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Any, Final
from uuid import UUID

from ledger.strictjson.canonical import loads
from ledger.strictjson.encoded import Kind
from ledger.strictjson.limits import Json

_FOLD: Final = "[_fold=1]"
_TIMEDELTA: Final = re.compile(r"P(-?\d+)DT(\d+)\.(\d{6})S")


def write_bytes(value: bytes | bytearray) -> str:
    """Return base64."""
    return binascii.b2a_base64(value, newline=False).decode("ascii")


def read_bytes(text: str) -> bytes:
    """Return the bytes. Raises ValueError where the text is not base64."""
    return binascii.a2b_base64(text, strict_mode=True)


def write_float(value: float) -> str:
    """Return the name of a float that JSON does not have."""
    if isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def write_moment(value: datetime | time) -> str:
    """Return ISO 8601, with a named zone and the second of two equal hours appended in the way of RFC 9557."""
    zone = getattr(value.tzinfo, "key", None)  # of zoneinfo.ZoneInfo; None where it was read from a file
    return value.isoformat() + (f"[{zone}]" if isinstance(zone, str) else "") + (_FOLD if value.fold else "")


def read_datetime(text: str) -> datetime:
    """Return the moment; where this machine does not know the zone, or sees another offset, with the offset only."""
    iso, fold, zone = _parts(text)
    moment = datetime.fromisoformat(iso).replace(fold=fold)
    local = moment.replace(tzinfo=zone) if zone else moment
    return local if local.utcoffset() == moment.utcoffset() else moment


def read_time(text: str) -> time:
    """Return the time of day, in its zone if this machine knows it."""
    iso, fold, zone = _parts(text)
    value = time.fromisoformat(iso).replace(fold=fold)
    return value.replace(tzinfo=zone) if zone else value


def _parts(text: str) -> tuple[str, int, tzinfo | None]:
    """Return ISO 8601, the fold, and the zone if one is named and known here."""
    from zoneinfo import ZoneInfo

    iso, _, name = text.removesuffix(_FOLD).partition("[")
    try:
        zone = ZoneInfo(name.removesuffix("]")) if name else None
    except (ValueError, OSError, LookupError):  # a name from another machine
        zone = None
    return iso, int(text.endswith(_FOLD)), zone


def write_timedelta(value: timedelta) -> str:
    """Return ISO 8601 as Python keeps it: days (maybe negative), then seconds and microseconds (never negative)."""
    return f"P{value.days}DT{value.seconds}.{value.microseconds:06}S"


def read_timedelta(text: str) -> timedelta:
    """Return the duration. Raises ValueError where the text was not written by `write_timedelta`."""
    found = _TIMEDELTA.fullmatch(text)
    if not found:
        raise ValueError("no such duration")
    return timedelta(days=int(found[1]), seconds=int(found[2]), microseconds=int(found[3]))


def read_path(text: str, kind: str) -> PurePath:
    """Return a path that can be compared; a recorded path is never opened by itself."""
    return PureWindowsPath(text) if "Windows" in kind else PurePosixPath(text)


Write = Callable[[Any], str]
Read = Callable[[Any], Any]

LEAVES: Final[tuple[tuple[type, Kind, Write], ...]] = (
    (bytes, "bytes", write_bytes),
    (bytearray, "bytearray", write_bytes),
    (memoryview, "bytes", lambda view: write_bytes(view.tobytes())),  # it may have gaps
    (datetime, "datetime", write_moment),  # before date, its parent
    (date, "date", date.isoformat),
    (time, "time", write_moment),
    (timedelta, "timedelta", write_timedelta),
    (Decimal, "decimal", str),
    (UUID, "uuid", str),
    (PurePath, "path", str),
)

FLOATS: Final = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def _pairs(pairs: list[Any]) -> dict[Any, Any]:
    return {key: item for key, item in pairs}  # noqa: C416 - dict() would take more than pairs


READERS: Final[dict[Kind, Read]] = {
    "bytes": read_bytes,
    "bytearray": lambda text: bytearray(read_bytes(text)),
    "date": date.fromisoformat,
    "datetime": read_datetime,
    "decimal": Decimal,
    "float": FLOATS.__getitem__,
    "frozenset": frozenset,
    "int": lambda text: int(text, 16),
    "json": loads,
    "pairs": _pairs,
    "set": set,
    "time": read_time,
    "timedelta": read_timedelta,
    "tuple": tuple,
    "uuid": UUID,
}


def read(value: Json, kind: Kind, name: str) -> object:
    """Return the Python value, or the JSON as it is where its class cannot be given back. Raises what readers raise."""
    if kind == "path":
        return read_path(value, name)
    reader = READERS.get(kind)
    return reader(value) if reader else value
