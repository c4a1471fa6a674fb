#!/usr/bin/env bash
# axe finds nothing in a report: compared arms, a failing gate, a cell that is absent, many cells, an interrupted run,
# an energy pass; light and dark, on a phone and on a desk, with everything unfolded. That axe would find something is
# seen first.
source "$(dirname "$0")/lib.sh"
need_runs
# An image without a name, grey on grey, and a heading that leaps.
bad='<h6 style="color:#999;background:#aaa">grey words</h6><svg role="img"></svg>'
sed "s|</main>|$bad</main>|" decode/report.html >bad.html
! timeout 800 node "$browser/axe.mjs" bad.html >said 2>&1 || fail "axe does not find what is wrong"
for rule in color-contrast svg-img-alt heading-order; do
    grep -q "$rule" said || fail "axe does not find $rule: $(head -3 said)"
done
check axe {decode,energy,gates,absent,many,interrupted}/report.html
echo "nothing found in 6 kinds of run, light and dark, narrow and wide"
