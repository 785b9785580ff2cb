#!/usr/bin/env bash
# Makes tests/figures/variants/ again: float64 figures of the synthetic checkpoints of src/model/testing/variants.h.
set -euo pipefail
cd "$(dirname "$0")/.."

cmake --build --preset release --target write_variants
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build/release/src/model/write_variants "$work"
mkdir -p tests/figures/variants
rm -f tests/figures/variants/*
echo '[[5, 300, 17, 17, 42, 0, 319, 128, 64, 7, 250, 33, 91, 200, 1, 2, 3, 150, 77, 310, 222, 9, 5, 61]]' >"$work/ids.json"
for folder in "$work"/*/; do
  name=$(basename "$folder")
  python3 python/make_figures.py "$folder" "tests/figures/variants/$name.safetensors" \
    --prompts "$work/ids.json" --no-greedy --rows 2
done
