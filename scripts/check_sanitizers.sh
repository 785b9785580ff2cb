#!/usr/bin/env bash
# Runs tests under AddressSanitizer with UndefinedBehaviorSanitizer (asan) and under ThreadSanitizer (tsan).
#   scripts/check_sanitizers.sh [asan|tsan]...   all tests; default: both. An hour or two on two slow cores
#   scripts/check_sanitizers.sh --fast           asan for the modules that read what others wrote
set -euo pipefail
cd "$(dirname "$0")/.."

fast_modules=(base formats text checkpoint)

# PRESET [MODULE...]: default all
check() {
  local preset=$1 targets=() filter=()
  shift
  if [ $# -gt 0 ]; then
    targets=(--target "${@/%/_test}")
    filter=(--tests-regex "^($(IFS='|' && echo "$*"))\\.")
  fi
  cmake --preset "$preset" >/dev/null
  cmake --build --preset "$preset" "${targets[@]}" -- --quiet
  ctest --preset "$preset" --parallel 2 --output-on-failure "${filter[@]}"
}

scripts/install_dependencies.sh
if [ "${1-}" = --fast ]; then
  check asan "${fast_modules[@]}"
else
  for preset in "${@:-asan tsan}"; do
    # shellcheck disable=SC2086  # the default is two words
    for name in $preset; do check "$name"; done
  done
fi
