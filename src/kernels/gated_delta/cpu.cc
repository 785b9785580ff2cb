#include "kernels/gated_delta/cpu.h"

#include "kernels/simd/f32x16.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

// One row of kVectors * 16 columns. `from` and `to` are the state before and after, rows `stride`
// apart; they may be the same.
struct Step {
  const float* q;
  const float* k;
  const float* v;
  float decay, beta;
  float* out;
};

template <int kVectors>
void delta_row(const Step& step, int64_t key_dim, int64_t stride, const float* from, float* to) {
  const F32x16 decay = F32x16::splat(step.decay);
  const F32x16 floor = F32x16::splat(kStateFloor);
  F32x16 read[kVectors], output[kVectors];
  for (int c = 0; c < kVectors; ++c) read[c] = output[c] = F32x16::zero();
  for (int64_t i = 0; i < key_dim; ++i) {
    const F32x16 k = F32x16::splat(step.k[i]);
    for (int c = 0; c < kVectors; ++c) {
      F32x16 s = F32x16::load(from + i * stride + c * kLanes) * decay;
      s = select(less(abs(s), floor), F32x16::zero(), s);
      read[c] = fma(k, s, read[c]);
      s.store(to + i * stride + c * kLanes);
    }
  }
  F32x16 write[kVectors];
  for (int c = 0; c < kVectors; ++c) {
    write[c] = F32x16::splat(step.beta) * (F32x16::load(step.v + c * kLanes) - read[c]);
  }
  for (int64_t i = 0; i < key_dim; ++i) {
    const F32x16 k = F32x16::splat(step.k[i]);
    const F32x16 q = F32x16::splat(step.q[i]);
    for (int c = 0; c < kVectors; ++c) {
      const F32x16 s = fma(k, write[c], F32x16::load(to + i * stride + c * kLanes));
      output[c] = fma(q, s, output[c]);
      s.store(to + i * stride + c * kLanes);
    }
  }
  for (int c = 0; c < kVectors; ++c) output[c].store(step.out + c * kLanes);
}

template <int kVectors>
void delta_columns(const GatedDeltaArgs& args, const DeltaSequence& sequence, int64_t head,
                   int64_t column) {
  const int64_t key_width = args.key_heads * args.key_dim;
  const int64_t width = 2 * key_width + args.value_heads * args.value_dim;
  const int64_t key_head = head / (args.value_heads / args.key_heads);
  const int64_t tile = head * args.key_dim * args.value_dim + column;
  const float* from = sequence.state_in + tile;
  float* to = sequence.state_out + tile;
  for (int64_t row = sequence.first_row; row < sequence.first_row + sequence.rows; ++row) {
    const float* q = args.qkv + row * width + key_head * args.key_dim;
    const int64_t value = head * args.value_dim + column;
    const Step step{.q = q,
                    .k = q + key_width,
                    .v = args.qkv + row * width + 2 * key_width + value,
                    .decay = args.decay[row * args.value_heads + head],
                    .beta = args.beta[row * args.value_heads + head],
                    .out = args.out + row * args.value_heads * args.value_dim + value};
    delta_row<kVectors>(step, args.key_dim, args.value_dim, from, to);
    from = to;
  }
  if (from == to) return;
  for (int64_t i = 0; i < args.key_dim; ++i) {  // no rows: the state goes through
    std::memcpy(to + i * args.value_dim, from + i * args.value_dim, sizeof(float) * kVectors * kLanes);
  }
}

}  // namespace

void gated_delta_columns(const GatedDeltaArgs& args, const DeltaSequence& sequence,
                         int64_t value_head, int64_t first_column, int64_t columns) {
  int64_t column = first_column;
  const int64_t end = first_column + columns;
  for (; end - column >= 4 * kLanes; column += 4 * kLanes) {
    delta_columns<4>(args, sequence, value_head, column);
  }
  for (; column < end; column += kLanes) delta_columns<1>(args, sequence, value_head, column);
}

}  // namespace lockstep::LOCKSTEP_ISA
