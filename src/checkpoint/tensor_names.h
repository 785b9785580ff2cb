// The spellings of tensor names in the wild, and the one that we use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// Where the names come from: a model names its own parts, a draft head's folder may leave "mtp."
// out.
enum class NameScope : uint8_t { kModel, kDraftHead };

enum class TensorRole : uint8_t {
  kTrunk,     // model.*
  kHead,      // lm_head.*
  kDraft,     // mtp.*
  kVision,    // visual.*
  kDerived,   // can be computed, e.g. rotary inverse frequencies
  kReplaced,  // a draft head that another one stands in for
  kUnknown,
};

// "model.language_model.layers.0.x", "language_model.model.layers.0.x" and, in a model,
// "layers.0.x" become "model.layers.0.x"; likewise "lm_head.", "mtp." and "visual.". A name of no
// known form stays as it is.
std::string canonical_name(std::string_view source, NameScope scope);

TensorRole role_of(std::string_view canonical);

// The canonical name that a replaced draft head's tensor gets, so that both can be listed.
std::string replaced_name(std::string_view canonical);

// How files may spell a canonical name, for messages.
std::vector<std::string> spellings_of(std::string_view canonical);

}  // namespace lockstep
