#!/usr/bin/env bash
# On paper, with scripting off, there is what was open on the screen, in a PDF whose text can be searched.
source "$(dirname "$0")/lib.sh"
need_runs
# A page that prints closed folds, or leaves open ones out, is seen as such.
spoilt()
{
    sed "$1" decode/report.html >spoilt.html
    ! cmp -s decode/report.html spoilt.html || fail "nothing was spoilt by $1"
    ! timeout 800 node "$browser/print.mjs" spoilt.html spoilt.pdf >said 2>&1 || fail "goes unnoticed: $1"
    grep -q "$2" said || fail "goes unnoticed: $2: $(head -3 said)"
}
closed='section:has(>details:first-child:not(\[open\])),details:not(\[open\]){display:none}'
spoilt "s/$closed/details::details-content{content-visibility:visible;display:block}/" 'a closed fold is printed'
spoilt "s/$closed/section:has(>details){display:none}/" 'an open fold is not printed'
spoilt 's/section:has(>details:first-child:not(\[open\]))/section:has(>details:not([open]))/' 'findings is not printed'
check print decode/report.html report.pdf
[ "$(head -c 5 report.pdf)" = %PDF- ] || fail "no PDF was written"
pages=$(grep -ac '/Type */Page\b' report.pdf)
[ "$pages" -ge 2 ] || fail "the PDF has $pages pages"
if command -v pdftotext >/dev/null; then
    pdftotext -layout report.pdf text
    for words in 'Results' 'Findings, by cause' 'inferometer rerun DIR' 'Paper holds what was open'; do
        grep -q "$words" text || fail "the PDF lacks \"$words\""
    done
    ! grep -q 'Every number' text || fail "the PDF holds a closed fold"
    echo "$pages pages, what was open is on them"
else
    echo "$pages pages (without pdftotext their text was not searched)"
fi
