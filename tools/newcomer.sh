#!/usr/bin/env bash
# tools/newcomer.sh [root|user|plain|package]...: follow the README on a fresh Debian 12.
#
# Each is a minimal root of its own below build/newcomer/ (made by debootstrap once, then copied), with a clone of HEAD
# and no more environment than a login gives. The commands are taken from README.md itself, "The two commands".
#
#   root     as root: every command; of `make check`, the stages of CHECK (default: clang; empty: none),
#            and `make run` with RUN_FLAGS
#   user     as a user with sudo: every command but `make check`
#   plain    as a user without sudo: one line says what to install; root installs just that, and then it builds
#   package  `make package` there, its .deb installed by apt in a root without compiler or sources, and used
#
# Needs root, debootstrap and namespaces: else it exits 77 with the reason. Roots are removed afterwards (KEEP=1 keeps
# them). Packages come from the registry that this machine's own apt uses. The base, and the packages that apt fetched,
# are kept in ${XDG_CACHE_HOME:-$HOME/.cache}/inferometer, by registry, release and recipe: another one makes another
# base. A half-made base is never used, and apt checks every cached package.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD/build/newcomer
cache=${XDG_CACHE_HOME:-$HOME/.cache}/inferometer
release=bookworm
home=/srv/dev
deb=$work/inferometer.deb

skip() { echo "$*"; exit 77; }
fail() { echo "newcomer: $*" >&2; exit 1; }

[ "$(id -u)" = 0 ] || skip "needs root, to make a Debian root folder"
command -v debootstrap >/dev/null || skip "needs debootstrap, of the Debian package debootstrap"
unshare --mount --pid --fork true 2>/dev/null || skip "needs mount and process namespaces, which this machine refuses"
[ "$(dpkg --print-architecture 2>/dev/null)" ] || skip "needs Debian's dpkg, to know the architecture"

# What apt of this machine is set to: the first address of Debian itself, for debootstrap.
mirror()
{
    { cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null || true; } |
        awk '$1 == "URIs:" { print $2; exit }
             $1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /:\//) { print $i; exit } }'
}

# The registry as this machine's apt knows it; no name of it is written down here.
copy_sources()
{
    rm -f "$1/etc/apt/sources.list"
    cp -a /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/keyrings "$1/etc/apt/" 2>/dev/null || true
    apt-config dump Acquire | grep -vE '^Acquire(::IndexTargets|::Changelogs)?(::.*)? "";$|IndexTargets' \
        >"$1/etc/apt/apt.conf.d/90acquire" || true
    echo force-unsafe-io >"$1/etc/dpkg/dpkg.cfg.d/throwaway" # such a root need not survive a power failure
}

# The base, in $base. It is made under another name and renamed when it is complete.
make_base()
{
    local address key new
    address=$(mirror)
    [ -n "$address" ] || skip "needs an apt source, to take Debian from"
    key=$({ echo "$release $(dpkg --print-architecture) $address" && apt-config dump Acquire &&
        cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null; declare -f make_base copy_sources; } |
        sha256sum | cut -c1-16)
    base=$cache/$release-$key
    mkdir -p "$work" "$cache/packages"
    exec 9>"$cache/lock"
    flock 9 # two checks at the same time make one base
    if [ ! -d "$base" ]; then
        # Bases of other recipes, and half-made ones: no longer used.
        find "$cache" -maxdepth 1 -name "$release-*" -mtime +0 -exec rm -rf {} +
        new=$(mktemp -d "$cache/$release-new.XXXXXX")
        chmod 755 "$new"
        debootstrap --variant=minbase "$release" "$new" "$address" >"$work/debootstrap.log" 2>&1 || {
            rm -rf "$new"
            skip "debootstrap cannot make a root here: $(tail -1 "$work/debootstrap.log")"
        }
        copy_sources "$new"
        mv -T "$new" "$base"
    fi
    find "$cache/packages" -name '*.deb' -mtime +30 -delete
    exec 9>&-
}

