#!/usr/bin/env bash
# docs/tutorial.md: its commands run, and print what the page shows.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"
mkdir -p programs
ln -s "$build/depthgrid" "$build/depthgrid-worker" programs/
export COLUMNS=160
python3 "$sources/tests/e2e/tutorial.py" "$sources/docs/tutorial.md" "$scratch/programs" || exit 1
