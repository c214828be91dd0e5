#!/usr/bin/env bash
# Do `make crawl` and the tests work in a minimal Debian with another CPython, with the newest and the oldest Scrapy?
#
#   tests/other_pythons.sh [SUITE...]      trixie (CPython 3.13) and sid (3.14) unless told otherwise
#
# Needs root, debootstrap, and the network for packages. The systems stay in .cache/debian for the next time.
set -euo pipefail
cd "$(dirname "$0")/.."

OLDEST=2.17.0
MIRROR=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
PACKAGES=ca-certificates,python3,python3-venv,make,git
ROOTS=$PWD/.cache/debian
BUNDLE=/etc/ssl/certs/ca-certificates.crt

if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
    echo "other Pythons: NOT RUN, this needs root and debootstrap"
    exit 0
fi

inside() { # ROOT COMMAND: in the clone of the project, with nothing of this environment but where packages come from
    local root=$1 kept=()
    while IFS= read -r pair; do kept+=("$pair"); done < <(env | grep -E '^(PIP_[A-Z_]+|[a-z]+_proxy)=' || true)
    env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 SSL_CERT_FILE=$BUNDLE PIP_CERT=$BUNDLE \
        REQUESTS_CA_BUNDLE=$BUNDLE "${kept[@]}" chroot "$root" sh -c "cd /root/project && $2" </dev/null
}

for suite in "${@:-trixie sid}"; do
    for name in $suite; do
        root=$ROOTS/$name
        if [ ! -e "$root/.made" ]; then
            mkdir -p "$root"
            debootstrap --variant=minbase --include=$PACKAGES "$name" "$root" "$MIRROR" >"$root.log"
            touch "$root/.made"
        fi
        mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
        trap 'umount "$root/proc"' EXIT
        cp -L /etc/resolv.conf "$root/etc/resolv.conf"
        [ ! -e $BUNDLE ] || cp -L $BUNDLE "$root$BUNDLE"
        rm -rf "$root/root/project"
        git clone -q . "$root/root/project"
        echo "== $name: $(inside "$root" 'python3 --version'), newest Scrapy"
        inside "$root" 'make crawl && make test'
        echo "== $name: $(inside "$root" 'python3 --version'), Scrapy $OLDEST"
        inside "$root" ".venv/bin/python -m pip install -q Scrapy==$OLDEST && .venv/bin/python -m pytest -q -n 2 -m 'not long'"
        umount "$root/proc"
        trap - EXIT
    done
done
echo "other Pythons: passed"
