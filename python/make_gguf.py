"""A Hugging Face checkpoint of this family (bf16 or f32 safetensors) as a GGUF file.

    python -m venv VENV; VENV/bin/pip install gguf==0.19.0 numpy
    VENV/bin/python python/make_gguf.py FOLDER OUT.gguf [--type f32|f16|bf16] [--fused-experts]

Does what llama.cpp's converter does for qwen35 and qwen35moe (llama-cpp-python 0.3.36,
conversion/qwen.py), without torch: 1 is added to the zero-centred norms, A_log becomes -exp(A_log),
the convolution loses its middle dimension, value heads go from grouped to tiled order, and the draft
head becomes the block after the last.
"""

import argparse
import json
import struct
from pathlib import Path

import gguf
import numpy as np

BLOCK = {
    "input_layernorm.weight": "attn_norm.weight",
    "post_attention_layernorm.weight": "post_attention_norm.weight",
    "linear_attn.in_proj_qkv.weight": "attn_qkv.weight",
    "linear_attn.in_proj_z.weight": "attn_gate.weight",
    "linear_attn.in_proj_a.weight": "ssm_alpha.weight",
    "linear_attn.in_proj_b.weight": "ssm_beta.weight",
    "linear_attn.A_log": "ssm_a",
    "linear_attn.dt_bias": "ssm_dt.bias",
    "linear_attn.conv1d.weight": "ssm_conv1d.weight",
    "linear_attn.norm.weight": "ssm_norm.weight",
    "linear_attn.out_proj.weight": "ssm_out.weight",
    "self_attn.q_proj.weight": "attn_q.weight",
    "self_attn.k_proj.weight": "attn_k.weight",
    "self_attn.v_proj.weight": "attn_v.weight",
    "self_attn.o_proj.weight": "attn_output.weight",
    "self_attn.q_norm.weight": "attn_q_norm.weight",
    "self_attn.k_norm.weight": "attn_k_norm.weight",
    "mlp.gate_proj.weight": "ffn_gate.weight",
    "mlp.up_proj.weight": "ffn_up.weight",
    "mlp.down_proj.weight": "ffn_down.weight",
    "mlp.gate.weight": "ffn_gate_inp.weight",
    "mlp.experts.down_proj": "ffn_down_exps.weight",
    "mlp.shared_expert_gate.weight": "ffn_gate_inp_shexp.weight",
    "mlp.shared_expert.gate_proj.weight": "ffn_gate_shexp.weight",
    "mlp.shared_expert.up_proj.weight": "ffn_up_shexp.weight",
    "mlp.shared_expert.down_proj.weight": "ffn_down_shexp.weight",
}
DRAFT = {
    "mtp.fc.weight": "nextn.eh_proj.weight",
    "mtp.pre_fc_norm_embedding.weight": "nextn.enorm.weight",
    "mtp.pre_fc_norm_hidden.weight": "nextn.hnorm.weight",
    "mtp.norm.weight": "nextn.shared_head_norm.weight",
}
FUSED = "mlp.experts.gate_up_proj"


def read_safetensors(folder):
    tensors = {}
    for path in sorted(Path(folder).glob("*.safetensors")):
        data = path.read_bytes()
        (length,) = struct.unpack("<Q", data[:8])
        for name, entry in json.loads(data[8 : 8 + length]).items():
            if name == "__metadata__":
                continue
            begin, end = (8 + length + x for x in entry["data_offsets"])
            raw = data[begin:end]
            if entry["dtype"] == "BF16":
                values = (np.frombuffer(raw, "<u2").astype(np.uint32) << 16).view(np.float32)
            else:
                values = np.frombuffer(raw, {"F32": "<f4", "F16": "<f2"}[entry["dtype"]])
            tensors[name] = values.astype(np.float32).reshape(entry["shape"])
    return tensors


