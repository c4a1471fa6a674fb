#!/usr/bin/env bash
# A page of very many cells makes a drawing when it is looked at, linked to or printed.
source "$(dirname "$0")/lib.sh"
need_runs
# spoilt SED WORDS: a page whose script was changed is seen as such; its policy has to allow the changed script
spoilt()
{
    sed -e "$1" -e 's/script-src [^;]*;/script-src '"'unsafe-inline'"';/' crowd/report.html >spoilt.html
    ! cmp -s crowd/report.html spoilt.html || fail "nothing was spoilt by $1"
    ! timeout 400 node "$browser/later.mjs" spoilt.html >said 2>&1 || fail "goes unnoticed: $1"
    grep -q "$2" said || fail "goes unnoticed: $2: $(head -5 said)"
}
spoilt "s/forEach(figures => sight.observe(figures))/length/" 'in sight has no drawings'
spoilt "s/&& find(decodeURI/\\&\\& document.getElementById(decodeURI/" 'does not lead there'
spoilt "s/matchMedia('print').add/matchMedia('tv').add/" 'paper has'
timeout 400 node "$browser/later.mjs" crowd/report.html || fail "crowd"
echo "drawings are made in sight, for a link and for paper"