# in_root ROOT COMMAND...: as root of that folder, with /proc, /dev/pts and /dev/shm, and the environment of a login.
in_root()
{
    local root=$1
    shift
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --kill-child sh -c '
        root=$1; shift
        mount --make-rprivate / && mount -t proc proc "$root/proc" && mount -t sysfs sysfs "$root/sys" &&
        mkdir -p "$root/dev/pts" "$root/dev/shm" &&
        mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts" &&
        mount -t tmpfs tmpfs "$root/dev/shm" &&
        exec chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
            TERM=dumb "$@"' sh "$root" "$@" </dev/null
}

as_dev() { in_root "$1" su - dev -c "$2"; }

# fresh NAME: a root of that name, in $root.
fresh()
{
    root=$work/$1
    roots+=("$root")
    rm -rf "$root"
    cp -a --reflink=auto "$base" "$root"
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || true
    cp -a --reflink=auto "$cache"/packages/*.deb "$root/var/cache/apt/archives/" 2>/dev/null || true
    in_root "$root" apt-get -qq update >"$work/update.log" 2>&1 ||
        skip "the registry of Debian packages cannot be reached: $(tail -1 "$work/update.log")"
}

# Keep what apt fetched into that root, each under its own name at once.
keep_packages()
{
    local package name
    for package in "$1"/var/cache/apt/archives/*.deb; do
        name=$cache/packages/${package##*/}
        [ -e "$package" ] || continue # none at all
        if [ -e "$name" ]; then
            touch "$name"
        else
            cp "$package" "$name.$$" && mv "$name.$$" "$name"
        fi
    done
}

# Clean up after each newcomer. Roots are removed; the packages that they fetched are kept.
leave()
{
    local each
    for each in "${roots[@]}"; do
        [ ! -d "$each" ] || keep_packages "$each"
        [ -n "${KEEP-}" ] || rm -rf "$each"
    done
}

# give PACKAGE...: what that root has before the story begins.
give()
{
    in_root "$root" apt-get -qq update &&
        in_root "$root" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=3 install -y \
            --no-install-recommends "$@"
}

# The sources as published: committed files only.
clone_into()
{
    local folder=$1$2
    mkdir -p "${folder%/*}"
    git -c safe.directory='*' clone -q --no-hardlinks . "$folder"
}

# The commands of the README, one a line, without comments.
readme()
{
    awk '/^## / { here = $0 == "## The two commands" } here && /^```sh/ { block = 1; next } /^```/ { block = 0 }
         here && block { sub(/ +#.*/, ""); if ($0 != "") print }' README.md
}

# A run is complete: it printed a table and wrote a report. $1: root, $2: the checkout in it, $3: what was printed.
expect_run()
{
    local report
    report=$(sed -n 's/^report: //p' "$3" | tail -1)
    [ -n "$report" ] || { tail -20 "$3" >&2; fail "make run printed no path of a report"; }
    [ -s "$1$2/$report" ] || fail "make run names $report, which is not there"
    grep -q 'of read ceiling\|vs baseline' "$3" || fail "make run printed no table"
    echo "  $(grep -cvE '^ *$' "$3") lines, report of $(stat -c %s "$1$2/$report") bytes"
}

newcomer_root()
{
    fresh root
    clone_into "$root" /srv/inferometer
    # Whose files they are must not matter: an unpacked archive belongs to somebody else.
    chown -R 12345:12345 "$root/srv/inferometer"
    local command log=$work/root.log
    while read -r command; do
        case "$command" in
        "make check"*)
            [ -n "${CHECK-clang}" ] || continue
            command="make check STAGES=\"${CHECK-clang}\""
            ;;
        "make run"*) command="$command${RUN_FLAGS:+ RUN_FLAGS=\"$RUN_FLAGS\"}" ;;
        esac
        echo "root# ${command//sudo /}"
        in_root "$root" sh -c "cd /srv/inferometer && ${command//sudo /}" >"$log" 2>&1 ||
            { tail -20 "$log" >&2; fail "as root: $command"; }
        case "$command" in
        "make run"*) expect_run "$root" /srv/inferometer "$log" ;;
        "make check"*)
            tail -1 "$log" | grep -qE '^[1-9][0-9]* passed, 0 failed' || fail "make check: $(tail -1 "$log")"
            ;;
        esac
        echo "  $(tail -1 "$log")"
    done < <(readme)
}

