#!/usr/bin/env bash
# The energy pass under an external meter, interrupted while it idles and killed in a window; the latter goes on.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/energy_lib.sh"
need python3 python3
counts=(--threads 1 --stop repeats --repeats 40 --slot-steps 2 --warmup 1 --format csv)
energy=(--energy --energy-windows 3 --energy-idle 1s --pre-roll 100ms)

# ---- a meter ----
start_meter
# ---- an interruption need not wait for an idle stretch to end ----
"$INFEROMETER" null "${counts[@]}" --energy --energy-idle 100s --power-meter meter.csv --out idle >/dev/null 2>log &
pid=$!
until grep -q '"energy_plan"' idle/run.log 2>/dev/null || ! kill -0 $pid; do
    sleep 0.05
done
kill -INT $pid
SECONDS=0
status=0
wait $pid || status=$?
[ $status = 130 ] || fail "an interrupted pass ends with $status: $(cat log)"
[ $SECONDS -lt 90 ] || fail "it took $SECONDS s to be interrupted" # of 100 that it would idle
grep -q '"interrupted"' idle/run.log || fail "the journal does not say that it was interrupted"

# ---- killed behind the first block, and gone on with ----
printf 'workload: null\narms:\n  - name: quick\n  - name: slow\n    set: {null.spin: 1000}\n' >two.yaml
cut_short KILL cut 2:0-energy-slots.csv "$INFEROMETER" run -c two.yaml "${counts[@]}" "${energy[@]}" \
    --energy-window 150ms --power-meter meter.csv --out cut
cp -r cut before
recorded "$INFEROMETER" run --resume cut --format csv >/dev/null 2>log || fail "resume: $(cat log)"
check_energy cut 4 || fail "cut: the record"
[ "$(grep -c '"energy_idle".*"when":"before"' cut/run.log)" = 2 ] || fail "cut: no idle of the second session"
python3 - <<'PY' || fail "cut: what was on disk before the kill is not there any more"
import glob
for name in glob.glob("before/samples/*"):
    text = open(name).read()
    whole = text[:text.rfind("\n") + 1]
    block = name.endswith(("0-energy.csv", "0-energy-slots.csv")) # one that was not whole is cut off
    assert block or open(name.replace("before", "cut", 1)).read().startswith(whole), name
PY
"$INFEROMETER" verify cut >log 2>&1 || fail "cut: $(cat log)"
echo "interrupted and killed in the pass: it goes on behind the last whole block, and nothing that was written is lost"
