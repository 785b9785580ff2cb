#!/usr/bin/env python3
"""Stage error of the two ways of docs/numerics.md, rule 14, by simulation on a small checkpoint.

Every product of the forward pass is replaced by what the CUDA kernels compute: bf16 activations and either
exact integers (a: one sum per group of 64, scaled in float32; biases times the group's activation sum, kept as
two bf16) or weights rounded to bf16 (b); sums in float32. Routers, the shared expert's gate and the DeltaNet
a and b projections keep float32 activations (rule 3). With --attention also q, k, v and the softmax weights
are rounded to bf16. Each layer is fed the float64 stream (own error of a stage) and, once more, its own
(chained). Prints the relative 2-norm error, median over tokens, of each stage.

    python/simulate_gpu_products.py MODEL_FOLDER REFERENCE.safetensors [--attention]

REFERENCE holds the prompts as pN.ids. Needs numpy (used with 2.3).
"""
import argparse
import pathlib

import numpy as np

from reference_model import ReferenceModel, Weights, _read_safetensors, _unpack, rms_norm, sigmoid

EXACT_INPUT = ("mlp.gate", "shared_expert_gate", "in_proj_a", "in_proj_b")


def bf16(x):
    bits = np.ascontiguousarray(x, dtype=np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).view(np.float32)


class Product:
    """A stored matrix (or a stack of them); `x @ product.T` is what a kernel computes."""

    __array_ufunc__ = None  # numpy then leaves `x @ self` to __rmatmul__

    def __init__(self, q, scales, biases, group, way):
        self.q, self.scales, self.biases, self.group, self.way = q, scales, biases, group, way

    @property
    def T(self):
        return self

    def __getitem__(self, index):
        return Product(self.q[index], self.scales[index], self.biases[index], self.group, self.way)

    def __rmatmul__(self, x):
        x = bf16(x)
        if self.way == "b":
            weight = self.q * np.repeat(self.scales, self.group, -1) + np.repeat(self.biases, self.group, -1)
            return (x @ bf16(weight).T).astype(np.float64)
        total = np.zeros((len(x), len(self.q)), np.float32)
        sums = x.reshape(len(x), -1, self.group).sum(-1, dtype=np.float32)
        high = bf16(sums)
        halves = high.astype(np.float64) + bf16(sums - high)
        for g in range(self.scales.shape[-1]):
            columns = slice(g * self.group, (g + 1) * self.group)
            partial = x[:, columns] @ self.q[:, columns].astype(np.float32).T
            total = (partial.astype(np.float64) * self.scales[:, g] + total).astype(np.float32)
        return total.astype(np.float64) + halves @ self.biases.T


class SimulatedWeights(Weights):
    def __init__(self, folder, way):
        super().__init__(folder)
        self.way = way
        self.products = {}

    def matrix(self, module, cols):
        exact = super().matrix(module, cols)
        if module + ".scales" not in self.raw or module.endswith(EXACT_INPUT):
            return exact
        if module not in self.products:
            words, scales = self.raw[module + ".weight"], self.raw[module + ".scales"].astype(np.float64)
            q = _unpack(words, 32 * words.shape[-1] // cols, cols)
            self.products[module] = Product(q, scales, self.raw[module + ".biases"].astype(np.float64),
                                            cols // scales.shape[-1], self.way)
        return self.products[module]


class SimulatedModel(ReferenceModel):
    def __init__(self, folder, way, attention):
        super().__init__(folder)
        self.w = SimulatedWeights(pathlib.Path(folder), way)
        self.round_attention = attention

    def attention(self, x, prefix):
        if not self.round_attention:
            return super().attention(x, prefix)
        t = self.w.text
        heads, kv_heads, dim = t["num_attention_heads"], t["num_key_value_heads"], t["head_dim"]
        rows = len(x)
        qg = (x @ self.w.matrix(prefix + "q_proj", self.hidden).T).reshape(rows, heads, 2 * dim)
        k = (x @ self.w.matrix(prefix + "k_proj", self.hidden).T).reshape(rows, kv_heads, dim)
        v = bf16((x @ self.w.matrix(prefix + "v_proj", self.hidden).T).reshape(rows, kv_heads, dim))
        q = bf16(self.rotate(rms_norm(qg[..., :dim], self.w.norm(prefix + "q_norm"), self.eps)))
        k = bf16(self.rotate(rms_norm(k, self.w.norm(prefix + "k_norm"), self.eps)))
        mask = np.triu(np.full((rows, rows), -np.inf), 1)
        out = np.empty((rows, heads, dim))
        for h in range(heads):
            g = h // (heads // kv_heads)
            score = q[:, h].astype(np.float64) @ k[:, g].T / np.sqrt(dim) + mask
            p = np.exp(score - score.max(axis=-1, keepdims=True))  # one group: the prompts are short
            out[:, h] = bf16(p).astype(np.float64) @ v[:, g] / p.sum(axis=-1, keepdims=True)
        out *= sigmoid(qg[..., dim:])
        return out.reshape(rows, -1) @ self.w.matrix(prefix + "o_proj", heads * dim).T


def token_errors(got, want):
    return np.linalg.norm(got - want, axis=-1) / np.linalg.norm(want, axis=-1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("reference", type=pathlib.Path)
    parser.add_argument("--attention", action="store_true")
    args = parser.parse_args()
    figures = _read_safetensors(args.reference)
    prompts = [figures[name] for name in sorted(figures) if name.endswith(".ids")]
    exact = ReferenceModel(args.folder)
    truth = [exact.forward(ids) for ids in prompts]
    for way in "ab":
        model = SimulatedModel(args.folder, way, args.attention)
        stages, chained = [], [stages[0] for stages in truth]
        for i, kind in enumerate(model.kinds):
            prefix = f"model.layers.{i}."
            own = [token_errors(model.layer(t[i], prefix, kind), t[i + 1]) for t in truth]
            stages.append(np.median(np.concatenate(own)))
            chained = [model.layer(h, prefix, kind) for h in chained]
        last = np.concatenate([token_errors(h, t[len(model.kinds)]) for h, t in zip(chained, truth)])
        print(f"way {way}: stages " + " ".join(f"{100 * e:.3f}" for e in stages) + " %"
              f"  median {100 * np.median(stages):.3f} %  worst {100 * max(stages):.3f} %"
              f"  chained, last stage: median {100 * np.median(last):.3f} %, worst token {100 * last.max():.3f} %")


if __name__ == "__main__":
    main()
