"""Small GGUF models with random weights and the logits that llama.cpp gives: tests/figures/gguf/.

    VENV/bin/python python/make_tiny_gguf.py LLAMA tests/figures/gguf

VENV and LLAMA as for python/compare_llama_cpp.py. Made with gguf 0.19.0 and llama-cpp-python 0.3.36.
The logits are those of the ids 1, 8, 15 ... of 24 positions, float32, in NAME.logits. The shapes
leave out what no release has, and have what is easy to get wrong: 3 value heads a key head, a draft
head, routed experts, blocks of several types in one file.
"""

import subprocess
import sys
from pathlib import Path

import gguf
import numpy as np

COUNT = 24
H, HEADS, KV_HEADS, DIM, VOCAB, FFN = 64, 2, 1, 32, 64, 32
KEY_HEADS, VALUE_HEADS, STATE = 2, 6, 16
EXPERTS, USED = 4, 2


def blocks(random, layers, interval, draft, moe):
    normal = lambda *shape: random.normal(0, shape[-1] ** -0.5, shape).astype(np.float32)
    near_one = lambda n: (1 + random.normal(0, 0.1, n)).astype(np.float32)
    values = VALUE_HEADS * STATE
    channels = 2 * KEY_HEADS * STATE + values
    for i in range(layers + draft):
        b = f"blk.{i}."
        yield b + "attn_norm.weight", near_one(H)
        yield b + "post_attention_norm.weight", near_one(H)
        if i < layers and (i + 1) % interval != 0:
            yield b + "attn_qkv.weight", normal(channels, H)
            yield b + "attn_gate.weight", normal(values, H)
            yield b + "ssm_alpha.weight", normal(VALUE_HEADS, H)
            yield b + "ssm_beta.weight", normal(VALUE_HEADS, H)
            yield b + "ssm_a", -np.exp(random.normal(-2, 1, VALUE_HEADS)).astype(np.float32)
            yield b + "ssm_dt.bias", random.normal(0, 1, VALUE_HEADS).astype(np.float32)
            yield b + "ssm_conv1d.weight", normal(channels, 4)
            yield b + "ssm_norm.weight", near_one(STATE)
            yield b + "ssm_out.weight", normal(H, values)
        else:
            yield b + "attn_q.weight", normal(2 * HEADS * DIM, H)
            yield b + "attn_k.weight", normal(KV_HEADS * DIM, H)
            yield b + "attn_v.weight", normal(KV_HEADS * DIM, H)
            yield b + "attn_output.weight", normal(H, HEADS * DIM)
            yield b + "attn_q_norm.weight", near_one(DIM)
            yield b + "attn_k_norm.weight", near_one(DIM)
        if moe:
            yield b + "ffn_gate_inp.weight", normal(EXPERTS, H)
            yield b + "ffn_gate_exps.weight", normal(EXPERTS, FFN, H)
            yield b + "ffn_up_exps.weight", normal(EXPERTS, FFN, H)
            yield b + "ffn_down_exps.weight", normal(EXPERTS, H, FFN)
            yield b + "ffn_gate_inp_shexp.weight", normal(1, H)[0]
            names = ("gate_shexp", "up_shexp", "down_shexp")
        else:
            names = ("gate", "up", "down")
        yield f"{b}ffn_{names[0]}.weight", normal(FFN, H)
        yield f"{b}ffn_{names[1]}.weight", normal(FFN, H)
        yield f"{b}ffn_{names[2]}.weight", normal(H, FFN)
        if i >= layers:
            yield b + "nextn.eh_proj.weight", normal(H, 2 * H)
            for norm in ("enorm", "hnorm", "shared_head_norm"):
                yield f"{b}nextn.{norm}.weight", near_one(H)
    yield "token_embd.weight", normal(VOCAB, H) * 8
    yield "output_norm.weight", near_one(H)
    if moe:
        yield "output.weight", normal(VOCAB, H)


def write(path, layers, interval, draft, moe, kinds):
    """`kinds` are the types of matrices, by turns."""
    random = np.random.default_rng(5)
    writer = gguf.GGUFWriter(str(path), "qwen35moe" if moe else "qwen35")
    writer.add_block_count(layers + draft)
    if draft:
        writer.add_nextn_predict_layers(draft)
    writer.add_context_length(512)
    writer.add_embedding_length(H)
    if moe:
        writer.add_expert_count(EXPERTS)
        writer.add_expert_used_count(USED)
        writer.add_expert_feed_forward_length(FFN)
        writer.add_expert_shared_feed_forward_length(FFN)
    else:
        writer.add_feed_forward_length(FFN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_key_length(DIM)
    writer.add_value_length(DIM)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(1e4)
    writer.add_rope_dimension_count(8)
    writer.add_rope_dimension_sections([2, 1, 1, 0])
    writer.add_ssm_conv_kernel(4)
    writer.add_ssm_state_size(STATE)
    writer.add_ssm_group_count(KEY_HEADS)
    writer.add_ssm_time_step_rank(VALUE_HEADS)
    writer.add_ssm_inner_size(VALUE_HEADS * STATE)
    writer.add_full_attention_interval(interval)
    writer.add_tokenizer_model("no_vocab")
    writer.add_vocab_size(VOCAB)
    turn = 0
    for name, values in blocks(random, layers, interval, draft, moe):
        plain = values.ndim == 1 or "conv1d" in name or "ffn_gate_inp" in name
        kind = "F32" if plain else kinds[turn % len(kinds)]
        turn += not plain
        type_ = gguf.GGMLQuantizationType[kind]
        data = values if kind == "F32" else gguf.quants.quantize(values, type_)
        writer.add_tensor(name, data, raw_dtype=type_)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    llama, out = Path(sys.argv[1]), Path(sys.argv[2])
    models = {
        "dense-f32": (2, 2, 0, False, ["F32"]),
        "dense-q8_0": (4, 4, 1, False, ["Q8_0"]),
        "moe-mixed": (4, 4, 0, True, ["Q4_0", "Q8_0", "Q5_1", "Q4_1", "Q5_0"]),
    }
    for name, shape in models.items():
        path = out / f"{name}.gguf"
        write(path, *shape)
        subprocess.run([llama / "llama_logits", path, str(COUNT), out / f"{name}.logits"], check=True)


main()
