"""Writes the reference figures that tests hold the engine to: tests/figures/NAME.safetensors.

  python/make_figures.py MODEL_FOLDER OUT.safetensors --reference FILE     reduce independent figures
  python/make_figures.py MODEL_FOLDER OUT.safetensors --prompts IDS.json   compute them here in float64

With --reference, FILE holds what another implementation computed for the same folder (its README lists the
tensors); each value kept is first compared with the float64 model of reference_model.py, and a disagreement
beyond float32's own error is an error. IDS.json is a list of lists of token ids. The file is written to a
staging name and moved in place when whole; its metadata name the weights (CRC-32 of every safetensors file
of the folder in name order) and the tools. Needs numpy and safetensors.
"""
import argparse
import json
import os
import pathlib
import sys
import zlib

import numpy as np
import safetensors
from safetensors.numpy import load_file, save_file

from reference_model import ReferenceModel

GREEDY_TOKENS = 48


def weights_crc(folder: pathlib.Path) -> str:
    crc = 0
    for path in sorted(folder.rglob("*.safetensors")):
        crc = zlib.crc32(path.read_bytes(), crc)
    return f"{crc:08x}"


def sampled_rows(count: int, keep: int) -> np.ndarray:
    """Rows whose stages are kept, evenly spread, the last one always among them."""
    return np.unique(np.linspace(count - 1, 0, min(count, keep)).round().astype(np.int32))


def top(logits: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(-logits, axis=-1, kind="stable")[:, :count]
    return order.astype(np.int32), np.take_along_axis(logits, order, axis=-1).astype(np.float32)


def compute(model: ReferenceModel, ids: np.ndarray) -> dict[str, np.ndarray]:
    """All figures of one prompt, from the float64 model."""
    stages = model.forward(ids)
    logits = model.logits(stages[-1])
    figures = {f"stage{i}": stage for i, stage in enumerate(stages)}
    figures["last_logits"] = logits[-1:]
    figures["top_ids"], figures["top_logits"] = top(logits, 8)
    if model.w.has("mtp.fc.weight") and len(ids) > 1:
        for kind, hidden in (("post", stages[-1]), ("pre", stages[-2])):
            rows = model.mtp(hidden[:-1], ids[1:])
            figures[f"mtp_{kind}_ids"], figures[f"mtp_{kind}_logits"] = top(rows, 4)
    return figures


def greedy(model: ReferenceModel, ids: np.ndarray) -> np.ndarray:
    sequence = list(ids)
    for _ in range(GREEDY_TOKENS):
        sequence.append(int(np.argmax(model.logits(model.forward(sequence)[-1][-1:])[0])))
    return np.array(sequence[len(ids):], np.int32)


def check_greedy(model: ReferenceModel, ids: np.ndarray, continuation: np.ndarray, prompt: str) -> None:
    """Each token given is the model's own first choice after those before it: one pass instead of many."""
    sequence = np.concatenate([ids, continuation])
    logits = model.logits(model.forward(sequence)[-1][len(ids) - 1:-1])
    check(f"{prompt}.greedy", continuation, np.argmax(logits, axis=-1).astype(np.int32))


def check(name: str, given: np.ndarray, exact: np.ndarray) -> None:
    """Float32 evaluation in another order: 1e-5 of the norm in a stage, 1e-4 in a logit, ids equal."""
    if given.dtype == np.int32:
        wrong = np.count_nonzero(given != exact)
        if wrong:
            sys.exit(f"{name}: {wrong} ids differ from the float64 model")
    elif "stage" in name:
        error = np.linalg.norm(given - exact) / np.linalg.norm(exact)
        if error > 1e-5:
            sys.exit(f"{name}: {error:.2e} away from the float64 model")
    elif np.abs(given - exact).max() > 1e-4:
        sys.exit(f"{name}: {np.abs(given - exact).max():.2e} away from the float64 model")


def from_reference(reference: dict[str, np.ndarray], prompt: str, exact: dict[str, np.ndarray]):
    figures = {}
    for name, value in exact.items():
        given = reference[f"{prompt}.{name}"]
        if name == "last_logits":
            given = given[-1:]
        check(f"{prompt}.{name}", given, value)
        figures[name] = given
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--reference", type=pathlib.Path)
    source.add_argument("--prompts", type=pathlib.Path)
    parser.add_argument("--origin", default="", help="what computed the reference, for the metadata")
    parser.add_argument("--no-greedy", action="store_true", help="leave the greedy continuations out")
    parser.add_argument("--rows", type=int, default=9, help="rows per prompt whose stages are kept")
    args = parser.parse_args()

    model = ReferenceModel(args.model)
    reference = load_file(args.reference) if args.reference else None
    if reference is not None:
        count = sum(name.endswith(".ids") for name in reference)
        prompts = [reference[f"p{i}.ids"] for i in range(count)]
    else:
        prompts = [np.array(ids, np.int32) for ids in json.loads(args.prompts.read_text())]

    out = {}
    for i, ids in enumerate(prompts):
        figures = compute(model, ids)
        if reference is not None:
            figures = from_reference(reference, f"p{i}", figures)
        rows = sampled_rows(len(ids), args.rows)
        for name, value in figures.items():
            if name.startswith("stage"):
                value = value[rows]
            out[f"p{i}.{name}"] = value if value.dtype == np.int32 else value.astype(np.float32)
        out[f"p{i}.ids"] = ids
        out[f"p{i}.rows"] = rows
        if reference is not None:
            out[f"p{i}.greedy"] = reference[f"p{i}.greedy"]
            check_greedy(model, ids, out[f"p{i}.greedy"], f"p{i}")
        elif not args.no_greedy:
            out[f"p{i}.greedy"] = greedy(model, ids)
    tool = f"numpy {np.__version__}, safetensors {safetensors.__version__}, float64 model of this folder"
    metadata = {"model": args.model.name, "weights_crc32": weights_crc(args.model), "complete": "yes",
                "tool": f"{args.origin}; checked with {tool}" if args.origin else tool}
    staging = args.out.with_suffix(".staging")
    save_file({name: np.ascontiguousarray(value) for name, value in out.items()}, staging, metadata)
    os.replace(staging, args.out)
    print(f"{args.out}: {args.out.stat().st_size} bytes, {len(prompts)} prompts")


if __name__ == "__main__":
    main()
