#!/usr/bin/env bash
# tools/check.sh [STAGE...]: everything that CI runs. Ends with one line "N passed, N failed, N skipped"; the status is
# 0 only when nothing failed. A build counts as one test.
#
# Stages: gcc clang asan (builds with -Werror, all three are needed by e2e/same_numbers; asan: address and undefined
# behaviour), tsan (threads), newcomer (the README's commands as root on a fresh Debian 12, `make run` in short:
# tools/newcomer.sh); together they are `fast`, which is what runs without an argument. `slow` is what runs under an
# emulator: aarch64 (cross-compiled), processors (the gcc build on x86-64 without newer instruction sets), and
# newcomers: every kind of them, each a test, with `make check` in full. A stage whose packages, or a newcomer whose
# fresh Debian, cannot be had is a skip, named and counted. Logs and JUnit files lie in build-check/.
#
# Where the CUDA toolkit is (nvcc), every native build must hold fat binaries of the kernels of a GPU, but for `clang`:
# that one never does, as on most machines, and compiles them at run time. IFM_NEED_CUDA=1 makes the toolkit's absence a
# failure, named and counted, beside which all else is built and tested: a CI that has it must not lose it.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 5
logs=build-check
[ $# -gt 0 ] || set -- fast
stages=()
for word in "$@"; do
    case "$word" in
    fast) stages+=(gcc clang asan tsan newcomer) ;;
    slow) stages+=(aarch64 processors newcomers) ;;
    gcc | clang | asan | tsan | newcomer | aarch64 | processors | newcomers) stages+=("$word") ;;
    *) echo "error: no stage is called $word; known are fast, slow and the stages of both (see tools/check.sh)" >&2
       exit 2 ;;
    esac
done
rm -rf "$logs" && mkdir -p "$logs" && : >"$logs/counts.txt" || exit 5

# A python3 that is a script which looks for one (pyenv's) takes six times as long to begin, and tests begin a thousand.
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
[ -z "$python" ] || [ "$python" = "$(command -v python3)" ] || export PATH="${python%/*}:$PATH"

cuda=AUTO no_cuda=
if command -v nvcc >/dev/null || [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ]; then
    cuda=ON
elif [ "${IFM_NEED_CUDA:-0}" = 1 ]; then
    cuda=OFF # no build may find one elsewhere and hide what is said here
    no_cuda="no CUDA toolkit: nvcc is neither in PATH nor in ${CUDA_HOME:-/usr/local/cuda}/bin, and IFM_NEED_CUDA is 1"
    no_cuda="$no_cuda: install the toolkit (13.0 or newer), set CUDA_HOME to where it lies, or set IFM_NEED_CUDA=0"
fi

say() { printf '\n== %s\n' "$*"; }
# count PASSED FAILED SKIPPED: of one stage; stages run side by side, so each count is a line of a file.
count() { echo "$*" >>"$logs/counts.txt"; }

# What a build leaves out because another one has it. Fuzz targets: asan has them. Emulated kernels of a GPU: gcc.
# clang: what computes, since its optimizer is what is tested. tsan: what has threads.
declare -A tests=(
    [gcc]='(test|rule|emulated)_'
    [clang]='test_(decode|device|dispatch|gemm|half|kernel|kv|openblas|stats|stop|transformer|workload)'
    [tsan]='test_(decode_cycle_cuda|device|kv_cache|model_data|openblas|pool|run|sampler|session)'
)

# build PRESET: configure and build, past the first error, so that all are seen at once; count it.
build()
{
    local start=$SECONDS
    local device=$cuda
    case "$1" in clang | aarch64) device=OFF ;; esac # aarch64: device code is built for x86-64 hosts only
    local targets=(all) fatbins=
    [ "$1" = gcc ] && targets+=(benches) # nobody runs them here, and they must compile
    # nvcc takes as long as all else of a build: the others take what gcc's has made of the same sources
    [ "$1" != gcc ] && has "$built" gcc && fatbins=$PWD/build-gcc/src/kernel/cuda
    say "build $1"
    if cmake --preset "$1" -DIFM_CUDA=$device -DIFM_FATBINS="$fatbins" -DIFM_TESTS="${tests[$1]-.*}" \
        >"$logs/$1-configure.log" 2>&1 &&
        cmake --build "build-$1" --target "${targets[@]}" -- -k 0 >"$logs/$1-build.log" 2>&1; then
        count 1 0 0
        echo "ok, $((SECONDS - start)) s"
    else
        count 0 1 0
        grep -hE 'error|warning|CMake Error|FAILED' "$logs/$1-configure.log" "$logs/$1-build.log" 2>/dev/null | head -40
        echo "failed: $1: the build; see $logs/$1-*.log" | tee -a "$logs/named.txt"
        return 1
    fi
}

