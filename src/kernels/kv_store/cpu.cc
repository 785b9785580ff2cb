#include "kernels/kv_store/cpu.h"

#include "kernels/simd/f32x16.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

void store_head(KvType type, const float* from, std::byte* to, int64_t head_dim) {
  if (type == KvType::kF32) {
    std::memcpy(to, from, static_cast<size_t>(head_dim) * sizeof(float));
    return;
  }
  for (int64_t i = 0; i < head_dim; i += kLanes) {
    store_bf16_bits(bf16_bits(F32x16::load(from + i)), to + 2 * i);
  }
}

}  // namespace

void kv_store_rows(const KvStoreArgs& args, const KvSequence& sequence, int64_t begin,
                   int64_t end) {
  const KvShape& shape = args.shape;
  const size_t head_bytes = static_cast<size_t>(shape.head_dim) * shape.element_bytes();
  for (int64_t row = begin; row < end; ++row) {
    const int64_t position = sequence.first_position + row;
    std::byte* block = sequence.blocks[position / kKvBlock];
    for (int64_t head = 0; head < shape.kv_heads; ++head) {
      const int64_t from = ((sequence.first_row + row) * shape.kv_heads + head) * shape.head_dim;
      std::byte* to =
          block + static_cast<size_t>(head * kKvBlock + position % kKvBlock) * head_bytes;
      store_head(shape.type, args.k + from, to, shape.head_dim);
      store_head(shape.type, args.v + from, to + shape.half_block_bytes(), shape.head_dim);
    }
  }
}

}  // namespace lockstep::LOCKSTEP_ISA
