# `make` alone lists what there is. Each target sets up .venv by itself; only the first time needs the network.

PY = .venv/bin/python
UV = uv==0.13.9

# Coverage reads what the tests wrote: one step after the other, even under -j.
.NOTPARALLEL:
.PHONY: help demo test check lint coverage soak bench docs lock clean

help:
	@echo 'make demo    an agent is killed in the middle of a write; see what happens next'
	@echo 'make test    the tests (with coverage data)'
	@echo 'make check   all that a change must pass: lint, types, imports, tests, coverage'
	@echo 'make soak    long: hundreds of kills, thousands of power losses, failing disks'
	@echo 'make bench   figures: throughput, fsyncs, replay'
	@echo 'make docs    write the generated pages again'
	@echo 'make lock    resolve requirements-dev.lock again'
	@echo 'make clean   remove .venv and what tools left behind'

.venv/.ready: requirements-dev.lock pyproject.toml scripts/find_python.sh scripts/make_venv.sh
	@sh scripts/make_venv.sh

demo: .venv/.ready
	@.venv/bin/ledger demo

# Compiled files are kept, whatever the environment says: the tests are hundreds of processes. Files go to the workers as
# they are listed, not the one with most tests first: those that take long have few.
test: export PYTHONDONTWRITEBYTECODE =
test: .venv/.ready
	@$(PY) -m coverage erase
	@$(PY) -m coverage run -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder
	@$(PY) -W ignore -m coverage combine --quiet

check: lint test coverage

lint: .venv/.ready
	$(PY) -m ruff format --check
	$(PY) -m ruff check
	$(PY) -m mypy
	.venv/bin/lint-imports --no-logo

# Reads what `make test` has recorded.
coverage: .venv/.ready
	$(PY) -m coverage report

soak: .venv/.ready
	$(PY) -m tests.soak
	$(PY) -m tests.soak.faults
	$(PY) -m tests.soak.servers
	LEDGER_TEST_EVERY=1 $(PY) -m pytest -q tests/migrations tests/session/test_interrupted.py

bench: .venv/.ready
	$(PY) -m benchmarks

docs: .venv/.ready
	$(PY) -m ledger.calls.diagram
	$(PY) -m ledger.events.schema
	@$(PY) scripts/generate.py

lock: .venv/.ready
	$(PY) -m pip install --quiet '$(UV)'
	.venv/bin/uv pip compile --quiet --no-config --universal --python-version 3.11 --extra dev --generate-hashes \
		--no-annotate --upgrade --custom-compile-command 'make lock' --output-file requirements-dev.lock pyproject.toml

clean:
	rm -rf .venv build dist htmlcov .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
