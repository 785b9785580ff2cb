#!/usr/bin/env bash
# Installs what is needed, builds Lockstep and lets the embedded model answer a prompt.
#   scripts/quickstart.sh ["prompt"]
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_dependencies.sh
cmake --preset release -DLOCKSTEP_BUILD_TESTS=OFF >/dev/null
cmake --build --preset release --target lockstep
exec build/release/lockstep run tiny --temperature 0 "${1:-What does \`mount\` do?}"
