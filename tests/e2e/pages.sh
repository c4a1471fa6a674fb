#!/usr/bin/env bash
# README and tutorial as a reader types them: each block marked sh is run as it stands (tests/pages/pages.py says what
# is left out), in a folder that looks like a checkout that `make` has built. Of all pages: links lead somewhere, and
# commands and options exist.
source "$(dirname "$0")/lib.sh"
need python3 python3
need gzip gzip
export IFM_SOURCE INFEROMETER
pages=$IFM_SOURCE/tests/pages/pages.py
python3 "$pages" links || fail "a link leads nowhere"
python3 "$pages" length || fail "the pages grow"
python3 "$pages" samples || fail "a sample is not what is printed"
python3 "$pages" words || fail "a page names what is not there"

# type PAGE FOLDER: what the page prints, in FOLDER.txt
type_page()
{
    mkdir -p "$2/build"
    ln -s "$INFEROMETER" "$2/build/inferometer"
    ln -s "$IFM_SOURCE/examples" "$IFM_SOURCE/include" "$2/"
    python3 "$pages" script "$1" >"$2.sh" || fail "$1"
    (cd "$2" && bash "../$2.sh") >"$2.txt" 2>"$2.errors" ||
        fail "$1 as typed ends with $? behind $(grep '^# ' "$2.txt" | tail -1): $(tail -5 "$2.errors" && tail "$2.txt")"
}

# leaves_nothing FOLDER: a reader's checkout is as git had it, but for what it ignores
leaves_nothing()
{
    (cd "$1" && find . -mindepth 1 -maxdepth 1 ! -name build ! -name runs ! -name examples ! -name include) >left
    [ ! -s left ] || fail "$1 leaves in the checkout: $(cat left)"
}

type_page README.md readme
leaves_nothing readme
has '^verified: every hash fits' <readme.txt || fail "the README's run is not verified"
[ -s readme/runs/gzip/report.html ] || fail "the README's run has no report"

type_page docs/tutorial.md tutorial
leaves_nothing tutorial
cd tutorial/runs
for folder in first gzip same study energy; do
    [ -s $folder/report.html ] || fail "the tutorial's run $folder has no report"
    "$INFEROMETER" verify $folder >/dev/null 2>errors || fail "the tutorial's run $folder: $(cat errors)"
done
! "$INFEROMETER" verify edited >/dev/null 2>errors || fail "the tutorial's edit is verified"
cd ../..
# Slower by far: fail, or no answer on a busy machine, never pass. The gate says in either case that it was judged.
has -E '^(FAIL|BLOCKED|INCONCLUSIVE)' <tutorial.txt || fail "the tutorial's study has no verdict"
[ "$(grep -cE '^(pass|inconclusive|blocked|fail)$' tutorial.txt)" = 2 ] || fail "the tutorial's gates give no answer"
echo "$(cat readme.txt tutorial.txt | grep -cE '^# (README|docs)') blocks of README and tutorial run as they stand"
