#!/bin/sh
# Installs the Debian packages that are missing. Asks dpkg first: quick, and without a network.
missing=
for package; do
	dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^ii' ||
		missing="$missing $package"
done
[ -z "$missing" ] && exit 0
if [ "$(id -u)" != 0 ]; then
	echo "These packages are missing; install them as root:  apt-get install$missing" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -q >/dev/null &&
	apt-get install -q -y --no-install-recommends $missing >/dev/null
