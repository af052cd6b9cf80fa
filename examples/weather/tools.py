"""The three tools, and what the host knows that no schema can say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlencode

from examples.weather.service import DEGREES
from ledger import Allow, Context, Deny, Invalid, Ledger, NotFound, Unavailable
from ledger.catalog import default_catalog_root

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class User:
    """Who acts: the host says so, never the model. `refund_limit` in cents."""

    id: str
    scopes: frozenset[str]
    refund_limit: int = 0


@dataclass(slots=True)
class Weather:
    """The service as tools; `timeout` in seconds is how long one request waits for its answer."""

    address: str
    timeout: float = 10.0

    def get_weather(self, city: str, date: str, units: str) -> dict[str, Any]:
        query = urlencode({"city": city, "date": date, "units": units})  # a city may hold & and #
        try:
            return self._ask("GET", f"/weather?{query}")
        except TimeoutError:
            raise Unavailable("The weather service did not answer.", retry_after=0) from None  # it only reads

    def report_weather(self, city: str, date: str, units: str, temperature: float) -> dict[str, Any]:
        # A timeout goes up as it is: the service may have the report, and nobody may send it again.
        return self._ask("POST", "/reports", {"city": city, "date": date, "units": units, "temperature": temperature})

    def refund(self, order_id: str, amount: int) -> dict[str, Any]:
        return self._ask("POST", "/refunds", {"order_id": order_id, "amount": amount})

    def _ask(self, method: str, target: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        connection = HTTPConnection(self.address, timeout=self.timeout)
        try:
            connection.request(method, target, None if body is None else json.dumps(body))
            answer = connection.getresponse()
            found: dict[str, Any] = json.loads(answer.read())
        finally:
            connection.close()
        if answer.status == 404:  # noqa: PLR2004 - HTTP's own number
            raise NotFound(found["error"])
        return found


def day_exists(arguments: Arguments, context: Context) -> Invalid | None:  # noqa: ARG001 - the shape of a check
    try:
        date.fromisoformat(arguments["date"])
    except ValueError:
        return Invalid("no_such_day", f"There is no day {arguments['date']}.", "/date")
    return None


def city_is_served(arguments: Arguments, context: Context) -> Invalid | None:  # noqa: ARG001 - the shape of a check
    if arguments["city"] in DEGREES:
        return None
    return Invalid("unknown_city", f"The service knows these cities only: {', '.join(DEGREES)}.", "/city")


def open_ledger(url: str, weather: Weather, **settings: Any) -> Ledger:
    """Open a ledger with the three tools."""
    ledger = Ledger.open(url, catalog=default_catalog_root(), **settings)
    equip(ledger, weather)
    return ledger


def equip(ledger: Ledger, weather: Weather) -> None:
    """Give a ledger the three tools and their rules; what they take and what they need is in schemas/tools."""
    for tool in (weather.get_weather, weather.report_weather, weather.refund):
        ledger.tool(tool.__name__)(tool)
    for name in ("get_weather", "report_weather"):
        ledger.check(name)(day_exists)
        ledger.check(name)(city_is_served)

    @ledger.authorize
    def has_scopes(call: Any, principal: User | None) -> Allow | Deny:
        version = ledger.registry.version(call.tool)
        if principal and version and principal.scopes >= set(version.contract.scopes):
            return Allow("has the tool's scopes")
        return Deny("not_permitted", "The user may not do this.", user_action="Ask your administrator for access.")

    @ledger.authorize
    def within_limit(call: Any, principal: User | None) -> Allow | Deny:
        limit = principal.refund_limit if principal else 0
        if call.tool != "refund" or call.arguments["amount"] <= limit:
            return Allow()
        return Deny("LIMIT_EXCEEDED", "The amount is above the user's limit.", user_action="Ask a supervisor.")
