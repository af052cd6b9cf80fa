"""A URL for people to read: without its password, wherever that stands in it."""

from __future__ import annotations

import re
from typing import Final

_PASSWORD: Final = re.compile(r"(?<=://)([^/?#]*?):([^/?#]*)@")
_SECRET: Final = re.compile(r"(?i)([?&;](?:password|passwd|pwd|secret|token|sslpassword)=)[^&#\s]*")


def mask_url(url: str) -> str:
    """Return the URL without its password, for people to read."""
    return _SECRET.sub(r"\1***", _PASSWORD.sub(r"\1:***@", url))
