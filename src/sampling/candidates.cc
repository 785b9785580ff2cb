#include "sampling/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "base/real_math.h"

namespace lockstep {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Slices of the scores from 0 down to the lowest with a mass; ascending with the order of tokens.
constexpr size_t kSlices = 4096;

size_t slice_of(const MassScale& scale, float logit) {
  const double score = scale.score(logit);
  if (score <= scale.lowest_score()) return kSlices - 1;
  return static_cast<size_t>(score / scale.lowest_score() * (kSlices - 1));
}

Error non_finite(const char* what, size_t id) {
  return {ErrorCode::kNumeric, fmt::format("the logit of token {} is {}", id, what)};
}

}  // namespace

Result<Candidate> find_first(std::span<const float> logits) {
  Candidate first{-kInfinity, 0};
  for (size_t id = 0; id < logits.size(); ++id) {
    if (logits[id] <= first.logit) continue;
    if (logits[id] != logits[id]) return non_finite("not a number", id);
    if (logits[id] == kInfinity) return non_finite("infinite", id);
    first = {logits[id], static_cast<int32_t>(id)};
  }
  if (first.logit == -kInfinity) {
    return Error{ErrorCode::kNumeric,
                 fmt::format("none of the {} logits is above -infinity", logits.size())};
  }
  return first;
}

void select_first(std::span<const float> logits, size_t count, std::vector<Candidate>& out) {
  out.clear();
  if (count == 0) return;
  // Once more than `count` are gathered, the surplus is cut off and the last one kept becomes the
  // bar: later tokens have higher ids, so an equal logit does not pass it.
  const size_t room = count + std::max<size_t>(count, 256);
  float bar = -kInfinity;
  const auto cut = [&] {
    std::nth_element(out.begin(), out.begin() + static_cast<int64_t>(count) - 1, out.end(),
                     precedes);
    out.resize(count);
    bar = out.back().logit;
  };
  for (size_t id = 0; id < logits.size(); ++id) {
    if (!(logits[id] > bar)) continue;
    out.push_back({logits[id], static_cast<int32_t>(id)});
    if (out.size() == room) cut();
  }
  if (out.size() > count) cut();
  std::sort(out.begin(), out.end(), precedes);
}

MassScale::MassScale(size_t vocab_size, float highest, double temperature)
    : highest_(highest), temperature_(temperature) {
  const int exponent = 62 - std::bit_width(vocab_size - 1);
  unit_ = static_cast<double>(uint64_t{1} << exponent);
  constexpr double kLn2 = 0x1.62e42fefa39efp-1;
  lowest_score_ = -kLn2 * (exponent + 2);
}

uint64_t MassScale::mass(float logit) const {
  const double s = score(logit);
  if (s < lowest_score_) return 0;
  return static_cast<uint64_t>(real_math::exp(s) * unit_ + 0.5);
}

// Sorts only the slice in which the border lies.
void keep_top_p(const MassScale& scale, double top_p, std::vector<Candidate>& candidates) {
  std::vector<uint64_t> slices(kSlices);
  uint64_t total = 0;
  for (const Candidate& candidate : candidates) {
    const uint64_t mass = scale.mass(candidate.logit);
    slices[slice_of(scale, candidate.logit)] += mass;
    total += mass;
  }
  const auto wanted = static_cast<uint64_t>(top_p * static_cast<double>(total));
  const uint64_t target = std::clamp<uint64_t>(wanted, 1, total);
  size_t border = 0;
  uint64_t kept = 0;
  while (kept + slices[border] < target) kept += slices[border++];

  std::vector<Candidate> at_border;
  std::erase_if(candidates, [&](const Candidate& candidate) {
    const size_t slice = slice_of(scale, candidate.logit);
    if (slice == border) at_border.push_back(candidate);
    return slice >= border;
  });
  std::sort(at_border.begin(), at_border.end(), precedes);
  for (const Candidate& candidate : at_border) {
    if (kept >= target) break;
    kept += scale.mass(candidate.logit);
    candidates.push_back(candidate);
  }
}

}  // namespace lockstep
