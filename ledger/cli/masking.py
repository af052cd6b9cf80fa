"""Passwords leave no message: they are taken out of URLs and connection strings before anything is printed."""

from __future__ import annotations

import re
from typing import Final

HIDDEN: Final = "***"

# Up to the LAST @ of the word: a password with an unescaped @ or / in it is a mistake, and the very message about that
# mistake must not show its second half. Hiding a host too many is the lesser fault.
_USERINFO: Final = re.compile(r"(?P<head>\b[A-Za-z][A-Za-z0-9+.-]*://[^\s:/@]*:)(?P<password>\S*)@")
_SETTING: Final = re.compile(
    r"(?P<head>\b(?:ssl)?(?:password|passwd|pwd|secret|token|api[_-]?key)\s?=\s?)(?P<value>'[^']*'|[^\s&;,]+)",
    re.IGNORECASE,
)


_QUERY_SETTING: Final = re.compile(
    r"[?&](?:ssl)?(?:password|passwd|pwd|secret|token|api[_-]?key)=[^&#]*", re.IGNORECASE
)


_QUERY: Final = re.compile(r"\?\w+=")
"""Where the settings of a URL begin: a password with an unescaped ? goes on behind that."""


def mask(text: str) -> str:
    """Return a message without the passwords of its URLs (`user:***@host`) and settings (`password=***`)."""
    return _SETTING.sub(rf"\g<head>{HIDDEN}", _USERINFO.sub(rf"\g<head>{HIDDEN}@", text))


def mask_url(url: str) -> str:
    """Return a database URL for people: the same without its password."""
    return mask(url)


def without_password(url: str) -> str:
    """
    Return a database URL as a command may hold it: without its password, be it written out or masked.

    The driver takes the password from PGPASSWORD or the password file then; a mask would be taken for the password.
    """
    start = found.start() if (found := _QUERY.search(url)) else len(url)
    path = _USERINFO.sub(lambda found: f"{found['head'][:-1]}@", url[:start])
    settings = _QUERY_SETTING.sub("", url[start:])
    return path + (f"?{settings[1:]}" if settings else "")
