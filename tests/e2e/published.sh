#!/usr/bin/env bash
# Numbers that were published and that their own figures contradict, rebuilt as run folders: each is refused with its
# reason, and each corrected counterpart is accepted (tests/published, docs/maintain/refused.md).
source "$(dirname "$0")/lib.sh"
need python3 python3
export INFEROMETER IFM_SOURCE PYTHONDONTWRITEBYTECODE=1
python3 "$IFM_SOURCE/tests/published/check.py" "$scratch"
