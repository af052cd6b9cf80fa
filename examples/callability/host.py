"""A host with every tool of the catalog, on real files, processes, a database and a service."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from examples.documents.shelves import Library
from examples.documents.tools import APPROVER
from examples.documents.tools import equip as equip_documents
from examples.retirement.tools import Code, Releases
from examples.retirement.tools import equip as equip_retirement
from examples.roundtrip.tools import Remover
from examples.send_email.sink import Sink
from examples.send_email.tools import NAME as SEND_EMAIL
from examples.send_email.tools import Mailer
from examples.site.tools import Site
from examples.site.tools import equip as equip_site
from examples.weather.service import Service
from examples.weather.tools import User, Weather
from examples.weather.tools import equip as equip_weather
from ledger import Allow, Deny, Ledger, Session
from ledger.catalog import default_catalog_root
from ledger.demo.sample import PROJECT, PROJECT_FILES, lay_out
from ledger.demo.tools import TOOL_NAMES, CodingTools, range_is_ordered

RIGHT: Final[dict[str, dict[str, Any]]] = json.loads(Path(__file__).with_name("right.json").read_text(encoding="utf-8"))
"""For each tool of the catalog a call that succeeds: its arguments, what is called before, whether it is approved."""
WORKER: Final = User("worker", frozenset({"weather:read", "weather:write", "refund:write"}), refund_limit=5000)
GUEST: Final = User("guest", frozenset())


class LossyLedger(Ledger):
    """A ledger whose tools lose their answers: those named in `losing` do their work, and then time out."""

    losing: frozenset[str] = frozenset()

    def tool(self, name: Any = None, /, **options: Any) -> Any:
        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(function)
            def lossy(*args: Any, **keywords: Any) -> Any:
                result = function(*args, **keywords)
                if name in self.losing:
                    raise TimeoutError
                return result

            super(LossyLedger, self).tool(name, **options)(lossy)
            return function

        return register


class Host:
    """All tools on what is below one folder, and on one service."""

    def __init__(self, folder: Path, service: Service, url: str = "memory://") -> None:
        self.folder, self.service = folder, service
        self.workspace = lay_out(folder / "work")
        self.shelves = Library(folder / "library")
        self.shelves.folder.mkdir()
        self.shelves.seed()
        self.releases = folder / "releases"
        self.releases.mkdir()
        self.sink = Sink()
        self.sink.__enter__()  # as long as the process: nobody else uses it
        self.restore()
        self.ledger = LossyLedger.open(url, catalog=default_catalog_root(), jitter=lambda: 0.0)
        self._equip()

    def _equip(self) -> None:
        coding = CodingTools(self.workspace)
        for name in TOOL_NAMES:
            self.ledger.tool(name)(getattr(coding, name))
        self.ledger.check("read_lines")(range_is_ordered)
        self.ledger.tool("delete_file")(Remover(self.workspace).delete_file)
        equip_site(self.ledger, Site.laid_out(self.folder / "site"))
        equip_documents(self.ledger, self.shelves)
        equip_weather(self.ledger, Weather(self.service.address))
        equip_retirement(self.ledger, Code(self.workspace), Releases(self.releases))
        self.ledger.tool(SEND_EMAIL, version=3)(Mailer(self.sink.port).with_subject)

        @self.ledger.authorize
        def only_workers(call: Any, principal: User) -> Allow | Deny:  # noqa: ARG001 - it is the same for every call
            if principal.id == WORKER.id:
                return Allow()
            return Deny("not_permitted", "The user may not do this.", user_action="Ask your administrator for access.")

    def restore(self) -> None:
        """Put back what calls have changed, so that the right call is right again."""
        for name in PROJECT_FILES:
            (self.workspace.root / name).write_bytes((PROJECT / name).read_bytes())
        (self.workspace.root / "old.log").write_text("old\n", encoding="utf-8")
        for report in self.shelves.folder.glob("reports/*/*.json"):
            report.unlink()

    def session(self, session_id: str, user: User = WORKER) -> Session:
        return self.ledger.session(session_id, principal=user, tenant="acme")

    def settle(self, session: Session) -> None:
        """Approve what waits for it, and run it."""
        asked = [call for call in session.history.open_calls() if call.state == "awaiting-approval"]
        for call in asked:
            self.ledger.approve(call.call_id, by=APPROVER)
        if asked:
            session.wait(0)

    def effects(self) -> dict[str, Any]:
        """Everything that a call could have changed, or sent."""
        files = {
            str(path.relative_to(self.folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and path.suffix != ".lock" and not path.name.startswith("ledger.db")
        }
        return {
            "files": files,
            "requests": list(self.service.requests),
            "reports": list(self.service.reports),
            "refunds": dict(self.service.refunds),
            "messages": list(self.sink.messages),
        }
