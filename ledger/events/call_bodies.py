"""Bodies of the events of one call; class defaults are the wire's defaults, absent keys read as them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ledger.events.words import Effect, RecoveryPolicy, Stage

Json: TypeAlias = Any
Gate: TypeAlias = Literal["lookup", "decode", "schema", "business", "authorization"]
ErrorClass: TypeAlias = Literal["model", "policy", "environment", "tool"]
FlagReason: TypeAlias = Literal[
    "outcome-unknown",
    "not-started",
    "schema-changed",
    "tool-retired",
    "duplicate",
    "approval-mismatch",
    "attempts-exhausted",
]
Verdict: TypeAlias = Literal["happened", "did-not-happen", "run", "abandon"]
Authority: TypeAlias = Literal["policy", "person", "verdict"]


@dataclass(frozen=True, kw_only=True)
class CallProposed:
    """
    The model asked for this. The intent is never altered: `raw_arguments` is the exact text it sent.

    `stage`, `effect`, `recovery`, `supports_idempotency` and `reconciles` (it declares a reconcile function) are the
    tool's as they were then. `idempotency_key` is the host's own; `repair_of` links a goal's rejected proposals,
    `repairs` counts them. `imported` calls and those of the executor `provider` ran elsewhere.
    """

    raw_arguments: str | None = None
    arguments: Json = None
    provider_call_id: str | None = None
    provider: str | None = None
    model: str | None = None
    description_digest: str | None = None
    stage: Stage | None = None
    effect: Effect = "external"
    recovery: RecoveryPolicy = "review"
    supports_idempotency: bool = False
    reconciles: bool = False
    idempotency_key: str | None = None
    repair_of: str | None = None
    repairs: int = 0
    executor: Literal["host", "provider"] = "host"
    imported: bool = False
    redacted: bool = False


@dataclass(frozen=True, kw_only=True)
class CallValidated:
    """All gates before authorization passed; `arguments_digest` is over the arguments that will run."""

    gates: tuple[str, ...]
    validator: str
    arguments_digest: str


@dataclass(frozen=True, kw_only=True)
class CallRejected:
    """A gate before authorization refused the call; `violations` are `{pointer, keyword, message}`."""

    gate: Gate
    code: str
    error_class: ErrorClass
    message: str
    violations: tuple[Json, ...] = ()
    model_can_repair: bool = False
    requires_user_action: str | None = None
    replacement: Json = None
    hint: str | None = None


@dataclass(frozen=True, kw_only=True)
class CallAuthorized:
    """The call may run, with exactly these arguments, once, until `expires_at` (ISO 8601 UTC; null: no end)."""

    by: Authority
    arguments_digest: str
    policy: str | None = None
    rule: str | None = None
    person: str | None = None
    verified: bool = False
    os_user: str | None = None
    host: str | None = None
    note: str | None = None
    evidence: tuple[Json, ...] = ()
    expires_at: str | None = None


@dataclass(frozen=True, kw_only=True)
class CallDenied:
    """The authorization gate, a limit or a person refused the call; the model cannot repair that."""

    code: str
    message: str
    gate: Gate = "authorization"
    model_can_repair: bool = False
    requires_user_action: str | None = None
    policy: str | None = None
    rule: str | None = None
    by: str | None = None
    os_user: str | None = None
    host: str | None = None
    note: str | None = None
    retry_after: float | None = None
    evidence: tuple[Json, ...] = ()
    verified: bool = False


@dataclass(frozen=True, kw_only=True)
class CallApprovalRequested:
    """A person is asked, bound to tool, schemaVersion and `arguments_digest`; `who` null: anybody may approve."""

    arguments_digest: str
    who: tuple[str, ...] | None = None
    message: str | None = None
    expires_at: str | None = None
    policy: str | None = None
    rule: str | None = None


@dataclass(frozen=True, kw_only=True)
class CallStarted:
    """
    Committed before the executor runs: from here on the effect may have happened.

    `arguments` are those that run, only where they differ from the intent; `deadline` is ISO 8601 UTC. `replacement`
    and `hint`: what the model reads beside the result of a tool in stage compat.
    """

    idempotency_key: str
    worker: str
    token: int
    resource_keys: tuple[str, ...] | None = None
    deadline: str | None = None
    arguments: Json = None
    replacement: Json = None
    hint: str | None = None


@dataclass(frozen=True, kw_only=True)
class CallAttemptFailed:
    """An attempt ended in `Unavailable(retryable)`: nothing happened; the next one follows after the backoff."""

    code: str
    message: str
    backoff_seconds: float


@dataclass(frozen=True, kw_only=True)
class CallSucceeded:
    """
    The tool returned. `encodings` list by pointer what is not plain JSON in `result`; sizes are bytes.

    A test run that exits non-zero is a success with bad news; `not_found` is a success without data.
    """

    status: Literal["ok", "not_found"] = "ok"
    result: Json = None
    encodings: tuple[Json, ...] = ()
    code: str | None = None
    message: str | None = None
    source: Json = None
    trust: Literal["external"] = "external"
    size: int = 0
    truncated_for_model: bool = False
    duration_ms: float | None = None
    reconciled: bool = False
    evidence: Json = None


@dataclass(frozen=True, kw_only=True)
class CallFailed:
    """
    A known bad end. `message` is safe for the model; `exception` names the class only, for people.

    `replacement` and `hint`: what is there instead of a tool that was removed meanwhile.
    """

    code: str
    error_class: ErrorClass
    message: str
    retryable: bool = False
    retry_after: float | None = None
    not_started: bool = False
    model_can_repair: bool = False
    exception: str | None = None
    duration_ms: float | None = None
    evidence: Json = None
    replacement: Json = None
    hint: str | None = None


@dataclass(frozen=True, kw_only=True)
class CallFlagged:
    """The call waits for a person; `evidence` is what is known, `duplicate_of` the call it copies."""

    reason: FlagReason
    evidence: Json = None
    duplicate_of: str | None = None


@dataclass(frozen=True, kw_only=True)
class CallReviewed:
    """
    A person's verdict; or, with `settled_by`, the end of the original carried over to its copy.

    `did-not-happen` with `run` authorizes the call again. `by` is a claim unless `verified`; the OS user and the host
    stand beside it. `result_known` is false where the effect happened but nobody knows what it returned.
    """

    verdict: Verdict
    by: str
    run: bool = False
    result: Json = None
    result_known: bool = False
    verified: bool = False
    os_user: str | None = None
    host: str | None = None
    note: str | None = None
    evidence: tuple[Json, ...] = ()
    settled_by: str | None = None
    arguments_digest: str | None = None
    expires_at: str | None = None


@dataclass(frozen=True, kw_only=True)
class CallUpcast:
    """
    The recorded arguments were carried to a newer schema version by a proved pure-format upcast.

    `keeps_approval`: the upcast is `iso` and its file says that an approval of the old form holds for the new one.
    """

    from_version: int
    to_version: int
    upcast_digest: str
    digest_before: str
    digest_after: str
    validator: str
    arguments: Json
    round_trip: bool = True
    keeps_approval: bool = False


@dataclass(frozen=True, kw_only=True)
class CallSuperseded:
    """A new call carries a person's answer instead of this one."""

    superseded_by: str
    by: str
    did_not_happen: bool = False
    os_user: str | None = None
    host: str | None = None
    note: str | None = None
    evidence: tuple[Json, ...] = ()
    verified: bool = False


@dataclass(frozen=True, kw_only=True)
class CallOutcomeArrivedLate:
    """
    An outcome that came after the flag, or from an owner that had lost its lease.

    `settles` is decided by the appender under the fold: only where no other owner claimed the session since the
    call's start does it end a needs-review; else it is evidence. Field meanings as in succeeded and failed.
    """

    ended: Literal["succeeded", "failed"]
    token: int
    settles: bool = False
    status: Literal["ok", "not_found"] = "ok"
    result: Json = None
    encodings: tuple[Json, ...] = ()
    source: Json = None
    size: int = 0
    truncated_for_model: bool = False
    code: str | None = None
    error_class: ErrorClass | None = None
    message: str | None = None
    retryable: bool = False
    retry_after: float | None = None
    model_can_repair: bool = False
    exception: str | None = None
    duration_ms: float | None = None


@dataclass(frozen=True, kw_only=True)
class CallNoted:
    """A person's note; `corrects` names the event it puts right."""

    by: str
    text: str
    evidence: tuple[Json, ...] = ()
    corrects: str | None = None
    os_user: str | None = None
    host: str | None = None
    verified: bool = False
