#!/usr/bin/env bash
# tools/check.sh [STAGE...]: everything that CI runs. Ends with one line "N passed, N failed, N skipped"; the status is
# 0 only when nothing failed. A build counts as one test.
#
# Stages: gcc clang scalar (builds with -Werror, all three are needed by e2e/same_numbers), asan (address and undefined
# behaviour), tsan (threads), newcomer (the README's commands as root on a fresh Debian 12, `make run` in short:
# tools/newcomer.sh); together they are `fast`, which is what runs without an argument. `slow` is what runs under an
# emulator: aarch64 (cross-compiled), processors (the gcc build on x86-64 without newer instruction sets), and
# newcomers: every kind of them, each a test, with `make check` in full. A stage whose packages, or a newcomer whose
# fresh Debian, cannot be had is a skip, named and counted. Logs and JUnit files lie in build-check/.
#
# Where the CUDA toolkit is (nvcc), every native build must hold the device cuda, and its tests run, but for `scalar`:
# that one is always without, as most machines are. Where there is no toolkit, the tests of the device are skips, named
# and counted. IFM_NEED_CUDA=1 makes the toolkit's absence a failure, named and counted, beside which all else is built
# and tested: a CI that has it must not lose it.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 5
logs=build-check
[ $# -gt 0 ] || set -- fast
stages=()
for word in "$@"; do
    case "$word" in
    fast) stages+=(gcc clang scalar asan tsan newcomer) ;;
    slow) stages+=(aarch64 processors newcomers) ;;
    gcc | clang | scalar | asan | tsan | newcomer | aarch64 | processors | newcomers) stages+=("$word") ;;
    *) echo "error: no stage is called $word; known are fast, slow and the stages of both (see tools/check.sh)" >&2
       exit 2 ;;
    esac
done
passed=0 failed=0 skipped=0
rm -rf "$logs" && mkdir -p "$logs" || exit 5

cuda=AUTO no_cuda=
if command -v nvcc >/dev/null || [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ]; then
    cuda=ON
elif [ "${IFM_NEED_CUDA:-0}" = 1 ]; then
    cuda=OFF # no build may find one elsewhere and hide what is said here
    no_cuda="no CUDA toolkit: nvcc is neither in PATH nor in ${CUDA_HOME:-/usr/local/cuda}/bin, and IFM_NEED_CUDA is 1"
    no_cuda="$no_cuda: install the toolkit (13.0 or newer), set CUDA_HOME to where it lies, or set IFM_NEED_CUDA=0"
fi

say() { printf '\n== %s\n' "$*"; }

# build PRESET: configure and build; count it.
build()
{
    say "build $1"
    local start=$SECONDS
    local with=(-DIFM_CUDA="$cuda")
    case "$1" in
    aarch64) with=() ;; # device code is built for x86-64 hosts only
    scalar) with=(-DIFM_CUDA=OFF) ;;
    esac
    if cmake --preset "$1" "${with[@]}" >"$logs/$1-configure.log" 2>&1 &&
        cmake --build "build-$1" >"$logs/$1-build.log" 2>&1; then
        passed=$((passed + 1))
        echo "ok, $((SECONDS - start)) s"
    else
        failed=$((failed + 1))
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
    skipped=$((skipped + 1))
    echo "skipped: $1: the whole stage: $(tail -1 <<<"$reason")" | tee -a "$logs/named.txt"
    return 1
}

# suite STAGE PRESET [ctest options]: run tests of that build; count them.
suite()
{
    local stage=$1 preset=$2
    shift 2
    say "test $stage"
    local sums
    "${wrap[@]}" ctest --test-dir "build-$preset" --output-junit "$PWD/$logs/$stage.xml" --output-on-failure \
        --no-tests=error --timeout 900 "$@" 2>&1 | tee "$logs/$stage-test.log" | grep -vE '^ +Start +[0-9]+:'
    if [ ! -s "$logs/$stage.xml" ] || ! sums=$(python3 tools/tally.py "$logs/$stage.xml" 2>>"$logs/named.txt"); then
        failed=$((failed + 1))
        echo "failed: $stage: ctest ran no test" >>"$logs/named.txt"
        return
    fi
    # shellcheck disable=SC2086
    set -- $sums
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
    if [ $(($1 + $2 + $3)) = 0 ]; then
        failed=$((failed + 1))
        echo "failed: $stage: ctest ran no test" >>"$logs/named.txt"
    fi
}

has() { case "$1" in *" $2 "*) ;; *) return 1 ;; esac }
built=" " ready=" "
: >"$logs/named.txt"
if [ -n "$no_cuda" ]; then
    failed=$((failed + 1))
    echo "failed: cuda: $no_cuda" | tee -a "$logs/named.txt" >&2
fi
for stage in "${stages[@]}"; do
    prepare "$stage" || continue
    case "$stage" in newcomer*) ready="$ready$stage " && continue ;; esac # builds in roots of its own
    preset=${stage/processors/gcc} # the same programs
    has "$built" "$preset" || { build "$preset" && built="$built$preset "; }
    has "$built" "$preset" && ready="$ready$stage "
done
is_built() { has "$ready" "$1"; }

# e2e/same_numbers compares the three builds.
export IFM_BUILD_GCC=$PWD/build-gcc IFM_BUILD_CLANG=$PWD/build-clang IFM_BUILD_SCALAR=$PWD/build-scalar
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
wrap=()
# The simulations of label `slow` run in the gcc build: all builds compute the same numbers (e2e/same_numbers).
is_built clang && suite clang clang -j "$(nproc)" -L 'unit|rules|fuzz' -LE slow
is_built scalar && suite scalar scalar -j "$(nproc)" -L 'unit|rules|golden|e2e' -LE 'slow|once'
is_built asan && suite asan asan -j "$(nproc)" -L 'unit|rules|fuzz|golden'
if is_built tsan; then
    # The thread sanitizer needs a memory layout without large random offsets.
    setarch -R true 2>/dev/null && wrap=(setarch -R)
    suite tsan tsan -L 'unit' -R 'pool|device|workload|run|journal|decode|kv_cache|gemm|openblas|session'
    wrap=()
fi
is_built aarch64 && suite aarch64 aarch64 -j "$(nproc)" -L 'unit|rules|emulate' -E 'emulate/processors'
is_built processors && suite processors gcc -L emulate -E 'emulate/command'

# newcomers STAGE WHO...: each is a test.
newcomers()
{
    local stage=$1 who log
    shift
    say "test $stage"
    for who in "$@"; do
        log=$logs/$stage-$who.log
        tools/newcomer.sh "$who" >"$log" 2>&1
        case $? in
        0) passed=$((passed + 1)) && echo "ok, $who" ;;
        77) skipped=$((skipped + 1)) && echo "skipped: $stage: $who: $(tail -1 "$log")" | tee -a "$logs/named.txt" ;;
        *) failed=$((failed + 1)) && echo "failed: $stage: $who: see $log: $(tail -1 "$log")" |
            tee -a "$logs/named.txt" ;;
        esac
    done
}
# A short run shows that it runs. What `make check` does there, the slow tier shows.
short="--cap 1s --override decode.kv_len=1024 --override attention.matrix=b32h8s128"
is_built newcomer && CHECK='' RUN_FLAGS=$short newcomers newcomer root
is_built newcomers && newcomers newcomers root user plain package
# Last, and its scripts (RUN_SERIAL) with nothing else running: they time things.
is_built gcc && suite gcc gcc -j "$(nproc)" -LE emulate

echo
cat "$logs/named.txt"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
