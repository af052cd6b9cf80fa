"""What these tests look at are the project's files: that the library runs in some of them is no test of its lines."""

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Coverage does not count them."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker("uncounted")
