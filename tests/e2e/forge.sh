#!/usr/bin/env bash
# Whoever edits a run folder, deletes its manifest, derives anew and asks the gates is found out: every edit of
# tests/forge, and single fields at random.
source "$(dirname "$0")/lib.sh"
need python3 python3
export PYTHONDONTWRITEBYTECODE=1
mkdir edits random
python3 "$IFM_SOURCE/tests/forge/forge.py" "$INFEROMETER" "$IFM_SOURCE" edits >said || fail "$(cat said)"
python3 "$IFM_SOURCE/tests/forge/forge.py" "$INFEROMETER" "$IFM_SOURCE" random --random 40 >said_random ||
    fail "$(cat said_random)"
echo "$(tail -1 said); $(tail -1 said_random)"
