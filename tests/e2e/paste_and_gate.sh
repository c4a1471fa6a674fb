#!/usr/bin/env bash
# What leaves the lab for a chat or a pipeline: a summary of at most 1,024 bytes without private facts, and JUnit XML
# that a parser takes, whatever the names are.
source "$(dirname "$0")/lib.sh"
{
    echo "workload: 'null'"
    echo "seed: 1"
    echo "ceilings: none"
    echo "device: {kind: fake, script: 'step_ns=1000; noise=0.01; slot_noise=0.002'}"
    echo "measure: {stop: repeats, repeats: 200}"
    echo "arms:"
    echo "  - {name: plain, baseline: true}"
    for i in $(seq 40); do
        echo "  - {name: 'an-arm-with-a-rather-long-name-and-number-$i', set: {null.spin: $i}}"
    done
    echo "gates:"
    echo "  - {name: 'less < & \"more\"', metric: latency_ns_p50, arm: plain, op: at_most, threshold: 1}"
    echo "  - {name: 'blocked', metric: speedup, op: at_least, threshold: 0.5}"
} >study.yaml
"$INFEROMETER" run -c study.yaml --quiet --out out >/dev/null 2>&1 || true
"$INFEROMETER" summary out >summary.txt || fail "no summary"
bytes=$(wc -c <summary.txt)
[ "$bytes" -le 1024 ] || fail "the summary has $bytes bytes"
[ "$bytes" -gt 850 ] || fail "the summary leaves room unused: $bytes bytes"
grep -q '^- and [0-9]* more$' summary.txt || fail "the summary does not say what it left out"
for private in "$PWD" "$(hostname)" "$(basename "$PWD")"; do
    ! grep -qF -- "$private" summary.txt || fail "the summary tells $private"
done
LC_ALL=C grep -q '[^ -~]' summary.txt && fail "the summary is not plain ASCII"

code=0
"$INFEROMETER" gate out --junit gate.xml --markdown gate.md >gate.txt || code=$?
[ "$code" = 1 ] || fail "a failing gate exits with $code"
judged=0
"$INFEROMETER" judge out >/dev/null || judged=$?
[ "$judged" = "$code" ] || fail "judge exits with $judged and gate with $code"
if command -v xmllint >/dev/null; then
    xmllint --noout gate.xml || fail "gate.xml is not well-formed"
    checked=xmllint
else
    python3 -c 'import sys, xml.etree.ElementTree as t; t.parse("gate.xml")' || fail "gate.xml is not well-formed"
    checked="python3"
fi
python3 - <<'P' || fail "gate.xml and gate.md do not agree"
import xml.etree.ElementTree as tree
suite = tree.parse("gate.xml").getroot().find("testsuite")
cases = suite.findall("testcase")
assert len(cases) == int(suite.get("tests")) >= 2, len(cases)
assert len(suite.findall("testcase/failure")) == int(suite.get("failures")) == 1
assert cases[0].get("name") == 'less < & "more" / plain', cases[0].get("name")
rows = [line for line in open("gate.md") if line.startswith("|")]
assert len(rows) == len(cases) + 2, rows
P
[ -z "$(find . -maxdepth 1 -name '*.tmp*')" ] || fail "a temporary file was left"
echo "summary: $bytes bytes; gate.xml is well-formed ($checked)"
