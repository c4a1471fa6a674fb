#!/usr/bin/env bash
# What the other scripts of this folder open: a run of every kind that a page looks different for, in IFM_BROWSER.
source "$(dirname "$0")/lib.sh"
need_packages
mkdir runs && cd runs
quiet() { "$INFEROMETER" "$@" >/dev/null 2>../errors || fail "$*: $(cat ../errors)"; }

# ---- by the fake device, each in the folder of its name ----
noisy='step_ns=1000; noise=0.01'
quiet decode --device fake --ceilings none --compress 1,4 --script "$noisy; arm.int4.step_ns=400" --seed 1 \
    --repeats 60 --out decode
# 1 = rejected: this gate is not met
"$INFEROMETER" run -c "$IFM_SOURCE/tests/golden/gate-fail/in/config.yaml" --out gates >/dev/null 2>../errors ||
    [ $? = 1 ] || fail "$(cat ../errors)"
grep -q '"outcome": "fail"' gates/verdict.json || fail "the gate did not fail"
mkdir ../hidden # stands in front of an installed library, and is none
echo "this is no library" >../hidden/libopenblas.so.0
LD_LIBRARY_PATH=../hidden "$INFEROMETER" run --workload attention --override attention.arms=openblas \
    --ceilings none --out absent >/dev/null 2>../errors || true # nothing was measured: it says so with its exit status
grep -q '"unsupported": "[^"]' absent/plan.json || fail "the cell of a missing library is not absent"
quiet run --workload decode --device fake --script "$noisy" --ceilings none --seed 1 --repeats 12 --out many \
    --override decode.kv_len=256,512,1024,2048 --override decode.batch=1,2 --override decode.compress=1,4
quiet run --workload decode --device fake --script "$noisy" --ceilings none --seed 1 --repeats 12 --out sweep \
    --override decode.kv_len="$(seq -s, 256 16 352)" --override decode.batch=1,2,3,4,5 --override decode.compress=1,4
quiet run --workload null --device fake --script "$noisy" --ceilings none --seed 1 --repeats 12 --out crowd \
    --override measure.replica="$(seq -s, 1 60)" --override null.spin=1,2,3,4,5
! bash -c '"$@"; exit $?' dying "$INFEROMETER" null --device fake --script "$noisy; die_after_slots=12" \
    --ceilings none --seed 1 --repeats 5000 --out interrupted >/dev/null 2>&1 || fail "the run was not interrupted"
quiet derive interrupted

# ---- on the processor ----
quiet decode --kv-len 512 --batch 1 --threads 1 --compress 1,2,4,8 --repeats 12 --warmup 3 --out measured

# ---- an energy pass under a meter that this script plays ----
python3 -c '
import random, time
while True:
    print("%.6f,%d" % (time.time(), random.randint(110, 129)), flush=True)
    time.sleep(0.05)' >../meter.csv &
meter=$!
trap 'kill $meter 2>/dev/null; rm -rf "$scratch"' EXIT
until [ -s ../meter.csv ]; do sleep 0.05; done # a run wants the file to be there
"$INFEROMETER" decode --kv-len 256 --batch 1 --threads 1 --compress 1,4 --ceilings none --stop repeats --repeats 12 \
    --warmup 3 --energy --energy-windows 4 --energy-window 1s --energy-idle 1s --pre-roll 100ms \
    --power-meter ../meter.csv --out energy >/dev/null 2>../errors ||
    [ $? = 3 ] || fail "$(cat ../errors)" # on a busy machine the meter has gaps, and no energy is left
grep -q 'id="decode-power"' energy/report.html || fail "the page of an energy pass has no figure of power"
[ "$(head -1 energy/power.csv)" = t_s,power_w ] || fail "an energy pass has no power.csv"

# judge and report publish what derive has made
for kind in decode gates absent many sweep crowd interrupted measured energy; do
    [ -s $kind/report.html ] || fail "$kind has no report.html"
done
mkdir -p "${IFM_BROWSER:?}"
rm -rf "$IFM_BROWSER/runs"
mv ../runs "$IFM_BROWSER/runs"
echo "9 kinds of run"
