#include "sampling/row_edit.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace lockstep {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

float to_logit(double value) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(value, -kLargest, kLargest));
}

void apply_mask(TokenMask mask, std::span<float> row) {
  LOCKSTEP_CHECK(mask.size() == mask_words(row.size()), "a mask of another vocabulary");
  for (size_t word = 0; word < mask.size(); ++word) {
    if (mask[word] == ~uint64_t{0}) continue;
    const std::span<float> part =
        row.subspan(word * 64, std::min<size_t>(64, row.size() - word * 64));
    for (size_t bit = 0; bit < part.size(); ++bit) {
      if ((mask[word] >> bit & 1) == 0) part[bit] = -kInfinity;
    }
  }
}

std::vector<uint64_t> mask_of(const std::vector<int32_t>& ids, size_t vocab_size) {
  std::vector<uint64_t> mask;
  if (ids.empty()) return mask;
  mask.resize(mask_words(vocab_size));
  for (const int32_t id : ids) mask[static_cast<size_t>(id) / 64] |= uint64_t{1} << id % 64;
  return mask;
}

}  // namespace

RowEdit::RowEdit(const SamplingSettings& settings, size_t vocab_size)
    : repetition_(settings.repetition_penalty),
      presence_(settings.presence_penalty),
      frequency_(settings.frequency_penalty),
      window_(settings.penalty_window),
      counts_tokens_(repetition_ != 1.0 || presence_ != 0.0 || frequency_ != 0.0),
      biases_(settings.logit_bias),
      banned_(settings.banned_tokens),
      allowed_(mask_of(settings.allowed_tokens, vocab_size)) {}

void RowEdit::apply(TokenMask mask, const TokenHistory& history, TokenCounts& counts,
                    std::span<float> row) const {
  if (!mask.empty()) apply_mask(mask, row);
  if (!allowed_.empty()) apply_mask(allowed_, row);
  for (const int32_t id : banned_) row[static_cast<size_t>(id)] = -kInfinity;
  if (counts_tokens_) penalise(history, counts, row);
  for (const LogitBias& entry : biases_) {
    float& logit = row[static_cast<size_t>(entry.id)];
    if (logit != -kInfinity) logit = to_logit(static_cast<double>(logit) + entry.bias);
  }
}

void RowEdit::penalise(const TokenHistory& history, TokenCounts& counts,
                       std::span<float> row) const {
  history.count(window_, row.size(), counts);
  for (const int32_t id : counts.ids) {
    float& logit = row[static_cast<size_t>(id)];
    if (logit != -kInfinity) logit = penalised(logit, counts.of[static_cast<size_t>(id)]);
  }
}

float RowEdit::penalised(float logit, const TokenCounts::Count& count) const {
  double value = logit;
  value = value > 0.0 ? value / repetition_ : value * repetition_;
  if (count.reply > 0) value -= presence_ + frequency_ * count.reply;
  return to_logit(value);
}

}  // namespace lockstep
