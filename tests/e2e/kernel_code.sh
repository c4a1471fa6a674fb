#!/usr/bin/env bash
# The kernels of an instruction set are made of its instructions and of no wider one, as the object code says; and each
# set that this machine has runs when it is asked for, as the record says.
source "$(dirname "$0")/lib.sh"
archive=$(dirname "$INFEROMETER")/src/kernel/cpu/libifm_kernel_cpu.a
[ "$(uname -m)" = x86_64 ] || skip "the sets are of x86-64"
[ -f "$archive" ] || skip "needs the build folder beside the command"
need objdump binutils
need python3 python3
objdump -d --no-show-raw-insn "$archive" >code.txt
python3 - <<'P'
import collections, re, sys
# What a set may use beyond the one before it, and what shows that it does.
WIDEST = {"scalar": 16, "sse2": 16, "avx2": 32, "avx512": 64, "avx512vnni": 64}
width = {"xmm": 16, "ymm": 32, "zmm": 64}
found = collections.defaultdict(lambda: collections.Counter())
name = None
for line in open("code.txt"):
    header = re.match(r"(\w+)\.c\.o:", line)
    if header:
        name = header.group(1)
    elif name and "\t" in line:
        code = line.split("\t", 1)[1]
        for register in re.findall(r"%([xyz]mm)\d", code):
            found[name][width[register]] += 1
        found[name]["mask"] += len(re.findall(r"%k[0-7]", code))
        found[name]["vex"] += bool(re.match(r"v[a-z]", code))
        found[name]["dot"] += bool(re.match(r"vpdp(bus|wss)", code))
wrong = []
for name, seen in found.items():
    isa = re.search(r"_(scalar|sse2|avx2|avx512|avx512vnni)$", name)
    isa = isa.group(1) if isa else "common"
    most = WIDEST.get(isa, 16)
    for size in (32, 64):
        if size > most and seen[size]:
            wrong.append(f"{name} uses registers of {size} bytes")
    if not isa.startswith("avx512") and seen["mask"]:
        wrong.append(f"{name} uses mask registers")
    if not isa.startswith("avx") and seen["vex"]:
        wrong.append(f"{name} uses AVX instructions")
    if isa != "avx512vnni" and seen["dot"]:
        wrong.append(f"{name} uses byte dot products")
    if isa == "avx512vnni" and not seen["dot"]:
        wrong.append(f"{name} uses no byte dot products")
    if isa in ("avx2", "avx512", "avx512vnni") and not seen[most]:
        wrong.append(f"{name} never uses a register of {most} bytes")
sets = {m.group(1) for m in (re.search(r"_(scalar|sse2|avx2|avx512)$", n) for n in found) if m}
if len(sets) != 4:
    wrong.append(f"kernels found for {sorted(sets)} only")
if wrong:
    sys.exit("; ".join(wrong))
P
sets=$("$INFEROMETER" doctor 2>/dev/null | sed -n 's/^instruction sets *ok *//p' | tr -d ,)
[ -n "$sets" ] || fail "doctor names no instruction set"
# The sets that checks of ARM in the record name, one a line.
ran() # FOLDER ARM
{
    sed -n "s/.*\"stage\":\"check\".*\"arm\":\"$2\".*\"isa\":\"\([A-Za-z0-9]*\)\".*/\1/p" "$1/run.log" | sort -u
}
# Measure as shortly as can be, and compare what ran.
runs() # FOLDER ARM WANTED ARGUMENTS...
{
    local folder=$1 arm=$2 wanted=$3
    shift 3
    [ -d "$folder" ] || "$INFEROMETER" "$@" --threads 1 --repeats 20 --warmup 2 --warmup-cap 0.1 --ceilings none \
        --out "$folder" >/dev/null 2>errors || fail "$(tail -1 errors)"
    [ "$(ran "$folder" "$arm")" = "$wanted" ] || fail "$folder: $arm ran '$(ran "$folder" "$arm")', not $wanted"
}
for isa in $sets; do
    plain=${isa%vnni} # what has no use for byte dot products
    runs "stream-$isa" read.linear "$plain" stream --probe read --isa "$isa" --size 64KiB
    runs "attention-$isa" "$isa" "$plain" attention --arms "$isa" --seq-len 64 --layers 1
    [ "$isa" != sse2 ] || continue # decode and gemm have no kernels for it
    decode=(decode --isa "$isa" --kv-len 512 --batch 1 --q-heads 2 --kv-heads 1 --layers 1)
    gemm=(gemm --isa "$isa" --gemm-arms ours --n 64 --k 128 --layers 1 --weights f32,int8)
    [ "$isa" = avx512 ] && decode+=(--compress 1) || decode+=(--compress 2) # codes need the byte dot products, or avx2
    runs "decode-$isa" f16 "$plain" "${decode[@]}"
    [ "$isa" = avx512 ] || runs "decode-$isa" int8 "$isa" "${decode[@]}"
    runs "gemm-$isa" f32 "$plain" "${gemm[@]}"
    runs "gemm-$isa" int8 "$isa" "${gemm[@]}"
done
if "$INFEROMETER" doctor 2>/dev/null | has '^OpenBLAS *ok'; then
    core=$("$INFEROMETER" doctor 2>/dev/null | sed -n 's/^OpenBLAS *ok .*core type \([A-Za-z0-9]*\).*/\1/p')
    [ -n "$core" ] || fail "doctor does not name the core type of OpenBLAS"
    runs library-attention openblas "$core" attention --arms openblas --seq-len 64 --layers 1
    runs library-gemm openblas "$core" gemm --gemm-arms openblas --n 64 --k 128 --layers 1
fi
echo "objects of every set; ran: ${sets%"${sets##*[a-z0-9]}"}"
