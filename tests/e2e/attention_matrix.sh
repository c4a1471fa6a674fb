#!/usr/bin/env bash
# The specification's baseline on the cpu, its batch divided: cells named after their shapes, correct, verified again.
source "$(dirname "$0")/lib.sh"
"$INFEROMETER" attention --matrix b32h8s128,b8h8s512,b32h4s512 --scale 32 --ceilings flops --repeats 10 --warmup 1 \
    --format json --out out >/dev/null 2>errors || fail "exit status $?: $(cat errors)"
"$INFEROMETER" verify out >/dev/null 2>errors || fail "exit status $?: $(cat errors)"
for shape in b32h8s128 b8h8s512 b32h4s512; do
    grep -q "\"attention matrix=$shape\"" out/plan.json || fail "no cell is named after $shape"
done
checks=$(grep -c '"stage": *"check"' out/run.log) || fail "no arm was held against its oracle"
! grep '"stage": *"check"' out/run.log | has '"ok": *false' || fail "an arm is wrong: $(grep check out/run.log)"
"$INFEROMETER" attention --batch 3 --ragged 1 --seq-len 100 --causal --storage bf16 --ceilings none --repeats 10 \
    --layout contiguous,qkv_packed --warmup 1 --out ragged >/dev/null 2>errors || fail "exit status $?: $(cat errors)"
"$INFEROMETER" verify ragged >/dev/null 2>errors || fail "exit status $?: $(cat errors)"
echo "3 cells, $checks checks"
