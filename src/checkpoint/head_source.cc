#include "checkpoint/head_source.h"

#include <cstring>

namespace lockstep {
namespace {

bool same_bytes(const TensorSource& tensors, const std::string& a, const std::string& b) {
  const TensorRecord* left = tensors.find(a);
  const TensorRecord* right = tensors.find(b);
  if (left == nullptr || right == nullptr) return left == right;
  return left->dtype == right->dtype && left->shape == right->shape &&
         std::memcmp(left->data, right->data, left->bytes) == 0;
}

bool head_equals_embedding(const TensorSource& tensors) {
  for (const char* suffix : {".weight", ".scales", ".biases"}) {
    if (!same_bytes(tensors, kHeadModule + std::string(suffix),
                    kEmbeddingModule + std::string(suffix))) {
      return false;
    }
  }
  return true;
}

}  // namespace

HeadSource head_source(const ModelConfig& config, const TensorSource& tensors) {
  const bool stored = tensors.find(kHeadModule + std::string(".weight")) != nullptr;
  if (!stored && config.tie_word_embeddings) {
    return {kEmbeddingModule, "The head is tied to the embedding (tie_word_embeddings)."};
  }
  if (!stored) {
    return {kEmbeddingModule,
            "tie_word_embeddings is false but no lm_head is stored: the embedding is the head.",
            true};
  }
  if (!config.tie_word_embeddings && !config.tie_levels_disagree) {
    return {kHeadModule, "The head is lm_head."};
  }
  if (config.tie_levels_disagree) {
    return {kHeadModule,
            "config.json contradicts itself about tie_word_embeddings and an lm_head is stored: it "
            "is the head.",
            true};
  }
  if (head_equals_embedding(tensors)) {
    return {kEmbeddingModule, "The head is tied to the embedding; the stored lm_head is its copy."};
  }
  return {
      kHeadModule,
      "tie_word_embeddings is true but the stored lm_head differs from the embedding: lm_head is "
      "the head.",
      true};
}

}  // namespace lockstep
