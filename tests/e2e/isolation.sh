#!/usr/bin/env bash
# Arms in sets of buffers and in processes of their own: the record holds, the oracle is asked in the worker before and
# after, a worker that dies names its arm and signal, and none is left behind.
source "$(dirname "$0")/lib.sh"
cat >arms.yaml <<'YAML'
workload: decode
decode: { batch: 1, q_heads: 4, kv_heads: 2, kv_len: 256, head_dim: 64, compress: 1, layers: 1 }
arms:
  - name: plain
    baseline: true
  - name: scalar
    set: { decode.isa: scalar }
measure: { stop: repeats, repeats: 60, blocks_min: 6, warmup: 5, slot_min: 0s, slot_steps: 5 }
YAML
for mode in buffers processes; do
    "$INFEROMETER" run -c arms.yaml --isolation "$mode" --out "$mode" --quiet >/dev/null 2>errors ||
        fail "$mode: $(cat errors)"
    "$INFEROMETER" verify "$mode" >/dev/null 2>errors || fail "verify of $mode: $(cat errors)"
    for arm in plain scalar; do
        for when in before after; do
            grep '"stage":"check"' "$mode/run.log" | grep "\"arm\":\"$arm\"" | grep "\"when\":\"$when\"" |
                grep -q '"done":true.*"finite":true' || fail "$mode: no check of $arm $when"
        done
    done
done
# Two slots of five samples a block: six blocks, each in a process of its own, and the one before them.
[ "$(grep -c '"stage":"processes".*"started":7' processes/run.log)" = 2 ] ||
    fail "not one process for each arm and block: $(grep '"stage":"processes"' processes/run.log)"
[ "$(grep -c '"stage":"cell_done"' processes/run.log)" = 1 ] || fail "the cell is not done"
"$INFEROMETER" stream --probe copy --size 1MiB --isolation processes --repeats 60 --warmup 20 --threads 1 \
    --out stream --quiet >/dev/null 2>errors || fail "stream: $(cat errors)"

# A worker that is killed.
"$INFEROMETER" run -c arms.yaml --isolation processes --override measure.repeats=1000000 --out killed --quiet \
    >/dev/null 2>errors &
pid=$!
until [ "$(slots_of killed 2>/dev/null || true)" -gt 10 ] || ! kill -0 "$pid"; do
    sleep 0.1
done
# A signal that meets a worker on its way out changes nothing: until one is felt.
while kill -0 "$pid" 2>/dev/null; do
    grep -qs '"stage":"cell_failed"' killed/run.log && break
    for worker in $(cat "/proc/$pid/task/$pid/children" 2>/dev/null); do
        kill -SEGV "$worker" 2>/dev/null || true
    done
    sleep 0.005
done
if ! grep -qs '"stage":"cell_failed"' killed/run.log; then
    kill -KILL "$pid" || true
    fail "no worker was felt to die: $(cat errors)"
fi
wait "$pid" || true
# The arm has failed, and the cell when it was the last one.
grep '"stage":"arm_failed"' killed/run.log | has -E 'process of arm (plain|scalar) was ended by signal 11' ||
    fail "the death of a worker is not told: $(tail -3 killed/run.log)"

# Ctrl-C ends the run, and its workers with it.
cut_short INT stopped 10 "$INFEROMETER" run -c arms.yaml --isolation processes --override measure.repeats=20000 \
    --out stopped --quiet
[ "$status" = 130 ] || fail "exit status $status after SIGINT, not 130: $(cat errors)"
before=$(slots_of stopped)
cut_short KILL stopped $((before + 20)) "$INFEROMETER" run --resume stopped --quiet
[ "$(slots_of stopped)" -gt "$before" ] || fail "the resumed run added nothing: $(cat errors)"
for _ in $(seq 600); do # they see their run's end as soon as they have a processor
    # Of this script: others may run at the same time.
    grep -lzx worker /proc/[0-9]*/cmdline 2>/dev/null | while read -r found; do
        [ "$(readlink "${found%cmdline}cwd")" != "$PWD" ] || echo "$found"
    done >left || true
    [ -s left ] || break
    sleep 0.1
done
[ ! -s left ] || fail "workers outlive their run: $(cat left)"

"$INFEROMETER" worker 2>errors </dev/null && fail "a worker started by hand runs"
grep -q "started by a run" errors || fail "a worker started by hand says: $(cat errors)"
echo "buffers and processes recorded, checked and verified; a death is told by arm and signal"
