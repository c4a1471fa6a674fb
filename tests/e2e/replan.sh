#!/usr/bin/env bash
# A plan is planned again from its lock and the recorded machine: every edited leaf is named, and honest folders stay
# accepted on other machines, after --resume and after rerun (tests/forge/plan_edits.py).
source "$(dirname "$0")/lib.sh"
need python3 python3
need taskset util-linux
export INFEROMETER IFM_SOURCE PYTHONDONTWRITEBYTECODE=1
mkdir forge
python3 "$IFM_SOURCE/tests/forge/replan.py" forge >forged || fail "$(cat forged)"

accepts() # FOLDER [COMMAND...]
{
    local folder=$1
    shift
    "$@" "$INFEROMETER" verify "$folder" >out 2>&1 || fail "$folder${1:+ under $*}: verify refuses it: $(cat out)"
    ! grep -q "not rebuilt" out || fail "$folder: its plan was not rebuilt: $(cat out)"
}
for name in decode attention gemm stream null exec fake; do
    accepts "forge/$name" taskset -c 0
    "$INFEROMETER" rerun "forge/$name" --out "again-$name" --quiet >out 2>&1 || fail "$name: rerun fails: $(cat out)"
    accepts "again-$name"
done
# All threads of this machine, read back on one of its CPUs.
"$INFEROMETER" gemm --m 1 --n 256 --k 256 --layers 0 --weights bf16 --ceilings read --repeats 30 --out all >/dev/null
accepts all taskset -c 0
cut_short KILL cut 4 "$INFEROMETER" stream --probe copy --size 256KiB --repeats 400 --slot-steps 5 --warmup 20 \
    --ceilings none --threads 1 --override measure.slot_min=5ms --out cut --quiet
"$INFEROMETER" run --resume cut --quiet >out 2>&1 || fail "resume fails: $(cat out)"
accepts cut

# A lock and a plan that were edited to fit each other are another study. Alone, a lock is none.
cp -r forge/null lock
sed -i 's/"measure.margin": 0.003/"measure.margin": 0.5/' lock/config.lock.json
rm lock/manifest.sha256
"$INFEROMETER" derive lock >/dev/null 2>&1 || true
status=0
"$INFEROMETER" gate lock --gates significant >out 2>&1 || status=$?
[ $status = 3 ] || fail "gate on an edited lock ends with $status: $(cat out)"
cat forged
