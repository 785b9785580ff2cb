#!/usr/bin/env bash
# Runs all tests under AddressSanitizer with UndefinedBehaviorSanitizer, then under ThreadSanitizer. Slow: run it
# before a release or after touching memory or threads.   scripts/check_sanitizers.sh [asan|tsan ...]
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_dependencies.sh
for preset in "${@:-asan tsan}"; do
  for name in $preset; do
    cmake --preset "$name" >/dev/null
    cmake --build --preset "$name" -- --quiet
    ctest --preset "$name" --parallel 2 --output-on-failure
  done
done
