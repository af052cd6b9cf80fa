"""From validated JSON arguments to the keyword arguments of a function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ledger.catalog.function import Function
from ledger.catalog.hints import ArgumentsUnfit, Hint
from ledger.catalog.words import meant, shown
from ledger.strictjson import JsonObject


@dataclass(frozen=True, slots=True)
class Binder:
    """
    Builds what a function takes: models, dataclasses, enums, dates arrive as instances.

    `whole` is the name of the one parameter that takes all arguments as one model, `model` its hint (or the one that
    checks all arguments before their fields are given apart).
    """

    function: Function
    model: Hint | None = None
    whole: str | None = None

    @property
    def runs_user_code(self) -> bool:
        """Whether binding may run the host's code: then the intent must be durable before."""
        return self.model is not None or self.function.runs_user_code

    def bind(self, arguments: JsonObject) -> dict[str, Any]:
        """Return the keyword arguments; raises ArgumentsUnfit with the pointer of what does not fit."""
        if self.model is not None:
            built = self.model.build(arguments, ())
            if self.whole is not None:
                return {self.whole: built}
            return {name: getattr(built, name) for name in type(built).model_fields} | (built.model_extra or {})
        return {name: self._one(name, value) for name, value in arguments.items()}

    def _one(self, name: str, value: Any) -> Any:
        parameter = self.function.parameters.get(name)
        if parameter is not None:
            return value if parameter.hint is None else parameter.hint.build(value, (name,))
        if self.function.takes_any:
            return value
        # An open schema let it pass: to drop it silently would run something else than was asked for.
        raise ArgumentsUnfit((name,), f"unknown field {shown(name)}{meant(name, self.function.parameters)}")
