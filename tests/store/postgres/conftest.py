"""One database a module, emptied for each test; and databases of their own for tests that change tables."""

from collections.abc import Iterator

import pytest

from tests.helpers import postgres


@pytest.fixture(scope="module")
def shared() -> Iterator[str]:
    """A database with the ledger's tables, which is emptied between tests."""
    with postgres.database() as url:
        yield url


@pytest.fixture
def url(shared: str) -> str:
    """The same, with nothing in it."""
    postgres.emptied(shared)
    return shared


@pytest.fixture
def own_url() -> Iterator[str]:
    """A database with the ledger's tables for this test alone."""
    with postgres.database() as url:
        yield url


@pytest.fixture
def empty_url() -> Iterator[str]:
    """A database without any table."""
    with postgres.database(empty=True) as url:
        yield url
