// The names of every intermediate value that a tap may see, and how they are counted.
//
// A stage is (name, layer): layer -1 is the embedding, 0..L-1 are the layers, L is what follows
// them (final_norm, logits), L + 1 is the draft head, whose layer bears the names of any other.
// Widths in brackets, in the letters of checkpoint/model_config.h.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace lockstep {

// Called with the rows of a stage as they are made. The data is [rows, width] float32; expert ids
// are whole numbers in it. Rows are those of the round, of logits those that were asked for. The
// memory is the pass's own and is written over after the call.
using StageTap = std::function<void(std::string_view stage, int64_t layer,
                                    std::span<const float> data, int64_t width)>;

// For checks: may change the residual stream [rows, H] where a tap would see it next, after the
// embedding (layer -1) and after each layer. Nothing that computes for a user sets one.
using ResidualEdit = std::function<void(int64_t layer, std::span<float> residual)>;

namespace stages {

inline constexpr std::string_view kEmbed = "embed";  // [H]

// Every layer
inline constexpr std::string_view kMixerNorm = "mixer_norm";          // [H]
inline constexpr std::string_view kMixerBranch = "mixer_branch";      // [H]
inline constexpr std::string_view kMixerResidual = "mixer_residual";  // [H]: with the branch added
inline constexpr std::string_view kFfnNorm = "ffn_norm";              // [H]
inline constexpr std::string_view kFfnBranch = "ffn_branch";          // [H]
inline constexpr std::string_view kLayer = "layer";                   // [H]: residual after it

// Full attention
inline constexpr std::string_view kQueryGate = "q_proj";     // [2 Nq Dh]: per head query, then gate
inline constexpr std::string_view kKey = "k_proj";           // [Nkv Dh]
inline constexpr std::string_view kValue = "v_proj";         // [Nkv Dh]
inline constexpr std::string_view kQueryRotated = "q_rope";  // [Nq Dh]: after norm and rotation
inline constexpr std::string_view kKeyRotated = "k_rope";    // [Nkv Dh]
inline constexpr std::string_view kAttention = "attention";  // [Nq Dh]
inline constexpr std::string_view kAttentionGated = "attention_gated";  // [Nq Dh]: o_proj's input

// Gated DeltaNet
inline constexpr std::string_view kQkv = "in_proj_qkv";         // [C]
inline constexpr std::string_view kZ = "in_proj_z";             // [Vd]
inline constexpr std::string_view kA = "in_proj_a";             // [Hv]
inline constexpr std::string_view kB = "in_proj_b";             // [Hv]
inline constexpr std::string_view kConv = "conv";               // [C], after its silu
inline constexpr std::string_view kDecay = "decay";             // [Hv]
inline constexpr std::string_view kBeta = "beta";               // [Hv]
inline constexpr std::string_view kDelta = "delta";             // [Vd]: the rule's output
inline constexpr std::string_view kDeltaGated = "delta_gated";  // [Vd]: out_proj's input

// FFN: dense, or the shared expert
inline constexpr std::string_view kGate = "gate_proj";  // [F]
inline constexpr std::string_view kUp = "up_proj";      // [F]

// Mixture of experts
inline constexpr std::string_view kRouter = "router_logits";          // [E]
inline constexpr std::string_view kExpertIds = "expert_ids";          // [k]
inline constexpr std::string_view kExpertWeights = "expert_weights";  // [k]
inline constexpr std::string_view kSharedGate = "shared_gate";        // [1]: before the sigmoid
inline constexpr std::string_view kSharedOut = "shared_out";          // [H]: before its gate

// After the layers
inline constexpr std::string_view kFinalNorm = "final_norm";  // [H]
inline constexpr std::string_view kLogits = "logits";         // [V]

// Draft head, beside those of its layer
inline constexpr std::string_view kDraftEmbeddingNorm = "draft_embedding_norm";  // [H]
inline constexpr std::string_view kDraftHiddenNorm = "draft_hidden_norm";        // [H]
inline constexpr std::string_view kDraftInput = "draft_input";                   // [H]: fc's output
inline constexpr std::string_view kDraftNorm = "draft_norm";      // [H]: the head's final norm
inline constexpr std::string_view kDraftLogits = "draft_logits";  // [V]

}  // namespace stages
}  // namespace lockstep
