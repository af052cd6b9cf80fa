"""What of a session must not reach the disk, as far as this process received it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar

from ledger.session.scrubbing import Scrubber, scrubber
from ledger.strictjson import JsonObject, canonical

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Truth:
    """What a call with masked arguments really asks for, and what of it runs (defaults included)."""

    intent: JsonObject
    to_run: JsonObject

    def asks_for(self, arguments: Any) -> bool:
        """Whether these are the same arguments, as the model wrote them or with what would run."""
        return canonical(arguments) in (canonical(self.intent), canonical(self.to_run))


@dataclass(slots=True, weakref_slot=True, eq=False)
class Secrets:
    """
    A session's secrets, shared by all who work on it in this process.

    `truths` are the true arguments of open calls that were recorded masked, by callId. Two threads may use it at once
    (a verdict takes no seat), without a lock that a fork could leave taken: what is learned is only added to.
    """

    truths: dict[str, Truth] = field(default_factory=dict)
    _texts: dict[str, None] = field(default_factory=dict)
    _made: tuple[int, Scrubber] = field(default_factory=lambda: (0, Scrubber()))  # for so many texts

    def __bool__(self) -> bool:
        return bool(self._texts)

    def learn(self, texts: tuple[str, ...]) -> None:
        """Take in what a schema calls sensitive: from now on it is masked wherever it comes again."""
        for text in texts:
            self._texts.setdefault(text)

    def scrubbed(self, value: Any) -> Any:
        """Return a value with every secret masked; the value itself where it holds none."""
        return self._scrubber().scrub(value)

    def scrubbed_body(self, body: T) -> T:
        """Return an event's body as it may be recorded; the arguments of calls were masked where they came in."""
        return self._scrubber().body(body) if self._texts else body

    def _scrubber(self) -> Scrubber:
        count, made = self._made
        if count != len(self._texts):
            texts = list(self._texts)
            made = scrubber(texts)
            self._made = len(texts), made  # of another thread's, made of fewer texts, the count tells
        return made
