#!/usr/bin/env bash
# What a memory error meets, as the built executable and the library have it (cmake/hardening.cmake).
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
[ -n "${IFM_HARDENED:-}" ] || skip "this build has no optimizer, or sanitizers: it is not hardened"
need readelf binutils

# check FILE: read-only relocations bound at the start, no executable stack, and calls of the checked functions.
check()
{
    readelf -hlW "$1" >headers
    readelf -dW "$1" >dynamic
    readelf --dyn-syms -W "$1" >symbols
    grep -q 'Type: *DYN' headers || fail "$1 is not position-independent: $(grep Type: headers)"
    grep -q 'GNU_RELRO' headers || fail "$1 has no read-only relocations"
    grep -Eq 'BIND_NOW|FLAGS_1.*NOW' dynamic || fail "$1 binds while it runs, so its relocations stay writable"
    grep 'GNU_STACK' headers | grep -q 'RW ' || fail "$1 has an executable stack: $(grep GNU_STACK headers)"
    ! grep -q 'TEXTREL' dynamic || fail "$1 writes into its code"
    grep -q ' __stack_chk_fail' symbols || fail "$1 has no stack protector"
    grep -Eq ' __(snprintf|vsnprintf|memcpy|read|fgets)_chk' symbols || fail "$1 has no checked string functions"
}
check "$INFEROMETER"
grep -q 'FLAGS_1.*PIE' dynamic || fail "$INFEROMETER is no position-independent executable"
if [ "$(uname -m)" = x86_64 ] && command -v objdump >/dev/null && [ -z "${IFM_EMULATOR:-}" ]; then
    objdump -d --no-show-raw-insn --disassemble=main "$INFEROMETER" >main
    grep -q endbr64 main || fail "main is no marked target of a jump (-fcf-protection)"
fi
[ -z "${IFM_LIBRARY:-}" ] || check "$IFM_LIBRARY"
echo "stack protector, checked functions, full RELRO, PIE"
