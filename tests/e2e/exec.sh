#!/usr/bin/env bash
# `exec` runs programs in mirrored blocks, leaves no process behind, keeps command lines out of every artifact, and goes
# on after kill -9.
source "$(dirname "$0")/lib.sh"
need pgrep procps

# Runs of both arms and of the hooks in the order in which they really happened: with one sample a slot, ABBA or BAAB.
log=$scratch/log
cat >say <<'SH'
#!/bin/sh
printf '%s' "$1" >>"$LOG"
SH
chmod +x say
export LOG=$log
"$INFEROMETER" exec './say A' './say B' --prepare './say p' --cleanup './say c' --slot-steps 1 --repeats 24 \
    --override measure.slot_min=0 --name left --name right --quiet --out order >/dev/null 2>errors ||
    fail "order: $(cat errors)"
order=$(sed 's/p\([AB]\)c/\1/g' <"$log")
[ -z "${order//[AB]/}" ] || fail "not every sample stands between its hooks: $(cat "$log")"
# One run each for the calibration, warm-up windows AB, then blocks of four.
blocks=${order: -48}
tidy=$(sed 's/ABBA//g; s/BAAB//g' <<<"$blocks")
[ -z "$tidy" ] || fail "the last 12 blocks are not ABBA or BAAB: $blocks"
[[ $blocks == *ABBA* && $blocks == *BAAB* ]] || fail "the order was not drawn: $blocks"

# Command lines are private: no artifact but private.json holds them; arm names are public.
needle=needle-$$
"$INFEROMETER" exec "sh -c ': $needle'" "sh -c ': other; : $needle'" --prepare "sh -c ': $needle-hook'" --repeats 60 \
    --quiet --out private >/dev/null 2>errors || fail "private: $(cat errors)"
grep -rq "$needle" private/private.json || fail "private.json does not hold the command lines"
leaks=$(grep -rl "$needle" private | grep -v '/private.json$' || true)
[ -z "$leaks" ] || fail "the command line stands in $leaks"
grep -q '"sh-2nd"' private/plan.json || fail "the second arm is not called sh-2nd"
mv private/private.json kept.json
"$INFEROMETER" verify private >/dev/null 2>errors || fail "verify without private.json: $(cat errors)"
status=0
"$INFEROMETER" rerun private --out again >/dev/null 2>errors || status=$?
[ "$status" = 2 ] || fail "rerun without private.json ends with $status, not 2"
grep -q 'no private.json' errors || fail "rerun does not say what is missing: $(cat errors)"
mv kept.json private/private.json
"$INFEROMETER" rerun private --out again --quiet >/dev/null 2>errors || fail "rerun: $(cat errors)"
cmp -s private/config.lock.json again/config.lock.json || fail "rerun has another configuration"
cmp -s <(grep -o '"sha256:.*' private/private.json | sort) <(grep -o '"sha256:.*' again/private.json | sort) ||
    fail "rerun keeps other texts"

# Unless they are asked for: then record and report hold them, with and without private.json; files stay private.
echo data >"input-$needle"
"$INFEROMETER" exec "sh -c : 'a \` $needle <b>'" "sh -c ': other $needle'" --prepare "sh -c ': $needle-hook'" \
    --repeats 24 --input "input-$needle" --publish-commands --quiet --out public >printed 2>errors ||
    fail "public: $(cat errors)"
has -F "sh-2nd: sh -c ': other $needle'" <printed || fail "the terminal does not show the commands: $(cat printed)"
for file in config.lock.json plan.json report.md report.html; do
    has -F -e "$needle-hook" <"public/$file" && has -F "other $needle" <"public/$file" ||
        fail "$file does not hold the commands"
done
has -F '<b>' <public/report.html && grep -F "$needle <b>" public/report.html && fail "the page holds the text as markup"
leaks=$(grep -rl "input-$needle" public | grep -v '/private.json$' || true)
[ -z "$leaks" ] || fail "the name of a file stands in $leaks"
rm public/private.json
"$INFEROMETER" verify public >/dev/null 2>errors || fail "verify of published commands: $(cat errors)"
"$INFEROMETER" derive public >printed 2>errors || fail "derive of published commands: $(cat errors)"
has -F "sh-2nd: sh -c ': other $needle'" <printed || fail "derive does not show the commands: $(cat printed)"
"$INFEROMETER" verify public >/dev/null 2>errors || fail "verify of what derive wrote: $(cat errors)"
"$INFEROMETER" exec "sh -c ': $needle'" 'sleep 0.001' --publish-commands --repeats 24 --quiet --out shown >/dev/null \
    2>errors || fail "shown: $(cat errors)"
