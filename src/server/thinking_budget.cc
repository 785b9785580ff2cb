#include "server/thinking_budget.h"

#include <utility>

namespace lockstep {
namespace {

// What the states of one reply share.
struct Plan {
  int32_t close = 0;                        // the closing tag
  std::vector<int32_t> ending;              // what is written when the budget is spent
  std::vector<uint64_t> all;                // lets everything through
  std::vector<std::vector<uint64_t>> only;  // lets the i-th of the ending through
};

class State final : public TokenConstraint {
 public:
  State(std::shared_ptr<const Plan> plan, int64_t left, size_t written)
      : plan_(std::move(plan)), left_(left), written_(written) {}

  TokenMask mask() const override { return left_ > 0 ? plan_->all : plan_->only[written_]; }

  std::shared_ptr<const TokenConstraint> after(int32_t id) const override {
    if (left_ > 0 && id == plan_->close) return nullptr;
    if (left_ > 0) return std::make_shared<State>(plan_, left_ - 1, 0);
    if (written_ + 1 == plan_->ending.size()) return nullptr;
    return std::make_shared<State>(plan_, 0, written_ + 1);
  }

 private:
  std::shared_ptr<const Plan> plan_;
  int64_t left_;    // tokens that may still be thought
  size_t written_;  // of the ending
};

}  // namespace

Result<std::shared_ptr<const TokenConstraint>> make_thinking_budget(const Tokenizer& tokenizer,
                                                                    int64_t vocab, int64_t tokens) {
  const std::optional<int32_t> close = tokenizer.find_token("</think>");
  if (!close) {
    return Error{ErrorCode::kUnsupported,
                 "this model's tokenizer has no </think>, so thinking cannot be cut short"};
  }
  auto plan = std::make_shared<Plan>();
  plan->close = *close;
  LOCKSTEP_ASSIGN_OR_RETURN(plan->ending, tokenizer.encode("\n</think>\n\n"));
  const size_t words = mask_words(static_cast<size_t>(vocab));
  plan->all.assign(words, ~uint64_t{0});
  for (const int32_t id : plan->ending) {
    auto& mask = plan->only.emplace_back(words, 0);
    mask[static_cast<size_t>(id) / 64] |= uint64_t{1} << (id % 64);
  }
  return std::shared_ptr<const TokenConstraint>(
      std::make_shared<State>(std::move(plan), tokens, 0));
}

}  // namespace lockstep
