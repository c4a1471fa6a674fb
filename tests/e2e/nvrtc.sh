#!/usr/bin/env bash
# A GPU for every build: kernels as sources, which NVRTC compiles at run time, once, over a driver of host memory and a
# compiler that writes down what it is given (tests/fake_cuda, tests/fake_nvrtc); then the real NVRTC, where one is.
source "$(dirname "$0")/lib.sh"
need python3 python3
counts=(--device cuda --kernels nvrtc --stop repeats --repeats 40 --slot-steps 2 --warmup 1)
export XDG_CACHE_HOME=$PWD/cache FAKE_CUDA=kernel_ns=200000

# fake SCRIPT command...: with both in place of the machine's
fake()
{
    local script=$1
    shift
    FAKE_NVRTC="$script;log=$PWD/compiled" LD_LIBRARY_PATH="$IFM_FAKE_CUDA" "$@"
}

# refused STATUS WORDS command...: that exit status, one error line that holds the words, and what to do
refused()
{
    local wanted=$1 words=$2 status=0
    shift 2
    "$@" >out 2>errors || status=$?
    [ "$status" = "$wanted" ] || fail "$*: exit status $status, not $wanted: $(cat errors)"
    [ "$(grep -c '^error: ' errors)" = 1 ] || fail "$*: not one error: $(cat errors)"
    grep -qF -- "$words" errors || fail "$*: does not say '$words': $(cat errors)"
    grep -q '^  hint: ' errors || fail "$*: does not say what to do: $(cat errors)"
}

# ---- compiled once, kept, named in the record ----
fake "" "$INFEROMETER" null "${counts[@]}" --out first >out 2>errors || fail "null: $(cat errors)"
sort compiled >lines
grep -q '^null.cu --gpu-architecture=sm_90a ' lines || fail "null.cu was not compiled for the GPU: $(cat lines)"
n=$(wc -l <compiled)
python3 - <<'PY' || fail "the record does not name the compiler"
import json
facts = [json.loads(line)["meta"] for line in open("first/run.log") if '"stage":"device"' in line][-1]
assert facts["kernels"] and all(k["compiler"] == "NVRTC 99.0, sm_90a" for k in facts["kernels"]), facts
PY
"$INFEROMETER" verify first >/dev/null 2>errors || fail "verify: $(cat errors)"
fake "" "$INFEROMETER" null "${counts[@]}" --out second >/dev/null 2>errors || fail "again: $(cat errors)"
[ "$(wc -l <compiled)" = "$n" ] || fail "compiled again, though it is kept: $(cat compiled)"

# What was cut or changed is made again, and another GPU has code of its own.
for file in cache/inferometer/kernels/*; do
    printf x | dd of="$file" bs=1 seek=120 conv=notrunc status=none
done
fake "" "$INFEROMETER" null "${counts[@]}" --out third >/dev/null 2>errors || fail "after damage: $(cat errors)"
[ "$(wc -l <compiled)" = $((2 * n)) ] || fail "damaged code was loaded: $(cat compiled)"
fake newest=80 "$INFEROMETER" null "${counts[@]}" --out ptx >/dev/null 2>errors || fail "PTX: $(cat errors)"
grep -q '^null.cu --gpu-architecture=compute_80 ' compiled || fail "no PTX for a GPU that is newer: $(cat compiled)"
XDG_CACHE_HOME=/dev/null/none fake "" "$INFEROMETER" null "${counts[@]}" --out uncached >/dev/null 2>errors ||
    fail "without a place to keep it: $(cat errors)"

# ---- what can be wrong is one error ----
rm -rf cache
refused 3 "NVRTC 99.0 makes no code for compute capability 9.0" \
    fake "oldest=95;newest=100" "$INFEROMETER" null "${counts[@]}" --out old
refused 3 "does not compile it: stream.cu(1): error: no such thing" \
    fake "fails=stream.cu(1): error: no such thing" "$INFEROMETER" null "${counts[@]}" --out words
absent=3 # a build that has kernels finds out when it opens the arm
"$INFEROMETER" version | has 'kernels as sources' && absent=4
refused $absent "there is no run-time compiler NVRTC at IFM_NVRTC=/nowhere" \
    env IFM_NVRTC=/nowhere LD_LIBRARY_PATH="$IFM_FAKE_CUDA" "$INFEROMETER" null "${counts[@]}" --out nowhere
fake "" "$INFEROMETER" doctor | has '^GPU kernels  *ok  .*NVRTC' || fail "doctor does not name NVRTC"
if "$INFEROMETER" version | has 'kernels as sources'; then
    refused 3 "this build was made without nvcc" \
        fake "" "$INFEROMETER" null "${counts[@]}" --kernels built --out built
    IFM_NVRTC=/nowhere LD_LIBRARY_PATH="$IFM_FAKE_CUDA" "$INFEROMETER" doctor |
        has '^GPU kernels  *absent .*nvcc.*NVRTC at IFM_NVRTC=/nowhere' ||
        fail "doctor does not say that there are no kernels"
else
    fake "" "$INFEROMETER" null "${counts[@]}" --kernels built --out built >/dev/null 2>errors || fail "$(cat errors)"
    grep -q '"compiler":"nvcc ' built/run.log || fail "the record does not name nvcc"
fi

# ---- the real one compiles every source, for this driver's GPU ----
real=$(env -u LD_LIBRARY_PATH -u IFM_NVRTC "$INFEROMETER" doctor |
    sed -n 's/^GPU kernels .*NVRTC [0-9.]* (\([^)]*\)).*/\1/p')
