// GGUF's names of this family's tensors, and ours.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep {

// "blk.3.attn_q.weight" becomes "model.layers.3.self_attn.q_proj.weight", and of block
// `trunk_layers` "mtp.layers.0.self_attn.q_proj.weight" or, for its nextn.* tensors,
// "mtp.fc.weight" and so on. The names of vision files become "visual.*". A name of no known form
// stays as it is, and so does a block beyond the draft head's.
std::string canonical_gguf_name(std::string_view name, int64_t trunk_layers);

// The way back, for the names of model_tensors.h.
std::string stored_gguf_name(std::string_view canonical, int64_t trunk_layers);

}  // namespace lockstep
