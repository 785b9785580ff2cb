#!/bin/sh
# The kernel contract at every shape of the embedded and the released models, by name: no weights are needed.
#   scripts/check_contract.sh [BUILD_FOLDER] [NAME...]
# Takes minutes to an hour, by the machine; about 6 GB of memory at the most (a head of 248,320 rows, one matrix at a
# time). Each report is kept in BUILD_FOLDER/contract/NAME.txt. Exit code: 0 all green, 1 one is red.
set -u
build=${1:-build/release}
[ $# -gt 0 ] && shift
[ $# -eq 0 ] && set -- tiny tiny-moe 0.8b 2b 4b 9b 27b 35b-a3b
mkdir -p "$build/contract" || exit 3
[ -x "$build/lockstep" ] || { echo "$build/lockstep is not built" >&2; exit 3; }
red=0
for name in "$@"; do
  case $name in
    tiny*) model=$name ;;
    *) model="--shape $name" ;;
  esac
  started=$(date +%s)
  # shellcheck disable=SC2086  # --shape and its value are two words
  "$build/lockstep" verify kernels $model > "$build/contract/$name.txt" || red=1
  grep -E '^G[1-5]  (FAIL|GREEN)' "$build/contract/$name.txt"
  echo "$name: $(tail -n 1 "$build/contract/$name.txt") ($(($(date +%s) - started)) s)"
done
exit $red
