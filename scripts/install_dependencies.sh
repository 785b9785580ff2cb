#!/usr/bin/env bash
# Installs what building and testing need, as Debian 12 packages it. The one list of dependencies.
#   scripts/install_dependencies.sh [fuzz]     fuzz: what scripts/fuzz.sh needs besides
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache mold git python3
  libboost1.81-dev  # JSON (header-only)
  libcli11-dev      # command line
  libedit-dev       # line editing in chat
  libfmt-dev        # formatting (header-only)
  libgtest-dev      # tests
  libssl-dev openssl  # TLS and digests; a certificate for the tests
  libpcre2-dev      # pre-tokenisers other than the family's own
  libxxhash-dev     # hashes of files and contents (header-only)
  clang-format-19   # the formatting check
)

if [ "${1-}" = fuzz ]; then
  packages+=(clang-14 libclang-rt-14-dev)  # libFuzzer
fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if [ "${#missing[@]}" -eq 0 ]; then exit 0; fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "these packages are missing and neither root nor sudo is at hand: ${missing[*]}" >&2
    exit 3
  }
  as_root=(sudo)
fi
echo "installing ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  cat "$log" >&2
  exit 3
fi
