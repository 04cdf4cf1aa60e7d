#!/usr/bin/env bash
# A small share of the damages of damage.py; docs/reliability.md has the command for the long run.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh" "$@"
"$sources/.venv/bin/python" "$sources/tests/e2e/damage.py" --build "$build" --trials 60 --seconds 60 \
  --few-stages || fail "a damage was not handled"
