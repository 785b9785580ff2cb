"""Compares mlx-lm with the engine on the embedded models: same folder, same token ids, greedy.

  python/compare_mlx_lm.py [--lockstep build/release/lockstep] > docs/comparisons/mlx-lm.txt

For every prompt of tests/figures/: how far mlx-lm's logits (its own bf16 arithmetic) are from the float32
figures, how often its first choice agrees, and where greedy continuations of mlx-lm, of the engine in `full`
and in `int8`, and of the figures part. mlx-lm drops the draft head; it is not compared here. Needs mlx,
mlx-cpu, mlx-lm, numpy, safetensors.
"""
import argparse
import importlib.metadata
import json
import pathlib
import subprocess
import tempfile

import mlx.core as mx
import numpy as np
from mlx_lm.models.cache import make_prompt_cache
from mlx_lm.utils import load_model
from safetensors.numpy import load_file

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ("tiny-dense-mlx-4bit", "tiny-moe-mlx-4bit")
GREEDY_TOKENS = 48


def mlx_greedy(model, ids):
    cache = make_prompt_cache(model)
    logits = model(mx.array([ids]), cache=cache)[0, -1]
    reply = []
    for _ in range(GREEDY_TOKENS):
        reply.append(int(mx.argmax(logits).item()))
        logits = model(mx.array([[reply[-1]]]), cache=cache)[0, -1]
    return reply


def lockstep_greedy(binary, folder, ids, precision):
    with tempfile.NamedTemporaryFile("w", suffix=".ids") as file:
        file.write(" ".join(map(str, ids)))
        file.flush()
        out = subprocess.run([binary, "run", str(folder), "--ids", file.name, "--temperature", "0", "--json",
                              "--precision", precision, "--max-tokens", str(GREEDY_TOKENS)],
                             check=True, capture_output=True, text=True).stdout
    return json.loads(out)["ids"]


def same_start(a, b):
    """Tokens before the first difference. A reply that stopped at an end-of-text id is compared up to there."""
    count = min(len(a), len(b))
    return next((i for i in range(count) if a[i] != b[i]), count)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lockstep", default=str(ROOT / "build/release/lockstep"))
    args = parser.parse_args()
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("mlx-lm", "mlx", "mlx-cpu"))
    print(f"python/compare_mlx_lm.py with {versions}")
    print("logits of mlx-lm (bf16) against float32 figures; tokens before greedy continuations part from the "
          f"figures' ({GREEDY_TOKENS} tokens; a reply of the engine ends at its stop id)")
    for name in MODELS:
        folder = ROOT / "models" / name
        model, _ = load_model(folder)
        figures = load_file(ROOT / "tests/figures" / f"{name}.safetensors")
        count = sum(key.endswith(".ids") and "." in key and key.count("_") == 0 for key in figures)
        for i in range(count):
            ids = figures[f"p{i}.ids"].tolist()
            want = figures[f"p{i}.greedy"].tolist()
            logits = np.array(model(mx.array([ids]))[0].astype(mx.float32))
            top = np.take_along_axis(logits, figures[f"p{i}.top_ids"], axis=-1)
            error = np.abs(top - figures[f"p{i}.top_logits"])
            agree = np.mean(np.argmax(logits, axis=-1) == figures[f"p{i}.top_ids"][:, 0])
            parts = [f"{kind} {same_start(reply, want)}/{min(len(reply), len(want))}" for kind, reply in (
                ("mlx-lm", mlx_greedy(model, ids)),
                ("full", lockstep_greedy(args.lockstep, folder, ids, "full")),
                ("int8", lockstep_greedy(args.lockstep, folder, ids, "int8")))]
            print(f"{name} p{i}: {len(ids):3} rows; logits of the top 8: median {np.median(error):.4f}, worst "
                  f"{error.max():.4f}; first choice agrees {100 * agree:.1f} %; greedy: {', '.join(parts)}")


if __name__ == "__main__":
    main()
