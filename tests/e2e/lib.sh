# shellcheck shell=bash
# Shared by the end-to-end scripts; sourced, not run.
#
# A script is started with INFEROMETER (the command under test), IFM_SOURCE (the source tree) and IFM_ALLOC_GUARD set,
# and works in a scratch folder that is removed afterwards. Its exit status: 0 passed, 77 skipped with the reason as the
# last line on standard output, anything else failed. The last line that it prints is what `make check` shows.
set -euo pipefail
: "${INFEROMETER:?the command under test, for example build/inferometer}"
INFEROMETER=$(readlink -f "$INFEROMETER")
IFM_SOURCE=${IFM_SOURCE:-$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../..")}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
# Under pipefail `command | grep -q` fails now and then: grep leaves at its first match, and the command is killed by
# its next write. So it is `| grep WORDS >/dev/null`, which reads to the end, or a file in between.

skip()
{
    echo "$*"
    exit 77
}

fail()
{
    echo "$*"
    exit 1
}

# The tests of the device cuda need its kernels and the driver of host memory (tests/fake_cuda).
need_cuda()
{
    [ -n "${IFM_FAKE_CUDA:-}" ] || skip "this build is without CUDA: no nvcc (13.0 or newer), or IFM_CUDA=OFF"
}

need() { command -v "$1" >/dev/null || skip "needs $1, of the Debian package $2"; }

# has ...: what grep -q says of standard input, which it reads to the end. grep -q leaves at the first match, and with
# pipefail the command before it, which then writes into a closed pipe, makes the whole pipe fail: at times.
has() { grep "$@" >/dev/null; }

# The numbers of slots in all records below a run folder: rows of the slots files without their headers.
slots_of()
{
    cat "$1"/samples/*-slots.csv | grep -c '^[0-9]'
}
