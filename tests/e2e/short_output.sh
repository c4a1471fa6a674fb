#!/bin/bash
# What a run prints is short: a study of four cells at most 30 lines, the first run at most 18, notes and warnings on
# standard error included, no line wider than 100 columns; a word of trust and the report's path end it. --verbose
# prints the rest, and report.md holds it either way.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
export LC_ALL=C.UTF-8
called=$INFEROMETER
PATH=$(dirname "$called"):$PATH INFEROMETER=$(basename "$called") # a command that is told is as long as its path
fake=(--device fake --seed 1 --repeats 60)
cat >study.yaml <<'YAML'
workload: [decode, attention]
ceilings: [read, flops]
decode: {kv_len: 8192, compress: [1, 2, 4, 8]}
attention: {matrix: [b32h8s128, b32h8s512, b32h8s2048], scale: 32, storage: f16}
YAML

# short NAME MOST: of what NAME holds.
short()
{
    local lines
    lines=$(wc -l <"$1")
    [ "$lines" -le "$2" ] || fail "$1: $lines lines, at most $2: $(cat "$1")"
    [ "$(wc -L <"$1")" -le 100 ] || fail "$1: a line is wider than 100 columns: $(cat "$1")"
    tail -1 "$1" | has '^report: .*/report.html$' || fail "$1: the last line is not the report's: $(cat "$1")"
    [ "$(grep -cE '^(solid|undecided|noisy|biased|weak baseline|do not use): ' "$1")" = 1 ] ||
        fail "$1: not one word of trust: $(cat "$1")"
    ! grep -E 'MEASURED|^Checklists|Measured ceiling|^What would help' "$1" || fail "$1 says more than it should"
}

# Without ceilings every comparison is given, and the arms' times keep their speed-ups below their ratios of bytes.
script='step_ns=1e8; noise=0.02; arm.int8.step_ns=7e7; arm.int4.step_ns=4e7; arm.int2.step_ns=3e7'
"$INFEROMETER" run -c study.yaml "${fake[@]}" --ceilings none --script "$script" --out four >four.txt 2>&1 ||
    fail "four cells: $(cat four.txt)"
short four.txt 30
[ "$(grep -c '^  b32h8s' four.txt)" = 3 ] || fail "the cells of attention are not one table: $(cat four.txt)"

# With the ceilings of a fake that computes faster than any machine: refused, with three reasons at most.
"$INFEROMETER" run -c study.yaml "${fake[@]}" --script 'step_ns=1e9; noise=0.02' --out refused >refused.txt 2>&1 ||
    fail "refused: $(cat refused.txt)"
short refused.txt 30
grep -q '^do not use: decode, ' refused.txt || fail "refused numbers pass for usable: $(cat refused.txt)"
[ "$(grep -cE '^  [¹²³⁴⁵⁶⁷⁸⁹]+ ' refused.txt)" = 3 ] || fail "not three reasons: $(cat refused.txt)"
grep -qE '^rest: .*[0-9]+ (warning|footnote)s?: inferometer report refused --verbose$' refused.txt ||
    fail "the rest is not counted"
"$called" report refused 2>&1 | unwrapped | has "s*: $called report refused --verbose " ||
    fail "what is told to type cannot be pasted"
grep -q "$called" refused/report.md refused/report.html && fail "a file names this machine's path of the command"

# What `make run` measures is the one question that README begins with.
"$INFEROMETER" run -c "$IFM_SOURCE/examples/first-run.yaml" "${fake[@]}" --ceilings none --script "$script" \
    --out first >first.txt 2>&1 || fail "first run: $(cat first.txt)"
short first.txt 18
grep -q '"name": "decode"' first/plan.json && [ "$(grep -c '"index": ' first/plan.json)" = 1 ] ||
    fail "the first run asks more than one question"

# Every comparison without an answer has a mark, and its reason below: alike ones one together, whatever else has none.
open='step_ns=1e8; noise=0.1; arm.int8.noise=0.3; arm.int4.noise=0.4; arm.int2.noise=0.5'
"$INFEROMETER" decode "${fake[@]}" --ceilings none --script "$open" --compress 1,2,4,8 \
    --out marks >marks.txt 2>&1 || fail "decode: $(cat marks.txt)"