if [ -z "$real" ]; then
    for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
        [ -n "$real" ] || real=$(ls "$folder"/lib64/libnvrtc.so.1[23] 2>/dev/null | head -1 || true)
    done
fi
[ -n "$real" ] || skip "the real NVRTC, which is not on this machine; all else passed"
for probe in read matrix; do
    IFM_NVRTC=$real LD_LIBRARY_PATH="$IFM_FAKE_CUDA" "$INFEROMETER" stream --probe $probe --size 64MiB "${counts[@]}" \
        --out real-$probe >/dev/null 2>errors || [ $? = 3 ] || fail "real NVRTC, $probe: $(cat errors)"
    grep -q '"compiler":"NVRTC 1[23]\.[0-9]*, sm_90a"' real-$probe/run.log || fail "not by the real NVRTC: $probe"
done
for arms in naive ours; do
    IFM_NVRTC=$real LD_LIBRARY_PATH="$IFM_FAKE_CUDA" "$INFEROMETER" gemm --gemm-arms $arms --n 64 --k 64 \
        "${counts[@]}" --out real-$arms >/dev/null 2>errors || fail "real NVRTC, gemm of $arms: $(cat errors)"
    [ "$(grep -c '"compiler":"nvcc' real-$arms/run.log)" = 0 ] || fail "not by the real NVRTC: $arms"
done
# A source that is another one over views has its kernels by inclusion. A run that other work disturbed is done again.
for _ in 1 2 3; do
    rm -rf real-views && status=0
    IFM_NVRTC=$real LD_LIBRARY_PATH="$IFM_FAKE_CUDA" "$INFEROMETER" attention --layout qkv_packed --arms naive,ours \
        --q-heads 1 --kv-heads 1 --batch 1 --seq-len 257 "${counts[@]}" --ceilings none --out real-views \
        >out 2>errors || status=$?
    [ $status != 0 ] && disturbed real-views || break
done
[ $status = 0 ] || fail "$(cat errors out) real NVRTC, attention over views: exit status $status"
for kernel in ifm_attention_naive_f16_strided ifm_hopper_f16_64_1_strided; do
    grep -q "\"$kernel\"" real-views/run.log || fail "views: $kernel did not run"
done

# ---- kernels that address shared memory by integers alone are the same from both compilers of a toolkit ----
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
release=$("$nvcc" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
if [ -n "$release" ] && grep -qF "\"compiler\":\"NVRTC $release, sm_90a\"" real-ours/run.log; then
    rm -rf cache
    IFM_NVRTC=$real LD_LIBRARY_PATH="$IFM_FAKE_CUDA" "$INFEROMETER" gemm --gemm-arms ours --m 65 --n 256 --k 64 \
        --layers 1 --weights f16 "${counts[@]}" --out real-tiles >/dev/null 2>errors ||
        fail "real NVRTC, gemm of tiles: $(cat errors)"
    "$nvcc" -O3 -std=c++17 -I "$IFM_SOURCE/src" -cubin -arch=sm_90a -o by_nvcc "$IFM_SOURCE/src/kernel/cuda/gemm_tma.cu"
    python3 - by_nvcc cache/inferometer/kernels/* <<'PY' || fail "machine code by NVRTC is not nvcc's"
import struct, sys

def texts(file):
    """The machine code of each kernel: sections of an ELF file, which has a line in front in the cache."""
    data = open(file, "rb").read()
    data = data[data.index(b"\x7fELF"):]
    at, = struct.unpack_from("<Q", data, 0x28)
    size, n, names = struct.unpack_from("<HHH", data, 0x3a)
    rows = [struct.unpack_from("<IIQQQQ", data, at + i * size) for i in range(n)]
    name = lambda row: data[rows[names][4] + row[0]:].split(b"\0", 1)[0].decode()
    return {name(r): data[r[4]:r[4] + r[5]] for r in rows if name(r).startswith(".text.")}

wanted = texts(sys.argv[1])
found = {k: v for file in sys.argv[2:] for k, v in texts(file).items() if k in wanted}
assert len(wanted) == 12 and set(found) == set(wanted), (set(wanted), set(found))
assert found == wanted, [k for k in wanted if found[k] != wanted[k]]
PY
fi
echo "compiled once, kept, named; damage, other GPUs, and its absence; the real NVRTC too"
