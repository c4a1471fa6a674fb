#!/usr/bin/env bash
# A run of programs is repeated, and goes on, in the folder where it was first started, from wherever one asks for it;
# what the command line names lies where the user is, and no file but private.json names a folder of the machine.
source "$(dirname "$0")/lib.sh"

mkdir -p work/runs elsewhere
work=$scratch/work elsewhere=$scratch/elsewhere
(cd work && echo data >runs/data &&
    "$INFEROMETER" exec 'cat runs/data' 'cat ./runs/data' --input runs/data --repeats 12 --quiet --out runs/cat) \
    >printed 2>errors || fail "exec: $(cat errors)"

# What the report's first screen says to type, in its folder.
grep -oF '<code>inferometer rerun . --out ../again</code> measures it again, by the commands and files that' \
    work/runs/cat/report.html >/dev/null || fail "the page names another command"
(cd work/runs/cat && "$INFEROMETER" rerun . --out ../again) >printed 2>errors || fail "as the page says: $(cat errors)"
has -F "note: this runs in $work, where it was first started" <errors || fail "it does not say where: $(cat errors)"
has -F "report: $work/runs/again/report.html" <printed || fail "the report is elsewhere: $(cat printed)"
cmp -s work/runs/cat/config.lock.json work/runs/again/config.lock.json || fail "rerun has another configuration"
leaks=$(grep -rlF "$scratch" work/runs/again | grep -v '/private.json$' || true)
[ -z "$leaks" ] || fail "the folder stands in $leaks"

# From anywhere else, and of a run that was repeated: without --out below the user's own runs/.
(cd elsewhere && "$INFEROMETER" rerun ../work/runs/again) >printed 2>errors || fail "elsewhere: $(cat errors)"
ls elsewhere/runs/command-*/report.html >/dev/null || fail "the new run is not below the user's folder"
(cd elsewhere && "$INFEROMETER" rerun ../work/runs/cat --times 2 --out s) >printed 2>errors ||
    [ $? -le 3 ] || fail "--times: $(cat errors)"
[ -e elsewhere/s-1/report.html ] && [ -e elsewhere/s-2/report.html ] || fail "sessions: $(ls elsewhere)"

# Where it was started nothing is told.
(cd work && "$INFEROMETER" rerun runs/cat --out runs/here) >printed 2>errors || fail "here: $(cat errors)"
has 'first started' <errors && fail "told without need: $(cat errors)"
has -F 'report: runs/here/report.html' <printed || fail "a folder is not named as it was: $(cat printed)"

# The configuration alone runs here.
status=0
(cd elsewhere && "$INFEROMETER" run -c ../work/runs/cat/config.lock.json --out none) >printed 2>errors || status=$?
[ $status = 2 ] || fail "-c ends with $status, not 2"
has 'runs/data: No such file' <errors || fail "-c: $(cat errors)"

# What was cut short goes on there, with copies of its gates where the user is.
cd work
cut_short KILL runs/cut 12 "$INFEROMETER" ci 'cat runs/data' 'cat ./runs/data' --max-regression 90% --repeats 300 \
    --quiet --out runs/cut
cd ../elsewhere
for _ in $(seq 100); do
    status=0
    "$INFEROMETER" ci --resume ../work/runs/cut --markdown gate.md --junit gate.xml >../printed 2>../errors || status=$?
    grep -q 'a run is at work in this folder' ../errors || break
    sleep 0.5
done
[ $status = 0 ] || [ $status = 1 ] || [ $status = 3 ] || fail "resume ends with $status: $(cat ../errors)"
has -F "note: this goes on in $work, where it was started" <../errors || fail "resume does not say where"
cmp -s gate.md ../work/runs/cut/gate.md && cmp -s gate.xml ../work/runs/cut/junit.xml || fail "copies lie elsewhere"
has 'No such file' <../errors && fail "resume: $(cat ../errors)"
cd ..

# Of what is moved, and of what comes without private.json, the commands run where the user is.
"$INFEROMETER" exec 'cat work/runs/data' --publish-commands --repeats 12 --quiet --out public >/dev/null 2>errors ||
    fail "public: $(cat errors)"
rm public/private.json
"$INFEROMETER" rerun public --out public-again >/dev/null 2>errors || fail "without private.json: $(cat errors)"
has 'no private.json says where it was first started' <errors || fail "without private.json: $(cat errors)"
mv work moved
(cd moved && "$INFEROMETER" rerun runs/cat --out runs/moved) >printed 2>errors || fail "moved: $(cat errors)"
has -F "was first started in $work, which is not there" <errors || fail "moved: $(cat errors)"
echo "as the page says, elsewhere, in sessions, cut short, moved, and without private.json"