[ "$(grep -c '^  int.* undecided ' marks.txt)" -ge 2 ] || fail "no two are undecided: $(cat marks.txt)"
! grep -E '^  int.* undecided [0-9.]+x( |$)' marks.txt || fail "undecided without a mark: $(cat marks.txt)"
[ "$(grep -cE '^  [¹²³⁴⁵⁶⁷⁸⁹]+ .*undecided' marks.txt)" -ge 1 ] || fail "no reason: $(cat marks.txt)"

# What must be known to act on an undecided comparison: the median beside the mean, and how many runs are slow. Of
# several reasons this one is there to its end.
"$INFEROMETER" exec true 'sleep 0' --name old --name new --device fake --seed 1 --repeats 200 \
    --script 'step_ns=1e8; noise=0.002; arm.new.step_ns=9.5e7; arm.new.slow=0.15; arm.new.slow_times=3' \
    --out open >open.txt 2>&1 || fail "exec: $(cat open.txt)"
short open.txt 17
grep -qE '^  arm +mean/run ±95 % +p50 ' open.txt || fail "no median beside the mean: $(cat open.txt)"
typical='faster in the median block \(-[0-9.]+ %\), slower on average'
tr -s ' \n' '  ' <open.txt |
    grep -qE "$typical \([^)]*\): [0-9]+ of 200 samples of new take over 1.5x the median: undecided" ||
    fail "not why it is undecided: $(cat open.txt)"

# beyond NAME MOST: lines of NAME beside its tables (two blanks, and a blank behind the first word or none at all) and
# empty ones.
beyond()
{
    local lines tables
    tables=$(grep -cE '^  +(kv_len|arm|probe|cache|cell) |^  .*(ms|µs|ns)( |$|¹|²|³|⁴|⁵)|^  L[123] ' "$1")
    lines=$(($(grep -c . "$1") - tables))
    [ "$lines" -le "$2" ] || fail "$1: $lines lines beside the tables, at most $2: $(cat "$1")"
    lines=$(sed -nE '/^(solid|undecided|noisy|biased|weak baseline|do not use): /,/^report: /p' "$1" | wc -l)
    [ "$lines" -le 7 ] ||
        fail "$1: the word of trust, what to do and what is left take more than six lines: $(cat "$1")"
}

# Beside their tables a sweep with ten open comparisons, and every probe of stream, print a dozen lines.
"$INFEROMETER" decode "${fake[@]}" --ceilings none --script "$open" --kv-len 1024,2048,4096,8192 \
    --out sweep >sweep.txt 2>&1 || fail "sweep: $(cat sweep.txt)"
beyond sweep.txt 12
tr -s ' \n' '  ' <sweep.txt | grep -q '; other rows too ' || fail "alike reasons do not stand as one: $(cat sweep.txt)"
"$INFEROMETER" decode "${fake[@]}" --ceilings none --script "$open" --kv-len 4096,8192 --formats f16,int8,int4 \
    --out pair >pair.txt 2>&1 || fail "pair: $(cat pair.txt)"
beyond pair.txt 12
"$INFEROMETER" stream --device fake --out stream >stream.txt 2>&1 || fail "stream: $(cat stream.txt)"
beyond stream.txt 12

# The report holds what the terminal leaves out, whatever was asked of the terminal.
cp refused/report.md before.md
"$INFEROMETER" report refused --verbose >verbose.txt 2>&1 || fail "report --verbose: $(cat verbose.txt)"
cmp before.md refused/report.md || fail "--verbose changes report.md"
for words in 'Measured ceiling' 'warning: ' '^Notes' 'Checklists'; do
    grep -q "$words" verbose.txt || fail "--verbose has no '$words'"
done
for words in 'Measured ceiling' '### Notes' '### Findings' '### Checklists'; do
    grep -q "$words" before.md || fail "report.md has no '$words'"
done
echo "four cells $(wc -l <four.txt) lines, first run $(wc -l <first.txt), refused $(wc -l <refused.txt)"
