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

need() { command -v "$1" >/dev/null || skip "needs $1, of the Debian package $2"; }

# has ...: what grep -q says of standard input, which it reads to the end. grep -q leaves at the first match, and with
# pipefail the command before it, which then writes into a closed pipe, makes the whole pipe fail: at times.
has() { grep "$@" >/dev/null; }

# unwrapped: standard input in one line, as sentences are wrapped at the width of the terminal
unwrapped() { tr -s ' \n' ' '; }

# installed LIBRARY: whether this machine itself has it: what is said of its absence can then not be seen here
installed() { LD_LIBRARY_PATH='' python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$1" 2>/dev/null; }

# cut_short SIGNAL FOLDER SLOTS[:FILE] command...: sends the signal to the command when its run in FOLDER has recorded
# so many slots. The command's status is left in $status. Where a busy machine let it end before, it is done again.
cut_short()
{
    local signal=$1 folder=$2 slots=${3%%:*} file=${3#*:} pid
    [ "$file" != "$3" ] || file='*-slots.csv'
    shift 3
    [ ! -e "$folder" ] || cp -r "$folder" "$scratch/cut-short"
    for _ in $(seq 10); do
        "$@" >/dev/null 2>"$scratch/errors" &
        pid=$!
        while kill -0 $pid 2>/dev/null && [ "$(slots_of "$folder" "$file" 2>/dev/null || true)" -lt "$slots" ]; do
            sleep 0.02
        done
        kill "-$signal" $pid 2>/dev/null || true
        status=0
        wait $pid 2>/dev/null || status=$?
        [ $status = 0 ] || break
        rm -rf "$folder"
        [ ! -e "$scratch/cut-short" ] || cp -r "$scratch/cut-short" "$folder"
    done
    rm -rf "$scratch/cut-short"
    [ $status != 0 ] || fail "each time it was complete before SIG$signal: $*"
}

# How many slots there are in all records below a run folder, or in those that match: rows of the slots files without
# their headers.
slots_of()
{
    # shellcheck disable=SC2086
    cat "$1"/samples/${2:-*-slots.csv} | grep -c '^[0-9]'
}

# disturbed FOLDER: whether its record says that other work had this machine: a block was marked, or a tenth of each CPU
# was taken when the run began or ended
disturbed()
{
    grep -Eqs '"stage":"disturbed"|"stage":"load".*"foreign_load":(0\.[1-9]|[1-9][0-9]*(\.[0-9]*)?[,}])' "$1/run.log"
}

# number FOLDER ARM METRIC: the value in derived.json; else its state and reason
number()
{
    python3 - "$@" <<'PY'
import json, sys
folder, arm, metric = sys.argv[1:]
for n in json.load(open(folder + "/derived.json"))["numbers"]:
    if n.get("arm", "") == arm and n["metric"] == metric:
        print("%.10g" % n["value"] if n["state"] == "ok" else n["state"] + ": " + n["reason"])
PY
}
