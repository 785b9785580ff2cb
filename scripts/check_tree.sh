#!/usr/bin/env bash
# Checks of the tree and of a build that are not tests: formatting, module dependencies, file sizes, what the
# objects may link and how they were compiled.   scripts/check_tree.sh BUILD_DIR
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: scripts/check_tree.sh BUILD_DIR}

git ls-files -z '*.h' '*.cc' '*.cu' '*.cuh' | xargs -0 clang-format-19 --dry-run --Werror
python3 scripts/check_includes.py
python3 scripts/report_sizes.py --check
python3 scripts/check_objects.py "$build"
