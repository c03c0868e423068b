#!/bin/sh
# Installs Z3, which some tests of pta ask for a second opinion, if it is missing
# and this machine can install Debian packages. Those tests are skipped without it.
set -u
command -v z3 >/dev/null && exit 0
if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
	echo "z3 is missing: the tests that ask it are skipped (install it with: apt-get install z3)"
	exit 0
fi
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
get() { apt-get install -y --no-install-recommends z3 >>"$log" 2>&1; }
get || { apt-get update >>"$log" 2>&1 && get; } || {
	tail -n 3 "$log"
	echo "apt-get could not install z3: the tests that ask it are skipped"
}
