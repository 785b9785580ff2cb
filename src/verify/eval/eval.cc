#include "verify/eval/eval.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/real_math.h"
#include "model/forward_pass.h"
#include "verify/stages/compare.h"

namespace lockstep::verify {
namespace {

constexpr PassLimits kLimits = {.rows = 64, .logit_rows = 64};

// Log-probabilities [V] of one row, in float64.
std::vector<double> log_softmax(std::span<const float> logits) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0.0;
  for (const float x : logits) sum += real_math::exp(x - largest);
  const double shift = largest + real_math::log(sum);
  std::vector<double> result(logits.begin(), logits.end());
  for (double& x : result) x -= shift;
  return result;
}

double divergence(const std::vector<double>& reference, const std::vector<double>& other) {
  double sum = 0.0;
  for (size_t i = 0; i < reference.size(); ++i) {
    const double p = real_math::exp(reference[i]);
    if (p > 0.0) sum += p * (reference[i] - other[i]);
  }
  return sum;
}

// One model in one window after another.
class WindowRunner {
 public:
  WindowRunner(const Model& model, const CpuContext& context)
      : pass_(model, context, kLimits), vocab_(static_cast<size_t>(model.config().vocab_size)) {}

  void begin() { sequence_.emplace(pass_.model().state_shape()); }

  // Logits [ids, V] of the next ids, at most kLimits.rows.
  Result<std::span<const float>> read(std::span<const int32_t> ids) {
    RowBatch batch;
    batch.segments = {{.sequence = &*sequence_, .rows = std::ssize(ids)}};
    batch.ids.assign(ids.begin(), ids.end());
    batch.logit_rows.resize(ids.size());
    std::iota(batch.logit_rows.begin(), batch.logit_rows.end(), 0);
    LOCKSTEP_ASSIGN_OR_RETURN(const RoundOutput output, pass_.forward(batch));
    if (!output.faults.empty()) {
      return Error{ErrorCode::kNumeric,
                   fmt::format("a value that is not finite, {} ids into a window",
                               sequence_->position() + output.faults.front().row)};
    }
    pass_.commit(batch);
    return output.logits;
  }

  size_t vocab() const { return vocab_; }

 private:
  ForwardPass pass_;
  size_t vocab_;
  std::optional<SequenceState> sequence_;
};

class Evaluation {
 public:
  Evaluation(const Model& model, const Model* reference, const CpuContext& context,
             std::span<const int32_t> ids)
      : ids_(ids), model_(model, context) {
    if (reference == nullptr) return;
    reference_.emplace(*reference, context);
    report_.against.emplace();
  }

  Status run(const EvalWindow& window) {
    model_.begin();
    if (reference_) reference_->begin();
    // The last id of a window is only scored, never read.
    for (int64_t at = window.begin; at + 1 < window.end; at += kLimits.rows) {
      const int64_t rows = std::min(kLimits.rows, window.end - 1 - at);
      const auto ids = ids_.subspan(static_cast<size_t>(at), static_cast<size_t>(rows));
      LOCKSTEP_ASSIGN_OR_RETURN(const auto logits, model_.read(ids));
      std::span<const float> reference_logits;
      if (reference_) {
        LOCKSTEP_ASSIGN_OR_RETURN(reference_logits, reference_->read(ids));
      }
      for (int64_t row = 0; row < rows; ++row) {
        if (at + row + 1 >= window.first_scored) score(at + row, row, logits, reference_logits);
      }
    }
    return {};
  }

  // Means in the place of sums.
  EvalReport finish() {
    const auto count = static_cast<double>(report_.result.scored);
    report_.result.mean_loss /= count;
    if (report_.against) {
      report_.against->reference.mean_loss /= count;
      report_.against->mean_kl /= count;
    }
    return report_;
  }

  uint64_t scored() const { return static_cast<uint64_t>(report_.result.scored); }

 private:
  void score(int64_t position, int64_t row, std::span<const float> logits,
             std::span<const float> reference_logits) {
    const size_t vocab = model_.vocab();
    const auto next = static_cast<size_t>(ids_[static_cast<size_t>(position) + 1]);
    const auto own = logits.subspan(static_cast<size_t>(row) * vocab, vocab);
    const std::vector<double> log_p = log_softmax(own);
    add(report_.result, -log_p[next]);
    if (!reference_) return;
    EvalDifference& against = *report_.against;
    const auto other = reference_logits.subspan(static_cast<size_t>(row) * vocab, vocab);
    const std::vector<double> reference_log_p = log_softmax(other);
    add(against.reference, -reference_log_p[next]);
    const double kl = divergence(reference_log_p, log_p);
    against.mean_kl += kl;
    if (kl > against.worst_kl) {
      against.worst_kl = kl;
      against.worst_position = position;
    }
    against.agreeing += top_two(own).first == top_two(other).first;
  }

  static void add(EvalResult& result, double loss) {
    ++result.scored;
    result.mean_loss += loss;
  }

  std::span<const int32_t> ids_;
  WindowRunner model_;
  std::optional<WindowRunner> reference_;
  EvalReport report_;
};

}  // namespace

double EvalResult::perplexity() const { return real_math::exp(mean_loss); }

Result<std::vector<EvalWindow>> plan_windows(int64_t ids, const EvalWindows& windows) {
  const auto fail = [](std::string message) {
    return Error{ErrorCode::kInvalidArgument, std::move(message)};
  };
  if (ids < 2) return fail(fmt::format("the text has {} tokens, a score needs two", ids));
  if (windows.window < 2) return fail("a window holds two tokens at least");
  if (windows.stride < 1 || windows.stride >= windows.window) {
    return fail(fmt::format("the stride is {}; it must be from 1 to one less than the window of {}",
                            windows.stride, windows.window));
  }
  std::vector<EvalWindow> plan;
  int64_t first_scored = 1;
  for (int64_t begin = 0; first_scored < ids; begin += windows.stride) {
    const int64_t end = std::min(begin + windows.window, ids);
    plan.push_back({begin, end, first_scored});
    first_scored = end;
  }
  return plan;
}

Result<EvalReport> evaluate(const Model& model, const Model* reference, const CpuContext& context,
                            std::span<const int32_t> ids, const EvalWindows& windows,
                            const Progress& progress) {
  LOCKSTEP_ASSIGN_OR_RETURN(const std::vector<EvalWindow> plan,
                            plan_windows(std::ssize(ids), windows));
  Evaluation evaluation(model, reference, context, ids);
  for (const EvalWindow& window : plan) {
    LOCKSTEP_RETURN_IF_ERROR(evaluation.run(window));
    if (progress) progress(evaluation.scored(), ids.size() - 1);
  }
  return evaluation.finish();
}

}  // namespace lockstep::verify
