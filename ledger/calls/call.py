"""Where one tool call stands: the fold of its events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from ledger.events.call_bodies import (
    Authority,
    CallFlagged,
    CallOutcomeArrivedLate,
    CallReviewed,
    CallUpcast,
    ErrorClass,
    FlagReason,
    Gate,
)
from ledger.events.words import Effect, RecoveryPolicy, Stage

State: TypeAlias = Literal[
    "unknown",
    "proposed",
    "validated",
    "rejected",
    "authorized",
    "denied",
    "awaiting-approval",
    "started",
    "succeeded",
    "failed",
    "needs-review",
    "abandoned",
    "superseded",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """
    What a person was asked, or what an authorization is bound to.

    `arguments_digest` is empty where the arguments were carried to a version that the answer does not hold for.
    `policy` is the one that asked, or that allowed; `none` where no policy was registered.
    """

    arguments_digest: str
    by: Authority | None = None  # None: asked, not answered
    who: tuple[str, ...] | None = None
    person: str | None = None
    message: str | None = None
    expires_at: str | None = None
    at: str = ""
    policy: str | None = None


@dataclass(frozen=True, kw_only=True)  # no slots: `changed` copies the dict, 8 times faster than `replace`
class Call:
    """
    Where one tool call stands; built by `evolve` only.

    `arguments` is the intent as parsed (None: unparsable), `executed` the arguments that ran or will run where they
    differ (defaults applied, upcast). `given_key` is the idempotency key that the host gave, `host_key` the same as
    long as it stands for this call: not of one that surely did nothing. `attempt` counts starts. `token` is the lease
    token of the last start. `unseen_upcasts` carried it since a person last said that it shall run: nobody has
    seen the form that they made. `late` is the last outcome that came after the flag and after the last verdict to run
    it, or another in its place.
    """

    call_id: str = ""
    session_id: str = ""
    state: State = "unknown"
    tool: str = ""
    schema_version: int | None = None
    schema_digest: str | None = None
    intent_version: int | None = None  # of the arguments as they were asked; an upcast leaves it
    turn: int = 0
    index: int = 0
    revision: int = 0
    principal: str | None = None
    tenant: str | None = None
    on_behalf_of: str | None = None
    # the intent
    raw_arguments: str | None = None
    arguments: Any = None
    executed: Any = None
    provider_call_id: str | None = None
    provider: str | None = None
    model: str | None = None
    description_digest: str | None = None
    stage: Stage | None = None
    effect: Effect = "external"
    recovery: RecoveryPolicy = "review"
    supports_idempotency: bool = False
    reconciles: bool = False
    host_key: str | None = None
    given_key: str | None = None
    repair_of: str | None = None
    repairs: int = 0
    executor: Literal["host", "provider"] = "host"
    imported: bool = False
    redacted: bool = False
    # what the gates said
    gates: tuple[str, ...] = ()
    arguments_digest: str | None = None
    approval: Approval | None = None
    unseen_upcasts: tuple[CallUpcast, ...] = ()
    # execution
    attempt: int = 0
    idempotency_key: str | None = None
    worker: str | None = None
    token: int = 0
    attempt_failed: bool = False  # the last attempt surely did nothing
    in_doubt: bool = False  # an attempt before the last one, or somewhere else, may have had its effect
    # the end
    gate: Gate | None = None
    code: str | None = None
    error_class: ErrorClass | None = None
    message: str | None = None
    violations: tuple[Any, ...] = ()
    model_can_repair: bool = False
    requires_user_action: str | None = None
    retryable: bool = False
    retry_after: float | None = None
    not_started: bool = False
    replacement: Any = None
    hint: str | None = None
    status: Literal["ok", "not_found"] = "ok"
    result: Any = None
    result_known: bool = True
    encodings: tuple[Any, ...] = ()
    source: Any = None
    size: int = 0
    truncated_for_model: bool = False
    reconciled: bool = False
    duration_ms: float | None = None
    # doubt
    reason: FlagReason | None = None
    flag: CallFlagged | None = None
    late: CallOutcomeArrivedLate | None = None
    review: CallReviewed | None = None
    superseded_by: str | None = None
    # when, and the place of the last event
    proposed_at: str = ""
    started_at: str | None = None
    waiting_since: str | None = None
    ended_at: str | None = None
    sequence: int = 0
    last_event_id: str | None = None

    @property
    def to_run(self) -> Any:
        """The arguments that ran, or that will run."""
        return self.arguments if self.executed is None else self.executed

    @property
    def side_effecting(self) -> bool:
        """Whether running it may change the world."""
        return self.effect != "read"

    @property
    def repeatable(self) -> bool:
        """Whether it may be started again by itself: a read, or a tool whose author declared `recovery: retry`."""
        return self.effect == "read" or self.recovery == "retry"

    @property
    def ran_elsewhere(self) -> bool:
        """Whether this ledger never starts it: imported from somewhere, or executed by the provider."""
        return self.imported or self.executor == "provider"

    @property
    def never_ran(self) -> bool:
        """
        Whether the call surely had no effect: it never started, or every start surely did nothing.

        An attempt surely did nothing if the tool was unavailable, if it was stopped before the tool began, or if a
        person found so.
        """
        return not self.in_doubt and (self.attempt == 0 or self.attempt_failed or self.not_started)

    @property
    def allowed_by_person(self) -> bool:
        """Whether it waits for its start by a person's word, not by a policy's."""
        return self.state == "authorized" and self.approval is not None and self.approval.by != "policy"

    @property
    def contradicted(self) -> bool:
        """
        Whether an outcome arrived after somebody had decided that the call shall run (again).

        It is not started then but flagged once more, with that outcome as the evidence.
        """
        return self.state == "authorized" and self.late is not None

    def changed(self, **changes: Any) -> Call:
        """Return a copy with these fields changed; raises `TypeError` for a name that is no field."""
        copy = object.__new__(Call)
        fields = copy.__dict__
        fields.update(self.__dict__)
        size = len(fields)
        fields.update(changes)
        if len(fields) != size:
            raise TypeError(f"not fields of a call: {sorted(changes.keys() - self.__dict__.keys())}")
        return copy


NEW_CALL: Final = Call()
"""The call before its first event; making one anew costs as much as encoding an event."""
