#!/usr/bin/env bash
# No thread makes a system call inside a timed slot. The os instrument reads getrusage right before and right after the
# timed part, so that under strace every slot is a pair of getrusage calls of the driving thread, and nothing may stand
# between the two: neither a call of that thread nor one of a worker. That the pairs are the slots, and not the gaps, is
# shown by their durations: together they last at least as long as the recorded slots. OpenBLAS takes a lock of its own
# in each product, so that workers of its arm may meet in a futex, and may take a buffer; nothing else is let pass.
source "$(dirname "$0")/lib.sh"
need strace strace
allowed=none own=
threads=() # the empty step has one; the others two, or as many as there are
# The empty step, then steps that give every worker its part: the join of the workers is what might call the kernel.
check() # NAME ARGUMENT...
{
    local name=$1
    shift
    if ! strace -f -ttt -qq -o trace "$INFEROMETER" "$@" "${threads[@]}" --ceilings none --repeats 200 \
        --out "$name" >/dev/null 2>errors; then
        ! grep -qi ptrace errors || skip "ptrace is not permitted here: $(tail -1 errors)"
        fail "$name: $(cat errors)"
    fi
    slots=$(slots_of "$name")
    [ "$slots" -gt 0 ] || fail "$name: the record holds no slot"
    recorded_ns=$(cat "$name"/samples/*-slots.csv | awk -F, '/^[0-9]/ { sum += $7 - $6 } END { printf "%.0f", sum }')
    look || fail "$name: a slot is not as it should be"
}

# Lines are "<tid> <time> <call>", in the order in which the kernel saw them. The first thread is that of the run, or of
# the process that waits for a run with plugins: that one sleeps, and once a second it looks whether the child lives.
look()
{
    awk -v slots="$slots" -v recorded_ns="$recorded_ns" -v allowed="$allowed" -v own="$own" '
        NR == 1 { run = $1 }
        $3 ~ /^getrusage\(/ && (!is_open || $1 == driver) {
            is_open = !is_open
            driver = $1
            if (is_open) { began = $2 } else { pairs++; bracketed_ns += ($2 - began) * 1e9 }
            next
        }
        is_open && $1 == run && run != driver && $3 ~ /^recvfrom\(/ { next }
        is_open && $1 == run && run != driver && /rt_sigtimedwait|wait4/ { next } # resumed ones too
        is_open && $3 == "<..." && $4 == "getrusage" { next } # the opening one, which another process interrupted
        is_open && ($3 ~ "^" allowed "\\(" || $3 == "<..." && $4 == allowed) { next }
        is_open && own != "" && $0 ~ own { next }
        is_open && $3 !~ /^(---|\+\+\+)/ {
            if (bad++ < 5) print "inside slot " pairs + 1 ": " $0
        }
        END {
            if (is_open) { print "a slot has no end bracket"; bad++ }
            if (pairs < slots) { print pairs " bracketed slots, but the record holds " slots; bad++ }
            if (bracketed_ns < recorded_ns) {
                print "the brackets last " bracketed_ns " ns, the slots " recorded_ns
                bad++
            }
            if (!bad) print pairs " slots bracketed, no system call in any"
            exit bad > 0
        }' trace
}

# A cycle that fills a page: with 32 sink tokens, the second one is compressed at token 416.
decode=(decode --kv-len 408 --batch 1 --q-heads 4 --kv-heads 2 --head-dim 64 --layers 2)
attention=(attention --batch 1 --q-heads 4 --kv-heads 2 --seq-len 128 --head-dim 64 --layers 2)
check null null
check processes null --isolation processes
threads=(--threads "$(($(nproc) > 1 ? 2 : 1))")
check decode "${decode[@]}"
check cycle "${decode[@]}" --inference --decode-tokens 16
check cold "${decode[@]}" --cache cold
check stream stream --size 1MiB --override stream.probe=read
check attention "${attention[@]}" --arms auto --causal --ragged 0.5
check gemm gemm --n 256 --k 256 --layers 2 --gemm-arms ours
check buffers "${decode[@]}" --isolation buffers
check plugin dot --plugin "${IFM_PLUGINS:?the folder of the plugins that the build makes}/dot.so" --n 1000
"$INFEROMETER" doctor 2>/dev/null | has "^OpenBLAS  *ok" || {
    echo "without the arms of OpenBLAS, which is not here"
    exit
}
allowed=futex
# It takes one more buffer of its own, of 128 MiB, when two of its threads first meet: no other memory.
own=' (mmap[(]NULL, 134217728, PROT_READ[|]PROT_WRITE, MAP_PRIVATE[|]MAP_ANONYMOUS,|mbind[(]0x[0-9a-f]+, 134217728,)'
check attention-openblas "${attention[@]}" --arms openblas
check gemm-openblas gemm --m 16 --n 256 --k 256 --weights f32 --layers 2 --gemm-arms openblas
