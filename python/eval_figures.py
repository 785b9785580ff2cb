"""Writes tests/figures/eval.json: the perplexity of the embedded models over tests/figures/eval.txt, in float64.

  python/eval_figures.py > tests/figures/eval.json

Windows as src/verify/eval/eval.h cuts them. Needs numpy, safetensors and tokenizers.
"""
import importlib.metadata
import json
import pathlib

import numpy as np
from tokenizers import Tokenizer

from reference_model import ReferenceModel

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ("tiny-dense-mlx-4bit", "tiny-moe-mlx-4bit")
WINDOW, STRIDE = 48, 32


def mean_loss(model, ids, token_limit):
    """Every id but the first is scored by the first window that holds it with an id before it."""
    losses, first_scored, begin = [], 1, 0
    while first_scored < len(ids):
        end = min(begin + WINDOW, len(ids))
        logits = model.logits(model.forward(ids[begin:end])[-1])[:, :token_limit]
        log_p = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
        losses += [-log_p[t - 1 - begin, ids[t]] for t in range(first_scored, end)]
        first_scored, begin = end, begin + STRIDE
    return float(np.mean(losses))


def main():
    text = (ROOT / "tests/figures/eval.txt").read_text()
    tokenizer = Tokenizer.from_file(str(ROOT / "models" / MODELS[0] / "tokenizer.json"))
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    figures = {"tool": f"python/eval_figures.py, numpy {np.__version__}, tokenizers "
                       f"{importlib.metadata.version('tokenizers')}",
               "window": WINDOW, "stride": STRIDE, "ids": ids, "models": {}}
    for name in MODELS:
        model = ReferenceModel(ROOT / "models" / name)
        loss = mean_loss(model, np.array(ids), len(model.embedding))
        figures["models"][name] = {"mean_loss": loss, "perplexity": float(np.exp(loss))}
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
