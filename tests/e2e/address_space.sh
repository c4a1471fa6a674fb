#!/usr/bin/env bash
# An address space that is too small is one error, soon: of our buffers, and of those of OpenBLAS, which by itself tries
# for ever to map one.
source "$(dirname "$0")/lib.sh"
tried=0
refused() # LIMIT_KIB ARGUMENT...
{
    local limit=$1 status=0
    shift
    (ulimit -v "$limit" && timeout -s KILL 250 "$INFEROMETER" "$@" --threads 1 --ceilings none --repeats 10 --warmup 1 \
        --out "refused$tried" >out 2>errors) || status=$?
    [ "$status" = 3 ] || fail "$*: status $status, not 3: $(tail -1 errors)"
    tr -s '\n ' ' ' <out | has "nothing was measured: .*the system refuses [0-9]* B for" ||
        fail "$*: no sentence says what was refused"
    tried=$((tried + 1))
}
refused 100000 decode --kv-len 16384 --batch 2 --layers 2
"$INFEROMETER" doctor 2>/dev/null | has "^OpenBLAS  *ok" && {
    refused 120000 attention --batch 1 --seq-len 64 --layers 1 --storage f32 --arms openblas
    refused 120000 gemm --n 64 --k 64 --layers 1 --weights f32 --gemm-arms openblas
}
echo "$tried refusals"
