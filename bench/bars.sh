#!/usr/bin/env bash
# What is still to be seen of the kernels of a GPU, in parts, from a folder of tools/portable.sh. Builds nothing, sets
# nothing; a part that fails or passes its limit leaves the others alone. All output is in OUT/PART, a short table last.
#
#   cmake --preset portable && cmake --build build-portable
#   tools/portable.sh DIR $(tools/gpu_tests.sh --programs)
#   mkdir DIR/fatbins && cp build-portable/src/kernel/cuda/*.fatbin DIR/fatbins
#   bench/bars.sh DIR OUT [PART...]     all parts: some 28 minutes of an H200 with 16 CPUs and PyTorch
#
# tests     what no log of a GPU has yet: planted faults of packed caches and cycles, views           (260 s)
# packed    int2 by its groups, int4 of 4k, f16 caches of 2.1 GB; a batch of 256                       (200 s)
# joules    three cells, joules and bytes from memory of each format                                   (260 s)
# ticket    the cycle at 1 x 4,096 and at 8 x 32,768, with the gates of the golden ticket              (200 s)
# nvrtc     kernels made by NVRTC beside those of the build, one folder of runs each                   (120 s)
# attention the ten configurations beside PyTorch in one process; rotated; over views                  (330 s)
# sample    README's sample: tools/retake.sh --from OUT/sample places it                                (60 s)
# limits    what holds back the kernels whose bars are missed, and attention, by ncu; all of ncu's table too (150 s)
set -uo pipefail
here=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/..")
usage="usage: bench/bars.sh DIR OUT [tests|packed|joules|ticket|nvrtc|attention|sample|limits]..."
dir=$(readlink -f "${1:?"$usage"}") out=${2:?"$usage"}
shift 2
[ $# -gt 0 ] || set -- tests packed joules ticket nvrtc attention sample limits
for part in "$@"; do
    [[ " tests packed joules ticket nvrtc attention sample limits " = *" $part "* ]] || {
        echo "$usage; not: $part" >&2
        exit 2
    }
done
[ -x "$dir/inferometer" ] || { echo "error: $dir holds no inferometer: tools/portable.sh $dir" >&2 && exit 2; }
mkdir -p "$out" && out=$(readlink -f "$out")
export INFEROMETER=$dir/inferometer
{ date -u +%FT%TZ; "$INFEROMETER" version; "$INFEROMETER" doctor; } >"$out/machine.txt" 2>&1

# within SECONDS COMMAND...: its output is shown; past its limit it is stopped, and said to be
within()
{
    timeout -k 5 "$@"
    local status=$?
    [ $status != 124 ] && [ $status != 137 ] || echo "stopped after $1 s: ${*:2}"
}

# lab FOLDER ARGUMENTS...: a run, whose table is shown
lab()
{
    local folder=$1
    shift
    within 90 "$INFEROMETER" "$@" --device cuda --seed 1 --quiet --out "$folder" 2>&1
}

tests()
{
    OUT=. within 260 "$here/tools/gpu_tests.sh" "$dir" \
        '^test_(planted|hard)_(attention|packed|cycle)_cuda|^test_packed_cuda|nvrtc/test_(planted|hard)_packed|views'
}

packed()
{
    REPEATS=32 within 160 "$here/bench/packed.sh" cells 16x32768:32:128:f16,int8,e4m3,int4,int2 \
        16x32768:{64,8}:128:f16,int2 128x4096:{32,64}:128:f16,int8,int4
    REPEATS=32 within 60 "$here/bench/packed.sh" batch 256x2048:32:128:f16,int8,int4
}

joules()
{
    ENERGY=1 within 280 "$here/bench/packed.sh" cells {16x32768,64x8192,128x4096}:32:128:f16,int8,int4,int2
}

cycle() # FOLDER BATCH KV_HEADS TOKENS REPEATS PRE_ROLL SLOT_STEPS
{
    cat >"$1.yaml" <<EOF
workload: decode
ceilings: none
decode: {compress: [1, 4], arms: ours, batch: $2, q_heads: 32, kv_heads: $3, kv_len: $4, head_dim: 128, layers: 16,
         inference: true, decode_tokens: 64}
gates_preset: golden-ticket
measure: {slot_steps: $7, warmup: 1, stop: repeats, repeats: $5, pre_roll: $6}
EOF
    within 150 "$INFEROMETER" run -c "$1.yaml" --device cuda --seed 1 --quiet --out "$1" 2>&1
}

ticket()
{
    cycle one 1 32 4096 32 100ms 1
    # At the limit of power: without a pre-roll int4 takes 72 ms behind f16 and 75.5 behind itself.
    cycle eight 8 8 32768 30 3s 2
}

# A run of each; the ratio of their means, which two runs on one card differ in by a few parts in a thousand.
nvrtc()
{
    local kernels
    for kernels in built nvrtc built2; do
        set -- --kernels ${kernels%2} --ceilings none --cap 1500ms
        lab packed-$kernels decode "$@" --decode-arms ours --batch 32 --kv-len 8192 --formats f16,int8,int4,int2
        lab parts-$kernels decode "$@" --decode-arms ours --compress 1 --batch 1 --kv-len 16384
        lab row-$kernels gemm "$@" --gemm-arms ours --m 1 --n 14336 --k 4096 --weights f16,int4 --inner 64
        lab short-$kernels attention "$@" --arms ours --batch 32 --q-heads 8 --kv-heads 8 --seq-len 256 --head-dim 64
        lab long-$kernels attention "$@" --arms ours --batch 4 --q-heads 8 --kv-heads 8 --seq-len 4096 --head-dim 128
    done
}

attention()
{
    within 120 python3 "$here/bench/peers/gpu_ratio.py" "$dir/fatbins" attention 2>&1
    within 90 "$INFEROMETER" run -c "$here/bench/attention_layers.yaml" --quiet --out layers 2>&1
    within 90 "$INFEROMETER" run -c "$here/bench/attention_layers.yaml" --override attention.arms=cudnn --quiet \
        --out layers-cudnn 2>&1
    lab counters attention --matrix b32h8s512 --counters --ceilings none --cap 1s
    for layout in contiguous qkv_packed; do
        lab $layout attention --arms cudnn,ours --batch 32 --q-heads 8 --kv-heads 8 --seq-len 512,2048 \
            --head-dim 64,128 --layout $layout --ceilings none --cap 1s
    done
}

sample()
{
    within 120 "$here/tools/retake.sh" --measure "$PWD" 2>&1
}

# profiled NAME KERNEL ARGUMENTS...: the second launch that fits, of a run of few steps
profiled()
{
    echo "$1:"
    within 60 "$INFEROMETER" profile --all --kernel "$2" --launch-skip 1 --launch-count 1 --csv "$1.csv" -- \
        "$INFEROMETER" "${@:3}" --device cuda --no-graphs --inner 1 --stop repeats --repeats 3 --warmup 1 \
        --ceilings none --seed 1 --quiet --out "$1" 2>&1
}

limits()
{
    local cache=(decode --decode-arms ours --kv-heads 8)
    profiled int2-g8 ifm_packed_many_int2 "${cache[@]}" --batch 16 --q-heads 64 --kv-len 32768 --formats int2
    profiled int2-g4 ifm_packed_int2 "${cache[@]}" --batch 16 --q-heads 32 --kv-len 32768 --formats int2
    profiled int4-g8 ifm_packed_many_int4 "${cache[@]}" --batch 128 --q-heads 64 --kv-len 4096 --formats int4
    profiled decode-16k ifm_decode "${cache[@]}" --batch 1 --q-heads 32 --kv-len 16384 --compress 1
    profiled row-k14336 ifm_gemm_row gemm --gemm-arms ours --m 1 --n 4096 --k 14336 --weights int4
    for dim in 64 128; do
        profiled attention-$dim ifm_hopper attention --arms ours --batch 8 --q-heads 8 --kv-heads 8 --seq-len 2048 \
            --head-dim $dim
    done
}

for part in "$@"; do
    mkdir -p "$out/$part"
    begun=$SECONDS
    (cd "$out/$part" && "$part") >"$out/$part/log.txt" 2>&1
    echo "== $part, $((SECONDS - begun)) s"
    tail -n 25 "$out/$part/log.txt"
done
python3 - "$out" <<'PYTHON'
import glob, json, os, sys

print("\nrun                            arm             mean us     CV %  max error    speed-up")
rows = {}
for path in sorted(glob.glob(sys.argv[1] + "/*/**/derived.json", recursive=True)):
    with open(path, encoding="utf-8") as file:
        numbers = json.load(file)["numbers"]
    run = os.path.relpath(os.path.dirname(path), sys.argv[1])
    values = {(n["cell"], n["arm"], n["metric"]): n for n in numbers if n["state"] == "ok"}
    for (cell, arm, metric), n in values.items():
        if metric != "step_ns" or (cell, arm, "error_max_rel") not in values:
            continue
        rows[run, cell, arm] = n["value"]
        of = values.get((cell, arm, "speedup_over_fastest")) or values.get((cell, arm, "speedup"))
        cv = values.get((cell, arm, "latency_cv_percent"), {"value": float("nan")})["value"]
        print("%-30s %-12s %10.2f %8.2f %10.1e    %s  %s" % (
            run, arm, n["value"] / 1e3, cv, values[cell, arm, "error_max_rel"]["value"],
            "%.3f [%.3f, %.3f]" % (of["value"], *of["interval"]) if of and of["interval"] else "-", cell))
for (run, cell, arm), value in rows.items():
    if run.endswith("-nvrtc"):
        others = [(run[:-5] + name, cell, arm) for name in ("built", "built2")]
        built = [rows[other] for other in others if other in rows]
        if built:
            print("NVRTC over built: %-24s %-8s %.3f; built again over built %.3f" % (
                run, arm, value * len(built) / sum(built), built[-1] / built[0]))
PYTHON
