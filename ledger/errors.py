"""
Every exception the ledger raises to its host; each says in words what to do next.

    LedgerError
    ├── JsonRejected            a text or value that is not strict JSON
    ├── CatalogFault            a tool's files or schema are wrong (names file and pointer)
    ├── ToolMisfit              a function does not fit its schema or contradicts its contract
    ├── UsageError              the API was called in a way that cannot work
    │   ├── DivergentTurn       other content than recorded at a given turn
    │   └── StartDiffers        another `start=` than the recorded conversation's
    ├── NotKnown                no such ledger, session or call
    │   ├── NoDatabase
    │   ├── UnknownSession
    │   └── UnknownCall
    ├── SessionClosed           a closed session takes only verdicts, notes and late outcomes
    ├── SessionOwned            another live owner works on it
    ├── LeaseLost               somebody took the session over: this owner's events are refused
    ├── ReadOnlySession         it holds events written by a newer release
    ├── IllegalTransition       this event cannot follow that state
    ├── VerdictRefused          a person's answer that cannot apply (second verdict, copy, wrong state)
    ├── RetirementRefused       a tool cannot go to this stage yet, or not with this replacement
    ├── KeyConflict             an idempotency key used again for something else
    ├── RateLimited             a limit has no place for so many starts (the session records it as `call.denied`)
    └── StoreError              the database said no
        ├── WrongSequence       somebody appended meanwhile (expected, actual)
        ├── IdempotencyConflict an event id was used again for another event
        ├── StoreUnavailable    it could not be written or read; nothing was acknowledged
        ├── StoreBusy           another process holds the writer's lock too long
        ├── StoreReplaced       the database file was replaced or removed while it was open
        ├── IntegrityFailure    the record was damaged or changed
        └── SchemaOutdated      the tables are older or newer than this release
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, TypeVar

E = TypeVar("E", bound=BaseException)


def restore(cls: type[E], args: tuple[Any, ...], fields: dict[str, Any]) -> E:
    """
    Build an exception again from what `__reduce__` gave; the way back of pickle and copy.

    Python would call the class with `args`, which no class with fields of its own takes: in a process pool such an
    exception breaks the pool instead of reaching its caller.
    """
    error = cls.__new__(cls, *args)
    error.__dict__.update(fields)
    return error


class LedgerError(Exception):
    """
    The root of all errors raised to the host.

    `code` is stable and for programs, `message` says what is wrong, `hint` says what to do; `str()` joins the two.
    """

    default_code: ClassVar[str] = "ledger_error"

    def __init__(self, message: str, *, code: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code or self.default_code
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        if not self.hint:
            return self.message
        end = "" if self.message.endswith((".", "!", "?", "…")) else "."
        return f"{self.message}{end} {self.hint}"

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, (type(self), self.args, self.__dict__)


class JsonRejected(LedgerError):
    """
    A text or value at the border that is not strict JSON.

    `line` and `column` count from 1, `offset` in characters from 0; `pointer` (RFC 6901) is set where a value was
    checked instead of a text.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        line: int | None = None,
        column: int | None = None,
        offset: int | None = None,
        pointer: str | None = None,
    ) -> None:
        super().__init__(message, code=code)
        self.line = line
        self.column = column
        self.offset = offset
        self.pointer = pointer


class CatalogFault(LedgerError):
    """A tool's file or schema is wrong; `path` names the file (or the function), `pointer` the place in it."""

    default_code = "catalog_fault"

    def __init__(self, message: str, *, path: str = "", pointer: str = "", hint: str | None = None) -> None:
        place = f"{path}#{pointer}" if pointer else path
        super().__init__(f"{place}: {message}" if place else message, hint=hint)
        self.path = path
        self.pointer = pointer
        self.fault = message


class ToolMisfit(LedgerError):
    """A function does not fit its schema, or contradicts its contract; the message names both places."""

    default_code = "tool_misfit"


class UsageError(LedgerError):
    """The API was called in a way that cannot work."""

    default_code = "usage"


class DivergentTurn(UsageError):
    """At this turn another content is recorded; the recorded outcome of one call never serves another."""

    default_code = "divergent_turn"

    def __init__(self, turn: int, *, expected: str, got: str) -> None:
        super().__init__(
            f"turn {turn} is recorded with {expected}, but {got} was given",
            hint="Give the next turn's number, or none at all, for new content.",
        )
        self.turn = turn
        self.expected = expected
        self.got = got


class StartDiffers(UsageError):
    """`messages(start=…)` differs from how the recorded conversation starts."""

    default_code = "start_differs"


class NotKnown(LedgerError):
    """Something that was named does not exist here."""

    default_code = "not_known"


class NoDatabase(NotKnown):
    """There is no ledger at this URL; reading commands never create one."""

    default_code = "no_database"


class UnknownSession(NotKnown):
    """No event of this session is recorded."""

    default_code = "unknown_session"

    def __init__(self, session_id: str) -> None:
        super().__init__(f"no session {session_id!r} in this ledger", hint="See `ledger session list`.")
        self.session_id = session_id


class UnknownCall(NotKnown):
    """No call has this id, or several have it as head or tail."""

    default_code = "unknown_call"


class SessionClosed(LedgerError):
    """The session is closed: it takes only verdicts, notes and late outcomes."""

    default_code = "session_closed"

    def __init__(self, session_id: str, reason: str) -> None:
        super().__init__(
            f"session {session_id!r} is closed ({reason}): nothing of it runs any more",
            hint="A call that waits can still be denied or abandoned; to go on, open a session under another id.",
        )
        self.session_id = session_id
        self.reason = reason


