#!/usr/bin/env bash
# retake.sh [--any]: measure README's sample again, on a machine that nothing else uses, and put what it printed and the
# pictures of its report in the places of the old ones: README.md and docs/report-*.png. A run that is not solid is
# shown and changes nothing, unless --any is given. WAIT=1s waits less than ten minutes for a quiet machine.
set -euo pipefail
[ $# = 0 ] || { [ $# = 1 ] && [ "$1" = --any ]; } || { echo "usage: tools/retake.sh [--any]" >&2; exit 2; }
cd "$(dirname "$0")/.."
export INFEROMETER=${INFEROMETER:-build/inferometer} COLUMNS=100 NO_COLOR=1 LC_ALL=C.UTF-8
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$INFEROMETER" decode --kv-len 8192 --wait-quiet "${WAIT:-10min}" --out "$scratch/run" >"$scratch/printed"
cat "$scratch/printed"
if ! grep -q '^solid' "$scratch/printed" && [ "${1:-}" != --any ]; then
    echo "not solid: nothing was changed (tools/retake.sh --any takes it all the same)" >&2
    exit 1
fi
python3 - "$scratch" README.md <<'PY'
import json, re, sys

scratch, readme = sys.argv[1:]
printed = open(scratch + "/printed", encoding="utf-8").read().rstrip("\n").replace(scratch + "/run", "runs/…")
text = open(readme, encoding="utf-8").read()
sample = re.compile(r"(\$ build/inferometer decode --kv-len 8192\n).*?(\n```\n)", re.S)
reading = re.compile(r"\nRead: int4 .*? % off\.", re.S)
assert len(sample.findall(text)) == 1 and len(reading.findall(text)) == 1, "README.md has no such sample"
of = {n["metric"]: n for n in json.load(open(scratch + "/run/derived.json"))["numbers"] if n["arm"] == "int4"}
speed = of["speedup"]
low, high = speed["interval"]
said = (f"Read: int4 is {speed['value']:.3g} times as fast, somewhere between {low:.3g} and {high:.3g} with "
        f"{100 * speed['level']:.3g} % confidence; its cache is {of['compression_ratio']['value']:.3g} times "
        f"smaller; its output is {100 * of['loss_rms_rel']['value']:.2g} % off.")
lines, line = [], ""
for word in said.split():
    if len(line) + 1 + len(word) > 118:
        lines.append(line)
        line = word
    else:
        line = (line + " " + word).strip()
text = sample.sub(lambda m: m[1] + printed + m[2], text)
text = reading.sub(lambda m: "\n" + "\n".join(lines + [line]), text)
open(readme, "w", encoding="utf-8").write(text)
PY
tools/screenshots.sh "$scratch/run" docs
echo "README.md and docs/report-*.png are retaken. Read the sentences below README's sample:"
echo "they say what to doubt in it"
