#include "verify/exact/replies.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <utility>

#include "model/forward_pass.h"
#include "runtime/stream_engine.h"

namespace lockstep::verify {
namespace {

constexpr int64_t kReplyTokens = 10;

Request request_of(const Prompt& ids, int64_t tokens, double temperature) {
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

constexpr uint64_t kCacheBytes = uint64_t{1} << 30;

// An engine with a pool and a pass of its own.
class Reader {
 public:
  static Result<std::unique_ptr<Reader>> make(const Model& model, int threads, Isa isa,
                                              int64_t chunk) {
    std::unique_ptr<Reader> reader(new Reader(model, threads, isa, chunk));
    const int64_t context = model.config().max_positions;
    const EngineOptions options = {
        .context = context,
        .pages = EngineOptions::least_pages(context),
        .cache = PromptCacheOptions{.memory_bytes = kCacheBytes, .min_tokens = 1},
        .save_policy = {.min_tokens = 1},
        .rules = {.rows = chunk, .round_seconds = 1e9, .piece = chunk}};
    LOCKSTEP_ASSIGN_OR_RETURN(reader->engine_,
                              StreamEngine::make(reader->pass_, reader->pool_, options));
    return reader;
  }

  // `before`: tokens of the prompt that a request before it has read.
  Result<Reply> reply(const Prompt& ids, int64_t before, double temperature) {
    const std::string salt = fmt::format("{}", ++requests_);  // shares nothing with those before
    if (before > 0) {
      const Prompt part(ids.begin(), ids.begin() + before);
      LOCKSTEP_RETURN_IF_ERROR(run(request_of(part, 0, temperature), salt));
    }
    LOCKSTEP_ASSIGN_OR_RETURN(Reply reply, run(request_of(ids, kReplyTokens, temperature), salt));
    if (reply.end.timings.cached_tokens == before) return reply;
    return Error{ErrorCode::kNotFound,
                 fmt::format("a prompt of which {} tokens were read before resumes after {}",
                             before, reply.end.timings.cached_tokens)};
  }

 private:
  Reader(const Model& model, int threads, Isa isa, int64_t chunk)
      : pool_(threads),
        pass_(model, {.pool = pool_, .isa = isa}, {.rows = chunk, .logit_rows = 1}) {}

  Result<Reply> run(Request request, const std::string& salt) {
    request.salt = salt;
    LOCKSTEP_ASSIGN_OR_RETURN(ReplyStream stream, engine_->submit(std::move(request)));
    Reply reply = std::move(collect_replies(stream).front());
    LOCKSTEP_RETURN_IF_ERROR(reply.end.status);
    return reply;
  }

  ThreadPool pool_;
  ForwardPass pass_;
  std::unique_ptr<StreamEngine> engine_;
  int64_t requests_ = 0;
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
  LOCKSTEP_ASSIGN_OR_RETURN(
      const std::unique_ptr<Reader> fresh,
      Reader::make(model_, options_.threads, isa, static_cast<int64_t>(longest)));
  LOCKSTEP_ASSIGN_OR_RETURN(const std::unique_ptr<Reader> reader,
                            Reader::make(model_, each.threads, isa, each.chunk));
  Clause clause{.name = each.name, .verdict = Verdict::kPass, .figure = {}, .detail = {}};
  size_t tokens = 0;
  for (size_t i = 0; i < prompts_.size(); ++i) {
    const auto before = each.continued ? static_cast<int64_t>(prompts_[i].size() / 2) : 0;
    for (const double temperature : {0.0, 1.0}) {
      LOCKSTEP_ASSIGN_OR_RETURN(const Reply want, fresh->reply(prompts_[i], 0, temperature));
      LOCKSTEP_ASSIGN_OR_RETURN(const Reply got, reader->reply(prompts_[i], before, temperature));
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