_OWNER_PARTS: Final = 6
"""Host, boot, pid namespace, pid, its start time and a random part: see `ledger.session.lease.Owner`."""


def owner_name(owner: str) -> str:
    """Return an owner as people say it: `process 4711 on host vm`; what the library did not make stays as it is."""
    parts = owner.split(":")
    return f"process {parts[3]} on host {parts[0]}" if len(parts) == _OWNER_PARTS else owner


class SessionOwned(LedgerError):
    """
    Another owner works on this session; the message says who and until when as people read it.

    `owner` is the owner's id (host:boot:namespace:pid:start:random), `until` an ISO 8601 UTC time when its lease ends
    unless it is renewed.
    """

    default_code = "session_owned"

    def __init__(self, session_id: str, *, owner: str, until: str) -> None:
        end = f"{until[:19].replace('T', ' ')} UTC" if until.endswith("Z") else until
        super().__init__(
            f"session {session_id} is owned by {owner_name(owner)} until {end}",
            hint="Wait for it (`wait=` seconds), or stop that process.",
        )
        self.session_id = session_id
        self.owner = owner
        self.until = until


class LeaseLost(LedgerError):
    """Somebody else took the session over (higher fencing token); this owner's event was refused."""

    default_code = "lease_lost"

    def __init__(self, session_id: str, *, token: int, current: int) -> None:
        super().__init__(
            f"session {session_id!r} was taken over: lease token {token} is stale, {current} is current",
            hint="Open the session again to read what became of it.",
        )
        self.session_id = session_id
        self.token = token
        self.current = current


class ReadOnlySession(LedgerError):
    """The session holds events written by a newer release; here it can only be read."""

    default_code = "read_only_session"


class IllegalTransition(LedgerError):
    """
    This event cannot follow that state; nothing was recorded.

    `event` is its name, `why` what forbids it where the state alone does not.
    """

    default_code = "illegal_transition"

    def __init__(self, event: str, state: str, call_id: str | None = None, why: str | None = None) -> None:
        place = f" (call {call_id})" if call_id else ""
        super().__init__(f"{event} cannot follow {state}{place}" + (f": {why}" if why else ""))
        self.event = event
        self.state = state
        self.call_id = call_id
        self.why = why


class VerdictRefused(LedgerError):
    """A person's answer cannot apply: it is settled already, it is a copy, or the state does not allow it."""

    default_code = "verdict_refused"


class RetirementRefused(LedgerError):
    """A tool does not change its stage: calls or sessions still need it, or its replacement cannot be one."""

    default_code = "retirement_refused"


class KeyConflict(LedgerError):
    """
    An idempotency key is unique in its tenant, and it was used for another call, or for one that nobody can compare.

    Same tool and arguments get the recorded call; anything else is refused, naming both: `call_id`, and in `other` who
    asked. `held` (tool, version and state of the first) is given where nothing says whether the two are the same.
    """

    default_code = "idempotency_key_conflict"

    def __init__(self, key: str, *, call_id: str, other: str | None = None, held: str | None = None) -> None:
        theirs = f" by {other}" if other else ""
        message = f"idempotency key {key!r} is used already by call {call_id}, and now asked for again{theirs}"
        hint = "Use a new key for a new intent."
        if held:  # another key would run what may have happened
            message = f"idempotency key {key!r} is held by call {call_id} of {held}; nothing says how {other} compares"
            hint = f"Look first what became of it (`ledger audit call {call_id}`): another key may do the same twice."
        super().__init__(message, hint=hint)
        self.key = key
        self.call_id = call_id
        self.other = other


class RateLimited(LedgerError):
    """
    A limit has no place left for all the starts of an append; nothing was recorded.

    `key` and `max` name the limit, `room` says how many starts it still takes. `retry_after`: in so many seconds, by
    the store's clock, the next place becomes free; None: whenever a running call ends. A session catches it: the host
    sees calls in state `denied`.
    """

    default_code = "rate_limited"

    def __init__(self, key: str, *, max: int, room: int, retry_after: float | None) -> None:
        super().__init__(f"the limit {key} of {max} has room for {room} more")
        self.key = key
        self.max = max
        self.room = room
        self.retry_after = retry_after


class StoreError(LedgerError):
    """The database said no."""

    default_code = "store_error"


class WrongSequence(StoreError):
    """Somebody appended to the session meanwhile; read on from `expected` and decide again."""

    default_code = "wrong_sequence"

    def __init__(self, session_id: str, *, expected: int | str, actual: int) -> None:
        super().__init__(f"session {session_id!r}: expected sequence {expected}, it is at {actual}")
        self.session_id = session_id
        self.expected = expected
        self.actual = actual


class IdempotencyConflict(StoreError):
    """This event id is recorded with another content."""

    default_code = "event_id_conflict"

    def __init__(self, event_id: str) -> None:
        super().__init__(f"event id {event_id} is recorded already with another content")
        self.event_id = event_id


class StoreUnavailable(StoreError):
    """The database could not be written or read; nothing was acknowledged."""

    default_code = "store_unavailable"


class StoreBusy(StoreError):
    """Another process holds the writer's lock for too long."""

    default_code = "store_busy"


class StoreReplaced(StoreError):
    """The database file was replaced or removed while it was open; who goes on loses events."""

    default_code = "store_replaced"


class IntegrityFailure(StoreError):
    """What is recorded was damaged or changed: the chain of digests or a copy beside a record does not fit."""

    default_code = "integrity"


class SchemaOutdated(StoreError):
    """The tables are not of this release."""

    default_code = "schema_outdated"
