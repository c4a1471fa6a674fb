#!/usr/bin/env bash
# A sweep over threads measures each cell with its own number, whatever stands first in the list.
source "$(dirname "$0")/lib.sh"
[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"
"$INFEROMETER" decode --threads 1,2,0 --kv-len 256 --batch 1 --compress 1 --layers 1 \
    --ceilings flops --repeats 60 --warmup 10 --out out \
    >/dev/null 2>errors || fail "$(cat errors)"
"$INFEROMETER" verify out >/dev/null 2>errors || fail "$(cat errors)"
for cell in 0 1 2; do
    [ "$(grep -c '^[0-9]' out/samples/$cell-latency-slots.csv)" -gt 0 ] || fail "cell $cell has no slot"
done
echo "3 cells"
