"""How counts and rates look in a table: `12/15  80 % (55-93)` says hits, all, the rate and its 95 % interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ledger.audit.names import NO_NAMES, Names
from ledger.cli.looks import TOOL, VERSION, called, named
from ledger.cli.rows import Row
from ledger.cli.table import Column, plain

_NAMED: Final = {
    "tool": (TOOL, VERSION),
    "version": (TOOL, VERSION, named("stage")),
    "description": (TOOL, Column(key="wording", title="WORDING"), named("model")),
    "model": (named("provider"), named("model")),
    "code": (named("errorClass", "CLASS"), named("code")),
    "class": (named("errorClass", "CLASS"),),
}
"""The columns that name a group, where they are more than the word itself."""

_DIGITS: Final = 8


def _begin(digest: Any) -> str:
    return plain(digest)[:_DIGITS]


_DIGEST: Final = Column(key="descriptionDigest", title="DIGEST", show=_begin, keep="all")


def _ms(value: Any) -> str:
    return "-" if value is None else f"{value:.0f}" if value >= 10 else f"{value:.2g}"  # noqa: PLR2004 - two digits


_COUNTS: Final = (
    Column(key="calls", keep="all"),
    Column(key="shareTold", title="SHARE", keep="all", leave=3),
    Column(key="succeededTold", title="SUCCEEDED", keep="all"),
    Column(key="repairableTold", title="REPAIRABLE", keep="all", leave=5),
    Column(key="open", keep="all", leave=2),
    Column(key="timed", keep="all", leave=1),
    Column(key="p50Ms", title="P50", show=_ms, keep="all", leave=4),
    Column(key="p95Ms", title="P95", show=_ms, keep="all", leave=4),
)


def columns_of(by: Sequence[str]) -> list[Column]:
    """Return the columns of a table of counts by these words, each once."""
    groups = [column for word in by for column in _NAMED.get(word, (named(word),))]
    return [*{column.key: column for column in groups}.values(), *_COUNTS]


def with_digests(rows: Sequence[Row], columns: Sequence[Column]) -> list[Column]:
    """Return the columns, with one more where a tool has several wordings: such mostly begin with the same words."""
    seen: dict[tuple[Any, Any], Any] = {}
    for row in rows:
        named = row.get("tool"), row.get("schemaVersion")
        digest = row.get("descriptionDigest")
        if seen.setdefault(named, digest) != digest:
            at = 1 + max(at for at, column in enumerate(columns) if column.key in ("tool", "schemaVersion"))
            return [*columns[:at], _DIGEST, *columns[at:]]
    return list(columns)


def told(row: Row, names: Names = NO_NAMES) -> Row:
    """Return a row of counts with its rates, and both names of a carried call's tool, as people read them."""
    digest = row.get("descriptionDigest")
    carried = names.carried_to(row.get("tool", ""), row.get("schemaVersion"))
    return {
        **row,
        **({"tool": called(row["tool"], carried=carried)} if carried is not None else {}),
        "wording": row.get("description") or (_begin(digest) if digest else None),
        "shareTold": _rate(row, "share", row["calls"], row["of"]),
        "succeededTold": _rate(row, "succeededRate", row["succeeded"], row["ended"]),
        "repairableTold": _rate(row, "repairableRate", row["repairable"], row["ended"]),
    }


def _rate(row: Row, name: str, hits: int, count: int) -> str | None:
    if not count:
        return None
    rate, low, high = (round(100 * row[f"{name}{end}"]) for end in ("", "Low", "High"))
    return f"{hits}/{count} {rate}% ({low}-{high})"
