#!/bin/sh
# Print a Python that can make the environment (3.11 to 3.14, with venv and ensurepip), or say in one line what to install.
# PYTHON=/path/to/python overrides the search.
set -eu

fits() {
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' >/dev/null 2>&1
}

lacking='' # the first Python that is new enough but cannot make an environment
for python in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python}; do
    fits "$python" || continue
    if "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        command -v "$python"
        exit 0
    fi
    lacking=${lacking:-$python}
done

if [ -n "$lacking" ]; then
    version=$("$lacking" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    echo "$(command -v "$lacking") has no ensurepip: run 'apt-get install python$version-venv' (Debian, Ubuntu; elsewhere the package with Python $version's venv), then make again." >&2
else
    echo "No Python 3.11 to 3.14 found (${PYTHON:-python3} does not fit): install one, for example 'apt-get install python3 python3-venv', or name it: make PYTHON=/path/to/python3.11" >&2
fi
exit 1
