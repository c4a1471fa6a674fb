#!/usr/bin/env bash
# Of a sweep of many cells the browser lays out what is in sight; links, a search, the wheel and paper reach the rest.
source "$(dirname "$0")/lib.sh"
need_runs
# spoilt SED WORDS: a page whose style was changed is seen as such
spoilt()
{
    sed "$1" sweep/report.html >spoilt.html
    ! cmp -s sweep/report.html spoilt.html || fail "nothing was spoilt by $1"
    ! timeout 800 node "$browser/sweep.mjs" spoilt.html >said 2>&1 || fail "goes unnoticed: $1"
    grep -q "$2" said || fail "goes unnoticed: $2: $(head -5 said)"
}
spoilt 's/content-visibility:auto;contain/contain/' 'nothing is tested'
spoilt 's/content-visibility:auto;contain/content-visibility:hidden;contain/' 'is not drawn'
spoilt 's/@media screen{.many main/@media all{.many main/' 'not every drawing is printed'
spoilt 's/html:not(.many){scroll/html{scroll/' 'pixels from it'
check sweep sweep/report.html
echo "what is in sight is laid out, and everything can be reached"
