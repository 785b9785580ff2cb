"""An independent float64 forward pass of the Qwen3.5 family in numpy: slow, short and obvious.

It shares no code with the engine. Tools in this folder use it to make figures that tests are held to, and to
check figures that came from elsewhere. Needs numpy and safetensors; reads Hugging Face (bf16, fp16, fp32) and
MLX affine folders, dense and mixture-of-experts, with the draft head included or in a folder `mtp/`.
"""
import functools
import json
import pathlib

import numpy as np


def _read_safetensors(path: pathlib.Path) -> dict[str, np.ndarray]:
    """All tensors of a file; bf16 is widened exactly to float32."""
    raw = np.memmap(path, dtype=np.uint8, mode="r")
    header_size = int.from_bytes(raw[:8].tobytes(), "little")
    header = json.loads(raw[8:8 + header_size].tobytes())
    kinds = {"F32": np.float32, "F16": np.float16, "U32": np.uint32, "BF16": np.uint16, "I32": np.int32}
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = (8 + header_size + offset for offset in entry["data_offsets"])
        data = raw[begin:end].view(kinds[entry["dtype"]])
        if entry["dtype"] == "BF16":
            data = (data.astype(np.uint32) << 16).view(np.float32)
        tensors[name] = data.reshape(entry["shape"])
    return tensors


def _canonical(name: str) -> str:
    for prefix, new in (("model.language_model.", "model."), ("language_model.", ""), ("model.mtp.", "mtp.")):
        if name.startswith(prefix):
            return new + name[len(prefix):]
    return name


def _unpack(words: np.ndarray, bits: int, count: int) -> np.ndarray:
    """The little-endian bit stream of each row as integers."""
    stream = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=-1, bitorder="little")
    values = stream[..., :count * bits].reshape(*stream.shape[:-1], count, bits)
    return values.astype(np.float64) @ (1 << np.arange(bits)).astype(np.float64)


class Weights:
    """Tensors by canonical name, in float64."""

    def __init__(self, folder: pathlib.Path):
        self.config = json.loads((folder / "config.json").read_text())
        self.text = self.config.get("text_config", self.config)
        files = sorted(folder.glob("model*.safetensors"))
        self.raw = {_canonical(n): t for f in files for n, t in _read_safetensors(f).items()}
        sidecar = folder / "mtp" / "model.safetensors"
        if sidecar.exists():
            self.raw |= {"mtp." + n: t for n, t in _read_safetensors(sidecar).items()}
        conv = next(t for n, t in self.raw.items() if n.endswith("conv1d.weight"))
        self.norms_lack_one = conv.shape[-1] != 1
        mtp_norm = self.raw.get("mtp.pre_fc_norm_embedding.weight")
        # A draft head beside shifted norms may itself be raw: raw values average about -0.4, shifted ones +0.6.
        self.mtp_norms_lack_one = self.norms_lack_one or (mtp_norm is not None and mtp_norm.mean() < 0)

    @functools.cache  # decoded once; the object lives as long as the program
    def matrix(self, module: str, cols: int) -> np.ndarray:
        weight = self.raw[module + ".weight"] if module + ".weight" in self.raw else self.raw[module]
        if module + ".scales" not in self.raw:
            return weight.astype(np.float64)
        bits = 32 * weight.shape[-1] // cols
        scales = self.raw[module + ".scales"].astype(np.float64)
        biases = self.raw[module + ".biases"].astype(np.float64)
        group = cols // scales.shape[-1]
        return (_unpack(weight, bits, cols) * np.repeat(scales, group, axis=-1)
                + np.repeat(biases, group, axis=-1))

    def vector(self, name: str) -> np.ndarray:
        return self.raw[name].astype(np.float64)

    def norm(self, module: str) -> np.ndarray:
        lacks_one = self.mtp_norms_lack_one if module.startswith("mtp.") else self.norms_lack_one
        return self.vector(module + ".weight") + (1.0 if lacks_one else 0.0)

    def has(self, name: str) -> bool:
        return name in self.raw


def sigmoid(x):
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(-x))


def silu(x):
    return x * sigmoid(x)


def softplus(x):
    return np.logaddexp(0.0, x)


def rms_norm(x, weight, eps):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * weight


