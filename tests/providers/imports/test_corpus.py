"""Real sessions and real exchanges with providers: read, told in every format, and read again."""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger.providers import get_format
from ledger.providers.check import check
from ledger.providers.export import export
from ledger.providers.imported import Read, Said, Skipped, Turn
from ledger.providers.readers import read_provider
from ledger.providers.sniff import LOOKED_AT, sniff
from tests.providers.imports.recorded import calls_of, recorded
from tests.providers.odd import FORMATS
from tests.providers.test_corpus import lines

HOSTS = {
    "bedrock-runtime": "bedrock",
    "anthropic.com": "anthropic",
    "googleapis.com": "gemini",
    "/responses": "responses",
}
READERS = {"mistral": "openai"}


def sessions(corpus: Path, first: int = 0, step: int = 1) -> Iterator[tuple[dict[str, Any], list[Read]]]:
    """Yield each session with what is read of it, or each so many-th."""
    for session in itertools.islice(lines(corpus / "sessions.jsonl.gz"), first, None, step):
        yield session, list(read_provider("openai", [session]))


def calls_in(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a message's calls."""
    return list(message.get("tool_calls") or [])


def test_sessions_are_read_to_the_byte(corpus: Path) -> None:
    """All 564: every argument text is the source's, every result is at its call, nothing is passed over."""
    count = texts = 0
    for session, items in sessions(corpus):
        asked = [call for message in session["messages"] for call in calls_in(message)]
        turns = [item for item in items if isinstance(item, Turn)]
        read = [call for turn in turns for call in turn.reply.calls]
        assert sorted(call.raw or "" for call in read) == sorted(call["function"]["arguments"] for call in asked)
        results = [message["content"] for message in session["messages"] if message["role"] == "tool"]
        outcomes = [outcome for turn in turns for outcome in turn.outcomes if outcome is not None]
        assert sorted(outcome.text for outcome in outcomes) == sorted(results)
        users = [turn for turn in turns if turn.requestor == "user"]
        assert sum(len(turn.reply.calls) for turn in users) == sum(
            len(calls_in(message)) for message in session["messages"] if message.get("x_requestor") == "user"
        )
        assert not [item for item in items if isinstance(item, Skipped) or (isinstance(item, Said) and item.orphan)]
        count, texts = count + 1, texts + len(asked)
    assert count == 564
    assert texts == 5334


def test_sessions_are_known_by_their_first_bytes(corpus: Path) -> None:
    """Whole lines and parts of them."""
    for session in lines(corpus / "sessions.jsonl.gz"):
        if any(calls_in(message) for message in session["messages"][:20]):
            assert sniff(json.dumps(session).encode()[:LOOKED_AT]) == "openai"


@pytest.mark.parametrize("name", FORMATS)
def test_sessions_go_out_in_every_format_and_come_back(corpus: Path, name: str) -> None:
    """
    Nothing is refused; read again they hold the same calls, ids, arguments and results, in their order.

    Here each session goes out in one of the formats; `make soak` lets all of them go out in all.
    """
    wire = get_format(name)
    changed = 0
    for _, items in sessions(corpus, FORMATS.index(name), len(FORMATS)):
        body = export(recorded(items).history, wire)
        assert check(name, body) == []
        before = calls_of(items)
        after = calls_of(read_provider(READERS.get(name, name), [body]))
        assert [(call[0], call[2], call[3]) for call in after] == [(call[0], call[2], call[3]) for call in before]
        seen: set[str] = set()
        for (_, given, *_), (_, here, *_) in zip(before, after, strict=True):
            keeps = wire.ids.legal(given) and given not in seen
            assert (here == given) if keeps else (here != given)
            changed += not keeps
            seen.add(given)
    assert changed < 600 or name == "mistral"


def exchanges(corpus: Path) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield each exchange that a provider accepted, with its format's name."""
    for exchange in lines(corpus / "provider_exchanges.jsonl.gz"):
        for each in exchange["interactions"]:
            request, response = each.get("request"), each.get("response")
            if each["status"] == 200 and isinstance(request, dict) and isinstance(response, dict):
                name = next((name for part, name in HOSTS.items() if part in each["uri"]), "openai")
                yield name, request, response


def is_reply(response: dict[str, Any]) -> bool:
    """Whether it is a model's answer, whole."""
    return bool(response.keys() & {"candidates", "choices", "message", "output"}) or response.get("type") == "message"


def test_exchanges_are_read_with_the_right_provider(corpus: Path) -> None:
    """Every request with its reply: known by its first bytes, each call found, every format's export accepted."""
    count = called = 0
    for name, request, response in exchanges(corpus):
        if not is_reply(response):
            continue
        document = {"request": request, "response": response}
        assert sniff(json.dumps(document).encode()[:LOOKED_AT]) == name
        items = list(read_provider(name, [document]))
        assert not [item for item in items if isinstance(item, Skipped)]
        chained = request.get("previous_response_id") is not None
        assert chained or not [item for item in items if isinstance(item, Said) and item.orphan]
        before = calls_of(items)
        for other in FORMATS:
            body = export(recorded(items).history, get_format(other))
            assert check(other, body) == []
            after = calls_of(read_provider(READERS.get(other, other), [body]))
            assert [(call[0], call[2]) for call in after] == [(call[0], call[2]) for call in before]
        count, called = count + 1, called + bool(before)
    assert count > 500
    assert called > 250


def sent_by(response: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the blocks, parts or items of a reply."""
    if "metrics" in response:
        return list(response["output"]["message"]["content"])
    if "candidates" in response:
        return list(response["candidates"][0].get("content", {}).get("parts", []))
    return list(response["output" if "output" in response else "content"])


def test_replies_go_back_to_their_provider_as_they_came(corpus: Path) -> None:
    """Blocks, parts and items with their signatures and encrypted contents: the same again, in the same order."""
    count = 0
    for name, _, response in exchanges(corpus):
        if name == "openai" or not is_reply(response):
            continue
        wire = get_format(name)
        told = export(recorded(read_provider(name, [response])).history, wire)
        sent = [{key: value for key, value in each.items() if value is not None} for each in sent_by(response)]
        sent = [each for each in sent if "signature" in repr(each.get("reasoningContent", "signature"))]  # else refused
        if name == "responses":
            found = [
                {key: value for key, value in each.items() if value is not None} for each in told["input"][: len(sent)]
            ]
        else:
            contents: list[Any] = told["contents" if name == "gemini" else "messages"]
            models = [each for each in contents if each["role"] in ("assistant", "model")]
            found = [part for each in models for part in each["parts" if name == "gemini" else "content"]]
        if not any(each.get("execution") == "client" for each in sent):  # without its answer it is told as a function's
            assert found == [each for each in sent if each != {"text": ""}]
        count += 1
    assert count > 350


def test_recorded_streams_are_put_together(corpus: Path) -> None:
    """Server-sent events as they were recorded: a stream that was recorded whole ends as the provider said."""
    whole = cut = 0
    for name, _, response in exchanges(corpus):
        raw = response.get("raw")
        if name == "bedrock" or not isinstance(raw, str) or '"error"' in raw[:200]:
            continue
        events = []
        for line in raw.splitlines():
            if line.startswith("data: {"):
                with contextlib.suppress(ValueError):  # the recording was cut there
                    events.append(json.loads(line.removeprefix("data: ")))
        if "error" in events[-1] and "choices" not in events[-1] and "type" not in events[-1]:
            continue
        reply = get_format(name).parse(events)
        if reply.kind == "incomplete":
            assert reply.stop_reason in ("error", "stream_cut", "STREAM_CUT")
            cut += 1
        else:
            assert reply.calls or reply.text
            whole += 1
    assert (whole, cut) >= (35, 0)
