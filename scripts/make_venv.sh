#!/bin/sh
# Set up .venv from requirements-dev.lock. `make` calls this when .venv/.ready is missing or older than the lock.
set -eu
cd "$(dirname "$0")/.."

python=$(sh scripts/find_python.sh)
echo "Setting up .venv with $python (once; needs the network)"
"$python" -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements-dev.lock
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-index --no-build-isolation --editable .
touch .venv/.ready