class ReferenceModel:
    """forward(ids) returns the stages and the final hidden rows; mtp(...) a draft step over a prompt."""

    def __init__(self, folder):
        self.w = Weights(pathlib.Path(folder))
        t = self.w.text
        self.hidden = t["hidden_size"]
        self.eps = t["rms_norm_eps"]
        self.layers = t["num_hidden_layers"]
        interval = t.get("full_attention_interval", 4)
        self.kinds = t.get("layer_types") or [
            "full_attention" if (i + 1) % interval == 0 else "linear_attention" for i in range(self.layers)]
        rope = t.get("rope_parameters") or t.get("rope_scaling") or {}
        self.theta = rope.get("rope_theta", t.get("rope_theta"))
        factor = rope.get("partial_rotary_factor", t.get("partial_rotary_factor", 0.25))
        self.rotary = round(t["head_dim"] * factor)
        self.moe = "num_experts" in t
        self.embedding = self.w.matrix("model.embed_tokens", self.hidden)
        tied = t.get("tie_word_embeddings", self.w.config.get("tie_word_embeddings", False))
        self.head = self.embedding if tied else self.w.matrix("lm_head", self.hidden)

    def rotate(self, x):  # [T, heads, Dh]
        half = self.rotary // 2
        # Angles as the family's references form them: float32 frequency times float32 position.
        inverse = (1.0 / self.theta ** (np.arange(half) * 2.0 / self.rotary)).astype(np.float32)
        angle = (np.arange(len(x), dtype=np.float32)[:, None] * inverse).astype(np.float64)
        cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
        a, b = x[..., :half].copy(), x[..., half:self.rotary].copy()
        x = x.copy()
        x[..., :half] = a * cos - b * sin
        x[..., half:self.rotary] = b * cos + a * sin
        return x

    def attention(self, x, prefix):
        t = self.w.text
        heads, kv_heads, dim = t["num_attention_heads"], t["num_key_value_heads"], t["head_dim"]
        rows = len(x)
        qg = (x @ self.w.matrix(prefix + "q_proj", self.hidden).T).reshape(rows, heads, 2 * dim)
        k = (x @ self.w.matrix(prefix + "k_proj", self.hidden).T).reshape(rows, kv_heads, dim)
        v = (x @ self.w.matrix(prefix + "v_proj", self.hidden).T).reshape(rows, kv_heads, dim)
        q = self.rotate(rms_norm(qg[..., :dim], self.w.norm(prefix + "q_norm"), self.eps))
        k = self.rotate(rms_norm(k, self.w.norm(prefix + "k_norm"), self.eps))
        mask = np.triu(np.full((rows, rows), -np.inf), 1)
        out = np.empty((rows, heads, dim))
        for h in range(heads):
            g = h // (heads // kv_heads)
            score = q[:, h] @ k[:, g].T / np.sqrt(dim) + mask
            p = np.exp(score - score.max(axis=-1, keepdims=True))
            out[:, h] = p @ v[:, g] / p.sum(axis=-1, keepdims=True)
        out *= sigmoid(qg[..., dim:])
        return out.reshape(rows, -1) @ self.w.matrix(prefix + "o_proj", heads * dim).T

    def delta(self, x, prefix):
        t = self.w.text
        hk, hv = t["linear_num_key_heads"], t["linear_num_value_heads"]
        dk, dv = t["linear_key_head_dim"], t["linear_value_head_dim"]
        rows = len(x)
        u = x @ self.w.matrix(prefix + "in_proj_qkv", self.hidden).T
        z = (x @ self.w.matrix(prefix + "in_proj_z", self.hidden).T).reshape(rows, hv, dv)
        b = x @ self.w.matrix(prefix + "in_proj_b", self.hidden).T
        a = x @ self.w.matrix(prefix + "in_proj_a", self.hidden).T
        taps = self.w.vector(prefix + "conv1d.weight").reshape(u.shape[1], -1)
        padded = np.concatenate([np.zeros((taps.shape[1] - 1, u.shape[1])), u])
        c = silu(sum(padded[j:j + rows] * taps[:, j] for j in range(taps.shape[1])))
        q = c[:, :hk * dk].reshape(rows, hk, dk)
        k = c[:, hk * dk:2 * hk * dk].reshape(rows, hk, dk)
        v = c[:, 2 * hk * dk:].reshape(rows, hv, dv)
        q = q / np.sqrt((q * q).sum(-1, keepdims=True) + 1e-6) / np.sqrt(dk)
        k = k / np.sqrt((k * k).sum(-1, keepdims=True) + 1e-6)
        beta = sigmoid(b)
        decay = np.exp(-np.exp(self.w.vector(prefix + "A_log"))
                       * softplus(a + self.w.vector(prefix + "dt_bias")))
        q, k = (np.repeat(m, hv // hk, axis=1) for m in (q, k))
        state = np.zeros((hv, dk, dv))
        out = np.empty((rows, hv, dv))
        for i in range(rows):
            state *= decay[i][:, None, None]
            d = beta[i][:, None] * (v[i] - np.einsum("hkv,hk->hv", state, k[i]))
            state += k[i][:, :, None] * d[:, None, :]
            out[i] = np.einsum("hkv,hk->hv", state, q[i])
        gate = sigmoid if t.get("output_gate_type") == "sigmoid" else silu
        out = rms_norm(out, self.w.vector(prefix + "norm.weight"), self.eps) * gate(z)
        return out.reshape(rows, -1) @ self.w.matrix(prefix + "out_proj", hv * dv).T

    def dense(self, x, prefix, width):
        gate = silu(x @ self.w.matrix(prefix + "gate_proj", self.hidden).T)
        up = x @ self.w.matrix(prefix + "up_proj", self.hidden).T
        return (gate * up) @ self.w.matrix(prefix + "down_proj", width).T

    def experts(self, prefix, inner):
        if self.w.has(prefix + "experts.gate_up_proj"):
            fused = self.w.matrix(prefix + "experts.gate_up_proj", self.hidden)
            return fused[:, :inner], fused[:, inner:], self.w.matrix(prefix + "experts.down_proj", inner)
        switch = prefix + "switch_mlp."
        return (self.w.matrix(switch + "gate_proj", self.hidden), self.w.matrix(switch + "up_proj", self.hidden),
                self.w.matrix(switch + "down_proj", inner))

    def mixture(self, x, prefix):
        t = self.w.text
        inner, chosen = t["moe_intermediate_size"], t["num_experts_per_tok"]
        logits = x @ self.w.matrix(prefix + "gate", self.hidden).T
        order = np.argsort(-logits, axis=-1, kind="stable")[:, :chosen]
        gate, up, down = self.experts(prefix, inner)
        picked = np.take_along_axis(logits, order, axis=-1)
        weights = np.exp(picked - picked[:, :1])
        weights /= weights.sum(axis=-1, keepdims=True)
        out = np.zeros_like(x)
        for e in np.unique(order):
            rows, slots = np.nonzero(order == e)
            inner_rows = silu(x[rows] @ gate[e].T) * (x[rows] @ up[e].T)
            out[rows] += weights[rows, slots][:, None] * (inner_rows @ down[e].T)
        shared = self.dense(x, prefix + "shared_expert.", t["shared_expert_intermediate_size"])
        return out + sigmoid(x @ self.w.matrix(prefix + "shared_expert_gate", self.hidden).T) * shared

    def layer(self, h, prefix, kind):
        x = rms_norm(h, self.w.norm(prefix + "input_layernorm"), self.eps)
        if kind == "full_attention":
            h = h + self.attention(x, prefix + "self_attn.")
        else:
            h = h + self.delta(x, prefix + "linear_attn.")
        x = rms_norm(h, self.w.norm(prefix + "post_attention_layernorm"), self.eps)
        if self.moe:
            return h + self.mixture(x, prefix + "mlp.")
        return h + self.dense(x, prefix + "mlp.", self.w.text["intermediate_size"])

    def forward(self, ids):
        """[embedding, after each layer ..., after the final norm], each [T, H]."""
        stages = [self.embedding[np.asarray(ids)]]
        for i in range(self.layers):
            stages.append(self.layer(stages[-1], f"model.layers.{i}.", self.kinds[i]))
        stages.append(rms_norm(stages[-1], self.w.norm("model.norm"), self.eps))
        return stages

    def logits(self, rows):
        return rows @ self.head.T

    def mtp(self, hidden, next_ids):
        """Logits of the draft head: row t joins hidden[t] with the embedding of next_ids[t]."""
        e = rms_norm(self.embedding[np.asarray(next_ids)], self.w.norm("mtp.pre_fc_norm_embedding"), self.eps)
        s = rms_norm(hidden, self.w.norm("mtp.pre_fc_norm_hidden"), self.eps)
        u = np.concatenate([e, s], axis=-1) @ self.w.matrix("mtp.fc", 2 * self.hidden).T
        u = self.layer(u, "mtp.layers.0.", "full_attention")
        return self.logits(rms_norm(u, self.w.norm("mtp.norm"), self.eps))
