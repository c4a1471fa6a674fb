#!/usr/bin/env bash
# Every shared library that the command loads is justified: this is the whole list. What one command needs and the
# others do not is opened on use.
source "$(dirname "$0")/lib.sh"
loaded=$(ldd "$INFEROMETER" | awk '{ print $1 }' | sed 's/.*\///; s/\.so.*//')
case $loaded in *libasan* | *libtsan*) skip "a sanitizer build" ;; esac
known="
linux-vdso ld-linux-x86-64 ld-linux-aarch64 libc libm
libyaml-0    configuration files
libjansson   plan, log and every other JSON file
libsmartcols tables on the terminal
libhwloc     topology and caches
libcrypto    SHA-256 of artifacts
libudev libcap  hwloc's"
for library in $loaded; do
    grep -qw -- "$library" <<<"$known" || fail "$library is loaded at start and nobody justified it"
done
echo "$(wc -w <<<"$loaded") libraries, all known"
