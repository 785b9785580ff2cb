"""Writes the stages of another program's forward pass in the layout of `lockstep verify stages`.

  python/stage_dump.py MODEL OUT.safetensors --ids IDS --with mlx-lm
  python/stage_dump.py MODEL OUT.safetensors --ids IDS --with transformers     float32, on exactly decoded weights
  python/stage_dump.py MODEL OUT.safetensors --ids IDS --with float64          reference_model.py, draft head included
  python/stage_dump.py MODEL OUT.safetensors --with figures --figures FILE --prompt N --origin "transformers 5.17, ..."

IDS holds token ids apart by spaces or commas. --positions keeps some, as 0,3,7 (default: all). `figures` converts what
another implementation computed for the folder (tensors pN.ids, pN.stage0 ..., pN.last_logits, pN.mtp_post_last ...):
positions are those of the last logits, so that every stage has a row for each. The layout is written down in
src/verify/stages/dump.h. mlx-lm needs mlx-cpu and mlx-lm, transformers needs PyTorch; all need numpy and safetensors.
"""
import argparse
import importlib.metadata
import json
import os
import pathlib
import struct
import zlib

import numpy as np

from make_figures import weights_crc


def is_draft(name):
    return name.startswith(("draft.", "mtp_"))


def rows_of(name, positions, count):
    """Positions that have a row in this stage: no token follows the last id."""
    return [p for p in positions if not is_draft(name) or p + 1 < count]


def to_bytes(identity, ids, positions, stages):
    tensors = {"ids": np.asarray(ids, np.int32), "positions": np.asarray(positions, np.int32)}
    tensors |= {name: np.ascontiguousarray(rows, np.float32) for name, rows in stages.items()}
    header = {"__metadata__": {"format": "lockstep-stages-1", **identity, "bytes": "0" * 16, "crc32": "0" * 8}}
    end = 0
    for name, tensor in tensors.items():
        kind = "I32" if tensor.dtype == np.int32 else "F32"
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [end, end + tensor.nbytes]}
        end += tensor.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    file = struct.pack("<Q", len(text)) + text + b"".join(t.tobytes() for t in tensors.values())
    # The metadata stand first, so the first match is theirs.
    file = file.replace(b'"bytes": "' + b"0" * 16, b'"bytes": "%016d' % len(file), 1)
    return file.replace(b'"crc32": "00000000', b'"crc32": "%08x' % zlib.crc32(file), 1)


def write(path, identity, ids, positions, stages):
    staging = path.with_name(path.name + ".partial")
    staging.write_bytes(to_bytes(identity, ids, positions, stages))
    os.replace(staging, path)
    print(f"{path}: {path.stat().st_size} bytes, {len(stages)} stages at {len(positions)} of {len(ids)} positions")


# A layer's parts and their stages: as the family's reference implementations name them.
BRANCHES = {"input_layernorm": "mixer_norm", "linear_attn": "mixer_branch", "self_attn": "mixer_branch",
            "post_attention_layernorm": "ffn_norm", "mlp": "ffn_branch"}
PROJECTIONS = ("in_proj_qkv", "in_proj_z", "in_proj_a", "in_proj_b", "q_proj", "k_proj", "v_proj")


class MlxTap:
    """Stands in the place of a module and keeps what it gives."""

    def __init__(self, module, name, kept):
        self.module, self.name, self.kept = module, name, kept

    def __call__(self, *args, **keywords):
        out = self.module(*args, **keywords)
        self.kept[self.name] = out
        return out

    def __getattr__(self, name):
        return getattr(self.module, name)


def with_mlx_lm(folder, ids):
    import mlx.core as mx
    from mlx_lm.utils import load_model

    model, _ = load_model(folder)
    text = model.language_model.model
    kept = {}
    for i, layer in enumerate(text.layers):
        mixer = "linear_attn" if layer.is_linear else "self_attn"
        inner = {name: name for name in PROJECTIONS}
        # Modules are dictionaries of their parts: replaced there, calls find the tap.
        for parent, table in ((getattr(layer, mixer), inner), (layer, BRANCHES)):
            for attribute, stage in table.items():
                if attribute in parent:
                    parent[attribute] = MlxTap(parent[attribute], f"layers.{i}.{stage}", kept)
        text.layers[i] = MlxTap(layer, f"layers.{i}.layer", kept)
    text["embed_tokens"] = MlxTap(text["embed_tokens"], "embed", kept)
    text["norm"] = MlxTap(text["norm"], "final_norm", kept)
    kept["logits"] = model(mx.array([ids]))
    stages = {name: np.array(rows[0].astype(mx.float32)) for name, rows in kept.items()}
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("mlx-lm", "mlx", "mlx-cpu"))
    return stages, versions, "bf16 activations"


def decoded_state(folder, shapes):
    """The decoded weights under the names of transformers' text model, in the shapes it wants."""
    from reference_model import Weights

    weights = Weights(folder)
    state = {}
    for name, shape in shapes.items():
        module = name.removesuffix(".weight")
        if name.endswith("norm.weight") and ".linear_attn." not in name:
            state[name] = weights.norm(module) - 1.0  # kept as what is added to one
        elif len(shape) < 2 or "conv1d" in name:
            state[name] = weights.vector(name).reshape(shape)
        elif name.endswith("experts.gate_up_proj"):
            parts = [weights.matrix(f"{module[:-len('experts.gate_up_proj')]}switch_mlp.{part}_proj", shape[-1])
                     for part in ("gate", "up")]
            state[name] = np.concatenate(parts, axis=1)
        elif name.endswith("experts.down_proj"):
            state[name] = weights.matrix(module.replace("experts.", "switch_mlp."), shape[-1])
        else:
            state[name] = weights.matrix(module, shape[-1])
    return state


