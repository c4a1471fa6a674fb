#!/usr/bin/env bash
# `inferometer ncu` over a driver of host memory and an ncu that plays recorded tables: what it is told, what becomes of
# its tables, and every way in which there is none.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3 python3

captures=$IFM_SOURCE/tests/fake_ncu/tables
export LD_LIBRARY_PATH=$IFM_FAKE_CUDA IFM_NCU=$IFM_SOURCE/tests/fake_ncu/ncu FAKE_NCU_WORDS=$PWD/words
ncu() { FAKE_NCU=$1 "$INFEROMETER" ncu "${@:2}"; }

# ---- a program ----
ncu "$captures/nvtx.csv" --nvtx step/ --kernel 'add|fill' --launch-skip 1 --launch-count 3 --replay application \
    --metrics lts__t_sector_hit_rate.pct --out ncu.json --csv ncu.csv --format json -- echo "of the program" >table \
    2>said || fail "a program: $(cat said)"
has 'of the program' <said || fail "the program's output is lost"
has 'of the program' <table && fail "the program's output is in the table"
for pair in "--nvtx-include step/" "--kernel-name regex:add|fill" "--launch-skip 1" "--launch-count 3" \
    "--replay-mode application" "--cache-control none" "--clock-control none" "--print-units base" "--page raw"; do
    grep -qF -- "$pair" <<<"$(paste -sd ' ' words)" || fail "ncu was not told $pair: $(cat words)"
done
metrics=$(grep -A1 -x -- --metrics words | tail -n 1)
grep -qF 'dram__bytes_read.sum' <<<"$metrics" && grep -qF 'lts__t_sector_hit_rate.pct' <<<"$metrics" || fail "$metrics"
grep -qF 'fp16' <<<"$metrics" && fail "more than one set: $metrics"
[ "$(tr , '\n' <<<"$metrics" | sort | uniq -d)" = "" ] || fail "twice: $metrics"
has '==PROF' <ncu.csv && fail "a path of this machine is in ncu.csv"
python3 - "$captures/nvtx.csv" <<'PY'
import csv, json, sys
rows = list(csv.reader(line for line in open(sys.argv[1]) if not line.startswith("==")))
head, launches = rows[0], rows[2:]
def column(name):
    return [float(row[head.index(name)].replace(",", "")) for row in launches]
report = json.load(open("ncu.json"))
one = report["summary"]["per_mode"][0]
assert one["mode"] == "all kernels" and one["launches"] == 3, one
for key in ("dram__bytes_read.sum", "dram__bytes_write.sum", "lts__t_sectors_op_write.sum", "sm__warps_launched.sum",
            "gpu__time_duration.sum"):
    assert one["ncu_metrics"][key] == sum(column(key)), key
hits, all = column("lts__t_requests_srcunit_tex_lookup_hit.sum"), column("lts__t_requests_srcunit_tex.sum")
assert abs(report["l2_hit_pct"] - 100 * sum(hits) / sum(all)) < 1e-9
read = column("dram__bytes_read.sum")
mean = sum(read) / 3
assert abs(report["dram_bytes_read"] - mean) < 1e-6 and report["_n"]["dram_bytes_read"] == 3
assert abs(report["_sd"]["dram_bytes_read"] - (sum((x - mean) ** 2 for x in read) / 2) ** 0.5) < 1e-6
khz, bits = (column("device__attribute_" + fact)[0] for fact in ("memory_clock_rate", "global_memory_bus_width"))
peak = 2e-6 * khz * bits / 8
busy = 100 * (sum(read) + sum(column("dram__bytes_write.sum"))) / sum(column("gpu__time_duration.sum")) / peak
assert 79 < busy < 81 and abs(report["dram_throughput_pct"] - busy) < 1e-9, (busy, report["dram_throughput_pct"])
assert one["ncu_metrics"]["dram__throughput.avg.pct_of_peak"] == report["dram_throughput_pct"], one
assert report["tensor_flops"] is None and "lacks it" in report["_absent"]["tensor_flops"]["reason"]
assert report["passes"] == 3, report["passes"]
table = json.load(open("table"))
assert table["rows"][0]["kernel"].startswith("void add_to<float, 3>(T1 *, const T1 *, long)"), table
assert any("up to 3 times" in note for note in table["notes"]), table
PY