# prepare STAGE: what a stage needs beyond the packages of [test]; where that cannot be had, the stage is skipped.
prepare()
{
    local reason
    case "$1" in
    aarch64) reason=$({ tools/setup.sh slow && tools/sysroot.sh build-aarch64/sysroot; } 2>&1) && return ;;
    processors) reason=$(tools/setup.sh slow 2>&1) && return ;;
    *) return ;;
    esac
    count 0 0 1
    echo "skipped: $1: the whole stage: $(tail -1 <<<"$reason")" | tee -a "$logs/named.txt"
    return 1
}

# suite STAGE PRESET [ctest options]: run tests of that build, as many at a time as there are processors; count them.
suite()
{
    local stage=$1 preset=$2 start=$SECONDS sums log=$logs/$1-test.log
    shift 2
    # What runs in the background would ignore SIGINT, and programs that it starts could not be interrupted.
    env --default-signal=INT "${wrap[@]}" ctest --test-dir "build-$preset" --output-junit "$PWD/$logs/$stage.xml" \
        --output-on-failure --no-tests=error -j "$jobs" "$@" >"$log" 2>&1
    if [ -s "$logs/$stage.xml" ] && sums=$(python3 tools/tally.py "$logs/$stage.xml" 2>>"$logs/named.txt") &&
        [ "$sums" != "0 0 0" ]; then
        # shellcheck disable=SC2086
        count $sums
    else
        count 0 1 0
        echo "failed: $stage: ctest ran no test" >>"$logs/named.txt"
    fi
    { say "test $stage" && grep -vE '^ +Start +[0-9]+:' "$log" && echo "$((SECONDS - start)) s"; } >"$log.said"
    cat "$log.said" # in one piece: another stage may speak too
}

# newcomers STAGE WHO...: each is a test.
newcomers()
{
    local stage=$1 who log start
    shift
    for who in "$@"; do
        log=$logs/$stage-$who.log start=$SECONDS
        tools/newcomer.sh "$who" >"$log" 2>&1
        case $? in
        0) count 1 0 0 && say "test $stage: ok, $who, $((SECONDS - start)) s" ;;
        77) count 0 0 1 && echo "skipped: $stage: $who: $(tail -1 "$log")" | tee -a "$logs/named.txt" ;;
        *) count 0 1 0 && echo "failed: $stage: $who: see $log: $(tail -1 "$log")" | tee -a "$logs/named.txt" ;;
        esac
    done
}

has() { case "$1" in *" $2 "*) ;; *) return 1 ;; esac }
built=" " ready=" "
# e2e/same_numbers compares the three builds.
export IFM_BUILD_GCC=$PWD/build-gcc IFM_BUILD_CLANG=$PWD/build-clang IFM_BUILD_ASAN=$PWD/build-asan
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1

# tests_of STAGE: once its build is there.
tests_of()
{
    local wrap=() jobs
    jobs=$(nproc)
    has "$ready" "$1" || return 0
    case "$1" in
    # The simulations of label `slow` run in the gcc build: all builds compute the same numbers (e2e/same_numbers).
    gcc) jobs=$((jobs + 1)) && suite gcc gcc -LE 'emulate|timed|fuzz' ;;
    timed) suite timed gcc -L timed ;;
    clang) suite clang clang -L 'unit|golden|worlds' -LE 'slow|timed' ;;
    asan) suite asan asan -L 'unit|rules|fuzz|golden' ;;
    tsan)
        # The thread sanitizer needs a memory layout without large random offsets.
        setarch -R true 2>/dev/null && wrap=(setarch -R)
        suite tsan tsan -L unit
        ;;
    aarch64) suite aarch64 aarch64 -L 'unit|rules|emulate' -E 'emulate/processors' ;;
    processors) suite processors gcc -L emulate -E 'emulate/command' ;;
    # A short run shows that it runs. What `make check` does there, the slow tier shows.
    newcomer) CHECK='' RUN_FLAGS="--cap 1s --override decode.kv_len=1024" \
        newcomers newcomer root ;;
    newcomers) newcomers newcomers root user plain package ;;
    esac
}
lane() { for stage in "$@"; do tests_of "$stage"; done; }

: >"$logs/named.txt"
if [ -n "$no_cuda" ]; then
    count 0 1 0
    echo "failed: cuda: $no_cuda" | tee -a "$logs/named.txt" >&2
fi
if has " ${stages[*]} " newcomer; then # beside the builds
    ready="${ready}newcomer "
    lane newcomer &
fi
for stage in "${stages[@]}"; do
    prepare "$stage" || continue
    case "$stage" in newcomers) ready="$ready$stage " ;& newcomer) continue ;; esac
    preset=${stage/processors/gcc} # the same programs
    has "$built" "$preset" || { build "$preset" && built="$built$preset "; }
    has "$built" "$preset" && ready="$ready$stage "
done

# Side by side: what waits leaves the processors to the others. Then alone: what holds a time against another.
has "$ready" gcc && ready="${ready}timed "
lane gcc &
lane clang asan tsan &
wait
lane timed aarch64 processors newcomers

echo
cat "$logs/named.txt"
sums=$(awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }' "$logs/counts.txt")
read -r passed failed skipped <<<"$sums"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
