#!/usr/bin/env bash
# docs/configuration.md is what the parameter tables say today. Rewrite it with
#   build/inferometer schema --markdown >docs/configuration.md
source "$(dirname "$0")/lib.sh"
"$INFEROMETER" schema --markdown >configuration.md
diff -u "$IFM_SOURCE/docs/configuration.md" configuration.md || fail "docs/configuration.md is not what the tables say"
echo "docs/configuration.md fits the tables"
