#include "kernels/attention/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/float16.h"
#include "base/real_math.h"

namespace lockstep {
namespace {

double cached(const AttentionArgs& args, const KvSequence& sequence, int64_t position,
              int64_t kv_head, int64_t d, bool value) {
  const KvShape& shape = args.shape;
  const int64_t element = (kv_head * kKvBlock + position % kKvBlock) * shape.head_dim + d;
  const std::byte* at = sequence.blocks[position / kKvBlock] +
                        static_cast<size_t>(element) * shape.element_bytes() +
                        (value ? shape.half_block_bytes() : 0);
  return shape.type == KvType::kBf16 ? bf16_to_float(load_unaligned<uint16_t>(at))
                                     : load_unaligned<float>(at);
}

// The header's rule: a group of keys whose scores are all minus infinity makes the row NaN.
bool has_lost_group(const std::vector<double>& scores) {
  for (size_t begin = 0; begin < scores.size(); begin += kAttentionGroup) {
    const size_t end = std::min(scores.size(), begin + kAttentionGroup);
    const auto first = scores.begin() + static_cast<int64_t>(begin);
    const auto last = scores.begin() + static_cast<int64_t>(end);
    if (*std::max_element(first, last) == -std::numeric_limits<double>::infinity()) return true;
  }
  return false;
}

// What one query head sees: keys and values by (position, element).
struct PagedHead {
  const AttentionArgs& args;
  const KvSequence& sequence;
  int64_t kv_head;
  double key(int64_t j, int64_t d) const { return cached(args, sequence, j, kv_head, d, false); }
  double value(int64_t j, int64_t d) const { return cached(args, sequence, j, kv_head, d, true); }
};
struct PlainHead {
  const double* k;  // of position 0
  const double* v;
  int64_t stride;
  double key(int64_t j, int64_t d) const { return k[j * stride + d]; }
  double value(int64_t j, int64_t d) const { return v[j * stride + d]; }
};

// One query head of one row at `position`: q and out are its own.
template <typename Real, typename Head>
void attend(const AttentionArgs& args, const Head& head, int64_t position, const Real* q,
            double* out, double* bound) {
  std::vector<double> weights;
  double largest = -std::numeric_limits<double>::infinity(), smallest = -largest, magnitude = 0.0;
  for (int64_t j = 0; j <= position; ++j) {
    double score = 0.0, terms = 0.0;
    for (int64_t d = 0; d < args.shape.head_dim; ++d) {
      const double term = q[d] * head.key(j, d);
      score += term;
      terms += std::fabs(term);
    }
    weights.push_back(score * args.scale);
    largest = std::fmax(largest, weights.back());
    if (std::isinf(weights.back())) continue;  // its weight is 0 or NaN, without error
    smallest = std::fmin(smallest, weights.back());
    magnitude = std::fmax(magnitude, terms * args.scale);
  }
  if (has_lost_group(weights)) largest = std::numeric_limits<double>::quiet_NaN();
  double sum = 0.0;
  for (double& weight : weights) sum += weight = real_math::exp(weight - largest);
  const double error =
      attention_relative_error(args.shape.head_dim, position + 1, magnitude, largest - smallest);
  for (int64_t d = 0; d < args.shape.head_dim; ++d) {
    double total = 0.0, absolute = 0.0;
    for (int64_t j = 0; j <= position; ++j) {
      const double term = weights[static_cast<size_t>(j)] / sum * head.value(j, d);
      total += term;
      absolute += std::fabs(term);
    }
    out[d] = total;
    if (bound != nullptr) bound[d] = error * absolute + kTiny;
  }
}

}  // namespace

void reference_attention(const AttentionArgs& args, double* out, double* bound) {
  const int64_t group = args.heads / args.shape.kv_heads;
  for (int64_t s = 0; s < args.sequence_count; ++s) {
    const KvSequence& sequence = args.sequences[s];
    for (int64_t i = 0; i < sequence.rows * args.heads; ++i) {
      const int64_t offset = (sequence.first_row * args.heads + i) * args.shape.head_dim;
      attend(args, PagedHead{args, sequence, i % args.heads / group},
             sequence.first_position + i / args.heads, args.q + offset, out + offset,
             bound == nullptr ? nullptr : bound + offset);
    }
  }
}

void reference_attention(const AttentionArgs& args, const AttentionRows& rows, double* out) {
  const int64_t group = args.heads / args.shape.kv_heads;
  const int64_t dim = args.shape.head_dim, stride = args.shape.kv_heads * dim;
  for (int64_t i = 0; i < rows.count * args.heads; ++i) {
    const int64_t kv = i % args.heads / group * dim;
    attend(args, PlainHead{rows.k + kv, rows.v + kv, stride}, i / args.heads, rows.q + i * dim,
           out + i * dim, nullptr);
  }
}

}  // namespace lockstep
