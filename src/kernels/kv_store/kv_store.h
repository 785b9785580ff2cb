// kv_store: rounds new keys and values to the cache's type and puts them into their blocks.
//
// A block holds 64 consecutive positions of one layer: keys [Nkv, 64, Dh], then values [Nkv, 64,
// Dh], in the cache's type. Position p lies in block p / 64. Rounding to bf16 is nearest even; NaN
// stays NaN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cpu_context.h"

namespace lockstep {

inline constexpr int64_t kKvBlock = 64;

enum class KvType : uint8_t { kBf16, kF32 };

struct KvShape {
  KvType type = KvType::kBf16;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;

  size_t element_bytes() const { return type == KvType::kBf16 ? 2 : 4; }
  // Bytes of the keys of one block, and of its values.
  size_t half_block_bytes() const {
    return static_cast<size_t>(kKvBlock * kv_heads * head_dim) * element_bytes();
  }
  size_t block_bytes() const { return 2 * half_block_bytes(); }
};

// Rows [first_row, first_row + rows) of a round stand at consecutive positions of one sequence.
struct KvSequence {
  int64_t first_row = 0;
  int64_t rows = 0;
  int64_t first_position = 0;
  std::byte* const* blocks = nullptr;  // one pointer per block, from position 0
};

struct KvStoreArgs {
  KvShape shape;
  const float* k = nullptr;  // [rows, Nkv, Dh], after norm and rotation
  const float* v = nullptr;  // [rows, Nkv, Dh]
  const KvSequence* sequences = nullptr;
  int64_t sequence_count = 0;
};

// Shape class of an op on such a cache.
ShapeClass kv_class(std::string op, const KvShape& shape);

void run_kv_store(const CpuContext& context, const KvStoreArgs& args);
ShapeClass shape_class(const KvStoreArgs& args);
std::vector<KernelInfo> kv_store_kernels();

}  // namespace lockstep
