"""The door of the library: a ledger, its tools, and the questions one can ask of it."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, overload

from ledger.audit.names import Names
from ledger.catalog import Catalog, Registry, build_tool, load_catalog
from ledger.catalog.fit import check_called
from ledger.catalog.limit import read_limits
from ledger.errors import UsageError
from ledger.events import SessionOpened
from ledger.execution.drive import adrive
from ledger.execution.paging import read_result
from ledger.execution.requests import io
from ledger.history import History
from ledger.ids import Clock
from ledger.session.border import optional_text, principal_id, seconds, text
from ledger.session.budget import checked_limits
from ledger.session.core import Core
from ledger.session.desk import Desk
from ledger.session.handle import Session
from ledger.session.loop import Loop
from ledger.session.offering import tool_finder
from ledger.session.publishing import Publisher
from ledger.session.resuming import Recovered
from ledger.session.wiring import Wiring
from ledger.store.port import Reader, Store
from ledger.store.urls import mask_url, open_store
from ledger.version import VERSION

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_URL = "sqlite:///ledger.db"
DEFAULT_CATALOG = "schemas/tools"
_SETTINGS = frozenset(
    {"lease_seconds", "workers", "max_attempts", "run_not_started", "tools_budget", "host_release", "jitter", "owner"}
    | {"limits"}
)
_ABOUT = frozenset(
    {"agent", "model", "labels", "parent", "transcript", "principal", "on_behalf_of", "tenant", "limits", "wait"}
)


class Ledger(Desk):
    """
    A durable record of tool calls, and the tools that may be called. Safe to use from several threads.

    Make one with `Ledger.open`; it is a context manager.
    """

    def __init__(self, wiring: Wiring, catalog: Catalog | None) -> None:
        super().__init__(wiring)
        self._catalog = catalog
        self._cores: weakref.WeakValueDictionary[str, Core] = weakref.WeakValueDictionary()
        self._opening = threading.Lock()
        self._publisher = Publisher(wiring)
        self._wiring.registry.register(build_tool(read_result, effect="read"))
        self._wiring.registry.register(build_tool(tool_finder(wiring.registry), effect="read"))

    @classmethod
    def open(
        cls,
        url: str | None = None,
        *,
        catalog: str | Path | Catalog | None = None,
        migrate: Literal["auto", "check", "off"] | None = None,
        clock: Clock | None = None,
        **settings: Any,
    ) -> Self:
        """
        Open the ledger at a URL, making the tables of a file on first use.

        `url`: `sqlite:///file.db`, `postgresql://…` or `memory://`; none = LEDGER_DB, else `sqlite:///ledger.db`.
        `catalog`: the folder of versioned tools; none = LEDGER_CATALOG, else `schemas/tools` if it is there.
        `migrate`: "auto" (a file's default) makes tables and brings older ones up to date, "check" (a server's: its
        tables come from `ledger db upgrade`) refuses them, "off" does not look.
        Settings: `lease_seconds` (60), `workers` (8, calls of a turn at once), `max_attempts` (3), `run_not_started`
        (False: after a crash a person is asked before a write that never ran), `tools_budget` (10,000: tokens of tool
        definitions above which `tools` warns; None: never), `limits` (as in a tool's contract, on the calls of all
        tools), `host_release`.
        Raises `CatalogFault`, `SchemaOutdated`, `StoreUnavailable`.
        """
        _known(settings, _SETTINGS, "A ledger")
        found = _catalog(catalog)
        given, clock = clock, clock or Clock()
        settings["limits"] = read_limits(settings.get("limits", ()), path="Ledger.open", pointer="/limits")
        url = url or os.environ.get("LEDGER_DB") or DEFAULT_URL
        store = open_store(url, create=True, migrate=migrate, clock=given)
        wiring = Wiring(
            store=store,
            registry=Registry(found),
            clock=clock,
            catalog_digest=found.digest if found else None,
            version=VERSION,
            url=url,
            **settings,
        )
        ledger = cls(wiring, found)
        ledger._publisher.stages(found)
        return ledger

    def __repr__(self) -> str:
        return f"<Ledger {self.url}>"

    @property
    def url(self) -> str:
        """The URL that it was opened at, without its password."""
        return mask_url(self._wiring.url)

    # -- the host's own code

    @overload
    def tool(self, name: F, /) -> F: ...
    @overload
    def tool(self, name: str | None = None, /, **options: Any) -> Callable[[F], F]: ...
    def tool(self, name: Any = None, /, **options: Any) -> Any:
        """
        Register a function as a tool; it stays a plain function, and called directly it is not recorded.

        The schema comes from the catalog, from `schema=` (a dict or a pydantic model), or from the type hints. Options
        are the words of the contract: `version`, `effect` ("read" | "write" | "external", the default),
        `supports_idempotency`, `recovery`, `timeout_seconds`, `cancellable`, `exceptions`, `resource_keys`,
        `reconcile`, … Raises `ToolMisfit` where function, schema and contract contradict each other, `CatalogFault`
        for a bad schema.
        """

        def register(function: F) -> F:
            wanted = name if isinstance(name, str) else options.get("name") or function.__name__
            definition = self._catalog.named(wanted) if self._catalog else None
            rest = {key: value for key, value in options.items() if key != "name"}
            tool = build_tool(function, name=wanted, definition=definition, **rest)
            self._publisher.publish(tool)
            self._wiring.registry.register(tool)
            return function

        return register(name) if callable(name) else register

    def check(self, tool: str) -> Callable[[F], F]:
        """
        Register a business check of a tool ("" = of all): `fn(arguments, context)` returns None or `Invalid`.

        Checks run after the schema gate, on a copy of the arguments that will run; one that raises fails closed. Raises
        `UsageError` where no tool is named, `CatalogFault` for a name that a tool gave up (nothing would be checked),
        `ToolMisfit` for a function that cannot be called so.
        """
        if not isinstance(tool, str):
            raise UsageError(
                "check takes a tool's name", hint='Write @ledger.check("send_email"), or "" for all tools.'
            )
        if self._catalog is not None:
            self._catalog.check_not_given_up(tool, 'Write @ledger.check("{}").')

        def register(function: F) -> F:
            check_called(function, f"check({tool!r})", "arguments", "context")
            self._wiring.checks.setdefault(tool, []).append(function)
            return function

        return register

    def authorize(self, function: F) -> F:
        """
        Register a policy: `fn(call, principal)` returns `Allow`, `Deny` or `Ask`; Deny over Ask over Allow.

        Raises `ToolMisfit` for a function that cannot be called so.
        """
        check_called(function, "authorize", "call", "principal")
        self._wiring.policies.append(function)
        return function

    def safe_error(self, function: F) -> F:
        """Register what may be told of an exception: `fn(error)` returns a text for the model, or None."""
        check_called(function, "safe_error", "error")
        self._wiring.safe_error = function
        return function

    def on_resolved(self, function: F) -> F:
        """Register a listener: `fn(call)` is called when a call that waited for a person has ended."""
        check_called(function, "on_resolved", "call")
        self._wiring.listeners.append(function)
        return function

    # -- sessions

    def session(self, session_id: str | None = None, *, wait: float = 0.0, **about: Any) -> Session:
        """
        Open a session, or carry on with the one of that id (none: one is minted). Runs nothing yet.

        `wait`: seconds to wait for another owner. About the session: `principal` (who acts: a text, or an object with
        an `id`), `on_behalf_of` (for whom, where that is somebody else; the same), `tenant`, `agent`, `model`,
        `labels`, `parent`, `transcript` ("full", or "calls": no other text is kept),
        `limits` (a `Limits`: what the session may use; none given: those it was opened with).
        """
        key = self._wiring.clock.new_id() if session_id is None else _checked(session_id)
        principal = about.pop("principal", None)
        on_behalf_of = principal_id(about.pop("on_behalf_of", None), "on_behalf_of=")
        tenant = optional_text(about.pop("tenant", None), "tenant=")
        limits = checked_limits(about.pop("limits", None))
        _known(about, _ABOUT, "A session")  # also of a session that is open here already
        with self._opening:  # two threads that open one session share its core
            core = self._cores.get(key) or self._core(key, about)
        if limits is not None:
            core.budget.given, core.opening = limits, replace(core.opening, limits=limits.to_wire())
        principal_id(principal)  # a wrong one is told here, not at the first turn
        patience = seconds(wait, "wait=") or 0.0
        return Session(Loop(core, principal=principal, tenant=tenant, on_behalf_of=on_behalf_of, wait_seconds=patience))

    def _core(self, key: str, about: dict[str, Any]) -> Core:
        opening = SessionOpened(
            catalog_digest=self._wiring.catalog_digest,
            host_release=self._wiring.host_release,
            ledger_version=self._wiring.version,
            **about,
        )
        core = self._cores[key] = Core(self._wiring, History(key), opening)
        return core

    def asession(self, session_id: str | None = None, **about: Any) -> Session:
        """Open a session for `async with`; the same handle has the async methods."""
        return self.session(session_id, **about)

    def resume(self, session_id: str, *, dry_run: bool = False, execute: bool = True, wait: float = 0.0) -> Recovered:
        """
        Decide about the session's open calls and act; `execute` False leaves what needs the tools' code.

        Raises `UnknownSession`, `SessionOwned`.
        """
        session = self.session(session_id, wait=wait)
        return session.resume(dry_run=dry_run, execute=execute)

    async def aresume(
        self, session_id: str, *, dry_run: bool = False, execute: bool = True, wait: float = 0.0
    ) -> Recovered:
        """Async twin of `resume`."""
        session = self.session(session_id, wait=wait)
        return await session.aresume(dry_run=dry_run, execute=execute)

    def stop(self, *, within: float | None = None) -> None:
        """
        Let started calls end, start no others: what has not started ends as cancelled. Safe in a signal handler.

        After `within` seconds (None: without end) nobody waits for them any more: a read ends as cancelled, the outcome
        of a side-effecting call is unknown and goes to a person; its late outcome is still kept while the process
        lives. A sync tool that runs on the caller's own thread (a lone call without a deadline) is not interrupted.
        """
        limit = seconds(within, "within=")
        self._wiring.stop_at = None if limit is None else self._wiring.clock.monotonic() + limit
        self._wiring.stopping = True

    def wrap_store(self, wrap: Callable[[Store], Any]) -> Any:
        """
        Put something between the ledger and its store, and return it: for crash points, counters and the like.

        What `wrap` returns must keep the store's port; done before the first session is opened.
        """
        wrapped = self._wiring.store = wrap(self._wiring.store)
        return wrapped

    # -- reading

    @property
    def reader(self) -> Reader:
        """The read side of the store."""
        return self._wiring.store

    @property
    def closed(self) -> bool:
        """Whether this object was closed."""
        return self._wiring.closed

    @property
    def now(self) -> str:
        """The time by the ledger's clock, as `recordedAt` has it."""
        return self._wiring.clock.stamp()

    @property
    def registry(self) -> Registry:
        """The tools that are registered or known from the catalog."""
        return self._wiring.registry

    @cached_property
    def _names(self) -> Names:
        """Under which names carried calls stand."""
        return Names.of(self._catalog)

    def calls(self, **filters: Any) -> Iterator[Mapping[str, Any]]:
        """Yield calls as plain rows (wire names); filters as in `CallFilter`."""
        from ledger.audit.queries import call_rows

        return call_rows(self._wiring.store, names=self._names, **filters)

    def events(self, **filters: Any) -> Iterator[Mapping[str, Any]]:
        """Yield events as plain rows (wire names), by position; filters as in `EventFilter`."""
        from ledger.audit.queries import event_rows

        return event_rows(self._wiring.store, names=self._names, **filters)

    def stats(self, by: str | Sequence[str] = "tool", **filters: Any) -> Iterator[Mapping[str, Any]]:
        """Yield counts of calls, their rates with intervals, p50 and p95; see `ledger.audit.stat_rows`."""
        from ledger.audit.stats import stat_rows

        return stat_rows(self._wiring.store, by, names=self._names, **filters)

    def versions(self, **filters: Any) -> Iterator[Mapping[str, Any]]:
        """Yield the tool versions and wordings that this ledger knows, with the calls under each."""
        from ledger.audit.versions import version_rows

        return version_rows(self._wiring.store, names=self._names, **filters)

    def reviews(self, **filters: Any) -> Iterator[Mapping[str, Any]]:
        """Yield what waits for a person, oldest first; `kind` = approval, doubt or change."""
        from ledger.audit.queries import review_rows

        return review_rows(self._wiring.store, names=self._names, **filters)

    # -- closing

    def close(self) -> None:
        """Close the ledger; sessions stay open in it, their leases end."""
        self._wiring.closed = True
        self._wiring.heartbeat.stop()
        self._wiring.store.close()

    async def aclose(self) -> None:
        """Async twin of `close`."""
        await adrive(io(self.close))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _catalog(given: str | Path | Catalog | None) -> Catalog | None:
    if isinstance(given, Catalog):
        return given
    named = given or os.environ.get("LEDGER_CATALOG")
    if named:
        return load_catalog(Path(named))
    return load_catalog(Path(DEFAULT_CATALOG)) if Path(DEFAULT_CATALOG).is_dir() else None


def _known(options: Mapping[str, Any], known: frozenset[str], what: str) -> None:
    unknown = sorted(options.keys() - known)
    if unknown:
        raise UsageError(f"unknown options: {', '.join(unknown)}", hint=f"{what} has {', '.join(sorted(known))}.")


def _checked(session_id: str) -> str:
    session_id = text(session_id, "a session id")
    if not 1 <= len(session_id) <= 255:  # noqa: PLR2004 - a bound on keys
        raise UsageError("a session id is a text of 1 to 255 characters")
    if session_id.startswith("_") or not session_id.isprintable():
        raise UsageError(f"session id {session_id!r}: none begins with _ or holds unprintable characters")
    return session_id
