"""Bodies of the events of a session, of the catalog and of administration; class defaults are the wire's defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ledger.events.words import Stage

Json: TypeAlias = Any
JsonObject: TypeAlias = dict[str, Any]
TurnKind: TypeAlias = Literal["tool_calls", "text", "structured", "incomplete"]
BatchMode: TypeAlias = Literal["sequential", "parallel", "grouped"]
CloseReason: TypeAlias = Literal["final_answer", "max_turns", "deadline", "budget", "aborted", "error"]


@dataclass(frozen=True, kw_only=True)
class SessionOpened:
    """
    A run of an agent begins; `transcript` says whether texts beside the calls are kept.

    `limits` is what the session may use: `{turns, calls, seconds, cost, prices}`, each where there is one.
    """

    agent: str | None = None
    model: str | None = None
    labels: JsonObject | None = None
    parent: str | None = None
    host_release: str | None = None
    ledger_version: str | None = None
    catalog_digest: str | None = None
    transcript: Literal["full", "calls"] = "full"
    limits: JsonObject | None = None


@dataclass(frozen=True, kw_only=True)
class SessionClaimed:
    """An owner took the session's lease; written with the owner's first other event. `token` only grows."""

    owner: str
    token: int


@dataclass(frozen=True, kw_only=True)
class SessionResumed:
    """What recovery decided: one object `{callId, tool, found, action, reason}` for each open call."""

    decisions: tuple[Json, ...]


@dataclass(frozen=True, kw_only=True)
class SessionClosed:
    """
    The run is over: `turns` and `calls` are counts over the whole session.

    `limit` is the one that was reached, `{limit, max}`, where the reason is one of max_turns, budget or deadline.
    """

    reason: CloseReason
    turns: int
    calls: int
    message: str | None = None
    limit: JsonObject | None = None


@dataclass(frozen=True, kw_only=True)
class MessageRecorded:
    """A message of the host: `message` is the provider's object as given; `key` makes adding it idempotent."""

    role: str
    provider: str
    message: Json
    key: str | None = None
    start: bool = False


@dataclass(frozen=True, kw_only=True)
class TurnRecorded:
    """
    One assistant message: its text and whatever else the provider sent, verbatim in `items`.

    `offered` lists `{tool, version, descriptionDigest}` of the tools the model could choose from, `usage` the
    provider's token counts, `cost` what the host says that it cost, `calls` how many calls it proposed.

    `structured` is there for an answer that had to fit a schema: `{schemaDigest, attempt, status, violations}`, its
    status `valid`, `invalid` (it was asked for again) or `unstructured` (the text is kept as it is).

    `on_rejection`: what the host wants of the other calls where one is refused; null: they run.
    """

    kind: TurnKind
    provider: str
    calls: int
    response_id: str | None = None
    stop_reason: str | None = None
    text: str | None = None
    items: Json = None
    tool_choice: Json = None
    offered: tuple[Json, ...] | None = None
    usage: Json = None
    cost: float | None = None
    structured: JsonObject | None = None
    on_rejection: Literal["run_rest", "run_none"] | None = None


@dataclass(frozen=True, kw_only=True)
class BatchPlanned:
    """How the calls of a turn run: `groups` of indexes, one group after the other; null keys conflict with all."""

    size: int
    mode: BatchMode
    groups: tuple[Json, ...]
    resource_keys: tuple[Json, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ToolVersionPublished:
    """A version of a tool as first seen by this ledger, so that it explains itself without the catalog's files."""

    schema: JsonObject
    contract: JsonObject
    description: str
    description_digest: str
    output_schema: Json = None
    runbook: str | None = None


@dataclass(frozen=True, kw_only=True)
class ToolStageChanged:
    """The tool's stage differs from what was last recorded."""

    stage: Stage
    replacements: tuple[Json, ...] = ()
    hint: str | None = None


@dataclass(frozen=True, kw_only=True)
class SessionErased:
    """The key of the session's sealed fields was destroyed."""

    by: str
    note: str | None = None


@dataclass(frozen=True, kw_only=True)
class LedgerPruned:
    """Rows of whole closed sessions past retention were removed; `proof` stays."""

    sessions: tuple[Json, ...]
    proof: Json
    by: str


@dataclass(frozen=True, kw_only=True)
class Unreadable:
    """
    Not a recorded type: an event this release cannot understand, shown raw instead of crashing.

    `newer` is true where a newer release wrote it; the session is then read-only here.
    """

    type: str
    format: int
    reason: str
    raw: Json
    newer: bool
