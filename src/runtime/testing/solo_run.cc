#include "runtime/testing/solo_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>

#include "base/check.h"
#include "model/testing/runner.h"
#include "sampling/sampler.h"

namespace lockstep::testing {
namespace {

std::span<const float> read(ForwardPass& pass, SequenceState& state, std::span<const int32_t> ids) {
  RowBatch batch;
  batch.segments = {{.sequence = &state, .rows = static_cast<int64_t>(ids.size())}};
  batch.ids.assign(ids.begin(), ids.end());
  batch.logit_rows = {batch.rows() - 1};
  const Result<RoundOutput> output = pass.forward(batch);
  LOCKSTEP_CHECK(output.ok() && output.value().faults.empty(), "a solo run failed");
  pass.commit(batch);
  return output.value().logits;
}

bool same(const Logprobs& a, const Logprobs& b) {
  const auto equal = [](const TokenLogprob& x, const TokenLogprob& y) {
    return x.id == y.id && std::bit_cast<uint64_t>(x.logprob) == std::bit_cast<uint64_t>(y.logprob);
  };
  return equal(a.chosen, b.chosen) && std::ranges::equal(a.top, b.top, equal);
}

}  // namespace

SoloRun solo_run(ForwardPass& pass, const Request& request, int64_t reply, int64_t context,
                 int64_t chunk) {
  SamplingSettings settings = request.sampling;
  settings.reply_index += static_cast<uint32_t>(reply);
  Sampler sampler =
      Sampler::make(settings, pass.model().config().vocab_size, request.prompt, request.constraint)
          .value();
  SamplerScratch scratch;
  SequenceState state(pass.model().state_shape());
  const std::span<const int32_t> prompt = request.prompt;
  std::span<const float> logits;
  SoloRun run;
  const bool scores = request.prompt_logprobs && reply == 0;
  if (scores) chunk = 1;
  for (size_t at = 0; at < prompt.size(); at += static_cast<size_t>(chunk)) {
    logits = read(pass, state,
                  prompt.subspan(at, std::min(static_cast<size_t>(chunk), prompt.size() - at)));
    if (!scores || at + 1 == prompt.size()) continue;
    run.prompt.push_back(
        {state.position(),
         log_probabilities(logits, prompt[at + 1], *request.prompt_logprobs).value()});
  }
  const int64_t limit =
      std::min(request.max_tokens.value_or(context), context - static_cast<int64_t>(prompt.size()));
  while (static_cast<int64_t>(run.tokens.size()) < limit) {
    if (!run.tokens.empty()) logits = read(pass, state, {&run.tokens.back().id, 1});
    ReplyToken token = {.position = state.position()};
    token.id = sampler.draw(logits, token.position, scratch).value();
    sampler.accept(token.id, logits);
    if (std::ranges::find(request.stop_ids, token.id) != request.stop_ids.end()) {
      run.finish = FinishReason::kStop;
      run.stop_id = token.id;
      break;
    }
    const TokenVerdict verdict = request.check ? request.check(reply, token.id) : TokenVerdict{};
    if (request.top_logprobs) {
      token.logprobs = log_probabilities(logits, token.id, *request.top_logprobs).value();
    }
    if (verdict.keep) run.tokens.push_back(std::move(token));
    if (!verdict.keep || verdict.stop) {
      run.finish = FinishReason::kStop;
      break;
    }
  }
  run.fingerprint = fingerprint(state);
  return run;
}

std::string first_difference(const SoloRun& want, const Reply& got) {
  if (!got.end.status.ok()) return "it failed: " + got.end.status.error().message;
  const bool whole = got.end.finish != FinishReason::kCancelled;
  const bool scored =
      whole ? got.prompt.size() == want.prompt.size() : got.prompt.size() <= want.prompt.size();
  if (!scored) return fmt::format("{} scores, alone {}", got.prompt.size(), want.prompt.size());
  for (size_t i = 0; i < got.prompt.size(); ++i) {
    if (got.prompt[i].position == want.prompt[i].position &&
        same(got.prompt[i].logprobs, want.prompt[i].logprobs)) {
      continue;
    }
    return fmt::format("the log-probabilities of the prompt differ at {}", want.prompt[i].position);
  }
  if (got.tokens.size() > want.tokens.size()) {
    return fmt::format("{} tokens, alone {}", got.tokens.size(), want.tokens.size());
  }
  for (size_t i = 0; i < got.tokens.size(); ++i) {
    const ReplyToken& a = want.tokens[i];
    const ReplyToken& b = got.tokens[i];
    if (a.id != b.id || a.position != b.position) {
      return fmt::format("token {} is {} at {}, alone {} at {}", i, b.id, b.position, a.id,
                         a.position);
    }
    if (a.logprobs.has_value() != b.logprobs.has_value() ||
        (a.logprobs && !same(*a.logprobs, *b.logprobs))) {
      return fmt::format("the log-probabilities of token {} differ", i);
    }
  }
  if (!whole) return {};
  if (got.tokens.size() != want.tokens.size()) {
    return fmt::format("{} tokens, alone {}", got.tokens.size(), want.tokens.size());
  }
  if (got.end.finish != want.finish || got.end.stop_id != want.stop_id) {
    return fmt::format("it ended by {}, alone by {}", to_string(got.end.finish),
                       to_string(want.finish));
  }
  return {};
}

}  // namespace lockstep::testing
