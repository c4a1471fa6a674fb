#!/usr/bin/env bash
# The first measurement that README proposes, as it stands: how many lines it prints, how large its page is, on how many
# sheets, and what its first screen holds. (A page does not grow with the blocks: test_figures.)
source "$(dirname "$0")/lib.sh"
need_packages
"$INFEROMETER" run -c "$IFM_SOURCE/examples/first-run.yaml" --out out >said 2>errors || fail "$(cat errors)"
word=$(grep -oE '^(solid|undecided|noisy|biased|weak baseline|do not use): ' said | sed 's/: $//')
[ -n "$word" ] || fail "the terminal says no word of trust: $(tail -3 said)"
lines=$(cat said errors | wc -l)
[ "$lines" -le 30 ] || fail "the terminal has $lines lines, at most 30"
# A page that is too large, or hides a part of its answer, is seen as such.
spoilt()
{
    sed "$1" out/report.html >spoilt.html
    ! cmp -s out/report.html spoilt.html || fail "nothing was spoilt by $1"
    ! timeout 800 node "$browser/bars.mjs" spoilt.html "$word" >spoils 2>&1 || fail "goes unnoticed: $1"
    grep -q "$2" spoils || fail "goes unnoticed: $2: $(head -5 spoils)"
}
spoilt 's/<details>/<details open>/' 'height: [0-9]*, at most'
spoilt 's/svg text{fill:var(--ink);font:13px/svg text{fill:var(--ink);font:9px/' 'on a phone'
spoilt 's/<div id="answer"/<p style="height:500px"><div id="answer"/' 'chart ends at: [0-9]*, at most'
spoilt 's/scrollbar-width:none/scrollbar-width:auto/' 'a bar of the system below them'
spoilt 's/drawn{display:flow-root}/drawn{display:grid;grid-template-columns:40rem 25rem}/' 'of the width'
spoilt 's/<div id="answer"/<p style="height:400px"><div id="answer"/' 'trust on a phone ends at: [0-9]*, at most'
spoilt 's/display:grid;grid-template-columns:24rem/display:block;grid-template-columns:24rem/' 'no words beside them'
check axe out/report.html
check bars out/report.html "$word"
cat said
