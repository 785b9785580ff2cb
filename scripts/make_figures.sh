#!/usr/bin/env bash
# Makes everything that depends on the embedded models' weights again, from a folder of models and one of
# independent reference figures.   scripts/make_figures.sh MODELS REFERENCE
set -euo pipefail
cd "$(dirname "$0")/.."
models=${1:?usage: scripts/make_figures.sh MODELS REFERENCE}
reference=${2:?usage: scripts/make_figures.sh MODELS REFERENCE}

for name in tiny-dense-mlx-4bit tiny-moe-mlx-4bit; do
  if [ "$(realpath "$models")" != "$(realpath models)" ]; then
    rm -rf "models/$name"
    cp -r "$models/$name" models/
    chmod -R u+w "models/$name"
  fi
  python3 python/make_figures.py "models/$name" "tests/figures/$name.safetensors" \
    --reference "$reference/$name.safetensors" --origin "transformers 5.17, PyTorch 2.11, float32"
done