def tile_heads(values, axis, key_heads, value_heads, head_dim):
    """Head kh * r + m goes to m * key_heads + kh."""
    shape = list(values.shape)
    parts = shape[:axis] + [key_heads, value_heads // key_heads, head_dim] + shape[axis + 1 :]
    return values.reshape(parts).swapaxes(axis, axis + 1).reshape(shape)


def transform(name, values, text):
    kh, vh = text["linear_num_key_heads"], text["linear_num_value_heads"]
    kd, vd = text["linear_key_head_dim"], text["linear_value_head_dim"]
    if name.endswith("A_log"):
        values = -np.exp(values)
    if "conv1d" in name:
        values = values.squeeze()
    # The converter renames pre_fc_norm_* to enorm and hnorm before it looks for this ending.
    zero_centred = name.endswith("norm.weight") or ".pre_fc_norm_" in name
    if zero_centred and not name.endswith("linear_attn.norm.weight"):
        values = values + np.float32(1)
    if name.endswith("shared_expert_gate.weight"):
        values = values.reshape(-1)
    if "linear_attn." not in name or kh == vh:
        return values
    if "in_proj_qkv" in name or "conv1d" in name:
        keys = 2 * kh * kd
        return np.concatenate([values[:keys], tile_heads(values[keys:], 0, kh, vh, vd)])
    if "in_proj_z" in name:
        return tile_heads(values, 0, kh, vh, vd)
    if "in_proj_a" in name or "in_proj_b" in name or name.endswith(("A_log", "dt_bias")):
        return tile_heads(values, 0, kh, vh, 1)
    if "out_proj" in name:
        return tile_heads(values, 1, kh, vh, vd)
    return values


def gguf_tensors(tensors, text, fused_experts):
    layers = text["num_hidden_layers"]
    for name, values in tensors.items():
        for prefix in ("model.language_model.", "model."):
            if name.startswith(prefix):
                name = name[len(prefix) :]
                break
        if name.startswith(("visual.", "vision_tower.")):
            continue
        values = transform(name, values, text)
        top = {"embed_tokens.weight": "token_embd.weight", "norm.weight": "output_norm.weight",
               "lm_head.weight": "output.weight"}
        if name in top:
            yield top[name], values
            continue
        if name in DRAFT:
            yield f"blk.{layers}.{DRAFT[name]}", values
            continue
        parts = name.removeprefix("mtp.").split(".", 2)
        block = int(parts[1]) + (layers if name.startswith("mtp.") else 0)
        if parts[2] == FUSED and not fused_experts:
            gate, up = np.split(values, 2, axis=1)
            yield f"blk.{block}.ffn_gate_exps.weight", gate
            yield f"blk.{block}.ffn_up_exps.weight", up
        elif parts[2] == FUSED:
            yield f"blk.{block}.ffn_gate_up_exps.weight", values
        else:
            yield f"blk.{block}.{BLOCK[parts[2]]}", values


def add_config(writer, text, draft):
    layers = text["num_hidden_layers"]
    rope = text["rope_parameters"]
    writer.add_block_count(layers + draft)
    if draft:
        writer.add_nextn_predict_layers(draft)
    writer.add_context_length(text["max_position_embeddings"])
    writer.add_embedding_length(text["hidden_size"])
    if "num_experts" in text:
        writer.add_expert_count(text["num_experts"])
        writer.add_expert_used_count(text["num_experts_per_tok"])
        writer.add_expert_feed_forward_length(text["moe_intermediate_size"])
        writer.add_expert_shared_feed_forward_length(text["shared_expert_intermediate_size"])
    else:
        writer.add_feed_forward_length(text["intermediate_size"])
    writer.add_head_count(text["num_attention_heads"])
    writer.add_head_count_kv(text["num_key_value_heads"])
    writer.add_key_length(text["head_dim"])
    writer.add_value_length(text["head_dim"])
    writer.add_layer_norm_rms_eps(text["rms_norm_eps"])
    writer.add_rope_freq_base(rope["rope_theta"])
    writer.add_rope_dimension_count(int(text["head_dim"] * rope["partial_rotary_factor"]))
    writer.add_rope_dimension_sections(rope["mrope_section"] + [0])
    writer.add_ssm_conv_kernel(text["linear_conv_kernel_dim"])
    writer.add_ssm_state_size(text["linear_key_head_dim"])
    writer.add_ssm_group_count(text["linear_num_key_heads"])
    writer.add_ssm_time_step_rank(text["linear_num_value_heads"])
    writer.add_ssm_inner_size(text["linear_value_head_dim"] * text["linear_num_value_heads"])
    if "layer_types" in text:
        kinds = [kind == "linear_attention" for kind in text["layer_types"]]
        writer.add_array(f"{writer.arch}.attention.recurrent_layers", kinds + [False] * draft)
    writer.add_full_attention_interval(text.get("full_attention_interval", 4))


def add_vocabulary(writer, folder, rows):
    path = folder / "tokenizer.json"
    if not path.exists():
        return
    tokenizer = json.loads(path.read_text())
    tokens = [f"[PAD{i}]" for i in range(rows)]
    types = [gguf.TokenType.UNUSED] * rows
    for piece, i in tokenizer["model"]["vocab"].items():
        tokens[i], types[i] = piece, gguf.TokenType.NORMAL
    by_text = {}
    for token in tokenizer["added_tokens"]:
        text, i = token["content"], token["id"]
        special = token["special"] or (text.startswith("<|") and text.endswith("|>"))
        tokens[i] = text
        types[i] = gguf.TokenType.CONTROL if special else gguf.TokenType.USER_DEFINED
        by_text[text] = i
    merges = tokenizer["model"]["merges"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen35")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in merges])
    writer.add_eos_token_id(by_text["<|im_end|>"])
    writer.add_pad_token_id(by_text["<|endoftext|>"])
    writer.add_add_bos_token(False)
    template = folder / "chat_template.jinja"
    if template.exists():
        writer.add_chat_template(template.read_text())


def stored(name, values, kind):
    """Vectors, routers and convolutions stay in float32, as the converter has them."""
    if values.ndim == 1 or kind == "f32" or "ssm_conv1d" in name or "ffn_gate_inp" in name:
        return values.astype(np.float32), gguf.GGMLQuantizationType.F32
    if kind == "f16":
        return values.astype(np.float16), gguf.GGMLQuantizationType.F16
    type_ = gguf.GGMLQuantizationType.BF16
    return gguf.quants.quantize(values.astype(np.float32), type_), type_


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("out")
    parser.add_argument("--type", choices=["f32", "f16", "bf16"], default="f16")
    parser.add_argument("--fused-experts", action="store_true")
    args = parser.parse_args()

    config = json.loads((args.folder / "config.json").read_text())
    text = config.get("text_config", config)
    tensors = read_safetensors(args.folder)
    draft = 1 if any(name.startswith("mtp.") for name in tensors) else 0
    writer = gguf.GGUFWriter(args.out, "qwen35moe" if "num_experts" in text else "qwen35")
    add_config(writer, text, draft)
    add_vocabulary(writer, args.folder, text["vocab_size"])
    for name, values in gguf_tensors(tensors, text, args.fused_experts):
        if name == "output.weight" and config.get("tie_word_embeddings"):
            continue
        data, type_ = stored(name, values, args.type)
        raw = type_ == gguf.GGMLQuantizationType.BF16
        writer.add_tensor(name, data, raw_dtype=type_ if raw else None)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


main()
