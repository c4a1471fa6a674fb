#!/usr/bin/env bash
# tools/check.sh where the CUDA toolkit is gone: under IFM_NEED_CUDA=1, which CI sets, one failure that is named and
# counted while everything else is built and tested; otherwise none. Builds and tests are stand-ins here.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3 python3
mkdir -p tree/tools bin
cp "$IFM_SOURCE"/tools/{check.sh,tally.py} tree/tools/
cat >bin/cmake <<'EOF'
#!/bin/sh
echo "cmake $*" >>"$CALLS"
EOF
cat >bin/ctest <<'EOF'
#!/bin/sh
while [ $# -gt 0 ]; do
    [ "$1" = --output-junit ] && echo '<testsuite><testcase name="one" status="run"/></testsuite>' >"$2"
    shift
done
EOF
chmod +x bin/cmake bin/ctest
export CALLS=$PWD/calls
for tool in /usr/bin/nvcc /bin/nvcc; do
    [ ! -e "$tool" ] || skip "$tool is the toolkit: it cannot be hidden"
done

# check NEED PATH [STAGE]: the status of the check, its words in log
check()
{
    : >calls
    IFM_NEED_CUDA=$1 PATH=$2 CUDA_HOME=$PWD/nowhere tree/tools/check.sh "${3:-gcc}" >log 2>&1
}

if check 1 "$PWD/bin:/usr/bin:/bin"; then
    fail "without the toolkit that is needed the check passes: $(cat log)"
fi
grep -q '^failed: cuda: no CUDA toolkit: .*set IFM_NEED_CUDA=0' log || fail "the toolkit is not named: $(cat log)"
[ "$(tail -1 log)" = "3 passed, 1 failed, 0 skipped" ] || fail "not counted: $(tail -1 log)"
grep -q -- '--preset gcc -DIFM_CUDA=OFF' calls || fail "built otherwise: $(cat calls)"
check 0 "$PWD/bin:/usr/bin:/bin" || fail "the toolkit is not needed, and the check fails: $(cat log)"
grep -q -- '--preset gcc -DIFM_CUDA=AUTO' calls || fail "built otherwise: $(cat calls)"
mkdir with
printf '#!/bin/sh\n' >with/nvcc
chmod +x with/nvcc
check 1 "$PWD/with:$PWD/bin:/usr/bin:/bin" || fail "with the toolkit the check fails: $(cat log)"
grep -q -- '--preset gcc -DIFM_CUDA=ON' calls || fail "a build may lack the device: $(cat calls)"
check 1 "$PWD/with:$PWD/bin:/usr/bin:/bin" clang || fail "the build without CUDA fails: $(cat log)"
grep -q -- '--preset clang -DIFM_CUDA=OFF' calls || fail "no build is without the device: $(cat calls)"
if [ -e "$IFM_SOURCE/.ci/run" ]; then
    grep -q '^export IFM_NEED_CUDA="${IFM_NEED_CUDA:-1}' "$IFM_SOURCE/.ci/run" || fail "CI does not need the toolkit"
fi

echo "a toolkit that is needed and gone is one failure, named and counted"
