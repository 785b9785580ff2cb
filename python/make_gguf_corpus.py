"""The corpus of the GGUF fuzzer (gguf 0.19.0): VENV/bin/python python/make_gguf_corpus.py tests/fuzz/gguf"""

import sys

import gguf
import numpy as np

out = sys.argv[1]
def base(name, arch="qwen35"):
    w = gguf.GGUFWriter(f"{out}/{name}", arch)
    return w
def finish(w):
    w.write_header_to_file(); w.write_kv_data_to_file(); w.write_tensors_to_file(); w.close()
for arch in ("qwen35", "qwen35moe"):
    w = base(arch, arch)
    w.add_block_count(5); w.add_nextn_predict_layers(1); w.add_context_length(512); w.add_embedding_length(64)
    if arch == "qwen35moe":
        w.add_expert_count(4); w.add_expert_used_count(2); w.add_expert_feed_forward_length(32); w.add_expert_shared_feed_forward_length(32)
    else:
        w.add_feed_forward_length(32)
    w.add_head_count([2, 2, 2, 2, 2]); w.add_head_count_kv(1); w.add_key_length(32); w.add_value_length(32)
    w.add_layer_norm_rms_eps(1e-6); w.add_rope_freq_base(1e4); w.add_rope_dimension_count(8); w.add_rope_dimension_sections([2, 1, 1, 0])
    if arch == "qwen35":
        w.add_rope_scaling_type(gguf.RopeScalingType.YARN); w.add_rope_scaling_factor(4.0); w.add_rope_scaling_orig_ctx_len(128)
    w.add_ssm_conv_kernel(4); w.add_ssm_state_size(16); w.add_ssm_group_count(2); w.add_ssm_time_step_rank(6); w.add_ssm_inner_size(96)
    w.add_full_attention_interval(4)
    w.add_array(f"{arch}.attention.recurrent_layers", [True, True, True, False, False])
    w.add_float32("general.sampling.temp", 0.7); w.add_uint32("general.sampling.top_k", 20)
    w.add_tokenizer_model("gpt2"); w.add_tokenizer_pre("qwen35")
    w.add_token_list(["a", "b", "ab", "<|im_end|>", "[PAD4]"]); w.add_token_types([1, 1, 1, 3, 5]); w.add_token_merges(["a b"])
    w.add_eos_token_id(3); w.add_add_bos_token(False); w.add_chat_template("{{ messages }}")
    w.add_tensor("blk.0.ssm_a", np.ones(6, np.float32))
    w.add_tensor("blk.4.nextn.eh_proj.weight", gguf.quants.quantize(np.ones((2, 64), np.float32), gguf.GGMLQuantizationType.Q8_0), raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    finish(w)
w = base("types")
for i, f in enumerate(["uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "uint64", "int64", "float64", "bool", "string"]):
    getattr(w, "add_" + f)(f"t.{f}", "x" if f == "string" else (True if f == "bool" else i))
w.add_array("t.i", [1, -2, 3]); w.add_array("t.f", [1.0, 2.0]); w.add_array("t.s", ["a", ""]); w.add_array("t.b", [True, False])
w.add_uint16("split.no", 0); w.add_uint16("split.count", 2)
w.add_tensor("h", np.ones((1, 2), np.float16))
finish(w)
