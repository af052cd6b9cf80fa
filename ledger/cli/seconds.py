"""A number of seconds as an option's value."""

from __future__ import annotations

from math import isnan
from typing import Any, Final

import click

LONGEST: Final = 365 * 86400.0
"""Seconds that any wait is cut to: no timer of a system takes all that a number can say."""


class Seconds(click.FloatRange):
    """How long: no less than nothing, no more than `LONGEST`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds; raises BadParameter."""
        seconds: float = super().convert(value, param, ctx)
        if isnan(seconds):
            self.fail(f"{value!r} is no number of seconds.", param, ctx)
        return min(seconds, LONGEST)


SECONDS: Final = Seconds(min=0)
