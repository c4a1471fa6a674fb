#!/usr/bin/env bash
# The page says the same with scripting off; the script is small, runs under its hash, and does what it is for. A
# script that was changed does not run.
source "$(dirname "$0")/lib.sh"
need_runs
script=$(sed -n '/<script>/,/<\/script>/p' decode/report.html | wc -c)
[ "$script" -gt 1000 ] && [ "$script" -le 30720 ] || fail "the script has $script bytes"
sed "s|'use strict';|'use strict'; document.body.append('changed');|" decode/report.html >changed.html
! timeout 800 node "$browser/noscript.mjs" changed.html >said 2>&1 || fail "a changed script goes unnoticed"
grep -qi 'content security policy' said || fail "a changed script was not refused: $(head -3 said)"
check noscript decode/report.html energy/report.html gates/report.html interrupted/report.html
echo "the same text without script; $script bytes of it, run by their hash"
