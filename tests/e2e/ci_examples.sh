#!/usr/bin/env bash
# examples/ci as committed: each is parsed, and its commands run on a tiny project of two revisions.
source "$(dirname "$0")/lib.sh"
need git git
need make make
python3 -c 'import yaml' 2>/dev/null || skip "needs PyYAML, of the Debian package python3-yaml"
mkdir bin
ln -s "$INFEROMETER" bin/inferometer
export PATH=$PWD/bin:$PATH GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.c
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.c

# Its commands, as a runner would run them, and the values that the runner would fill in
python3 - "$IFM_SOURCE/examples/ci" <<'P' || fail "an example is not what a runner takes"
import re, sys, yaml
github = yaml.safe_load(open(sys.argv[1] + "/github.yml", encoding="utf-8"))
assert github[True] == "pull_request", github  # YAML 1.1 reads the key `on` as true
job = github["jobs"]["speed"]
assert job["env"] == {"OLD": "${{ github.event.pull_request.base.sha }}"}, job["env"]
steps = job["steps"]
checkout, upload = steps[0], steps[-1]
assert checkout["uses"].startswith("actions/checkout@") and checkout["with"]["fetch-depth"] == 0
assert upload["uses"].startswith("actions/upload-artifact@") and upload["if"] == "always()"
assert upload["with"]["path"].split() == ["speed", "!speed/private.json"], upload
scripts = [step["run"] for step in steps if "run" in step]
assert len(scripts) == len(steps) - 2
# A lent runner installs first: a package that was built once, which stands where `make package` puts it.
hosted = yaml.safe_load(open(sys.argv[1] + "/github-hosted.yml", encoding="utf-8"))["jobs"]["speed"]
assert hosted["container"] == "debian:12" and hosted["steps"][-1] == upload, hosted
named = {step.get("name", step.get("id", step.get("uses"))): step for step in hosted["steps"]}
assert named["package"]["with"]["path"] == "inferometer/build/*.deb" and "REVISION" in named["package"]["with"]["key"]
assert named["Package"]["run"] == "make -C inferometer package" and "cache-hit != 'true'" in named["Package"]["if"]
assert named["Install"]["run"].endswith("install -y ./inferometer/build/*.deb") and "if" not in named["Install"]
order = list(named)
assert order.index("package") < order.index("Package") < order.index("Install") < order.index("Compare"), order
own = [named[name]["run"] for name in ("Build both revisions", "Compare")]
assert not re.search(r"\$\{\{", "".join(scripts + own))
for runner, commands in ("github", scripts), ("hosted", ["rm -rf old speed; git worktree prune"] + own):
    for number, script in enumerate(commands):
        open(f"{runner}.{number}", "w", encoding="utf-8").write(script)
job = yaml.safe_load(open(sys.argv[1] + "/gitlab.yml", encoding="utf-8"))["speed"]
assert job["allow_failure"] == {"exit_codes": [3]} and job["artifacts"]["when"] == "always"
assert job["artifacts"]["exclude"] == ["speed/private.json"]
assert job["artifacts"]["reports"]["junit"] == "speed/junit.xml"
open("gitlab.0", "w", encoding="utf-8").write("\n".join(job["script"]) + "\n")
P

# project FOLDER OLD NEW: the benchmark of each revision waits so long
project()
{
    mkdir "$1"
    cd "$1"
    git init -q
    printf 'bench: bench.sh\n\tcp bench.sh bench && chmod +x bench\n' >Makefile
    printf 'bench\nold/\nspeed/\n' >.gitignore
    printf '#!/bin/sh\nexec sleep %s\n' "$2" >bench.sh
    git add . && git commit -qm old
    printf '#!/bin/sh\nexec sleep %s\n# new\n' "$3" >bench.sh
    git commit -qam new
    cd ..
}

# steps RUNNER FOLDER: the status of the first step that fails, in $code
steps()
{
    local old
    old=$(git -C "$2" rev-parse HEAD~1)
    code=0
    for step in "$1".*; do
        (cd "$2" && OLD=$old CI_MERGE_REQUEST_DIFF_BASE_SHA=$old GITHUB_STEP_SUMMARY=$scratch/summary.md \
            timeout 200 bash -eo pipefail "$scratch/$step") >printed 2>&1 </dev/null || code=$?
        [ "$code" = 0 ] || return 0
    done
}

sed -i "s/--cap 180s/--cap 60s/" hosted.*
project slower 0.02 0.03
project equal 0.02 0.02
for runner in github hosted gitlab; do
    : >summary.md
    steps $runner slower
    # Beside other work it may stay open, if the record says so.
    if [ "$code" = 1 ]; then
        has '<failure' <slower/speed/junit.xml || fail "$runner: no failure in junit.xml"
    else
        disturbed slower/speed || fail "$runner: a slower revision ends with $code: $(cat printed)"
        [ "$code" = 0 ] || [ "$code" = 3 ] || fail "$runner: an open gate ends with $code: $(cat printed)"
        has '<error' <slower/speed/junit.xml || fail "$runner: no error in junit.xml"
    fi
    [ $runner = gitlab ] || cmp -s summary.md slower/speed/gate.md || fail "the step's summary is not gate.md"
    # Equal revisions, twice in one checkout: short, and under a limit that a busy machine does not reach. They may be
    # left open.
    sed -i 's/--cap [0-9]*s/--cap 2s/; s/--max-regression 3%/--max-regression 50%/' $runner.*
    for _ in 1 2; do
        steps $runner equal
        [ "$code" = 0 ] || { [ $runner = gitlab ] && [ "$code" = 3 ]; } ||
            fail "$runner: equal revisions end with $code: $(cat printed)"
    done
done
echo "all examples parse; their steps refuse a slower revision, and no equal one"
