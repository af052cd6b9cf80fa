"""Sessions told event by event, numbered as they come."""

from typing import Any

from ledger.events import Body, Event, MessageRecorded, SessionOpened, TurnRecorded
from ledger.history import History
from tests.calls.stories import said
from tests.events.samples import event

UNKNOWN = ["flagged", {"reason": "outcome-unknown"}]
STARTED = ("proposed", "validated", "authorized", "started")


class Scene:
    """A session that grows; `events` are all so far, `history` is their fold."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.history = History("s1")
        self.turns = 0

    def add(self, body: Body, **envelope: Any) -> Event:
        """Record an event of the session."""
        return self.record(event(body, **{"call_id": None, **envelope}))

    def record(self, new: Event) -> Event:
        """Record any event as the next one."""
        place = len(self.events) + 1
        stored = Event(**{name: getattr(new, name) for name in Event.__dataclass_fields__} | {"sequence": place})
        self.history.load(stored)
        self.events.append(stored)
        return stored

    def open(self) -> None:
        """Open the session."""
        self.add(SessionOpened(agent="a"), principal="ann", tenant="acme")

    def say(self, text: str, *, role: str = "user", key: str | None = None, start: bool = False) -> None:
        """Record a message of the host."""
        message = {"role": role, "content": text}
        self.add(MessageRecorded(role=role, provider="openai", message=message, key=key, start=start))

    def turn(self, calls: int = 0, kind: Any = None, response: str | None = None) -> None:
        """Record the model's next message."""
        self.turns += 1
        found = TurnRecorded(
            kind=kind or ("tool_calls" if calls else "text"), provider="openai", calls=calls, response_id=response
        )
        self.add(found, turn=self.turns, event_id=f"turn-{self.turns}")

    def call(self, call_id: str, *story: str | list[Any], **place: Any) -> None:
        """Record events of a call of the last turn, each by its short name or as [name, body]."""
        known = {"call_id": call_id, "turn": self.turns, "index": 0, "revision": 0} | place
        for part in story:
            name, body = (part, {}) if isinstance(part, str) else part
            self.record(said(name, body, known))
