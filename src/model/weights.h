// The weights of a model as views into its checkpoint; small vectors are widened to float32 copies.
// Letters are those of checkpoint/model_config.h.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "base/result.h"
#include "checkpoint/checkpoint.h"
#include "formats/matrix.h"

namespace lockstep {

struct AttentionWeights {
  MatrixView q;               // [2 Nq Dh, H]: per head the query, then its output gate
  MatrixView k;               // [Nkv Dh, H]
  MatrixView v;               // [Nkv Dh, H]
  MatrixView o;               // [H, Nq Dh]
  std::vector<float> q_norm;  // [Dh], the factor itself (1 + w), as every norm here
  std::vector<float> k_norm;  // [Dh]
};

struct DeltaWeights {
  MatrixView qkv;                 // [C, H]
  MatrixView z;                   // [Vd, H]
  MatrixView a;                   // [Hv, H]
  MatrixView b;                   // [Hv, H]
  MatrixView out;                 // [H, Vd]
  std::vector<float> conv;        // [4, C]: tap-major
  std::vector<float> negative_a;  // [Hv]: -exp(A_log)
  std::vector<float> dt_bias;     // [Hv]
  std::vector<float> norm;        // [Dv], plain
};

struct DenseFfnWeights {
  MatrixView gate;  // [F, H]
  MatrixView up;    // [F, H]
  MatrixView down;  // [H, F]
};

struct MoeWeights {
  MatrixView router;       // [E, H]
  MatrixStack gate;        // E x [I, H]
  MatrixStack up;          // E x [I, H]
  MatrixStack down;        // E x [H, I]
  DenseFfnWeights shared;  // F = Is
  MatrixView shared_gate;  // [1, H]
};

struct LayerWeights {
  std::vector<float> input_norm;  // [H]
  std::variant<DeltaWeights, AttentionWeights> mixer;
  std::vector<float> post_attention_norm;  // [H]
  std::variant<DenseFfnWeights, MoeWeights> ffn;
};

// The draft head: one full-attention layer between a projection of [embedding; hidden] and a norm.
struct MtpWeights {
  std::vector<float> embedding_norm;  // [H]
  std::vector<float> hidden_norm;     // [H]
  MatrixView fc;                      // [H, 2H], embedding half first
  LayerWeights layer;
  std::vector<float> norm;  // [H]
};

struct ModelWeights {
  MatrixView embedding;  // [V, H]
  std::vector<LayerWeights> layers;
  std::vector<float> final_norm;  // [H]
  MatrixView head;                // [V, H]; the embedding where tied
  std::optional<MtpWeights> mtp;
};

// Reads every tensor that the configuration asks for and marks it used in the checkpoint, which
// must outlive the views. The first missing or misshapen tensor is the error.
Result<ModelWeights> bind_weights(Checkpoint& checkpoint);

}  // namespace lockstep
