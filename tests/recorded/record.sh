#!/usr/bin/env bash
# Records the run folders that lie beside this script, with the build that is given: one folder for each workload and
# each path of a run. README.md says which revision recorded those that are committed.
#
#     tests/recorded/record.sh BUILD OUT [NAME...]
#
# BUILD is a build folder with the command, the library and the fakes of the tests; OUT gets one folder for each NAME
# (all of them by default), without private.json, and its numbers in NAME.csv. Takes about two minutes.
set -euo pipefail
build=$(readlink -f "$1")
mkdir -p "$2"
out=$(readlink -f "$2")
shift 2
here=$(readlink -f "$(dirname "$0")")
source_tree=$(readlink -f "$here/../..")
ifm=$build/inferometer
scratch=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$scratch"' EXIT
cd "$scratch"

few=(--repeats 80 --slot-steps 2 --warmup 200)
windows=(--energy --energy-windows 3 --energy-idle 1s --pre-roll 100ms --energy-window 300ms)
sensors="average_rc=3 instant_rc=3 memory_rc=3 refresh_ms=20" # the counter and the ring of a fake GPU

# fake CUDA NVML command...: on a GPU of host memory under the management library of the tests
fake()
{
    local cuda=$1 nvml=$2
    shift 2
    mkdir -p driver
    cp "$build/tests/fake_nvml/fake_nvml.so" driver/libnvidia-ml.so.1
    FAKE_CUDA="kernel_ns=200000;$cuda" FAKE_NVML="$nvml" LD_LIBRARY_PATH="$build/tests/fake_cuda:$PWD/driver" "$@"
}

# A run that is killed when its record has 30 slots, and then resumed.
kill_and_resume()
{
    local dir=$1
    shift
    "$@" --out "$dir" --quiet &
    local pid=$!
    until [ "$(cat "$dir"/samples/*-slots.csv 2>/dev/null | wc -l)" -gt 30 ]; do sleep 0.02; done
    kill -KILL $pid
    wait $pid 2>/dev/null || true
    "$ifm" run --resume "$dir" --quiet
}

# A meter of 120 W writes meter.csv, 20 lines a second.
start_meter()
{
    python3 -c '
import time
out = open("meter.csv", "w")
out.write("t_s,power_w\n")
while True:
    out.write("%.6f,%.1f\n" % (time.time(), 120))
    out.flush()
    time.sleep(0.05)' &
    until [ "$(cat meter.csv 2>/dev/null | wc -l)" -ge 5 ]; do sleep 0.05; done
}

