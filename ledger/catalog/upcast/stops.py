"""Why an operation does not go through: on a value, or on a schema."""

from __future__ import annotations

from ledger.catalog.steps import Steps
from ledger.strictjson import to_pointer


class Stop(Exception):
    """A value is not one that the operation carries: `code` and `pointer` say why and where."""

    def __init__(self, code: str, path: Steps, message: str) -> None:
        self.code = code
        self.pointer = to_pointer(path)
        self.message = message
        super().__init__(message)


class Unprovable(Stop):
    """
    The image of a schema cannot be worked out.

    `refuted`: it is even known that some values have none.
    """

    def __init__(self, code: str, path: Steps, message: str, *, refuted: bool = False) -> None:
        super().__init__(code, path, message)
        self.refuted = refuted
