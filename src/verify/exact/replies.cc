#include "verify/exact/replies.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "model/forward_pass.h"
#include "runtime/session.h"

namespace lockstep::verify {
namespace {

constexpr int64_t kReplyTokens = 10;

GenerateRequest request_of(const Prompt& ids, int64_t tokens, double temperature) {
  return {.prompt = ids,
          .max_tokens = tokens,
          .sampling = {.temperature = temperature, .seed = 7},
          .top_logprobs = 0};
}

std::string difference(const ReplyToken& got, const ReplyToken& want) {
  const double a = got.logprobs->chosen.logprob, b = want.logprobs->chosen.logprob;
  if (got.id == want.id && std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b)) return {};
  return fmt::format("position {}: token {} with log-probability {}, want {} with {}", got.position,
                     got.id, a, want.id, b);
}

std::string difference(const Reply& got, const Reply& want) {
  for (size_t i = 0; i < std::min(got.tokens.size(), want.tokens.size()); ++i) {
    std::string found = difference(got.tokens[i], want.tokens[i]);
    if (!found.empty()) return found;
  }
  if (got.tokens.size() == want.tokens.size()) return {};
  return fmt::format("{} tokens, want {}", got.tokens.size(), want.tokens.size());
}

// A session with a pool and a pass of its own.
class Reader {
 public:
  Reader(const Model& model, int threads, Isa isa, int64_t chunk)
      : pool_(threads),
        pass_(model, {.pool = pool_, .isa = isa}, {.rows = chunk, .logit_rows = 1}),
        session_(pass_, model.config().max_positions) {}

  // `before`: tokens of the prompt that the session has read when it is asked.
  Result<Reply> reply(const Prompt& ids, int64_t before, double temperature) {
    session_.reset();
    if (before > 0) {
      const Prompt part(ids.begin(), ids.begin() + before);
      LOCKSTEP_RETURN_IF_ERROR(session_.generate(request_of(part, 0, temperature), {}));
    }
    return session_.generate(request_of(ids, kReplyTokens, temperature), {});
  }

 private:
  ThreadPool pool_;
  ForwardPass pass_;
  Session session_;
};

}  // namespace

std::vector<ReplyCase> reply_cases(const CaseOptions& options) {
  std::vector<ReplyCase> cases = {{.name = "replies, prompt in chunks of 7", .chunk = 7}};
  if (!options.quick) {
    cases.push_back({.name = "replies, prompt token by token", .chunk = 1});
    cases.push_back({.name = "replies, 3 threads", .chunk = 64, .threads = 3});
  }
  cases.push_back({.name = "replies, prompt continued", .chunk = 64, .continued = true});
  return cases;
}

Result<Clause> ReplyChecker::decide(const ReplyCase& each) {
  size_t longest = 0;
  for (const Prompt& ids : prompts_) longest = std::max(longest, ids.size());
  const Isa isa = options_.isas.front();
  Reader fresh(model_, options_.threads, isa, static_cast<int64_t>(longest));
  Reader reader(model_, each.threads, isa, each.chunk);
  Clause clause{.name = each.name, .verdict = Verdict::kPass, .figure = {}, .detail = {}};
  size_t tokens = 0;
  for (size_t i = 0; i < prompts_.size(); ++i) {
    const auto before = each.continued ? static_cast<int64_t>(prompts_[i].size() / 2) : 0;
    for (const double temperature : {0.0, 1.0}) {
      LOCKSTEP_ASSIGN_OR_RETURN(const Reply want, fresh.reply(prompts_[i], 0, temperature));
      LOCKSTEP_ASSIGN_OR_RETURN(const Reply got, reader.reply(prompts_[i], before, temperature));
      tokens += want.tokens.size();
      const std::string found = difference(got, want);
      if (found.empty() || clause.verdict == Verdict::kFail) continue;
      clause.verdict = Verdict::kFail;
      clause.detail = fmt::format("prompt {}, temperature {}: {}", i, temperature, found);
    }
  }
  clause.figure = fmt::format("{} tokens", tokens);
  return clause;
}

}  // namespace lockstep::verify
