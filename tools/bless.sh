#!/bin/sh
# tools/bless.sh [CASE...]: run golden cases (all when none is named) and rewrite what they expect.
set -eu
cd "$(dirname "$0")/.."
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(cd tests/golden && for cmd in */cmd; do dirname "$cmd"; done)
for name in "$@"; do
    python3 tests/golden/run.py --bless --command build/inferometer "tests/golden/$name"
done
git --no-pager diff --stat -- tests/golden 2>/dev/null || true