record_null() { "$ifm" null "${few[@]}" --out null; }
record_stream() { "$ifm" stream --probe read,copy --size 1MiB "${few[@]}" --ceilings read,flops --out stream; }
record_stream-cold() { "$ifm" stream --probe read --size 1MiB --cache cold "${few[@]}" --threads 1 --out stream-cold; }
small_decode=(--batch 1 --q-heads 4 --kv-heads 2 --head-dim 64 --layers 1)
record_decode()
{
    "$ifm" decode --kv-len 512 "${small_decode[@]}" --compress 2,8 "${few[@]}" --threads 1 --out decode
}
record_decode-cycle()
{
    "$ifm" decode --seq=512 --heads=4 --dim=64 --batch 1 --layers 1 --compress=2 --warmup=100 --inner_loops=4 \
        --truncate=5 --inference --decode_tokens=16 --ceilings read --repeats 80 --threads 1 --json --out decode-cycle
}
record_decode-lengths()
{
    "$ifm" decode --kv-len 512,1024 --batch 1 --q-heads 4 --kv-heads 2 --head-dim 64 --compress 2 "${few[@]}" \
        --ceilings read --threads 1 --out decode-lengths
}
record_decode-model()
{
    cat >config.json <<'JSON'
{"model_type": "small", "num_hidden_layers": 6, "hidden_size": 4096, "num_attention_heads": 4, "num_key_value_heads": 2,
 "head_dim": 64, "intermediate_size": 16384, "hidden_act": "silu", "torch_dtype": "bfloat16", "vocab_size": 32000}
JSON
    "$ifm" decode --model config.json --kv-len 512 --batch 1 --compress 1,4 "${few[@]}" --ceilings read --threads 1 \
        --out decode-model
}
record_attention()
{
    "$ifm" attention --batch 1 --q-heads 2 --kv-heads 2 --head-dim 64 --seq-len 64 "${few[@]}" --threads 1 \
        --out attention
}
record_gemm()
{
    "$ifm" gemm --m 1 --n 256 --k 256 --layers 1 --weights bf16,int4 "${few[@]}" --ceilings read --threads 1 \
        --out gemm
}
record_gemm-exact()
{
    "$ifm" gemm --m 1,4 --n 256 --k 256 --layers 1 --weights f32,int4 "${few[@]}" --ceilings read --threads 1 \
        --out gemm-exact
}
record_exec()
{
    "$ifm" exec 'true' 'sleep 0.004' --prepare true --cleanup true --name quick --name slow --repeats 40 --out exec
}
record_session()
{
    cc -O2 -I"$source_tree/include" "$source_tree/examples/session/compare.c" -L"$build" -linferometer \
        -Wl,-rpath,"$build" -o compare
    ./compare session "measure.repeats=200"
}
record_plugin()
{
    cat >dot.yaml <<'YAML'
workload: dot
dot: { n: 4096 }
arms:
  - { name: naive, baseline: true, set: { dot.impl: naive } }
  - { name: unrolled, set: { dot.impl: unrolled } }
YAML
    "$ifm" run --plugin "$build/tests/plugins/dot.so" -c dot.yaml "${few[@]}" --threads 1 --ceilings read --out plugin
}
record_gated()
{
    cat >gated.yaml <<'YAML'
workload: null
null: { spin: 20000 }
arms:
  - { name: plain, baseline: true }
  - { name: quick, set: { null.spin: 10000 } }
  - { name: slow, set: { null.spin: 30000 } }
gates:
  - { name: quick is quicker, metric: change_percent, arm: quick, op: at_most, threshold: -5 }
  - { name: slow is not slower, metric: change_percent, arm: slow, op: at_most, threshold: 5 }
  - { name: not too slow, metric: latency_ns_p50, op: at_most, threshold: 1e9 }
YAML
    "$ifm" run -c gated.yaml "${few[@]}" --ceilings none --threads 1 --out gated || [ $? = 1 ] # a gate fails
}
record_same-arms()
{
    cat >same.yaml <<'YAML'
workload: null
null: { spin: 20000 }
arms:
  - { name: one, baseline: true }
  - { name: other }
YAML
    "$ifm" run -c same.yaml --stop group --override measure.blocks_max=100 --mde 0.05 --cap 2s \
        --override measure.slot_min=0s --ceilings none --threads 1 --out same-arms
}
record_noise-and-drift()
{
    cat >drift.yaml <<'YAML'
workload: null
ceilings: none
device:
  kind: fake
  script: "step_ns=1000; noise=0.05; ar=0.6; drift=0.01; arm.slow.step_ns=1100"
arms:
  - { name: plain, baseline: true }
  - { name: slow }
YAML
    "$ifm" run -c drift.yaml --repeats 400 --out noise-and-drift
}
record_sweep()
{
    "$ifm" decode --kv-len 256,512 --batch 1,2 --device fake --compress 2 --ceilings none \
        --script 'step_ns=100000; noise=0.005; arm.int8.step_ns=60000' --repeats 60 --out sweep
}
record_resumed()
{
    kill_and_resume resumed "$ifm" stream --probe copy --size 256KiB --repeats 400 --slot-steps 5 --warmup 100 \
        --ceilings none --threads 1 --override measure.slot_min=5ms
}
record_buffers()
{
    "$ifm" decode --kv-len 512 "${small_decode[@]}" --compress 4 --isolation buffers "${few[@]}" --ceilings none \
        --threads 1 --out buffers
}
record_processes()
{
    "$ifm" decode --kv-len 512 "${small_decode[@]}" --compress 4 --isolation processes "${few[@]}" --ceilings none \
        --threads 1 --out processes
}
record_energy-meter()
{
    start_meter
    "$ifm" gemm --m 1 --n 256 --k 256 --layers 1 --weights f32 --ceilings none "${few[@]}" "${windows[@]}" \
        --threads 1 --power-meter meter.csv --rated-w 100 --out energy-meter
}
record_energy-gpu()
{
    fake "kernel_ns=6000000" "$sensors gpus=2 watts=400" "$ifm" null --device cuda "${few[@]}" "${windows[@]}" \
        --out energy-gpu
}
record_energy-lost()
{
    fake "kernel_ns=6000000" "$sensors lost_ms=2600" "$ifm" null --device cuda "${few[@]}" "${windows[@]}" \
        --out energy-lost
}
record_cuda()
{
    fake "khz=ifm_copy_bulk:1755000" "bus=0000:01:00.0 watts=300" "$ifm" stream --device cuda --probe copy \
        --size 64KiB "${few[@]}" --out cuda
}
record_cuda-arm-failed()
{
    fake fails=ifm_copy_bulk:60 "" "$ifm" stream --device cuda --probe copy --size 64KiB "${few[@]}" \
        --out cuda-arm-failed
}

# Nothing that is committed names this machine's folders, or who recorded it.
clean()
{
    local secret
    rm -f "$1/private.json"
    for secret in "$scratch" "$build" "$source_tree" "$HOME/" "$(uname -n)."; do
        if grep -rlF -- "$secret" "$1"; then
            echo "$1: names $secret" >&2
            exit 1
        fi
    done
}

# On a busy machine a run may be refused; its numbers would say nothing. So it is made again, a few times.
try()
{
    local i
    for i in 1 2 3 4 5 6; do
        rm -rf "$1"
        if "record_$1" >"$1.out" 2>"$1.log"; then
            return
        fi
    done
    cat "$1.out" "$1.log" >&2
    exit 1
}

[ $# -gt 0 ] || set -- $(declare -F | sed -n 's/^declare -f record_//p')
for name; do
    echo "$name" >&2
    try "$name"
    clean "$name"
    "$ifm" verify "$name" >/dev/null
    rm -rf "${out:?}/$name"
    cp -r "$name" "$out/$name"
    python3 "$here/published.py" "$out/$name" >"$out/$name.csv"
done
