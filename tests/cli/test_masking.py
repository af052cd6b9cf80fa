"""Passwords in messages."""

import pytest

from ledger.cli.masking import mask, mask_url, without_password


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("postgresql://ada:s3cr3t@db.example:5432/l", "postgresql://ada:***@db.example:5432/l"),
        ("postgres://ada:@host/l", "postgres://ada:***@host/l"),
        (
            "postgresql+psycopg://a:b@c/d failed, see http://x:y@z",
            "postgresql+psycopg://a:***@c/d failed, see http://x:***@z",
        ),
        ("could not parse 'postgresql://ada:p@ss/w?rd@host/l'", "could not parse 'postgresql://ada:***@host/l'"),
        ("postgresql://host/l?user=ada&password=s3cr3t&x=1", "postgresql://host/l?user=ada&password=***&x=1"),
        ("host=h password = 'two words' sslpassword=x dbname=l", "host=h password = *** sslpassword=*** dbname=l"),
        ("API_KEY=abc, token=def; next", "API_KEY=***, token=***; next"),
        ("postgresql://ada@host/l", "postgresql://ada@host/l"),
        ("sqlite:////home/ada@work/ledger.db", "sqlite:////home/ada@work/ledger.db"),
        ("sqlite:///C:/ada@work/ledger.db", "sqlite:///C:/ada@work/ledger.db"),
        ("lease token 3 is stale, 4 is current", "lease token 3 is stale, 4 is current"),
        ("mail ada@example.org at 12:30", "mail ada@example.org at 12:30"),
    ],
)
def test_passwords_are_masked(text: str, masked: str) -> None:
    """Only passwords go, in URLs and in settings, also those that were written wrongly."""
    assert mask(text) == masked


def test_a_url_is_masked() -> None:
    """A database URL is shown to people without its password."""
    assert mask_url("postgresql://ada:s3cr3t@h/l") == "postgresql://ada:***@h/l"


@pytest.mark.parametrize(
    ("url", "bare"),
    [
        ("postgresql://ada:s3cr3t@h:5432/l", "postgresql://ada@h:5432/l"),
        ("postgresql://ada:***@h/l?options=-csearch_path%3Dx", "postgresql://ada@h/l?options=-csearch_path%3Dx"),
        ("postgresql://ada:p@ss?w/rd@h/l", "postgresql://ada@h/l"),
        ("postgresql://h/l?user=ada&password=s3cr3t&x=1", "postgresql://h/l?user=ada&x=1"),
        ("postgresql://h/l?password=s3cr3t&x=1", "postgresql://h/l?x=1"),
        ("postgresql://h/l?password=s3cr3t", "postgresql://h/l"),
        ("postgresql://h:5432/l?user=ada@corp&password=s3cr3t", "postgresql://h:5432/l?user=ada@corp"),
        ("postgresql://h:5432/l?user=ada@corp", "postgresql://h:5432/l?user=ada@corp"),
        ("postgresql://ada:pw@h/l?application_name=me@host", "postgresql://ada@h/l?application_name=me@host"),
        ("sqlite:///my agent.db", "sqlite:///my agent.db"),
    ],
)
def test_a_url_in_a_command_has_no_password(url: str, bare: str) -> None:
    """A mask in its place would be taken for the password; without one the driver looks where passwords are kept."""
    assert without_password(url) == bare
