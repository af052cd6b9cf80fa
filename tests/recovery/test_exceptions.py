"""An exception out of a tool that had an effect: who asserts that nothing happened is believed, nobody else is."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest

from ledger import CantTell, DidNotHappen, Failed, Happened, NotFound, OutcomeUnknown, Rejected, Unavailable
from tests.recovery.scenes import SESSION, Scene
from tests.session.agents import answers, asked


class Server:
    """A service that counts a request, and loses its reply."""

    def __init__(self) -> None:
        self.requests = 0
        self._ours, self._theirs = socket.socketpair()

    def request(self) -> bytes:
        """Send a request and wait for the reply, which never comes: the server hangs up."""
        self._ours.sendall(b"pay\n")
        self.requests += self._theirs.recv(16) == b"pay\n"
        self._theirs.close()
        reply = self._ours.recv(16)
        self._ours.close()
        if not reply:
            raise ConnectionResetError("the reply is lost")
        return reply


def raising(error: BaseException) -> Callable[[], Any]:
    def end() -> Any:
        raise error

    return end


def run(scene: Scene, **options: Any) -> Any:
    scene.options = options
    results = scene.open().session(SESSION).dispatch(asked(("act", {"number": 1})))
    return results.calls[0], answers(results.messages)[0]


@pytest.mark.parametrize("effect", ["write", "external"])
def test_a_lost_reply_is_no_failure(scene: Scene, effect: str) -> None:
    """The server has counted the request: whether it happened is asked of a person, and not sent again."""
    server = Server()
    scene.raises = server.request
    call, answer = run(scene, effect=effect)
    assert server.requests == 1
    assert (call.state, call.call.reason) == ("needs-review", "outcome-unknown")
    assert answer["status"] == "needs_review"
    assert "lost" not in str(answer)  # the exception's own text is nobody's business
    assert call.call.flag.evidence["exception"] == "ConnectionResetError"


def test_a_lost_reply_of_a_read_is_a_failure(scene: Scene) -> None:
    """Reading again does no harm."""
    scene.raises = Server().request
    call, _ = run(scene, effect="read")
    assert (call.state, call.code) == ("failed", "tool_error")


@pytest.mark.parametrize(
    ("error", "state", "code"),
    [
        (NotFound("No such account."), "succeeded", "not_found"),
        (Rejected("too_much", "At most 10."), "failed", "too_much"),
        (Unavailable("Closed."), "failed", "unavailable"),
        (Unavailable("Closed.", retryable=False), "failed", "unavailable"),
        (Failed("half_done", "The first half was booked."), "failed", "half_done"),
    ],
    ids=["not found", "rejected", "unavailable", "unavailable for good", "failed"],
)
def test_a_tools_own_word_is_believed(scene: Scene, error: Exception, state: str, code: str) -> None:
    """The three that assert that nothing happened, and a known bad end, page nobody."""
    scene.raises = raising(error)
    call, answer = run(scene, effect="external")
    assert (call.state, call.code, call.waiting) == (state, code, False)
    assert answer["message"] == str(error)


def test_a_tool_may_say_that_it_does_not_know(scene: Scene) -> None:
    """Its words are for the reviewer."""
    scene.raises = raising(OutcomeUnknown("Timed out after sending."))
    call, _ = run(scene, effect="external", exceptions="no-effect")
    assert (call.state, call.call.flag.evidence["message"]) == ("needs-review", "Timed out after sending.")


def test_an_author_whose_exceptions_prove_that_nothing_happened_says_so(scene: Scene) -> None:
    """`exceptions="no-effect"`."""
    scene.raises = raising(ValueError())
    call, _ = run(scene, effect="external", exceptions="no-effect")
    assert (call.state, call.code) == ("failed", "tool_error")


@pytest.mark.parametrize(
    ("answer", "recovery", "state", "runs"),
    [
        (Happened({"done": 1}), "review", "succeeded", 1),
        (DidNotHappen("not booked"), "review", "needs-review", 1),
        (DidNotHappen(), "retry", "needs-review", 3),
        (CantTell(), "retry", "needs-review", 1),
    ],
    ids=["happened", "did not", "did not, retry", "can't tell"],
)
def test_the_tool_is_asked_at_once(scene: Scene, answer: Any, recovery: str, state: str, runs: int) -> None:
    """Before a person is: and what did not happen is sent again where its author lets it, within its attempts."""
    scene.raises = raising(TimeoutError())
    call, _ = run(scene, effect="external", reconcile=lambda arguments, context: answer, recovery=recovery)
    assert (call.state, len(scene.ran)) == (state, runs)


def test_a_retry_by_key_after_a_lost_reply(scene: Scene) -> None:
    """The service knows the key: the second request gets the reply that was lost."""
    server = Server()

    def once_lost() -> Any:
        return server.request() if len(scene.ran) == 1 else {"done": 1}

    scene.raises = once_lost
    call, _ = run(scene, effect="external", recovery="retry", supports_idempotency=True)
    assert (call.state, server.requests) == ("succeeded", 1)
    assert {key for _, _, key in scene.ran} == {call.call_id}


def test_a_refused_last_attempt_does_not_hide_an_earlier_one(scene: Scene) -> None:
    """The first attempt may have happened, the others were refused: nobody may call that failed."""
    ends = iter([TimeoutError(), Unavailable("Closed."), Unavailable("Closed.")])

    def end() -> Any:
        raise next(ends)

    scene.raises = end
    call, _ = run(scene, effect="external", recovery="retry", supports_idempotency=True)
    assert (call.state, call.call.reason) == ("needs-review", "attempts-exhausted")
    assert [attempt for _, attempt, _ in scene.ran] == [1, 2, 3]


def test_one_call_that_raises_costs_its_siblings_nothing(scene: Scene) -> None:
    """Calls of a batch fail apart, each with its own answer."""

    def second_breaks() -> Any:
        if scene.ran[-1][0] == 2:
            raise ConnectionResetError
        return {"done": scene.ran[-1][0]}

    scene.raises = second_breaks
    results = scene.open().session(SESSION).dispatch(asked(*(("act", {"number": n}) for n in (1, 2, 3))))
    assert [call.state for call in results.calls] == ["succeeded", "needs-review", "succeeded"]


SECRET = {
    "type": "object",
    "properties": {"number": {"type": "integer", "x-sensitive": True}},
    "required": ["number"],
    "additionalProperties": False,
}


def test_secrets_do_not_come_back_in_an_end(scene: Scene) -> None:
    """What the schema calls sensitive is masked in a failure's words, in a result and in its source."""
    ledger = scene.open(tool=False)

    @ledger.tool("act", effect="external", schema=SECRET)
    def act(number: int, *, context: Any) -> Any:
        """Act."""
        context.source = {"uri": f"card://{number}"}
        if number == 87654321:
            raise Failed("refused", f"{number} is refused")
        return f"{number} was charged"

    session = ledger.session(SESSION)
    good, bad = (session.call("act", {"number": number}).call for number in (12345678, 87654321))
    assert (good.result, good.source) == ("[redacted] was charged", {"uri": "card://[redacted]"})
    assert bad.message == "[redacted] is refused"


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (Rejected("key_used", "This key was used."), "needs-review"),
        (NotFound("No such order."), "needs-review"),
        (Unavailable("Closed.", retryable=False), "needs-review"),
        (Failed("half_done", "The first half was booked."), "failed"),
    ],
    ids=["rejected", "not found", "unavailable", "failed"],
)
def test_a_refused_attempt_says_nothing_of_an_earlier_one(scene: Scene, error: Exception, state: str) -> None:
    """The first attempt may have happened: only a known bad end of the call itself ends it."""
    ends = iter([OutcomeUnknown("Timed out after sending."), error])

    def end() -> Any:
        raise next(ends)

    scene.raises = end
    call, _ = run(scene, effect="external", recovery="retry", supports_idempotency=True)
    assert (call.state, len(scene.ran)) == (state, 2)
    assert call.call.reason in (None, "outcome-unknown", "attempts-exhausted")
