"""Failures inside the shipped contract are explained like those of any test."""

import pytest

pytest.register_assert_rewrite("ledger.testing.contract")
