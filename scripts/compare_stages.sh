#!/usr/bin/env bash
# Prints what `verify stages` and `verify mtp` find on the embedded models: ours in both precisions, and mlx-lm, each
# against float64; then both hidden conventions of the draft head.
#   scripts/compare_stages.sh PYTHON [FIGURES] > docs/comparisons/stages.txt
# PYTHON has numpy, safetensors and mlx-lm. FIGURES is a folder of another program's figures (python/stage_dump.py).
set -euo pipefail
cd "$(dirname "$0")/.."
python=${1:?usage: scripts/compare_stages.sh PYTHON [FIGURES]}
figures=${2:-}
lockstep=${LOCKSTEP:-build/release/lockstep}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

show() {
  echo "\$ lockstep $*" | sed "s|$work/||g"
  "$lockstep" "$@" 2>/dev/null | sed "s|$work/||g" || true
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
  "$python" python/stage_dump.py "$model" "$work/mlx-lm.safetensors" --ids "$work/p1.ids" --with mlx-lm >/dev/null
  echo "== $name, prompt 1 of tests/figures"
  echo
  for precision in full int8; do
    show verify stages "$model" --precision $precision --float64 --ids "$work/p1.ids"
  done
  for file in full int8 mlx-lm; do
    show verify stages "$work/$file.safetensors" "$work/float64.safetensors"
  done
  if [ -n "$figures" ]; then
    "$python" python/stage_dump.py "$model" "$work/transformers.safetensors" --with figures --prompt 1 \
      --figures "$figures/$name.safetensors" --origin "transformers 5.17, PyTorch 2.11" >/dev/null
    "$python" python/stage_dump.py "$model" "$work/transformers-draft.safetensors" --with figures --prompt 1 --draft \
      --figures "$figures/$name.safetensors" --origin "transformers 5.17, PyTorch 2.11" >/dev/null
    for file in full int8; do show verify stages "$work/$file.safetensors" "$work/transformers.safetensors"; done
    show verify mtp "$model" "$work/transformers-draft.safetensors"
  fi
  show verify mtp "$model" "$work/float64.safetensors"
  rm -f "$work"/*
done