rm shown/private.json
"$INFEROMETER" rerun shown --out shown-again --quiet >printed 2>errors || fail "rerun: $(cat errors)"
has -F "sh: sh -c ': $needle'" <printed || fail "rerun does not publish the commands"
cmp -s shown/config.lock.json shown-again/config.lock.json || fail "rerun has another configuration: publish"

# The lab pins itself to one CPU; a program starts with the mask that the lab was started with.
if [ "$(nproc)" -gt 1 ]; then
    "$INFEROMETER" exec --shell "test \$(nproc) -eq $(nproc)" --repeats 12 --quiet --out mask >/dev/null 2>errors ||
        fail "affinity: $(cat errors)"
fi

# Nothing outlives its sample: not in the background, not in a session of its own. What would is killed at its limit,
# and the run has failed.
marker=60.$$
cat >stray <<SH
#!/bin/sh
echo >>"\$1"
exec sleep $marker
SH
chmod +x stray
# Five: one beside the shell, one in a session of its own, and a shell there with two. Each says that it has begun.
tree="f=begun.\$\$; ./stray \$f & setsid ./stray \$f & setsid sh -c './stray \$0 & ./stray \$0; :' \$f &
    until [ \"\$(cat \$f 2>/dev/null | wc -l)\" = 4 ]; do sleep 0.01; done"
"$INFEROMETER" exec --shell "$tree" --repeats 24 --slot-steps 1 --override measure.slot_min=0 --timeout 300ms \
    --ignore-failure --quiet --out strays >/dev/null 2>errors &
pid=$!
most=0
while kill -0 "$pid" 2>/dev/null; do
    zombies=$(ps -o stat= --ppid "$pid" 2>/dev/null | grep -c Z || true)
    most=$((zombies > most ? zombies : most))
    sleep 0.1
done
wait "$pid" || fail "strays: $(cat errors)"
# A generation that was just killed may be seen before it is collected; over tens of samples they would pile up.
[ "$most" -le 8 ] || fail "$most zombies at once: they are not collected"
pgrep -f "^sleep $marker" >left && fail "left behind: $(cat left)"
measured=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) place[$i] = i }
    NR > 1 && $2 == 1 { n += $place["child_failures"]; rows++; if ($place["child_failure"] != 512) bad++ }
    END { print n, rows, bad + 0 }' strays/samples/*-slots.csv)
read -r strays samples bad <<<"$measured"
[ "$strays $bad" = "$samples 0" ] || fail "$strays of $samples runs failed by what they left, $bad for another reason"

# What a shell leaves to the lab by becoming it is not the lab's to kill: here the reader of its output.
(sleep "61.$$" & exec "$INFEROMETER" exec 'sh -c "sleep 0.05 & exit 0"' --repeats 12 --quiet --out beside) >/dev/null \
    2>errors || fail "beside a stranger: $(cat errors)"
pkill -f "^sleep 61.$$" || fail "a child that was there before was killed"

# Ctrl-C ends the tree at once; kill -9 ends the program too; --resume goes on from the last whole block.
"$INFEROMETER" exec "sleep 30.$$" --quiet --out long >/dev/null 2>errors &
pid=$!
while kill -0 "$pid" 2>/dev/null; do # not the lab, whose own command line holds the words too
    pgrep -f "^sleep 30.$$" >/dev/null && break
    sleep 0.05
done
kill -INT "$pid"
status=0
wait "$pid" || status=$?
[ "$status" = 130 ] || fail "exit status $status after SIGINT, not 130: $(cat errors)"
pgrep -f "^sleep 30.$$" >/dev/null && fail "the program outlives SIGINT"
cut_short KILL killed 12 "$INFEROMETER" exec 'sleep 0.01' 'sleep 0.012' --repeats 120 --quiet --out killed
before=$(slots_of killed)
bytes=$(cat killed/samples/*-slots.csv | wc -c)
cp killed/samples/*-slots.csv kept
# What was killed has children, which let go of the folder a moment after it.
for try in $(seq 100); do
    status=0
    "$INFEROMETER" exec --resume killed --quiet >/dev/null 2>errors || status=$?
    grep -q 'a run is at work in this folder' errors || break
    sleep 0.5
done
[ "$status" = 0 ] || fail "resume $try: $(cat errors)"
[ "$(slots_of killed)" -gt "$before" ] || fail "resume added nothing"
cmp -s <(head -n "$((before - 4))" kept) <(head -n "$((before - 4))" killed/samples/*-slots.csv) ||
    fail "resume changed the $bytes bytes from before"
"$INFEROMETER" verify killed >/dev/null 2>errors || fail "verify: $(cat errors)"
echo "12 mirrored blocks in order, no leak, $samples trees ended, $before slots kept over kill -9"
