#!/usr/bin/env bash
# Real extra work of 1.5 x the printed minimum detectable effect: is it found, and how small is that effect?
#
#   bench/effect.sh [N]     default 100; SPIN=300000 MDE=0.007 CAP=2s in the environment
#
# Two arms of `null` spin for about 100 us a step, one of them longer by 1.5 x MDE, the effect that the stop rule wants
# to detect. Each of N cells measures until it prints at most that effect (mde_percent, margin included), or for CAP. A
# cell that prints a larger one, since the machine was disturbed all the while, promises nothing of this effect: it is
# counted beside. N/5 cells of equal arms show the effect that is printed without any extra work.
# Bars: of the cells that print at most MDE, at least 90 of 100 say "slower"; and at least half of all cells print at
# most 0.7 % within 2 s; exit 1 when one is missed.
set -euo pipefail
INFEROMETER=$(readlink -f "${INFEROMETER:-build/inferometer}")
n=${1:-100} spin=${SPIN:-300000} mde=${MDE:-0.007} cap=${CAP:-2s}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

measure() # NAME SPIN_OF_B CELLS SEED
{
    cat >"$scratch/$1.yaml" <<YAML
workload: null
ceilings: none
device.threads: 1
arms:
  - name: a
    baseline: true
    set: { null.spin: $spin }
  - name: b
    set: { null.spin: $2 }
YAML
    local command=("$INFEROMETER" run -c "$scratch/$1.yaml" --mde "$mde" --cap "$cap" --replica "$(seq -s, 1 "$3")"
        --seed "$4" --quiet --format csv --out "$scratch/$1")
    echo "inferometer run -c two-arms.yaml --mde $mde --cap $cap --replica 1..$3   # null.spin $spin and $2"
    "${command[@]}" >"$scratch/$1.csv" 2>"$scratch/errors" || { cat "$scratch/errors" >&2 && exit 1; }
}

cat >"$scratch/read.py" <<'PYTHON'
import csv, json, statistics, sys
rows = list(csv.DictReader(open(sys.argv[2], newline="")))
mdes = [float(row["value"]) for row in rows if row["metric"] == "mde_percent" and row["state"] == "ok"]
if sys.argv[1] == "equal":
    print(f"equal arms: printed effect {statistics.median(mdes):.3f} % (median of {len(mdes)})")
else:
    wanted = 100 * float(sys.argv[4])
    words = [row["text"] for row in rows if row["metric"] == "change_percent" and row["state"] == "ok"]
    promised = [word for word, mde in zip(words, mdes) if mde <= wanted]
    stops = [json.loads(line)["meta"] for line in open(sys.argv[3]) if '"stage":"stop"' in line]
    step = statistics.median(float(row["value"]) for row in rows if row["metric"] == "step_ns" and row["arm"] == "a")
    seconds = statistics.median(stop["elapsed_s"] for stop in stops)
    slower, small = promised.count("slower"), sum(mde <= 0.7 for mde in mdes)
    print(f"found: slower in {slower} of the {len(promised)} cells that print at most {wanted:g} %; "
          f"of all {len(words)}: "
          f"{', '.join(f'{words.count(word)} {word}' for word in sorted(set(words)))}")
    print(f"printed effect: median {statistics.median(mdes):.3f} %, at most 0.7 % in {small} of {len(mdes)}; "
          f"step {step / 1000:.0f} us, measured for {seconds:.2f} s (median)")
    sys.exit(slower < 0.9 * len(promised) or 2 * small < len(mdes))
PYTHON

measure equal "$spin" $((n / 5 > 3 ? n / 5 : 3)) 1
python3 "$scratch/read.py" equal "$scratch/equal.csv"
more=$(python3 -c "print(round($spin * (1 + 1.5 * $mde)))")
measure slower "$more" "$n" 2
python3 "$scratch/read.py" judge "$scratch/slower.csv" "$scratch/slower/run.log" "$mde"
