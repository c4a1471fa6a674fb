#!/usr/bin/env bash
# `inferometer cachegrind`: a read of a buffer misses its lines, decode misses what its ledger says must move, the same
# numbers come again, and nothing of it becomes a run folder.
source "$(dirname "$0")/lib.sh"
need python3 python3
need valgrind valgrind

small=(--last-level 256KiB,16,64)
"$INFEROMETER" cachegrind stream --probe read --size 1MiB "${small[@]}" --format json >read.json
"$INFEROMETER" cachegrind stream --probe read --size 1MiB "${small[@]}" --format json >again.json
cmp read.json again.json || fail "the same command gives other numbers"
"$INFEROMETER" cachegrind stream --probe read --size 64KiB "${small[@]}" --format json >kept.json
shape=(--batch 1 --q-heads 4 --kv-heads 1 --head-dim 64)
"$INFEROMETER" cachegrind decode --kv-len 1024 "${shape[@]}" --formats f16,int4 "${small[@]}" --steps 2 --format json \
    >decode.json
"$INFEROMETER" cachegrind decode --kv-len 512,1024 "${shape[@]}" --formats f16 "${small[@]}" >cells.txt
python3 - <<'PY'
import json
def rows(name):
    listing = json.load(open(name))
    assert all(row["kind"] == "simulated" and row["reason"] is None for row in listing["rows"]), listing
    assert any("Simulated by cachegrind" in note and "256 KiB, 16 ways" in note for note in listing["notes"]), listing
    return {row["arm"]: row for row in listing["rows"]}
lines = (1 << 20) // 64
for arm, row in rows("read.json").items():
    more = row["last_level_read_misses"] - lines # the buffer's lines, and what a step keeps beside it
    assert 0 <= more <= 64, (arm, row)
    assert row["first_level_misses"] >= lines and row["ledger_bytes"] == 1 << 20, (arm, row)
for arm, row in rows("kept.json").items(): # it fits into the last level: nothing of it is missed again
    assert row["last_level_misses"] <= 64 and row["first_level_misses"] >= (64 << 10) // 64, (arm, row)
decode = rows("decode.json")
assert list(decode) == ["f16", "int4"]
for arm, row in decode.items():
    assert 0.99 <= row["missed_over_ledger"] <= 1.25, (arm, row)
saved = decode["f16"]["bytes_missed"] / decode["int4"]["bytes_missed"]
assert 2 < saved < 4, saved
PY
has 'decode kv_len=1024' <cells.txt || fail "two cells are not told apart"
[ ! -e runs ] || fail "there is a run folder"

# What cannot be simulated says why; what is wrong is one error.
"$INFEROMETER" cachegrind decode --threads 2 --kv-len 512 "${shape[@]}" | unwrapped | has 'one thread at a time' ||
    fail "two threads are simulated"
printf 'device: {threads: 2}\n' >two.yaml
for given in "--override device.threads=2" "-c two.yaml"; do # whichever way they are asked for
    # shellcheck disable=SC2086
    "$INFEROMETER" cachegrind decode $given --kv-len 512 "${shape[@]}" | unwrapped | has 'one thread at a time' ||
        fail "$given: another number of threads is simulated"
done
expect() # STATUS WORDS command...
{
    local status=$1 words=$2 got=0
    shift 2
    "$INFEROMETER" "$@" >out.txt 2>error.txt </dev/null || got=$?
    [ "$got" = "$status" ] && has "$words" <error.txt && [ "$(grep -c '^error: ' error.txt)" = 1 ] ||
        fail "$*: status $got, $(cat error.txt)"
}
expect 2 'needs a workload' cachegrind --steps 2
expect 2 'no workload that is built in' cachegrind nothing
expect 2 'power of two' cachegrind stream --last-level 3MiB,16,64
expect 2 'from 1 to 1000' cachegrind stream --steps 0
expect 2 'needs a value' cachegrind stream --steps
expect 2 'makes no run folder' cachegrind stream --out there
expect 2 'not by hand' steps
expect 2 'holds no plan' steps 0 0 1
# Nothing simulated enters a latency or a gate: no gate knows a number of cachegrind, and what valgrind runs times
# nothing.
while IFS= read -r field; do
    printf 'gates:\n  - {metric: %s, op: at_most, threshold: 1}\n' "$field" >gate.yaml
    expect 2 'which does not exist' run -c gate.yaml --workload null --cap 200ms --out gated
done < <(python3 -c 'import json
print(*[k for k, v in json.load(open("read.json"))["rows"][0].items() if isinstance(v, (int, float))], sep="\n")')
printf 'gates:\n  - {metric: step_ns, op: at_most, threshold: 1000000000}\n' >gate.yaml
status=0
valgrind --tool=cachegrind --cachegrind-out-file=out.cg "$INFEROMETER" null -c gate.yaml --cap 200ms \
    --out simulated >out.txt 2>error.txt || status=$?
[ "$status" = 3 ] && has 'runs under valgrind: its times would be those of a simulated processor' <error.txt ||
    fail "a run under valgrind: status $status, $(cat error.txt)"
[ ! -e simulated/verdict.json ] && [ ! -e simulated/derived.json ] || fail "simulated times were judged"
[ ! -e gated ] || fail "a gate of cachegrind was measured"
if (PATH=$PWD/nothing "$INFEROMETER" cachegrind stream --probe read --size 1MiB >out.txt 2>error.txt); then
    fail "no valgrind is no error"
fi
has 'valgrind is not installed' <error.txt || fail "$(cat error.txt)"
# A file that is no program is that, and not a status of the arm.
mkdir broken
printf '\177ELF' >broken/valgrind
chmod +x broken/valgrind
(PATH=$PWD/broken:$PATH expect 4 'Exec format error' cachegrind stream --probe read --size 1MiB)
# Every word of the table is explained.
sed -n 1p cells.txt | sed 's/  \+/\n/g' | while IFS= read -r word; do
    [ -z "$word" ] || "$INFEROMETER" explain "$word" >/dev/null || fail "$word is not explained"
done
"$INFEROMETER" explain simulated >/dev/null || fail "simulated is not explained"
expect 2 'no workload that is built in' cachegrind exec
expect 2 'no workload that is built in' cachegrind command
missed=$(python3 -c 'import json; print(json.load(open("read.json"))["rows"][0]["last_level_misses"])')
echo "a read of 1 MiB misses $missed lines, 16384 of them the buffer's"
