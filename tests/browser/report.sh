#!/usr/bin/env bash
# The report opens in a browser without a network: no script error, no request, a table of numbers and a chart.
source "$(dirname "$0")/../e2e/lib.sh"
need chromium chromium
script="step_ns=100000; noise=0.02"
"$INFEROMETER" run --workload decode --override decode.kv_len=64 --override decode.batch=1 --device fake \
    --script "$script" --ceilings none --repeats 240 --out out >/dev/null 2>errors || fail "$(cat errors)"
[ -s out/report.html ] || fail "the run wrote no report.html"
outside=$(grep -oE "(src|href)=[\"'](https?:|//)[^\"']*" out/report.html | head -1) || true
[ -z "$outside" ] || fail "the report asks for something from outside: $outside"
timeout 120 chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
    --user-data-dir="${scratch:?}/profile" --enable-logging=stderr --v=0 --virtual-time-budget=3000 \
    --dump-dom "file://$scratch/out/report.html" >dom 2>log || fail "chromium: $(tail -1 log)"
! grep CONSOLE log | grep -iE 'error|uncaught|refused' || fail "the report's script fails"
grep -q '<table' dom || fail "no table in the page"
grep -q '<svg' dom || fail "no chart in the page"
grep -qw decode dom || fail "the workload is not named in the page"
echo "opens, $(wc -c <dom) characters"
