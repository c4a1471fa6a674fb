#!/usr/bin/env bash
# README's sample anew: what the command prints, and the pictures of its report, in the places of the old ones:
# README.md and docs/report-*.png. It is of a GPU, which is seldom in the machine that has a browser, so measuring and
# placing go apart too:
#   tools/retake.sh [--any]             measure and place here
#   tools/retake.sh --measure DIR       measure alone: DIR/run, and DIR/printed with what it printed
#   tools/retake.sh [--any] --from DIR  place alone what DIR/run holds; it is printed again, in this build's words
# Measuring tries TRIES times (3) until a run is solid, and keeps the best word with the fewest warnings. What is not
# solid is shown and not placed, unless --any is given.
set -euo pipefail
usage="usage: tools/retake.sh [--any] [--measure DIR | --from DIR]"
any=false measure=true place=true folder=
while [ $# -gt 0 ]; do
    case "$1" in
        --any) any=true ;;
        --measure) place=false folder=${2:?"$usage"} && shift ;;
        --from) measure=false folder=${2:?"$usage"} && shift ;;
        *) echo "$usage" >&2 && exit 2 ;;
    esac
    shift
done
[ -z "$folder" ] || { mkdir -p "$folder" && folder=$(cd "$folder" && pwd); }
cd "$(dirname "$0")/.."
export INFEROMETER=${INFEROMETER:-build/inferometer} COLUMNS=100 NO_COLOR=1 LC_ALL=C.UTF-8
[ -n "$folder" ] || { folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT; }

# The word of trust as a number, 0 of the best, and more for each further warning; of what printed none, 9000.
rank() {
    local word=9 more
    more=$(tr '\n' ' ' <"$1" | tr -s ' ' | grep -oE 'rest: [0-9]+ warning' | grep -oE '[0-9]+' || echo 0)
    case "$(grep -oE '^(solid|undecided|noisy|biased|weak baseline|do not use):' "$1" || true)" in
        solid:) word=0 more=0 ;; undecided: | noisy:) word=1 ;; biased: | "weak baseline:") word=2 ;;
        "do not use:") word=3 ;;
    esac
    echo $((1000 * word + more))
}

if $measure; then
    best=9000
    for try in $(seq "${TRIES:-3}"); do
        "$INFEROMETER" decode --device cuda --batch 16 --kv-len 32768 --out "$folder/try-$try" >"$folder/printed-$try"
        cat "$folder/printed-$try"
        its=$(rank "$folder/printed-$try")
        if [ "$its" -lt "$best" ]; then
            best=$its
            rm -rf "$folder/run"
            mv "$folder/try-$try" "$folder/run"
            mv "$folder/printed-$try" "$folder/printed"
        else
            rm -rf "$folder/try-$try" "$folder/printed-$try"
        fi
        [ "$best" -gt 0 ] || break
    done
fi
$place || exit 0
"$INFEROMETER" report "$folder/run" >"$folder/printed"
cat "$folder/printed"
if [ "$(rank "$folder/printed")" != 0 ] && ! $any; then
    echo "not solid: nothing was changed (--any places it all the same)" >&2
    exit 1
fi
python3 - "$folder" README.md <<'PY'
import json, re, sys

scratch, readme = sys.argv[1:]
printed = open(scratch + "/printed", encoding="utf-8").read().rstrip("\n").replace(scratch + "/run", "runs/…")
text = open(readme, encoding="utf-8").read()
sample = re.compile(r"(\$ build/inferometer decode --device cuda .*?\n).*?(\n```\n)", re.S)
reading = re.compile(r"\nRead: int4 .*? % off\.", re.S)
assert len(sample.findall(text)) == 1 and len(reading.findall(text)) == 1, "README.md has no such sample"
of = {n["metric"]: n for n in json.load(open(scratch + "/run/derived.json"))["numbers"] if n["arm"] == "int4"}
speed = of["speedup"]
low, high = speed["interval"]
said = (f"Read: int4 is {speed['value']:.3g} times as fast as cudnn, in that run between {low:.3g} and {high:.3g} with "
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
tools/screenshots.sh "$folder/run" docs
echo "README.md and docs/report-*.png are retaken. Read the sentences below README's sample:"
echo "they say what to doubt in it"