def with_transformers(folder, ids):
    import torch
    import transformers

    config = transformers.AutoConfig.from_pretrained(folder).get_text_config()
    config._attn_implementation = "eager"
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    tied = model.config.tie_word_embeddings
    shapes = {name: tuple(value.shape) for name, value in model.state_dict().items()
              if not (tied and name == "lm_head.weight")}
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    state = {name: torch.tensor(value, dtype=torch.float32) for name, value in decoded_state(folder, shapes).items()}
    missing = model.load_state_dict(state, strict=False).missing_keys
    if [name for name in missing if not (tied and name == "lm_head.weight")]:
        raise SystemExit(f"no weights for {missing}")
    kept = {}

    def keep(module, stage):
        def hook(_module, _inputs, output):
            kept[stage] = output[0] if isinstance(output, tuple) else output
        module.register_forward_hook(hook)

    text = model.model
    keep(text.embed_tokens, "embed")
    keep(text.norm, "final_norm")
    for i, layer in enumerate(text.layers):
        keep(layer, f"layers.{i}.layer")
        for attribute, stage in BRANCHES.items():
            if hasattr(layer, attribute):
                keep(getattr(layer, attribute), f"layers.{i}.{stage}")
        mixer = layer.linear_attn if hasattr(layer, "linear_attn") else layer.self_attn
        for name in PROJECTIONS:
            if hasattr(mixer, name):
                keep(getattr(mixer, name), f"layers.{i}.{name}")
    with torch.no_grad():
        kept["logits"] = model(torch.tensor([ids])).logits
    stages = {name: rows.reshape(len(ids), -1).float().numpy() for name, rows in kept.items()}
    return stages, f"transformers {transformers.__version__}, PyTorch {torch.__version__}", "float32"


def with_float64(folder, ids):
    from reference_model import ReferenceModel

    model = ReferenceModel(folder)
    rows = model.forward(ids)
    stages = {"embed": rows[0], "final_norm": rows[-1]}
    stages |= {f"layers.{i}.layer": rows[i + 1] for i in range(model.layers)}
    stages["logits"] = model.logits(rows[-1])
    if model.w.has("mtp.fc.weight") and len(ids) > 1:
        stages["mtp_post.logits"] = model.mtp(rows[-1][:-1], ids[1:])
        stages["mtp_pre.logits"] = model.mtp(rows[-2][:-1], ids[1:])
    return stages, f"python/reference_model.py, numpy {np.__version__}", "float64, kept as float32"


def with_figures(path, prompt):
    """(ids, positions, stages): the rows of the last logits."""
    from safetensors.numpy import load_file

    figures = {name.split(".", 1)[1]: tensor for name, tensor in load_file(path).items()
               if name.startswith(f"p{prompt}.")}
    ids = figures["ids"].tolist()
    count = len(ids)
    # The draft head's last two rows are at count - 3 and count - 2.
    positions = list(range(count - len(figures["last_logits"]), count))
    last_stage = max(int(name[5:]) for name in figures if name.startswith("stage"))
    stages = {"embed": figures["stage0"][positions], "final_norm": figures[f"stage{last_stage}"][positions],
              "logits": figures["last_logits"]}
    stages |= {f"layers.{i}.layer": figures[f"stage{i + 1}"][positions] for i in range(last_stage - 1)}
    return ids, positions, stages, figures


def read_ids(path):
    return [int(word) for word in path.read_text().replace(",", " ").replace("[", " ").replace("]", " ").split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--with", dest="tool", required=True, choices=("mlx-lm", "transformers", "float64", "figures"))
    parser.add_argument("--ids", type=pathlib.Path)
    parser.add_argument("--positions")
    parser.add_argument("--figures", type=pathlib.Path)
    parser.add_argument("--prompt", type=int, default=0)
    parser.add_argument("--draft", action="store_true", help="of figures: the draft head's rows, and nothing else")
    parser.add_argument("--origin", default="unknown")
    args = parser.parse_args()
    config = json.loads((args.model / "config.json").read_text())
    if args.tool == "figures":
        ids, positions, stages, figures = with_figures(args.figures, args.prompt)
        producer, precision = args.origin, "float32"
        if args.draft:
            positions = [len(ids) - 3, len(ids) - 2]
            stages = {f"mtp_{kind}.logits": figures[f"mtp_{kind}_last"] for kind in ("post", "pre")}
    else:
        ids = read_ids(args.ids)
        run = {"mlx-lm": with_mlx_lm, "transformers": with_transformers, "float64": with_float64}
        stages, producer, precision = run[args.tool](args.model, ids)
        positions = sorted({int(p) for p in args.positions.split(",")}) if args.positions else list(range(len(ids)))
        stages = {name: rows[rows_of(name, positions, len(ids))] for name, rows in stages.items()}
    identity = {"producer": producer, "source": "other", "precision": precision, "weights": weights_crc(args.model),
                "vocab": str(config.get("text_config", config)["vocab_size"])}
    write(args.out, identity, ids, positions, stages)


if __name__ == "__main__":
    main()