# ---- the other sets, and a report ----
ncu "$captures/nvtx.csv" --set all -- true >table 2>said || fail "all sets: $(cat said)"
grep -qF src_tf32 words && grep -qF src_fp16 words || fail "--set all lacks the tensor cores"
: >run.ncu-rep
ncu "$captures/details.csv" --import run.ncu-rep --out details.json >table || fail "a report: $(cat said)"
grep -qxF -- --import words || fail "ncu was not asked for the report"
python3 - <<'PY'
import json
report = json.load(open("details.json")) # "134.23" Mbyte, "68.96" Mbyte, "75.49" us
assert report["dram_bytes_read"] == 134230000 and report["dram_bytes_written"] == 68960000, report
assert report["time_ns"] == 75490 and report["l2_hit_pct"] is None, report
PY
# Kernels of known traffic on an H200: 4 GiB read and written, and decode attention over 128 MiB.
for name in stream-read stream-write decode; do
    "$INFEROMETER" ncu --import "$captures/$name.csv" --out $name.json >$name.txt || fail "$name: $(cat $name.txt)"
done
python3 - <<'PY'
import json
def modes(name):
    return {mode["mode"]: mode for mode in json.load(open(name))["summary"]["per_mode"]}
read, written, decode = modes("stream-read.json"), modes("stream-write.json"), modes("decode.json")
whole = 4 << 30
assert abs(read["ifm_read_bulk"]["dram_bytes_read"] / whole - 1) < 1e-3 and read["ifm_read_bulk"]["launches"] == 2
assert abs(written["ifm_write_store"]["dram_bytes_written"] / whole - 1) < 1e-2
assert written["ifm_write_store"]["l2_sector_hit_pct"] is None # one of its launches says 100.02 %
assert written["ifm_write_store"]["_absent"]["l2_sector_hit_pct"]["state"] == "refused"
assert len(decode) == 2 and decode["ifm_decode_cluster_128_2"]["launches"] == 6
assert abs(decode["ifm_decode_cluster_128_2"]["dram_bytes_read"] / (128 << 20) - 1) < 2e-2
assert read["ifm_read_bulk"]["_sd"]["dram_bytes_read"] > 0 and "dram_bytes_read" not in read["ifm_read_linear"]["_sd"]
PY
# What cannot be is refused: more bytes than the bus carries in the time, and the sector rate of a kernel that touches
# nothing, of two passes.
sed 's/"6,016"/"3,008"/g' "$captures/stream-read.csv" >narrow.csv
"$INFEROMETER" ncu --import narrow.csv >table
unwrapped <table | has 'memory busy: 193.2 % of what the memory.s bus can carry, which cannot be' ||
    fail "a bus: $(cat table)"
"$INFEROMETER" ncu --import "$captures/null.csv" >table
for words in 'refused' '101.68 %, which cannot be' 'too few for a share'; do
    has "$words" <table || fail "not '$words': $(cat table)"
done

# ---- profile: what limits a program's kernels ----
profile() { FAKE_NCU=$1 "$INFEROMETER" profile "${@:2}"; }
profile "$captures/limits.csv" --kernel 'a|b' --launch-count 2 --csv again.csv -- echo "of the program" >table 2>said ||
    fail "profile of a program: $(cat said)"
has 'of the program' <said || fail "the program's output is lost under profile"
metrics=$(grep -A1 -x -- --metrics words | tail -n 1)
for name in sm__warps_active sm__maximum_warps stalled_long_scoreboard sm__pipe_tensor_cycles bank_conflicts \
    gpu__dram_throughput lts__throughput; do
    grep -qF "$name" <<<"$metrics" || fail "ncu was not asked for $name: $metrics"
done
for words in 'copies.* memory  *85.2 %' 'conflicts.* bank conflicts  *96.7 %' 'chain.* waits between dependent' \
    'pad or swizzle' '3 more kernels took 9 %' 'advice is given from 30 % on'; do
    grep -q -- "$words" <table || fail "profile does not say '$words': $(cat table)"
done
"$INFEROMETER" profile --import again.csv --format json >again.json || fail "the table that profile wrote"
python3 - <<'PY'
import json
rows = json.load(open("again.json"))["rows"]
assert [row["rank"] for row in rows] == [1, 2, 3] * 3, rows
assert all(row["share"] >= 5 and bool(row["do"]) == (row["share"] >= 30) for row in rows), rows
assert any(not row["do"] for row in rows), rows
PY
# A kernel without a time is no reason to put it before the longest.
sed 's/"751,072"\|"746,112"/"n\/a"/g' "$captures/limits.csv" >unknown.csv
"$INFEROMETER" profile --import unknown.csv --format json >unknown.json || fail "a kernel without a time"
python3 - <<'PY'
import json
kernels = [row["kernel"].split("(")[0] for row in json.load(open("unknown.json"))["rows"] if row["rank"] == 1]
assert kernels == ["conflicts", "chain", "few"], kernels
PY
"$INFEROMETER" profile --import "$captures/decode-limits.csv" --all >table || fail "all limits"
has 'ifm_stamp' <table && fail "our own clock is a kernel of the program"
[ "$(grep -c '^ifm_decode' table)" = 10 ] || fail "not all limits: $(cat table)"

