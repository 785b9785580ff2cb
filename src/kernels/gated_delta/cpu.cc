#include "kernels/gated_delta/cpu.h"

#include "kernels/simd/f32x16.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

// What one row of the round gives to a value head: pointers at the head's q and k, and at the first
// column of v and out.
struct Row {
  const float* q;
  const float* k;
  const float* v;
  float decay, beta;
  float* out;
};

Row row_at(const GatedDeltaArgs& args, int64_t row, int64_t head, int64_t column) {
  const int64_t key_width = args.key_heads * args.key_dim;
  const int64_t value_width = args.value_heads * args.value_dim;
  const int64_t key_head = gated_delta_key_head(args, head);
  const float* qkv = args.qkv + row * (2 * key_width + value_width);
  const int64_t value = head * args.value_dim + column;
  return {.q = qkv + key_head * args.key_dim,
          .k = qkv + key_width + key_head * args.key_dim,
          .v = qkv + 2 * key_width + value,
          .decay = args.decay[row * args.value_heads + head],
          .beta = args.beta[row * args.value_heads + head],
          .out = args.out + row * value_width + value};
}

F32x16 decayed(F32x16 s, F32x16 decay) {
  s = s * decay;
  return zero_where(less(abs(s), F32x16::splat(kStateFloor)), s);
}

// The decay of a row, and m = S^T k on the decayed state. Rows of the state are `stride` apart.
template <int kVectors>
void decay_and_read(const Row& row, int64_t key_dim, int64_t stride, const float* from, float* to,
                    F32x16 (&read)[kVectors]) {
  const F32x16 decay = F32x16::splat(row.decay);
#pragma GCC unroll 4
  for (int c = 0; c < kVectors; ++c) read[c] = F32x16::zero();
  for (int64_t i = 0; i < key_dim; ++i, from += stride, to += stride) {
    const F32x16 k = F32x16::splat(row.k[i]);
#pragma GCC unroll 4
    for (int c = 0; c < kVectors; ++c) {
      const F32x16 s = decayed(F32x16::load(from + c * kLanes), decay);
      read[c] = fma(k, s, read[c]);
      s.store(to + c * kLanes);
    }
  }
}

// S = fma(k, d, S) and o = S^T q of a row. If there is a next row, its decay and its m follow while
// the element is at hand.
template <int kVectors, bool kHasNext>
void write_and_answer(const Row& row, const Row& next, int64_t key_dim, int64_t stride,
                      float* state, F32x16 (&read)[kVectors]) {
  const F32x16 decay = F32x16::splat(next.decay);
  F32x16 write[kVectors], answer[kVectors];
#pragma GCC unroll 4
  for (int c = 0; c < kVectors; ++c) {
    write[c] = F32x16::splat(row.beta) * (F32x16::load(row.v + c * kLanes) - read[c]);
    answer[c] = read[c] = F32x16::zero();
  }
  for (int64_t i = 0; i < key_dim; ++i, state += stride) {
    const F32x16 k = F32x16::splat(row.k[i]);
    const F32x16 q = F32x16::splat(row.q[i]);
    const F32x16 next_k = F32x16::splat(next.k[i]);
#pragma GCC unroll 4
    for (int c = 0; c < kVectors; ++c) {
      F32x16 s = fma(k, write[c], F32x16::load(state + c * kLanes));
      answer[c] = fma(q, s, answer[c]);
      if constexpr (kHasNext) {
        s = decayed(s, decay);
        read[c] = fma(next_k, s, read[c]);
      }
      s.store(state + c * kLanes);
    }
  }
#pragma GCC unroll 4
  for (int c = 0; c < kVectors; ++c) answer[c].store(row.out + c * kLanes);
}

template <int kVectors>
void delta_columns(const GatedDeltaArgs& args, const DeltaSequence& sequence, int64_t head,
                   int64_t column) {
  const int64_t stride = args.value_dim;
  const int64_t tile = head * args.key_dim * stride + column;
  const float* from = sequence.state_in + tile;
  float* to = sequence.state_out + tile;
  if (sequence.rows == 0) {
    for (int64_t i = 0; i < args.key_dim; ++i) {
      std::memcpy(to + i * stride, from + i * stride, sizeof(float) * kVectors * kLanes);
    }
    return;
  }
  F32x16 read[kVectors];
  Row row = row_at(args, sequence.first_row, head, column);
  decay_and_read<kVectors>(row, args.key_dim, stride, from, to, read);
  for (int64_t r = 1; r < sequence.rows; ++r) {
    const Row next = row_at(args, sequence.first_row + r, head, column);
    write_and_answer<kVectors, true>(row, next, args.key_dim, stride, to, read);
    row = next;
  }
  write_and_answer<kVectors, false>(row, row, args.key_dim, stride, to, read);
}

}  // namespace

void gated_delta_columns(const GatedDeltaArgs& args, const DeltaSequence& sequence,
                         int64_t value_head, int64_t first_column, int64_t columns) {
  constexpr int kVectors = kDeltaColumns / kLanes;
  int64_t column = first_column;
  const int64_t end = first_column + columns;
  for (; end - column >= kDeltaColumns; column += kDeltaColumns) {
    delta_columns<kVectors>(args, sequence, value_head, column);
  }
  for (; column < end; column += kLanes) delta_columns<1>(args, sequence, value_head, column);
}

}  // namespace lockstep::LOCKSTEP_ISA
