"""A host's own list of Responses items, completed: each call gets the one output it has to have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ledger.providers.names import IdRule
from ledger.providers.plain import said, view
from ledger.providers.port import Asked, FindAnswers, ProposedCall, Told
from ledger.providers.responses_parse import is_call, is_output, is_result, parse
from ledger.strictjson import JsonObject


@dataclass(slots=True)
class _Run:
    """The model's items between two of the host's: where they begin and end, its calls, and what answers each."""

    start: int
    stop: int
    end: int
    calls: tuple[ProposedCall, ...]
    answers: list[int | None]


class ItemTranscript:
    """A host's items: SDK objects and dicts, kept as they are."""

    def __init__(self, items: Sequence[Any], rule: IdRule) -> None:
        self._items = items
        self._views = [view(item) or {} for item in items]
        self._rule = rule
        self._runs = _runs(self._views)

    def complete(self, find: FindAnswers, *, every: bool) -> tuple[list[Any], set[str]]:
        """
        Return the transcript with the missing outputs; see `WireFormat.complete`.

        What is there stays as it is, object for object; a call without an id that gets an output gets an id too.
        """
        if not every and all(None not in run.answers for run in self._runs):
            return list(self._items), set()
        out: list[Any] = []
        told: set[str] = set()
        done = 0
        asked = [Asked(run.calls, tuple(map(self._says, run.answers))) for run in self._runs]
        for run, answers in zip(self._runs, find(asked, lambda told: told.text), strict=True):
            told |= {told.call_id for n, told in enumerate(answers) if self._says(run.answers[n]) in (None, told.text)}
            if None not in run.answers:
                continue
            out += self._items[done : run.start]
            out += self._filled(run, answers)
            used = set(run.answers)
            out += [self._items[place] for place in range(run.stop, run.end) if place not in used]
            done = run.end
        return out + list(self._items[done:]), told

    def _says(self, place: int | None) -> str | None:
        """Return what answers a call already."""
        return None if place is None else said(self._views[place].get("output"))

    def _filled(self, run: _Run, answers: Sequence[Told]) -> list[Any]:
        """Return the model's items and one output for each call, in their order."""
        items = list(self._items[run.start : run.stop])
        calls = [n for n in range(len(items)) if is_call(self._views[run.start + n])]
        for number, call in enumerate(run.calls):
            place = run.answers[number]
            if place is not None:
                items.append(self._items[place])
                continue
            told = answers[number]
            here = call.provider_call_id or self._rule.derived(told.call_id)
            if not call.provider_call_id:
                items[calls[number]] = self._views[run.start + calls[number]] | {"call_id": here}
            items.append(function_output(here, told.text))
        return items


def function_output(call_id: str, output: Any) -> JsonObject:
    """Return what answers a call."""
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def _runs(views: Sequence[JsonObject]) -> list[_Run]:
    found: list[_Run] = []
    for start, stop in _stretches(views):
        calls = parse({"output": views[start:stop]}).calls
        if calls:
            if found:
                found[-1].end = start
            found.append(_Run(start, stop, len(views), calls, [None] * len(calls)))
    for run in found:
        for place in range(run.stop, run.end):
            if is_result(views[place]):
                _assign(run, place, views[place].get("call_id") or None)
    return found


def _stretches(views: Sequence[JsonObject]) -> Iterator[tuple[int, int]]:
    """Yield where the model's items begin and end."""
    start: int | None = None
    for place, item in enumerate(views):
        if is_output(item):
            start = place if start is None else start
        elif start is not None:
            yield start, place
            start = None
    if start is not None:
        yield start, len(views)


def _assign(run: _Run, place: int, given: object) -> None:
    """Take an output for the first unanswered call with its id (ids repeat, and both may be missing)."""
    for number, call in enumerate(run.calls):
        if run.answers[number] is None and (call.provider_call_id or None) == given:
            run.answers[number] = place
            return
