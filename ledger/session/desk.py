"""What people say of calls, from Python: approve, deny, resolve, note; each sync and async."""

from __future__ import annotations

from functools import partial
from typing import Any

from ledger.calls import Call
from ledger.errors import UsageError
from ledger.execution.drive import adrive, drive
from ledger.execution.requests import Steps, io
from ledger.review import Answer, Reviewer
from ledger.session import reviewing
from ledger.session.core import Core
from ledger.session.results import CallResult
from ledger.session.reviewing import Verdicts
from ledger.session.wiring import Wiring


class Desk:
    """
    The verdicts of a ledger; no lease is needed, a worker that runs the session meanwhile sees them.

    `call` is a call's id, a unique head or tail of it, or a `CallResult`. `by` defaults to the OS user; `note=`,
    `evidence=` and `verified=` are recorded beside it. All raise `UnknownCall`, `UsageError`, and
    `IntegrityFailure` for a call that cannot be read.
    """

    def __init__(self, wiring: Wiring) -> None:
        self._wiring = wiring

    def approve(
        self, call: str | CallResult, *, by: str | None = None, digest: str | None = None, **about: Any
    ) -> Verdicts:
        """Approve a waiting call; `digest` is the arguments' digest that was seen. Raises `VerdictRefused`."""
        return drive(self._approving(call, by, digest, about))

    def deny(self, call: str | CallResult, *, by: str | None = None, **about: Any) -> Verdicts:
        """Refuse a call that waits for an approval. Raises `VerdictRefused`."""
        return drive(self._denying(call, by, about))

    def resolve(
        self, call: str | CallResult, verdict: str | None = None, *, by: str | None = None, **about: Any
    ) -> Verdicts:
        """
        Give the verdict on a call in doubt: "happened", "did-not-happen", "run" or "abandon".

        `result=` is what the tool would have returned (happened), `run=True` sends it again (did-not-happen),
        `arguments=` lets a new call with these arguments take its place, `digest=` the arguments' digest that was
        seen. Raises `VerdictRefused`.
        """
        return drive(self._resolving(call, verdict, by, about))

    def note(
        self, call: str | CallResult, text: str, *, by: str | None = None, corrects: str | None = None, **about: Any
    ) -> Verdicts:
        """Add a note to a call, in any state."""
        return drive(self._noting(call, text, by, corrects, about))

    def find(self, call: str | CallResult) -> Call:
        """Return a call as it stands, by its id or a unique head or tail of it. Raises `UnknownCall`."""
        return drive(self._found(call))[1]

    async def aapprove(
        self, call: str | CallResult, *, by: str | None = None, digest: str | None = None, **about: Any
    ) -> Verdicts:
        """Async twin of `approve`."""
        return await adrive(self._approving(call, by, digest, about))

    async def adeny(self, call: str | CallResult, *, by: str | None = None, **about: Any) -> Verdicts:
        """Async twin of `deny`."""
        return await adrive(self._denying(call, by, about))

    async def aresolve(
        self, call: str | CallResult, verdict: str | None = None, *, by: str | None = None, **about: Any
    ) -> Verdicts:
        """Async twin of `resolve`."""
        return await adrive(self._resolving(call, verdict, by, about))

    async def anote(
        self, call: str | CallResult, text: str, *, by: str | None = None, corrects: str | None = None, **about: Any
    ) -> Verdicts:
        """Async twin of `note`."""
        return await adrive(self._noting(call, text, by, corrects, about))

    async def afind(self, call: str | CallResult) -> Call:
        """Async twin of `find`."""
        return (await adrive(self._found(call)))[1]

    # -- both

    def _found(self, call: Any) -> Steps[tuple[Core, Call]]:
        reference = call.call_id if isinstance(call, CallResult) else call
        return (yield from io(partial(reviewing.find, self._wiring, reference)))

    def _approving(self, call: object, by: str | None, digest: str | None, about: dict[str, Any]) -> Steps[Verdicts]:
        who = _reviewer(by, about)
        core, found = yield from self._found(call)
        return (yield from reviewing.approving(core, found.call_id, who, expected=digest))

    def _denying(self, call: object, by: str | None, about: dict[str, Any]) -> Steps[Verdicts]:
        who = _reviewer(by, about)
        core, found = yield from self._found(call)
        return (yield from reviewing.denying(core, found.call_id, who))

    def _resolving(self, call: object, verdict: str | None, by: str | None, about: dict[str, Any]) -> Steps[Verdicts]:
        arguments = about.pop("arguments", None)
        answer = _answer(verdict, about)
        who = _reviewer(by, about)
        core, found = yield from self._found(call)
        if arguments is not None:
            return (yield from reviewing.superseding(core, found.call_id, arguments, answer, who))
        if answer is None:
            raise UsageError("no verdict is given", hint="happened, did-not-happen, run or abandon.")
        return (yield from reviewing.resolving(core, found.call_id, answer, who))

    def _noting(
        self, call: object, text: str, by: str | None, corrects: str | None, about: dict[str, Any]
    ) -> Steps[Verdicts]:
        who = _reviewer(by, about)
        core, found = yield from self._found(call)
        return (yield from reviewing.noting(core, found.call_id, text, who, corrects=corrects))


def _reviewer(by: str | None, about: dict[str, Any]) -> Reviewer:
    note, evidence = about.pop("note", None), tuple(about.pop("evidence", ()))
    verified = bool(about.pop("verified", False))
    if about:
        hint = "All take by, note, evidence, verified; resolve also result, run, arguments; it and approve digest."
        raise UsageError(f"unknown options: {', '.join(sorted(about))}", hint=hint)
    return reviewing.reviewer(by, note, evidence, verified=verified)


def _answer(verdict: str | None, about: dict[str, Any]) -> Answer | None:
    given = "result" in about
    result, run = about.pop("result", None), bool(about.pop("run", False))
    expected = about.pop("digest", None)
    match verdict:
        case None:
            return None
        case "happened" | "did-not-happen" | "run" | "abandon":
            return Answer(verdict=verdict, result=result, result_given=given, run=run, expected=expected)
        case _:
            raise UsageError(f"unknown verdict {verdict!r}", hint="happened, did-not-happen, run or abandon.")
