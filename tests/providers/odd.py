"""Sessions of turns and host messages of every provider, sound and odd, for hypothesis."""

from __future__ import annotations

import contextlib
from typing import Any

from hypothesis import strategies as st

from ledger.errors import IllegalTransition
from ledger.events import CallFailed, MessageRecorded
from ledger.providers import get_format
from tests.providers.recording import RUN, Recording, flagged, ok, stopped

FORMATS = ("anthropic", "bedrock", "gemini", "mistral", "openai", "responses")
TEXTS = st.sampled_from(["", " ", "Hello.", "a\0b", "caf\udce9"])
IDS = st.sampled_from([None, "", "a", "b", "search:0", "i" * 70, "a b"])
NAMES = st.sampled_from(["send_email", "fs.read", "7zip", "", "rm -rf /"])
ARGUMENTS: Any = st.sampled_from([{}, {"a": 1}, {"a\0": "\udce9"}, [1], "{", '{"a": 1}', None])
ERRORS = st.sampled_from([{}, {"is_error": True}])


def of(strategy: Any, size: int = 4) -> Any:
    """Return lists of the strategy."""
    return st.lists(strategy, max_size=size)


BLOCKS = st.one_of(
    st.builds(lambda t: {"type": "text", "text": t}, TEXTS),
    st.builds(lambda i, n, a: {"type": "tool_use", "id": i, "name": n, "input": a}, IDS, NAMES, ARGUMENTS),
    st.sampled_from(
        [
            {"type": "thinking", "thinking": "Hm.\0", "signature": "s"},
            {"type": "thinking", "thinking": "Hm."},
            {"type": "redacted_thinking", "data": "d"},
            {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}},
            "?",
        ]
    ),
)
CONVERSE = st.one_of(
    st.builds(lambda t: {"text": t}, TEXTS),
    st.builds(lambda i, n, a: {"toolUse": {"toolUseId": i, "name": n, "input": a}}, IDS, NAMES, ARGUMENTS),
    st.sampled_from(
        [
            {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}},
            {"reasoningContent": {"reasoningText": {"text": "Hm."}}},
            {"reasoningContent": {"redactedContent": "d"}},
            {"image": {"format": "png"}},
            "?",
        ]
    ),
)
PARTS = st.one_of(
    st.builds(lambda t: {"text": t}, TEXTS),
    st.builds(lambda i, n, a: {"functionCall": {"id": i, "name": n, "args": a}}, IDS, NAMES, ARGUMENTS),
    st.builds(lambda n, a: {"functionCall": {"name": n, "args": a}, "thoughtSignature": "s"}, NAMES, ARGUMENTS),
    st.sampled_from([{"text": "Hm.", "thought": True}, {"executableCode": {"code": "1"}}, "?"]),
)
ITEMS = st.one_of(
    st.builds(lambda t: {"role": "assistant", "content": t}, TEXTS),
    st.builds(
        lambda i, n, a: {"type": "function_call", "call_id": i, "name": n, "arguments": a}, IDS, NAMES, ARGUMENTS
    ),
    st.sampled_from(
        [
            {"type": "reasoning", "id": "rs", "summary": []},
            {"type": "web_search_call", "id": "ws", "status": "completed"},
            {"type": "local_shell_call", "call_id": "a", "action": {}},
            {"type": "custom_tool_call", "call_id": "c", "name": "sh", "input": "ls"},
        ]
    ),
)
CHAT_CALLS = st.builds(lambda i, n, a: {"id": i, "function": {"name": n, "arguments": a}}, IDS, NAMES, ARGUMENTS)
CHAT = st.builds(lambda t, c: {"role": "assistant", "content": t, "tool_calls": c}, st.none() | TEXTS, of(CHAT_CALLS))
STOPS = st.sampled_from([None, "max_tokens", "pause_turn"])
REPLIES: dict[str, Any] = {
    "anthropic": st.builds(lambda b, s: {"role": "assistant", "content": b, "stop_reason": s}, of(BLOCKS), STOPS),
    "bedrock": st.builds(lambda b: {"role": "assistant", "content": b}, of(CONVERSE)),
    "gemini": st.builds(lambda p: {"role": "model", "parts": p}, of(PARTS)),
    "openai": CHAT,
    "mistral": CHAT,
    "responses": st.builds(lambda i: {"output": i}, of(ITEMS)),
}
HOST: dict[str, Any] = {
    "anthropic": st.one_of(
        st.builds(
            lambda b: {"role": "user", "content": b}, of(st.builds(lambda t: {"type": "text", "text": t}, TEXTS))
        ),
        st.builds(
            lambda i, t, e: {"role": "user", "content": [{"type": "tool_result", "tool_use_id": i, "content": t} | e]},
            IDS,
            TEXTS,
            ERRORS,
        ),
        st.builds(lambda r, t: {"role": r, "content": t}, st.sampled_from(["user", "system", "assistant"]), TEXTS),
        REPLIES["anthropic"],
    ),
    "bedrock": st.one_of(
        st.builds(lambda b: {"role": "user", "content": b}, of(st.builds(lambda t: {"text": t}, TEXTS))),
        st.builds(
            lambda i, t: {"role": "user", "content": [{"toolResult": {"toolUseId": i, "content": [{"text": t}]}}]},
            IDS,
            TEXTS,
        ),
        REPLIES["bedrock"],
    ),
    "gemini": st.one_of(
        st.builds(lambda t: {"role": "user", "parts": [{"text": t}]}, TEXTS),
        st.builds(
            lambda i, n: {"role": "user", "parts": [{"functionResponse": {"id": i, "name": n, "response": {"x": 1}}}]},
            IDS,
            NAMES,
        ),
        st.just({"role": "system", "parts": [{"text": "Be kind."}]}),
        REPLIES["gemini"],
    ),
    "openai": st.one_of(
        CHAT,
        st.builds(lambda r, t: {"role": r, "content": t}, st.sampled_from(["user", "system", "developer"]), TEXTS),
        st.builds(lambda i, t: {"role": "tool", "tool_call_id": i, "content": t}, IDS, TEXTS),
    ),
    "responses": st.one_of(
        st.builds(lambda r, t: {"role": r, "content": t}, st.sampled_from(["user", "system", "assistant"]), TEXTS),
        st.builds(lambda i, t: {"type": "function_call_output", "call_id": i, "output": t}, IDS, TEXTS),
        ITEMS,
    ),
    "mistral": st.just({"role": "user", "content": "Hi"}),
    "elsewhere": st.sampled_from(
        [{"role": "user", "content": "Hi"}, {"role": "critic", "content": {"a": 1}}, "Hi", None]
    ),
}
ENDS = st.sampled_from([(*RUN, ok("done")), (*RUN, ok({"log": "y" * 9000})), (*RUN, flagged()), (stopped(),), RUN, ()])


@st.composite
def sessions(draw: st.DrawFn) -> Recording:
    """Return a session of up to 12 turns and messages, of all providers mixed."""
    recording = Recording()
    for _ in range(draw(st.integers(0, 12))):
        provider = draw(st.sampled_from(FORMATS))
        if draw(st.booleans()):
            reply = get_format(provider).parse(draw(REPLIES[provider]))
            for call in recording.turn(reply):
                for body in draw(ENDS):
                    recording.add(body, call)
        else:
            host = draw(st.sampled_from([provider, provider, "elsewhere"]))
            message: Any = draw(HOST[host])
            role = message.get("role", "assistant") if isinstance(message, dict) else "user"
            recording.add(MessageRecorded(role=role, provider=host, message=message))
        _late(draw, recording)
    return recording


def _late(draw: st.DrawFn, recording: Recording) -> None:
    """Let a call that is open end, behind what was said meanwhile."""
    calls = recording.history.open_calls()
    if calls and draw(st.integers(0, 3)) == 0:
        with contextlib.suppress(IllegalTransition):
            recording.add(
                CallFailed(code="timeout", error_class="environment", message="Too late."), draw(st.sampled_from(calls))
            )
