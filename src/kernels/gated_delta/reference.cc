#include "kernels/gated_delta/reference.h"

#include <cmath>

namespace lockstep {
namespace {

// One row of one value column. `state` has a stride of Dv; returns the output and updates `error`,
// the bound of the column's error.
struct Column {
  double* state;
  double* error;
  int64_t stride;
};

template <typename Real>
double step(const Column& column, const Real* q, const Real* k, double v, double decay, double beta,
            int64_t key_dim, double* out_error) {
  double read = 0.0, squares = 0.0, key_squares = 0.0, query_squares = 0.0, out = 0.0;
  for (int64_t i = 0; i < key_dim; ++i) {
    double& s = column.state[i * column.stride];
    s *= decay;
    if (std::fabs(s) < kStateFloor) s = 0.0;
    read += s * k[i];
    squares += s * s;
    key_squares += static_cast<double>(k[i]) * k[i];
    query_squares += static_cast<double>(q[i]) * q[i];
  }
  const double write = beta * (v - read);
  double after = 0.0;
  for (int64_t i = 0; i < key_dim; ++i) {
    double& s = column.state[i * column.stride];
    s += k[i] * write;
    out += s * q[i];
    after += s * s;
  }
  *column.error = gated_delta_state_error({.before = *column.error,
                                           .decay = decay,
                                           .beta = beta,
                                           .key_norm = std::sqrt(key_squares),
                                           .write = std::fabs(write),
                                           .decayed_norm = std::sqrt(squares),
                                           .state_norm = std::sqrt(after),
                                           .key_dim = key_dim});
  *out_error = std::sqrt(query_squares) *
               (*column.error + roundings(static_cast<double>(key_dim)) * std::sqrt(after));
  return out;
}

template <typename Real>
void scan(const GatedDeltaArgs& args, const Real* qkv, const Real* decay, const Real* beta,
          const GatedDeltaReference& reference) {
  const int64_t keys = args.key_heads * args.key_dim, values = args.value_heads * args.value_dim;
  for (int64_t s = 0; s < args.sequence_count; ++s) {
    const DeltaSequence& sequence = args.sequences[s];
    for (int64_t c = 0; c < values; ++c) {
      const int64_t head = c / args.value_dim;
      const int64_t key_head =
          args.tiled_heads ? head % args.key_heads : head / (args.value_heads / args.key_heads);
      const int64_t tile = head * args.key_dim * args.value_dim + c % args.value_dim;
      double* state = reference.states + s * values * args.key_dim + tile;
      for (int64_t i = 0; i < args.key_dim; ++i) {
        state[i * args.value_dim] = sequence.state_in[tile + i * args.value_dim];
      }
      double* error = reference.state_bound + s * values + c;
      *error = 0.0;
      for (int64_t row = sequence.first_row; row < sequence.first_row + sequence.rows; ++row) {
        const Real* q = qkv + row * (2 * keys + values) + key_head * args.key_dim;
        const double v = qkv[row * (2 * keys + values) + 2 * keys + c];
        const int64_t gate = row * args.value_heads + head;
        reference.out[row * values + c] =
            step({state, error, args.value_dim}, q, q + keys, v, decay[gate], beta[gate],
                 args.key_dim, reference.out_bound + row * values + c);
      }
    }
  }
}

}  // namespace

void reference_gated_delta(const GatedDeltaArgs& args, const GatedDeltaReference& reference) {
  scan(args, args.qkv, args.decay, args.beta, reference);
}

void reference_gated_delta(const GatedDeltaArgs& args, const double* qkv, const double* decay,
                           const double* beta, const GatedDeltaReference& reference) {
  scan(args, qkv, decay, beta, reference);
}

}  // namespace lockstep