add_dev()
{
    in_root "$root" useradd -m -d $home -s /bin/bash dev
    clone_into "$root" $home/inferometer
    in_root "$root" chown -R dev:dev $home
}

newcomer_user()
{
    fresh user
    local command log=$work/user.log
    # Set up by an installer, but missing in a minimal root.
    give sudo >"$log" 2>&1 || { tail -20 "$log" >&2; fail "sudo cannot be installed"; }
    add_dev
    echo 'dev ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/dev"
    while read -r command; do
        case "$command" in "make check"*) continue ;; esac
        echo "dev$ $command"
        as_dev "$root" "cd inferometer && $command" >"$log" 2>&1 || { tail -20 "$log" >&2; fail "as user: $command"; }
        case "$command" in "make run"*) expect_run "$root" $home/inferometer "$log" ;; esac
        echo "  $(tail -1 "$log")"
    done < <(readme)
}

newcomer_plain()
{
    fresh plain
    local log=$work/plain.log line
    give git make >"$log" 2>&1 || { tail -20 "$log" >&2; fail "git and make cannot be installed"; }
    add_dev
    echo "dev$ make"
    ! as_dev "$root" "cd inferometer && make" >"$log" 2>&1 || fail "make built without its packages"
    line=$(grep '^error: packages are missing; as root, run: ' "$log") ||
        { cat "$log" >&2; fail "no line says what to do"; }
    [ "$(wc -l <"$log")" -le 2 ] || { cat "$log" >&2; fail "more than that line, and one of make's, is printed"; }
    echo "  $line"
    echo "root# ${line#*run: }"
    in_root "$root" sh -c "${line#*run: }" >"$log" 2>&1 || { tail -20 "$log" >&2; fail "what the line says fails"; }
    as_dev "$root" "cd inferometer && make && build/inferometer doctor" >"$log" 2>&1 ||
        { tail -20 "$log" >&2; fail "make fails with the packages that it asked for"; }
    echo "  built, and doctor ran"
}

# The .deb of the first root that was built here, or of one made for it.
newcomer_package()
{
    fresh build
    local log=$work/package.log example=/usr/share/doc/inferometer/examples/first-run.yaml
    clone_into "$root" /srv/inferometer
    { give git make && in_root "$root" make -C /srv/inferometer package; } >"$log" 2>&1 ||
        { tail -20 "$log" >&2; fail "make package"; }
    cp "$root"/srv/inferometer/build/*.deb "$deb"
    leave
    fresh package
    cp "$deb" "$root/srv/"
    give /srv/inferometer.deb >"$log" 2>&1 || { tail -20 "$log" >&2; fail "apt does not install the package"; }
    echo "root# inferometer doctor"
    in_root "$root" inferometer doctor >"$log" 2>&1 || { tail -20 "$log" >&2; fail "doctor"; }
    grep -q 'apt-get install' "$log" || { cat "$log" >&2; fail "doctor names no package on a bare machine"; }
    echo "root# inferometer run -c $example"
    in_root "$root" sh -c "cd /srv && inferometer run -c $example --repeats 60 --quiet --out first" >"$log" 2>&1 ||
        { tail -20 "$log" >&2; fail "the installed example"; }
    expect_run "$root" /srv "$log"
    in_root "$root" sh -c 'cd /srv && inferometer verify first' >"$log" 2>&1 || { tail "$log" >&2; fail "verify"; }
    in_root "$root" sh -c 'apt-get -qq remove -y inferometer && ! command -v inferometer' >"$log" 2>&1 ||
        fail "the package does not go away: $(tail -1 "$log")"
    echo "  installed, measured, verified, removed"
}

roots=()
[ $# -gt 0 ] || set -- root user plain package
trap leave EXIT
readme | grep -qx 'make run' || fail "README.md, \"The two commands\", has no make run"
make_base
for who in "$@"; do
    case "$who" in
    root | user | plain | package) echo "== $who"; "newcomer_$who" ;;
    *) fail "nobody is called $who; known are root, user, plain, package" ;;
    esac
done
