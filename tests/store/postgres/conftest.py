"""A database for each test class, and an empty one for each test that asks for it."""

from collections.abc import Iterator

import pytest

from tests.helpers import postgres


@pytest.fixture(scope="class")
def shared_url() -> Iterator[str]:
    """A database with the ledger's tables, whose events may be taken out between tests."""
    with postgres.database() as url:
        postgres.unguard(url)
        yield url


@pytest.fixture
def url() -> Iterator[str]:
    """A database with the ledger's tables."""
    with postgres.database() as url:
        yield url


@pytest.fixture
def empty_url() -> Iterator[str]:
    """A database without any table."""
    with postgres.database(empty=True) as url:
        yield url
