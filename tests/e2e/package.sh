#!/usr/bin/env bash
# The Debian package: what it holds, what it depends on, and that lintian finds no error and no warning.
source "$(dirname "$0")/lib.sh"
build=$(dirname "$INFEROMETER")
[ -e "$build/libinferometer.so" ] || skip "needs libinferometer.so; a sanitizer build has none"
need cmake cmake
need dpkg-shlibdeps dpkg-dev
need file file
(cd "$build" && cmake --build . --target generated_pages inferometer_library >/dev/null &&
    cpack -G DEB -B "$scratch/package" >"$scratch/log" 2>&1) || fail "cpack: $(tail -3 log)"
deb=$(echo package/*.deb)
[ -f "$deb" ] || fail "cpack made no package"
dpkg-deb -f "$deb" Depends >depends
for package in libc6 libhwloc15 libjansson4 libsmartcols1 libssl3 libyaml-0-2; do
    grep -q "$package" depends || fail "does not depend on $package: $(cat depends)"
done
dpkg-deb -x "$deb" root
lib=root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
for path in root/usr/bin/inferometer "$lib"/libinferometer.so.0 "$lib"/pkgconfig/inferometer.pc \
    root/usr/include/inferometer/session.h root/usr/lib/python3/dist-packages/inferometer.py \
    root/usr/share/man/man1/inferometer.1.gz \
    root/usr/share/bash-completion/completions/inferometer root/usr/share/zsh/vendor-completions/_inferometer \
    root/usr/share/fish/vendor_completions.d/inferometer.fish root/usr/share/doc/inferometer/copyright \
    root/usr/share/doc/inferometer/changelog.gz root/usr/share/doc/inferometer/examples/first-run.yaml; do
    [ -s "$path" ] || fail "the package has no ${path#root}"
done
dpkg-deb -e "$deb" control
grep -q ldconfig control/triggers || fail "installing it does not refresh the loader's cache"
version=$(dpkg-deb -f "$deb" Version)
zcat root/usr/share/doc/inferometer/changelog.gz | head -1 | has -F "($version)" ||
    fail "packaging/changelog does not begin with version $version"
if ! command -v lintian >/dev/null; then
    echo "$version, $(wc -l <control/md5sums) files; lintian is not there"
    exit
fi
lintian --allow-root --fail-on error,warning "$deb" >found 2>&1 || fail "lintian: $(head -3 found)"
echo "$version, $(wc -l <control/md5sums) files; lintian finds nothing"
