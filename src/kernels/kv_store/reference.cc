#include "kernels/kv_store/reference.h"

#include <cstring>

#include "base/float16.h"

namespace lockstep {

void reference_kv_store(const KvStoreArgs& args) {
  const KvShape& shape = args.shape;
  for (int64_t s = 0; s < args.sequence_count; ++s) {
    const KvSequence& sequence = args.sequences[s];
    for (int64_t row = 0; row < sequence.rows; ++row) {
      const int64_t position = sequence.first_position + row;
      for (int64_t i = 0; i < shape.kv_heads * shape.head_dim; ++i) {
        const int64_t from = (sequence.first_row + row) * shape.kv_heads * shape.head_dim + i;
        const int64_t head = i / shape.head_dim;
        const int64_t element =
            (head * kKvBlock + position % kKvBlock) * shape.head_dim + i % shape.head_dim;
        std::byte* key = sequence.blocks[position / kKvBlock] +
                         static_cast<size_t>(element) * shape.element_bytes();
        for (const float value : {args.k[from], args.v[from]}) {
          const uint16_t half = float_to_bf16(value);
          if (shape.type == KvType::kBf16) std::memcpy(key, &half, sizeof(half));
          if (shape.type == KvType::kF32) std::memcpy(key, &value, sizeof(value));
          key += shape.half_block_bytes();
        }
      }
    }
  }
}

}  // namespace lockstep
