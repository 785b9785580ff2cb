#include "runtime/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>

#include "model/broken_tensor.h"

namespace lockstep {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool is_set(const std::atomic<bool>* cancel) {
  return cancel != nullptr && cancel->load(std::memory_order_relaxed);
}

double rate(int64_t count, double seconds) {
  return count > 0 && seconds > 0.0 ? static_cast<double>(count) / seconds : 0.0;
}

Error invalid(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

// "layer 3, attention"; stages before and after the layers have names that say so.
std::string place_of(const RowFault& fault, const ModelConfig& config) {
  const bool in_layer =
      fault.layer >= 0 && fault.layer < static_cast<int64_t>(config.layers.size());
  if (in_layer) return fmt::format("layer {}, {}", fault.layer, fault.site);
  return fmt::format("the stage {}", fault.site);
}

Error fault_error(const RowFault& fault, int64_t first_position, int32_t id, const Model& model) {
  const auto tensor = find_broken_tensor(model.checkpoint(), fault.layer);
  return {ErrorCode::kNumeric,
          fmt::format("{} gave a value that is not finite at position {} (token id {}): {}",
                      place_of(fault, model.config()), first_position + fault.row, id,
                      tensor ? fmt::format("{} holds NaN or infinity", *tensor)
                             : "no weight of this layer does, so the computation overflowed")};
}

}  // namespace

const char* to_string(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kCancelled:
      return "cancelled";
  }
  return "?";
}

double ReplyTimings::prompt_rate() const {
  return rate(prompt_tokens - cached_tokens, prompt_seconds);
}

double ReplyTimings::decode_rate() const { return rate(decode_rounds, decode_seconds); }

void Session::reset() {
  state_.reset();
  ids_.clear();
}

Status Session::check(const GenerateRequest& request) const {
  if (request.prompt.empty()) return invalid("the prompt has no tokens");
  const auto length = static_cast<int64_t>(request.prompt.size());
  if (length > context_) {
    return invalid(fmt::format("the prompt has {} tokens, the context holds {}", length, context_));
  }
  const int64_t vocab = pass_.model().config().vocab_size;
  for (const int32_t id : request.prompt) {
    if (id < 0 || id >= vocab) {
      return invalid(fmt::format("token id {} is not in the vocabulary of {} ids", id, vocab));
    }
  }
  if (request.max_tokens && *request.max_tokens < 0) {
    return invalid(fmt::format("max_tokens is {}; it must be at least 0", *request.max_tokens));
  }
  LOCKSTEP_RETURN_IF_ERROR(check_settings(request.sampling));
  LOCKSTEP_RETURN_IF_ERROR(check_token_ids(request.sampling, vocab));
  if (request.top_logprobs &&
      (*request.top_logprobs < 0 || *request.top_logprobs > kMaxTopLogprobs)) {
    return invalid(fmt::format("logprobs is {}; it must be from 0 to {}", *request.top_logprobs,
                               kMaxTopLogprobs));
  }
  return {};
}

Status Session::continue_or_restart(std::span<const int32_t> prompt) {
  const bool continues =
      prompt.size() > ids_.size() && std::equal(ids_.begin(), ids_.end(), prompt.begin());
  if (!continues) reset();
  if (state_) return {};
  try {
    state_.emplace(pass_.model().state_shape());
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kOutOfMemory, "no memory for the recurrent state of a sequence"};
  }
  return {};
}

// Logits of the last row, in the pass's memory, or nothing.
Result<std::span<const float>> Session::run(std::span<const int32_t> ids, bool want_logits) {
  RowBatch batch;
  batch.segments = {{.sequence = &*state_, .rows = static_cast<int64_t>(ids.size())}};
  batch.ids.assign(ids.begin(), ids.end());
  if (want_logits) batch.logit_rows = {batch.rows() - 1};
  LOCKSTEP_ASSIGN_OR_RETURN(const RoundOutput output, pass_.forward(batch));
  if (!output.faults.empty()) {
    const RowFault& fault = output.faults.front();
    return fault_error(fault, state_->position(), ids[static_cast<size_t>(fault.row)],
                       pass_.model());
  }
  pass_.commit(batch);
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  return output.logits;
}

