#!/usr/bin/env bash
# Prints what `verify stages` and `verify mtp` find on the embedded models: ours in both precisions, mlx-lm and
# transformers, each against float64; then both hidden conventions of the draft head. The table of every position's
# margins is left out.
#   scripts/compare_stages.sh PYTHON > docs/comparisons/stages.txt
# PYTHON has numpy, safetensors, mlx-lm with mlx-cpu, and transformers with PyTorch.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${1:?usage: scripts/compare_stages.sh PYTHON}
lockstep=${LOCKSTEP:-build/release/lockstep}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

show() {
  echo "\$ lockstep $*" | sed "s|$work/||g"
  "$lockstep" "$@" 2>/dev/null | sed -E "s|$work/||g; /^position +A/d; /^ +[0-9]+ +[0-9]+ +[0-9.e-]+ +[0-9]+ /d" || true
  echo
}

for name in tiny-dense-mlx-4bit tiny-moe-mlx-4bit; do
  model=models/$name
  "$python" - "$name" "$work" <<'END'
import sys
from safetensors.numpy import load_file
ids = load_file(f"tests/figures/{sys.argv[1]}.safetensors")["p1.ids"]
open(f"{sys.argv[2]}/p1.ids", "w").write(" ".join(map(str, ids)))
END
  for precision in full int8; do
    "$lockstep" verify stages "$model" --precision $precision --ids "$work/p1.ids" --dump "$work/$precision.safetensors" 2>/dev/null
  done
  "$python" python/stage_dump.py "$model" "$work/float64.safetensors" --ids "$work/p1.ids" --with float64 >/dev/null
  for tool in mlx-lm transformers; do
    "$python" python/stage_dump.py "$model" "$work/$tool.safetensors" --ids "$work/p1.ids" --with $tool >/dev/null 2>&1
  done
  echo "== $name, prompt 1 of tests/figures"
  echo
  for precision in full int8; do
    show verify stages "$model" --precision $precision --float64 --ids "$work/p1.ids"
  done
  for file in full int8 mlx-lm transformers; do
    show verify stages "$work/$file.safetensors" "$work/float64.safetensors"
  done
  show verify mtp "$model" "$work/float64.safetensors"
  rm -f "$work"/*
done
