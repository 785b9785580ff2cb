#!/usr/bin/env bash
# Holds the instruction sets that this processor may not have to the bits of those it has: NEON, cross-compiled for
# AArch64 and run under qemu-user, and AVX-512, emulated by SIMDe in objects for AVX2. Kernel tests, model tests and
# `verify exact` run in each, and the logits of both embedded models must hash to the same as here.
#   scripts/check_isas.sh [neon] [avx512]      default: both. Debian on x86-64; an hour on two slow cores
# Exit code: 0 green, 1 red, 2 usage, 3 a prerequisite is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

need() {
  local missing=()
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  [ "${#missing[@]}" -eq 0 ] || { echo "check_isas: install these first: ${missing[*]}" >&2; exit 3; }
}

# PRESET [RUNNER...]
check() {
  local preset=$1 build=build/$1 tests=(kernels model verify)
  shift
  cmake --preset "$preset" >/dev/null || exit 3
  cmake --build --preset "$preset" --target lockstep "${tests[@]/%/_test}" -- --quiet || exit 3
  for module in "${tests[@]}"; do
    "$@" "$build/src/$module/${module}_test" --gtest_brief=1 || red=1
  done
  for model in tiny tiny-moe; do
    for precision in int8 full; do
      local here there
      here=$(logits "$model" "$precision" build/release/lockstep)
      there=$(logits "$model" "$precision" "$@" "$build/lockstep")
      if [ "$here" = "$there" ]; then
        echo "clause $preset, $model, $precision: PASS (logits $there)"
      else
        echo "clause $preset, $model, $precision: FAIL (logits $there, want $here)"
        red=1
      fi
    done
  done
}

# MODEL PRECISION PROGRAM...: the hash, or what was printed instead
logits() {
  local model=$1 precision=$2
  shift 2
  "$@" verify exact "$model" --quick --precision "$precision" --json 2>&1 |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["logits_hash"])' 2>&1 | tail -n 1
}

red=0
scripts/install_dependencies.sh
cmake --preset release >/dev/null
cmake --build --preset release --target lockstep -- --quiet
for set in "${@:-neon avx512}"; do
  for name in $set; do
    case $name in
      neon)
        need g++-aarch64-linux-gnu qemu-user-static lib{fmt,gtest,pcre2,edit,bsd,md,ncurses,ssl}-dev:arm64
        check aarch64 qemu-aarch64-static
        ;;
      avx512)
        need libsimde-dev
        check emulated-avx512
        ;;
      *)
        echo "usage: scripts/check_isas.sh [neon] [avx512]" >&2
        exit 2
        ;;
    esac
  done
done
exit "$red"
