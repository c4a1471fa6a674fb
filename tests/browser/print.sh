#!/usr/bin/env bash
# On paper, with scripting off, everything is there: what is folded on the screen is printed, in a PDF whose text can be
# searched.
source "$(dirname "$0")/lib.sh"
need_runs
# A page that leaves folds closed on paper is seen as such.
sed 's/details::details-content/details::nothing/' decode/report.html >closed.html
! timeout 800 node "$browser/print.mjs" closed.html closed.pdf >said 2>&1 || fail "closed folds go unnoticed"
grep -q 'Every number.*is not printed' said || fail "closed folds go unnoticed: $(head -3 said)"
check print decode/report.html report.pdf
[ "$(head -c 5 report.pdf)" = %PDF- ] || fail "no PDF was written"
pages=$(grep -ac '/Type */Page\b' report.pdf)
[ "$pages" -ge 3 ] || fail "the PDF has $pages pages"
if command -v pdftotext >/dev/null; then
    pdftotext -layout report.pdf text
    for words in 'MEASURED' 'Every number' 'step_ns' 'What the numbers mean' 'inferometer rerun DIR' 'locks'; do
        grep -q "$words" text || fail "the PDF lacks \"$words\""
    done
    echo "$pages pages, everything on them"
else
    echo "$pages pages, every fold laid out (without pdftotext their text was not searched)"
fi
