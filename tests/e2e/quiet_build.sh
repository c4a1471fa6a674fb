#!/bin/bash
# `make` shows warnings, errors and progress, no step and no remark of ptxas; a build that fails fails it. Into a pipe a
# long build says at once how long it takes, and then a line each half minute, which is no percentage: the first steps
# take longest.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
mkdir bin
cat >bin/cmake <<'END'
#!/bin/sh
echo "[1/3] write_revision.cmake"
echo "[2/3] Device code flash.cu"
echo "ptxas info    : (C7512) Potential Performance Loss: serialized"
echo "ptxas warning : registers are spilled" >&2
echo "[3/3] Building C object main.c.o"
[ -z "$BROKEN" ] || echo "main.c:1:1: error: expected identifier" >&2
[ -z "$BROKEN" ] || exit 1
END
chmod +x bin/cmake
BROKEN='' PATH=$PWD/bin:$PATH "$IFM_SOURCE/tools/build.sh" inferometer >said 2>progress || fail "it fails: $(cat said)"
[ "$(cat said)" = 'ptxas warning : registers are spilled' ] || fail "not the warning alone: $(cat said)"
[ "$(cat progress)" = 'building: 3 steps' ] || fail "not one line of progress: $(cat progress)"
status=0
BROKEN=1 PATH=$PWD/bin:$PATH "$IFM_SOURCE/tools/build.sh" inferometer >said 2>&1 || status=$?
[ $status = 1 ] || fail "a build that fails exits $status"
grep -q '^main.c:1:1: error: expected identifier$' said || fail "the error is not shown: $(cat said)"
grep -q 'tools/build.sh' "$IFM_SOURCE/Makefile" || fail "make does not build with it"
! grep -q 'cmake --build build --target inferometer' "$IFM_SOURCE/Makefile" || fail "make shows every step"

cat >bin/cmake <<'END'
#!/bin/sh
for step in 1 2 3; do echo "[$step/24] Device code $step.cu"; done
for step in $(seq 4 24); do echo "[$step/24] Building C object $step.c.o"; done
END
printf '#!/bin/sh\necho 2\n' >bin/nproc
cat >bin/date <<'END'
#!/bin/sh
# A device step takes 20 seconds, another one 2.
n=$(($(cat calls 2>/dev/null || echo 0) + 1))
echo $n >calls
[ $n -lt 4 ] && echo $((20 * n)) || echo $((54 + 2 * n))
END
chmod +x bin/nproc bin/date
mkdir build
seq -f '  DESC = Device code %g.cu' 13 >build/build.ninja
PATH=$PWD/bin:$PATH "$IFM_SOURCE/tools/build.sh" inferometer >said 2>progress || fail "a long build fails: $(cat said)"
{
    echo 'building: 24 steps, about 2 minutes on 2 cores'
    echo 'building: 40 s, 3 of 24 steps: device code for a GPU first, longest (cmake -DIFM_CUDA=OFF: none)'
    echo 'building: 70 s, 18 of 24 steps'
} | cmp - progress || fail "a long build says: $(cat progress)"
echo "progress, warnings and errors"
