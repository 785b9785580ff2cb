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

Request request_of(const Prompt& ids, int64_t tokens, double temperature, Drafts drafts) {
  return {.prompt = ids,
          .max_tokens = tokens,
          .sampling = {.temperature = temperature, .seed = 7},
          .top_logprobs = 0,
          .drafts = drafts == Drafts::kNone ? 0 : kMostDrafts};
}

std::vector<int32_t> make_drafts(const ReplyCase& each, std::span<const int32_t> rest, size_t drawn,
                                 int64_t most) {
  std::vector<int32_t> drafts(static_cast<size_t>(std::min(each.depth, most)));
  for (size_t i = 0; i < drafts.size(); ++i) {
    const bool right = each.drafts == Drafts::kRight ||
                       (each.drafts == Drafts::kMixed && i < drawn % 3) ||
                       (each.drafts == Drafts::kLastWrong && i + 1 < drafts.size());
    const int32_t id = i < rest.size() ? rest[i] : 0;
    drafts[i] = right ? id : (id == 0 ? 1 : 0);
  }
  return drafts;
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
  static Result<std::unique_ptr<Reader>> make(const Model& model, Isa isa, const ReplyCase& each) {
    const int64_t chunk = std::max(each.chunk, each.drafts == Drafts::kNone ? 1 : kMostWindowRows);
    std::unique_ptr<Reader> reader(new Reader(model, isa, chunk, each));
    const int64_t context = model.config().max_positions;
    EngineOptions options = {
        .context = context,
        .pages = EngineOptions::least_pages(context),
        .cache = PromptCacheOptions{.memory_bytes = kCacheBytes, .min_tokens = 1},
        .save_policy = {.min_tokens = 1},
        .rules = {.rows = chunk, .round_seconds = 1e9, .piece = chunk}};
    if (each.drafts == Drafts::kReal) {
      options.forced_depth = each.depth;
    } else if (each.depth > 0) {
      options.forced_drafts = [self = reader.get()](uint64_t, int64_t, std::span<const int32_t> ids,
                                                    int64_t most) {
        const size_t drawn = ids.size() - self->prompt_size_;
        const std::span<const int32_t> known = self->known_;
        return make_drafts(self->case_, known.subspan(std::min(drawn, known.size())), drawn, most);
      };
    }
    LOCKSTEP_ASSIGN_OR_RETURN(reader->engine_,
                              StreamEngine::make(reader->pass_, reader->pool_, options));
    return reader;
  }

  // `before`: tokens of the prompt that a request before it has read. `known`: of the reply.
  Result<Reply> reply(const Prompt& ids, int64_t before, double temperature,
                      std::vector<int32_t> known = {}) {
    prompt_size_ = ids.size();
    known_ = std::move(known);
    const std::string salt = fmt::format("{}", ++requests_);  // shares nothing with those before
    if (before > 0) {
      const Prompt part(ids.begin(), ids.begin() + before);
      LOCKSTEP_RETURN_IF_ERROR(run(request_of(part, 0, temperature, case_.drafts), salt));
    }
    LOCKSTEP_ASSIGN_OR_RETURN(Reply reply,
                              run(request_of(ids, kReplyTokens, temperature, case_.drafts), salt));
    if (reply.end.timings.cached_tokens == before) return reply;
    return Error{ErrorCode::kNotFound,
                 fmt::format("a prompt of which {} tokens were read before resumes after {}",
                             before, reply.end.timings.cached_tokens)};
  }

 private:
  Reader(const Model& model, Isa isa, int64_t chunk, const ReplyCase& each)
      : case_(each),
        pool_(each.threads),
        pass_(model, {.pool = pool_, .isa = isa}, {.rows = chunk, .logit_rows = kMostWindowRows}) {}

  Result<Reply> run(Request request, const std::string& salt) {
    request.salt = salt;
    LOCKSTEP_ASSIGN_OR_RETURN(ReplyStream stream, engine_->submit(std::move(request)));
    Reply reply = std::move(collect_replies(stream).front());
    LOCKSTEP_RETURN_IF_ERROR(reply.end.status);
    return reply;
  }

  const ReplyCase case_;
  ThreadPool pool_;
  ForwardPass pass_;
  // Of the reply in the making.
  size_t prompt_size_ = 0;
  std::vector<int32_t> known_;
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
  const auto force = [&cases](const char* name, Drafts drafts, int64_t depth) {
    cases.push_back({.name = fmt::format("replies, {} drafts, windows of {}", name, depth + 1),
                     .chunk = 64,
                     .continued = depth % 2 == 0,
                     .drafts = drafts,
                     .depth = depth});
  };
  for (const int64_t depth : {1, 3, 8}) {
    if (options.quick && depth != 3) continue;
    force("real", Drafts::kReal, depth);
    force("mixed", Drafts::kMixed, depth);
    force("all but the last right,", Drafts::kLastWrong, depth);
    if (options.quick) continue;
    force("right", Drafts::kRight, depth);
    force("wrong", Drafts::kWrong, depth);
  }
  return cases;
}

Result<Clause> ReplyChecker::decide(const ReplyCase& each) {
  size_t longest = 0;
  for (const Prompt& ids : prompts_) longest = std::max(longest, ids.size());
  const Isa isa = options_.isas.front();
  LOCKSTEP_ASSIGN_OR_RETURN(
      const std::unique_ptr<Reader> fresh,
      Reader::make(
          model_, isa,
          {.name = {}, .chunk = static_cast<int64_t>(longest), .threads = options_.threads}));
  LOCKSTEP_ASSIGN_OR_RETURN(const std::unique_ptr<Reader> reader, Reader::make(model_, isa, each));
  Clause clause{.name = each.name, .verdict = Verdict::kPass, .figure = {}, .detail = {}};
  size_t tokens = 0;
  int64_t drafts = 0;
  int64_t right = 0;
  for (size_t i = 0; i < prompts_.size(); ++i) {
    const auto before = each.continued ? static_cast<int64_t>(prompts_[i].size() / 2) : 0;
    for (const double temperature : {0.0, 1.0}) {
      LOCKSTEP_ASSIGN_OR_RETURN(const Reply want, fresh->reply(prompts_[i], 0, temperature));
      std::vector<int32_t> known;
      for (const ReplyToken& token : want.tokens) known.push_back(token.id);
      LOCKSTEP_ASSIGN_OR_RETURN(const Reply got,
                                reader->reply(prompts_[i], before, temperature, std::move(known)));
      tokens += want.tokens.size();
      drafts += got.end.timings.drafts.offered();
      right += got.end.timings.drafts.accepted();
      const std::string found = difference(got, want);
      if (found.empty() || clause.verdict == Verdict::kFail) continue;
      clause.verdict = Verdict::kFail;
      clause.detail = fmt::format("prompt {}, temperature {}: {}", i, temperature, found);
    }
  }
  clause.figure = fmt::format("{} tokens", tokens);
  if (drafts > 0) clause.figure += fmt::format(", {} of {} drafts right", right, drafts);
  return clause;
}

}  // namespace lockstep::verify