// No logits: it was cancelled.
Result<std::span<const float>> Session::read_prompt(std::span<const int32_t> prompt,
                                                    const std::atomic<bool>* cancel) {
  std::span<const float> logits;
  while (ids_.size() < prompt.size()) {
    if (is_set(cancel)) return std::span<const float>();
    const std::span<const int32_t> left = prompt.subspan(ids_.size());
    const size_t rows = std::min(left.size(), static_cast<size_t>(pass_.limits().rows));
    LOCKSTEP_ASSIGN_OR_RETURN(logits, run(left.first(rows), rows == left.size()));
  }
  return logits;
}

Status Session::draw_reply(const GenerateRequest& request, std::span<const float> logits,
                           Sampler& sampler, const OnToken& on_token,
                           const std::atomic<bool>* cancel, Reply& reply) {
  const auto start = static_cast<int64_t>(request.prompt.size());
  const int64_t room = context_ - start;
  const auto limit = static_cast<size_t>(std::min(request.max_tokens.value_or(room), room));
  while (true) {
    reply.finish = FinishReason::kLength;
    if (reply.tokens.size() == limit) return {};
    reply.finish = FinishReason::kCancelled;
    if (is_set(cancel)) return {};
    if (!reply.tokens.empty()) {
      LOCKSTEP_ASSIGN_OR_RETURN(logits, run({&reply.tokens.back().id, 1}, true));
      ++reply.timings.decode_rounds;
    }
    ReplyToken token;
    token.position = start + static_cast<int64_t>(reply.tokens.size());
    LOCKSTEP_ASSIGN_OR_RETURN(token.id, sampler.draw(logits, token.position, scratch_));
    sampler.accept(token.id, logits);
    if (std::ranges::find(request.stop_ids, token.id) != request.stop_ids.end()) {
      reply.finish = FinishReason::kStop;
      reply.stop_id = token.id;
      return {};
    }
    if (request.top_logprobs) {
      LOCKSTEP_ASSIGN_OR_RETURN(token.logprobs,
                                log_probabilities(logits, token.id, *request.top_logprobs));
    }
    reply.tokens.push_back(token);
    if (on_token) on_token(reply.tokens.back());
  }
}

Result<Reply> Session::generate(const GenerateRequest& request, const OnToken& on_token,
                                const std::atomic<bool>* cancel) {
  LOCKSTEP_RETURN_IF_ERROR(check(request));
  LOCKSTEP_ASSIGN_OR_RETURN(
      Sampler sampler,
      Sampler::make(request.sampling, pass_.model().config().vocab_size, request.prompt));
  LOCKSTEP_RETURN_IF_ERROR(continue_or_restart(request.prompt));
  Reply reply;
  reply.sampling = sampler.settings();
  reply.timings.cached_tokens = static_cast<int64_t>(ids_.size());

  const auto prompt_start = Clock::now();
  LOCKSTEP_ASSIGN_OR_RETURN(const std::span<const float> logits,
                            read_prompt(request.prompt, cancel));
  reply.timings.prompt_seconds = seconds_since(prompt_start);
  reply.timings.prompt_tokens = static_cast<int64_t>(ids_.size());
  if (logits.empty()) {
    reply.finish = FinishReason::kCancelled;
    return reply;
  }
  const auto reply_start = Clock::now();
  LOCKSTEP_RETURN_IF_ERROR(draw_reply(request, logits, sampler, on_token, cancel, reply));
  reply.timings.decode_seconds = seconds_since(reply_start);
  reply.timings.reply_tokens = static_cast<int64_t>(reply.tokens.size());
  return reply;
}

}  // namespace lockstep
