"""A world: a ledger, a file of effects that no transaction protects, and the moment at which to die."""

from __future__ import annotations

import json
import os
import select
import shutil
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ledger import Allow, Ask, Context, DidNotHappen, Happened, Ledger
from ledger.testing import crash
from tests.crash.places import Place

What: TypeAlias = Literal["append", "effect"]


@dataclass(frozen=True, slots=True)
class Kill:
    """When to die: before or after the n-th append or effect (from 1)."""

    what: What
    when: crash.When
    nth: int

    def __str__(self) -> str:
        return f"{self.when} {self.what} {self.nth}"


@dataclass(slots=True)
class World:
    """
    One folder and one ledger: what its appends acknowledged, and the effects of its tools.

    An effect is one line, written with O_APPEND and fsync: it counts what happened whatever the ledger says. It takes
    `pause` seconds before and after it, so that a process that is killed at random is often found in a tool.
    `begun` is called when the ledger is open; `watch` counts the appends of the one that was opened last.
    """

    folder: Path
    place: Place
    kill: Kill | None = None
    pause: float = 0.0
    begun: Callable[[], object] = int
    watch: crash.Watch | None = field(default=None, init=False)
    _count: int = field(default=0, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    @property
    def acknowledged(self) -> Path:
        return self.folder / "acknowledged"

    @contextmanager
    def copy(self, folder: Path) -> Iterator[World]:
        """Lend a copy of it all in another folder, made as soon as nobody is at work here."""
        shutil.copytree(self.folder, folder)
        copied = World(folder, self.place.copied(folder))
        try:
            yield copied
        finally:
            copied.remove()

    def remove(self) -> None:
        """Let nothing be left of it."""
        self.place.remove()
        shutil.rmtree(self.folder)

    def open(self) -> Ledger:
        """Open the ledger, its tools registered, armed with the append at which to die."""
        ledger = Ledger.open(self.place.url)
        kill = self.kill
        points = [crash.Point(kill.when, kill.nth)] if kill is not None and kill.what == "append" else []
        self.watch = crash.arm(ledger, *points, acknowledged=self.acknowledged)
        self.begun()
        return ledger

    def counts(self) -> dict[What, int]:
        """Return how many appends and effects this process has begun here."""
        return {"append": self.watch.appends if self.watch else 0, "effect": self._count}

    def effect(self, context: Context, **about: Any) -> None:
        """Have an effect."""
        with self._lock:
            self._count += 1
            number = self._count
        self._pass("before", number)
        self._rest()
        line = {"tool": context.tool, "call": context.call_id, "key": context.idempotency_key} | about
        descriptor = os.open(self.folder / "effects", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(descriptor, (json.dumps(line) + "\n").encode())
        os.fsync(descriptor)
        os.close(descriptor)
        self._rest()
        self._pass("after", number)

    def _rest(self) -> None:
        if self.pause:
            select.select([], [], [], self.pause)

    def _pass(self, when: crash.When, number: int) -> None:
        if self.kill == Kill("effect", when, number):
            crash.die()

    def effects(self) -> list[dict[str, Any]]:
        """Return what happened, oldest first."""
        path = self.folder / "effects"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def register(ledger: Ledger, world: World, names: Collection[str] | None = None) -> None:
    """Register a tool of every kind there is, or those of these names."""
    tools: list[tuple[Callable[..., Any], dict[str, Any]]] = [
        (look, {"effect": "read"}),
        (send, {}),
        (pay, {"reconcile": asked("pay", world)}),
        (buy, {"reconcile": asked("buy", world), "recovery": "retry"}),
        (charge, {"recovery": "retry", "supports_idempotency": True}),
        (wire, {}),
        (put, {"effect": "write", "resource_keys": lambda arguments: [arguments["path"]]}),
        (move, {"effect": "write"}),
    ]
    for function, contract in tools:
        if names is not None and function.__name__ not in names:
            continue
        ledger.tool(function.__name__, **contract)(bound(function, world))

    @ledger.authorize
    def policy(call: Any, principal: Any) -> Any:
        return Ask() if call.tool == "wire" else Allow()


def bound(function: Callable[..., Any], world: World) -> Callable[..., Any]:
    """Return the tool as the ledger gets it: its effect is one of this world."""

    def tool(number: int, path: str = "", *, context: Context) -> Any:
        world.effect(context, number=number, path=path)
        return function(number)

    tool.__doc__ = function.__doc__
    return tool


def asked(tool: str, world: World) -> Callable[..., Any]:
    """Return a reconcile function that looks the effect up where it would be."""

    def reconcile(arguments: dict[str, Any], context: Context) -> Any:
        found = [line for line in world.effects() if line["tool"] == tool and line["call"] == context.call_id]
        return Happened({"found": arguments["number"]}) if found else DidNotHappen({"looked": "effects"})

    return reconcile


def look(number: int) -> Any:
    """Look something up."""
    return {"seen": number}


def send(number: int) -> Any:
    """Send something: a plain external effect."""
    return {"sent": number}


def pay(number: int) -> Any:
    """Pay; whether it happened can be asked."""
    return {"paid": number}


def buy(number: int) -> Any:
    """Buy; whether it happened can be asked, and what did not happen may be sent again."""
    return {"bought": number}


def charge(number: int) -> Any:
    """Charge a service that knows idempotency keys."""
    return {"charged": number}


def wire(number: int) -> Any:
    """Wire money; a person has to approve it."""
    return {"wired": number}


def put(number: int) -> Any:
    """Write a file; its path is the resource."""
    return {"written": number}


def move(number: int) -> Any:
    """Write somewhere; nobody knows where."""
    return {"moved": number}
