#!/usr/bin/env bash
# Installs what is needed, builds everything and passes all tests.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_dependencies.sh
cmake --preset release -DLOCKSTEP_BUILD_TESTS=ON >/dev/null
cmake --build --preset release -- --quiet
scripts/check_tree.sh build/release
ctest --preset release --parallel 2 --output-on-failure --quiet --output-log build/release/tests.log \
  || { cat build/release/tests.log; exit 1; }
tail -n 3 build/release/tests.log