# ---- where there is none ----
expect() # STATUS WORDS FAKE ARGUMENTS...
{
    local status=$1 words=$2 got=0
    ncu "${@:3}" >out.txt 2>error.txt </dev/null || got=$?
    [ "$got" = "$status" ] && has "$words" <error.txt && [ "$(grep -c '^error: ' error.txt)" = 1 ] ||
        fail "${*:3}: status $got, $(cat error.txt)"
}
# The remedy is that of the driver: CAP_PERFMON is enough since 565, which came with CUDA 12.7.
expect 4 'administrators alone' denied -- true
has 'with CAP_PERFMON;' <error.txt && has 'cap-add=SYS_ADMIN' <error.txt || fail "no remedy: $(cat error.txt)"
(FAKE_CUDA='version=12060' expect 4 'with CAP_SYS_ADMIN;' denied -- true)
expect 3 'launched add_to, fill' none --kernel x -- true
expect 3 'Failed to profile' error -- true
expect 3 'error code (7)' "$captures/nvtx.csv" -- bash -c 'exit 7'
expect 3 'ended by signal 9' killed -- true
expect 3 'is no report' error --import run.ncu-rep
expect 2 'no program after --' x
expect 2 'give one of them' x --import run.ncu-rep -- true
expect 2 'no set of counters called "memori"' x --set memori -- true
expect 2 'no replay mode' x --replay twice -- true
expect 2 'no list of metrics' x --metrics 'a b' -- true
expect 2 'whole number' x --launch-count 0 -- true
# A report holds what was counted; what it cannot follow is not taken in silence.
for choice in '--kernel x' '--nvtx step/' '--launch-skip 1' '--launch-count 1' '--replay kernel' '--set all' \
    '--metrics x'; do
    # shellcheck disable=SC2086 # a flag and its value
    expect 2 "error: ${choice% *}: it says what to count" x --import "$captures/nvtx.csv" $choice
done
expect 3 'no table of ncu' x --import words
ncu() { FAKE_NCU=$1 "$INFEROMETER" profile "${@:2}"; }
expect 4 'administrators alone' denied -- true
expect 2 'give one of them' x --import run.ncu-rep -- true
expect 2 'needs a run folder, or a program' x
expect 2 'error: --kernel: it says what to count' x --import "$captures/limits.csv" --kernel x
expect 3 'no metric that says what limits' x --import "$captures/null.csv"
got=0
"$INFEROMETER" profile "$captures/limits.csv" >out.txt 2>error.txt || got=$?
[ "$got" = 2 ] && has -- '--import' <error.txt || fail "a report for a folder: status $got, $(cat error.txt)"
"$INFEROMETER" null --device fake --repeats 20 --quiet --out run >out.txt 2>&1 || fail "a run: $(cat out.txt)"
for choice in '--kernel x' --all '--csv x'; do
    # shellcheck disable=SC2086 # a flag and its value
    expect 2 "error: ${choice% *}: " x run $choice
done
ncu() { FAKE_NCU=$1 "$INFEROMETER" ncu "${@:2}"; }
(IFM_NCU=$PWD/nothing expect 4 'no program' x -- true)
if ! command -v ncu >/dev/null && [ ! -e /usr/local/cuda/bin/ncu ]; then
    (unset IFM_NCU && expect 4 'not installed' x -- /bin/true)
fi
(LD_LIBRARY_PATH= expect 4 'driver' x -- true)
# A wrong word is told before a missing GPU; so is a set that profile alone asks for.
(LD_LIBRARY_PATH= expect 2 'no set of counters called "foo"' x --set foo -- true)
(LD_LIBRARY_PATH= expect 2 'no set of counters called "waits_1"' x --set waits_1 -- true)
(LD_LIBRARY_PATH= expect 4 'driver' x --set tensor_f16 -- true)
ls "${TMPDIR:-/tmp}"/inferometer-ncu-* 2>/dev/null && fail "temporary files are left"
exit 0
