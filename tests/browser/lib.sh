# shellcheck shell=bash
# Shared by the scripts that open a report in a browser; sourced, not run.
#
# Node's packages are installed beside the command under test, by the lock file, and only once; a test that cannot have
# them is skipped with the reason.
browser=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")")
source "$browser/../e2e/lib.sh"
need chromium chromium

need_packages()
{
    need node nodejs
    need npm npm
    local folder key
    folder=$(dirname "$INFEROMETER")/browser
    key=$(sha256sum <"$browser/package-lock.json")
    if [ "$(cat "$folder/installed" 2>/dev/null)" != "$key" ]; then
        mkdir -p "$folder"
        cp "$browser/package.json" "$browser/package-lock.json" "$folder/"
        (cd "$folder" && timeout 200 npm ci --no-audit --no-fund --ignore-scripts >npm.log 2>&1) ||
            skip "npm ci cannot install playwright-core, axe-core: $(grep -v '^npm warn' "$folder/npm.log" | head -1)"
        echo "$key" >"$folder/installed"
    fi
    export IFM_NODE_MODULES=$folder
    IFM_CHROMIUM=$(command -v chromium)
    export IFM_CHROMIUM
}

# check NAME ARGUMENT...: what tests/browser/NAME.mjs says; each complaint is a line, and fails the test.
check()
{
    local name=$1
    shift
    timeout 250 node "$browser/$name.mjs" "$@" >said 2>errors || fail "$name: $(cat said errors | head -20)"
}

# A run with an energy pass under a meter that this script plays, in the folder `energy`.
make_energy_run()
{
    local meter
    (while :; do
        echo "$(date +%s.%6N),$((110 + RANDOM % 20))"
        sleep 0.05
    done >meter.csv) &
    meter=$!
    until [ -s meter.csv ]; do sleep 0.05; done # a run wants the file to be there
    "$INFEROMETER" decode --kv-len 256 --batch 1 --compress 1,4 --ceilings none --stop repeats --repeats 12 \
        --warmup 3 --energy --energy-windows 4 --energy-window 1s --energy-idle 1s --pre-roll 100ms \
        --power-meter meter.csv --out energy >/dev/null 2>errors || fail "energy: $(cat errors)"
    kill $meter
    wait $meter 2>/dev/null || true
    grep -q 'id="decode-power"' energy/report.html || fail "the page of an energy pass has no figure of power"
    [ "$(head -1 energy/power.csv)" = t_s,power_w ] || fail "an energy pass has no power.csv"
}

# Runs of every kind that a page looks different for, by the fake device, each in the folder of its name.
make_runs()
{
    local noisy='step_ns=1000; noise=0.01'
    quiet() { "$INFEROMETER" "$@" >/dev/null 2>errors || fail "$*: $(cat errors)"; }
    quiet decode --device fake --ceilings none --compress 1,4 --script "$noisy; arm.int4.step_ns=400" --seed 1 \
        --repeats 60 --out decode
    # 1 = rejected: this gate is not met
    "$INFEROMETER" run -c "$IFM_SOURCE/tests/golden/gate-fail/in/config.yaml" --out gates >/dev/null 2>errors ||
        [ $? = 1 ] || fail "$(cat errors)"
    grep -q '"outcome": "fail"' gates/verdict.json || fail "the gate did not fail"
    mkdir -p hidden # stands in front of an installed library, and is none
    echo "this is no library" >hidden/libopenblas.so.0
    LD_LIBRARY_PATH=hidden "$INFEROMETER" run --workload attention --override attention.arms=openblas \
        --ceilings none --out absent >/dev/null 2>errors || true # nothing was measured: it says so with its exit status
    grep -q '"unsupported": "[^"]' absent/plan.json || fail "the cell of a missing library is not absent"
    quiet run --workload decode --device fake --script "$noisy" --ceilings none --seed 1 --repeats 12 --out many \
        --override decode.kv_len=256,512,1024,2048 --override decode.batch=1,2 --override decode.compress=1,4
    ! bash -c '"$@"; exit $?' dying "$INFEROMETER" null --device fake --script "$noisy; die_after_slots=12" \
        --ceilings none --seed 1 --repeats 5000 --out interrupted >/dev/null 2>&1 || fail "the run was not interrupted"
    quiet derive interrupted
    # judge and report publish what derive has made
    for kind in decode gates absent many interrupted; do
        [ -s $kind/report.html ] || fail "$kind has no report.html"
    done
}
