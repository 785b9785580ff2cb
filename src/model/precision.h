// The arithmetic of a loaded model on CPU, and the name that tells two arithmetics apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "kernels/kv_store/kv_store.h"

namespace lockstep {

enum class Precision : uint8_t {
  kInt8,  // int8 activations in groups of 32 against affine weights, bf16 KV (the default)
  kFull,  // float32 activations and KV
};

const char* to_string(Precision precision);
std::optional<Precision> parse_precision(std::string_view name);

// Keys and values are rounded to this type before any use.
constexpr KvType kv_type(Precision precision) {
  return precision == Precision::kFull ? KvType::kF32 : KvType::kBf16;
}

// Raised by every change of bits on CPU, with docs/numerics.md and the goldens in the same commit.
inline constexpr int kCpuNumericsVersion = 1;

}  // namespace lockstep
