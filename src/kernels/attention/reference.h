// attention in float64, unrounded, in the plainest order.
#pragma once

#include "kernels/attention/attention.h"

namespace lockstep {

// out: [rows, Nq, Dh]. bound, where it is not null: the error that attention may have there.
void reference_attention(const AttentionArgs& args, double* out, double* bound);

// Rows of one sequence from position 0 on, in float64 and without a cache.
struct AttentionRows {
  int64_t count = 0;
  const double* q = nullptr;  // [count, Nq, Dh]
  const double* k = nullptr;  // [count, Nkv, Dh]
  const double* v = nullptr;  // [count, Nkv, Dh]
};

// The same for them, in the place of args.q and args.sequences.
void reference_attention(const AttentionArgs& args, const AttentionRows& rows, double* out);

}  // namespace lockstep
