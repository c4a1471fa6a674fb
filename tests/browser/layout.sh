#!/usr/bin/env bash
# Six places to read a report, phone, tablet, desk and paper, light and dark: no words lie on others, are cut off, leave
# their drawing or their cell, or are too small, whatever kind of run it tells of.
source "$(dirname "$0")/lib.sh"
need_runs
# A page that is spoilt is seen as such.
spoilt()
{
    mkdir -p spoilt
    sed "$1" measured/report.html >spoilt/report.html
    ! cmp -s measured/report.html spoilt/report.html || fail "nothing was spoilt by $1"
    ! timeout 800 node "$browser/layout.mjs" spoilt/report.html >said 2>&1 || fail "goes unnoticed: $1"
    grep -q "$2" said || fail "goes unnoticed: $2: $(head -5 said)"
}
spoilt 's/svg text{fill:var(--ink);font:13px/svg text{fill:var(--ink);font:40px/' 'phone: .*leaves its drawing'
grep -q 'desk: .*lie on each other' said || fail "names on names go unnoticed"
spoilt 's/svg text{fill:var(--ink);font:13px/svg text{fill:var(--ink);font:6px/' 'phone: .*pixels high'
spoilt 's/td .interval{display:block;/td .interval{display:block;margin-top:-1.4em;/' 'desk, dark: .*lie on each other'
spoilt 's/main,header.top,footer{max-width:76rem;/main,header.top,footer{min-width:60rem;/' 'tablet: .*leaves the page'
check layout {decode,gates,absent,many,interrupted,measured,energy}/report.html
cat said
